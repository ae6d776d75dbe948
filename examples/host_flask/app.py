"""A small site that holds snaglist; SHOP_DATA is the folder of its data."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flask import Flask, Request, redirect, render_template, request, session, url_for
from werkzeug.security import check_password_hash, generate_password_hash
from werkzeug.wrappers import Response

from snaglist.hosting import create_wsgi, flask_blueprint

# A real site has a database of people. Roles belong to an application.
PASSWORD = generate_password_hash("snaglist")
PEOPLE: Mapping[str, Mapping[str, str]] = {
    "ana": {"default": "owner"},
    "bo": {"default": "editor"},
    "cy": {"default": "viewer"},
    "dan": {},
}
OWNERS_OF_ALL = ("ana",)

app = Flask(__name__)
# An example needs to start without preparation; a real site keeps its key secret.
app.secret_key = os.environ.get("SHOP_SECRET_KEY", "only-for-this-example")
app.config["SESSION_COOKIE_SAMESITE"] = "Lax"


def roles(name: str, application: str | None) -> list[str]:
    """Return the roles of a person in an application; None asks for the whole installation."""
    if name in OWNERS_OF_ALL:
        return ["owner"]
    role = PEOPLE[name].get(application or "")
    return [role] if role else []


def identity(request: Request, application: str | None) -> Mapping[str, Any] | None:
    """Return the person who is signed in, with the roles for an application."""
    name = session.get("name")
    return {"id": name, "label": name.title(), "roles": roles(name, application)} if name in PEOPLE else None


def people(request: Request, application: str) -> Iterable[Mapping[str, Any]]:
    """Return whom issues of an application can be assigned to: everybody with a role there."""
    return [{"id": name, "label": name.title()} for name in PEOPLE if roles(name, application)]


service = create_wsgi(
    data=Path(os.environ.get("SHOP_DATA", "data")) / "snaglist",
    identity=identity,
    assignable_users=people,
    login_url=lambda request: url_for("login"),
    jobs=True,
)
app.register_blueprint(flask_blueprint(service), url_prefix="/logs")


@app.get("/")
def home() -> str:
    """Show the home page."""
    return render_template("home.html", name=session.get("name"))


@app.route("/login", methods=["GET", "POST"])
def login() -> str | Response:
    """Sign somebody in."""
    if request.method == "GET":
        return render_template("login.html", problem="")
    name = request.form.get("username", "")
    if name not in PEOPLE or not check_password_hash(PASSWORD, request.form.get("password", "")):
        return render_template("login.html", problem="Unknown name or wrong password.")
    session["name"] = name
    return redirect(url_for("home"))


@app.post("/logout")
def logout() -> Response:
    """Sign out."""
    session.clear()
    return redirect(url_for("home"))

"""docs/hosting.md: each of its sites is run as it stands, in a process of its own."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from snaglist.kernel.settings import ConfigurationError

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")

WSGI = """
from io import BytesIO
from wsgiref.util import setup_testing_defaults
from wsgiref.validate import validator

from site_of_the_page import application


def get(path, query="", **more):
    environ = {"SCRIPT_NAME": "", "PATH_INFO": path, "QUERY_STRING": query, **more}
    setup_testing_defaults(environ)
    status = []
    body = validator(application)(environ, lambda line, headers, *_: status.append(line) or (lambda data: None))
    content = b"".join(body)
    body.close()
    return int(status[0][:3]), content


assert get("/elsewhere") == (200, b"The rest of the site\\n")
assert get("/logs/", "api=errors")[0] == 401
assert get("/logs/", "api=errors", HTTP_REMOTE_USER="ana")[0] == 401
assert get("/logs/", "api=errors", REMOTE_USER="ana")[0] == 200
assert get("/logs/", "api=ingestion-settings", REMOTE_USER="ana")[0] == 200
status, page = get("/logs/", REMOTE_USER="ana")
assert status == 200 and b"<!doctype html>" in page.lower()
"""

FLASK = """
from site_of_the_page import app

client = app.test_client()


def sign_in(name):
    with client.session_transaction() as session:
        session["name"] = name


assert client.get("/logs/?api=errors").status_code == 401
sign_in("bo")
assert client.get("/logs/?api=errors").status_code == 200
assert client.post("/logs/?api=issues", json={"title": "x"}).status_code == 403
sign_in("ana")
assert client.post("/logs/?api=issues", json={"title": "x"}).status_code == 201
history = client.get("/logs/?api=error&id=1").get_json()["status_history"]
assert [row["actor"] for row in history] == ["ana"]
sign_in("cy")
assert client.get("/logs/?api=errors").status_code == 403
assert client.get("/logs/").status_code == 200
"""

DJANGO = """
import django
from django.conf import settings

settings.configure(
    SECRET_KEY="only here",
    ALLOWED_HOSTS=["testserver"],
    ROOT_URLCONF="site_of_the_page",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.auth.middleware.LoginRequiredMiddleware",
    ],
    LOGIN_URL="/people/login?from=logs&",
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
django.setup()

from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client

call_command("migrate", verbosity=0)
bo = User.objects.create_user("bo")
bo.groups.add(Group.objects.create(name="logs:default:editor"))
dan = User.objects.create_user("dan")
client = Client(enforce_csrf_checks=True, headers={"host": "testserver"})
answer = client.get("/logs/?api=errors")
assert (answer.status_code, answer.json()) == (401, {"error": "Nobody is signed in."}), answer.content
# The site's own sign-in holds up neither probes nor senders, and people find the way to it.
assert client.get("/logs/?api=health").status_code == 200
from site_of_the_page import service

local = service.service.call()
with local.transaction():
    local.service.plugins.switch(local, local.service.plugins.find("ingest"), True)
    key = local.service.plugins.find("ingest")
sent = {"x-ingest-key": "svk_wrong"}
pushed = client.post("/logs/?api=ingest", {"events": []}, content_type="application/json", headers=sent)
assert pushed.status_code == 401 and pushed.json()["error"] != "Nobody is signed in.", pushed.content
page = client.get("/logs/", headers={"accept": "text/html"})
assert page.status_code == 401
assert b'<meta name="login" content="/people/login?from=logs&amp;">' in page.content
client.force_login(bo)
assert client.post("/logs/?api=issues", {"title": "x"}, content_type="application/json").status_code == 201
assert client.get("/logs/?api=assignable-users").json() == {"data": [{"id": str(bo.pk), "label": "bo"}]}
assigned = {"id": 1, "assigned_to_id": str(bo.pk)}
answer = client.post("/logs/?api=assign-issue", assigned, content_type="application/json")
assert answer.json()["assigned_to_label"] == "bo"
client.force_login(dan)
assert client.get("/logs/?api=errors").status_code == 403
"""

SITES = {"Any WSGI server": WSGI, "Flask": FLASK, "Django": DJANGO}


def block(heading: str) -> str:
    """Return the Python of a section."""
    (section,) = [text for text in PAGE.split("\n## ")[1:] if text.startswith(f"{heading}\n")]
    (found,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    return str(found)


def test_every_python_block_is_one_of_the_sites() -> None:
    assert PAGE.count("```python") == len(SITES)


@pytest.mark.parametrize("heading", SITES)
def test_the_site_runs_as_it_stands(tmp_path: Path, heading: str) -> None:
    """Mounted as the page says, strangers get 401, people get what their roles grant."""
    code = block(heading)
    assert code.count('data="/var/lib/snaglist"') == 1
    (tmp_path / "site_of_the_page.py").write_text(code.replace("/var/lib/snaglist", str(tmp_path / "data")))
    (tmp_path / "visit.py").write_text(SITES[heading])
    command = [sys.executable, "-W", "error", "visit.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_the_arguments_are_those_of_the_function() -> None:
    from inspect import signature

    from snaglist.hosting import create_wsgi

    section = PAGE.split("\n## The arguments\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE) == list(signature(create_wsgi).parameters)
    assert ConfigurationError.__name__ in section

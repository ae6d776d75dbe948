"""The two example sites, really run: sign in, roles, assignment, sub-path, the dashboard below the prefix."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPMessage
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest
from playwright.sync_api import Page, expect

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PREFIX = "/tools"  # where the site itself hangs, so that the service is two levels below
AGENT = "agent-key-0123456789abcdef"
LINE = "[2026-01-03 10:00:00] production.ERROR: Order 4711 failed: gateway timeout\n"


@dataclass(frozen=True)
class Site:
    """A running example: its address, where people sign in, and its data."""

    url: str
    login: str
    data: Path


@dataclass(frozen=True)
class Answer:
    """What a request got."""

    status: int
    headers: HTTPMessage
    content: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.content)


class Visitor:
    """Somebody with a browser's cookies."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.cookies = CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies))

    def send(self, method: str, url: str, content: bytes | None = None, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = Request(url, content, named, method=method)
        try:
            with self._opener.open(request, timeout=30) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except HTTPError as refusal:
            with refusal:
                return Answer(refusal.code, refusal.headers, refusal.read())

    def sign_in(self, name: str) -> None:
        page = self.send("GET", self.site.login).content.decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        fields = {"username": name, "password": "snaglist", "csrfmiddlewaretoken": token[1] if token else ""}
        answer = self.send("POST", self.site.login, urlencode(fields).encode(), Referer=self.site.login)
        assert answer.status == 200 and f"Signed in as {name.title()}" in answer.content.decode().replace(
            f"as {name}", f"as {name.title()}"
        ), answer.content

    def api(self, method: str, query: str, body: Any = None, **headers: str) -> Answer:
        content = None if body is None else json.dumps(body).encode()
        typed = {} if content is None else {"Content_Type": "application/json"}
        return self.send(method, f"{self.site.url}logs/?api={query}", content, **typed, **headers)


@pytest.fixture(scope="module", params=["django", "flask"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One of the example sites behind waitress, below a prefix."""
    name = request.param
    data = tmp_path_factory.mktemp(name)
    folder = EXAMPLES / f"host_{name}"
    env = {key: value for key, value in os.environ.items() if not key.startswith("SERVICE_")}
    env |= {"SHOP_DATA": str(data), "SERVICE_AGENT_TOKEN": AGENT, "SERVICE_INGESTION_INTERVAL_SECONDS": "0"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}
    if name == "django":
        for command in ("migrate", "people"):
            subprocess.run([sys.executable, "manage.py", command], cwd=folder, env=env, check=True, capture_output=True)
    app = "shop.wsgi:application" if name == "django" else "app:app"
    command = [sys.executable, "-m", "waitress", "--listen=127.0.0.1:0", f"--url-prefix={PREFIX}", app]
    with subprocess.Popen(command, cwd=folder, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if found := re.search(r"Serving on (http://127\.0\.0\.1:\d+)", line):
                break
        else:
            pytest.fail("the site does not start: " + "".join(lines))
        base = f"{found[1]}{PREFIX}/"
        yield Site(base, base + ("accounts/login/" if name == "django" else "login"), data)
        process.terminate()
        process.stderr.close()


@pytest.fixture
def visitor(site: Site) -> Callable[[str | None], Visitor]:
    """Make a visitor, signed in under a name."""

    def make(name: str | None = None) -> Visitor:
        made = Visitor(site)
        if name:
            made.sign_in(name)
        return made

    return make


Visit = Callable[..., Visitor]


def test_strangers_learn_nothing(visitor: Visit) -> None:
    stranger = visitor()
    for query in ("errors", "explode", "errors&app=gone"):
        answer = stranger.api("GET", query)
        assert (answer.status, answer.json) == (401, {"error": "Nobody is signed in."})
    assert stranger.api("GET", "health").status == 200, "probes need no sign-in"
    assert stranger.send("GET", f"{stranger.site.url}logs/nowhere").status == 401


def test_roles(visitor: Visit) -> None:
    """Roles, through a real host."""
    statuses = {
        name: [
            visitor(name).api("GET", "errors").status,
            visitor(name).api("POST", "tags", {"name": f"of {name}"}).status,
            visitor(name).api("POST", "plugins", {"id": "gone", "enabled": True}).status,
        ]
        for name in ("ana", "bo", "cy", "dan")
    }
    assert statuses == {
        "ana": [200, 201, 404], "bo": [200, 201, 403], "cy": [200, 403, 403], "dan": [403, 403, 403]
    }  # fmt: skip


def test_the_hosts_csrf_token_is_not_needed_but_origins_count(visitor: Visit) -> None:
    bo = visitor("bo")
    origin = bo.site.url.split(PREFIX)[0]
    assert bo.api("POST", "tags", {"name": "same origin"}, Origin=origin).status == 201
    assert bo.api("POST", "tags", {"name": "foreign"}, Origin="http://evil.example").status == 403


def test_work_and_assignment(visitor: Visit) -> None:
    """Bo files an issue and gives it to cy; cy finds it."""
    bo, cy = visitor("bo"), visitor("cy")
    people = {row["label"]: row["id"] for row in bo.api("GET", "assignable-users").json["data"]}
    assert people.keys() == {"Ana", "Bo", "Cy"}
    made = bo.api("POST", "issues", {"title": "Übergabe fails"})
    assert made.status == 201 and made.json["status_history"][0]["actor"] == "Bo"
    issue_id = made.json["data"]["id"]
    assigned = bo.api("POST", "assign-issue", {"id": issue_id, "assigned_to_id": people["Cy"]})
    assert assigned.json == {"id": issue_id, "assigned_to_id": people["Cy"], "assigned_to_label": "Cy"}
    assert bo.api("POST", "assign-issue", {"id": issue_id, "assigned_to_id": "dan"}).status == 422
    found = cy.api("GET", f"errors&{urlencode({'assignee': people['Cy'], 'q': 'ÜBERGABE'})}").json
    assert [row["id"] for row in found["data"]] == [issue_id]


def test_the_agent_key(visitor: Visit) -> None:
    script = visitor()
    assert script.api("POST", "tags", {"name": "by a script"}, X_Service_Agent_Token=AGENT).status == 201
    assert script.api("POST", "tags", {"name": "by another"}, Authorization=f"Bearer {AGENT}").status == 201
    assert script.api("POST", "tags", {"name": "by nobody"}, X_Service_Agent_Token="wrong").status == 401


def test_jobs_run_in_the_host(visitor: Visit) -> None:
    bo = visitor("bo")
    (bo.site.data / "snaglist/applications/default/logs/app.log").write_text(LINE)
    answer = bo.api("POST", "import-incoming&wait=1")
    assert (answer.status, answer.json["events"]) == (200, 1)
    shown = bo.api("GET", "errors&q=4711").json["data"]
    assert [row["log_type"] for row in shown] == ["monolog"]


def test_answers_pass_through_unchanged(visitor: Visit) -> None:
    """Methods, headers, exports, limits: the host adds its own headers and takes nothing away."""
    bo = visitor("bo")
    logs = f"{bo.site.url}logs/"
    export = bo.api("GET", "errors&format=csv")
    assert export.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert export.headers["Content-Disposition"].startswith('attachment; filename="issues-default-')
    assert export.content.startswith(b"id,title,severity")
    options = bo.api("OPTIONS", "tags")
    assert options.status == 204 and "PATCH" in options.headers["Allow"]
    head = bo.api("HEAD", "errors")
    assert (head.status, head.content) == (200, b"")
    summary = bo.api("GET", "summary")
    again = bo.api("GET", "summary", If_None_Match=summary.headers["ETag"])
    assert (again.status, again.content) == (304, b"")
    assert bo.api("PUT", "tags", {"id": 1}).status == 422
    assert bo.api("DELETE", "tags&id=99999").status == 404
    assert bo.api("POST", "tags", {"name": "x" * 1_200_000}).status == 413
    packed = bo.api("GET", "openapi", Accept_Encoding="gzip")
    assert packed.headers["Content-Encoding"] == "gzip" and packed.content[:2] == b"\x1f\x8b"
    assert bo.send("GET", f"{logs}nowhere").status == 404
    assert bo.send("GET", f"{logs}static/0123456789ab/dashboard/app.js").status == 404
    assert bo.send("GET", logs.rstrip("/") + "?view=issues").status == 200, "the host leads to the slash"
    assert "Content-Security-Policy" not in summary.headers
    assert not summary.headers.get_all("Set-Cookie"), "the service sets none, and asking changes no session"


def test_the_dashboard_works_below_the_prefix(
    site: Site, visitor: Callable[..., Visit], open_page: Callable[..., Page], watch: Any
) -> None:
    """Sign in at the site, follow its link, set a status, assign, come back and take that back."""
    watch.expect(r"favicon\.ico|404")
    assert visitor("bo").api("POST", "issues", {"title": "Seen below the prefix"}).status == 201
    page = open_page(site.login)
    page.locator("[name=username]").fill("bo")
    page.locator("[name=password]").fill("snaglist")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("link", name="Logs").click()
    expect(page.get_by_role("heading", name="Issues")).to_be_visible()
    assert page.url.startswith(f"{site.url}logs/")
    page.locator("#search").fill("seen below")
    page.keyboard.press("Enter")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".row-title").click()
    expect(page.locator("form.status-form")).to_be_visible()
    page.get_by_role("group", name="Status").get_by_role("button", name="In progress").click()
    expect(page.locator(".history li").first).to_contain_text("Bo set it to In progress (was Open)")
    page.locator("h1").focus()
    page.keyboard.press("a")
    expect(page.get_by_label("Assign to")).to_be_focused()
    page.keyboard.type("Cy")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".history li").first).to_contain_text("Bo assigned it to Cy")
    expect(page.locator(".issue-head")).to_contain_text("Assigned to Cy")
    page.get_by_role("link", name="Issues").first.click()
    row = page.locator(".row", has_text="seen below")
    row.locator(".row-choice input").click()
    page.locator(".bulk").get_by_role("button", name="Assign").click()
    page.get_by_label("Person for the selected issues").fill("nob")
    page.keyboard.press("Enter")
    expect(page.locator(".toast").last).to_contain_text("1 issue assigned to nobody")
    row.locator(".row-title").click()
    expect(page.get_by_label("Assign to")).to_have_value("")
    expect(page.locator(".history li").first).to_contain_text("Bo unassigned it")


def test_strangers_are_led_to_the_site(site: Site, open_page: Callable[..., Page], watch: Any) -> None:
    """Nobody is signed in: no key can help, so none is asked for."""
    watch.expect("401")
    page = open_page(f"{site.url}logs/")
    expect(page.get_by_role("alert")).to_contain_text("Nobody is signed in")
    expect(page.locator("input[name=key]")).to_have_count(0)
    page.get_by_role("link", name="Sign in").click()
    expect(page.locator("[name=username]")).to_be_visible()
    assert page.url == f"{site.login}?next=%2Ftools%2Flogs%2F"

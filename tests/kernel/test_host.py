"""Host mounting: who acts, with which roles, below which path."""

import json
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from snaglist.hosting import MountedService, create_wsgi
from snaglist.kernel.settings import ConfigurationError
from snaglist.plugins.issues import tables
from snaglist.plugins.system.registering import add_application
from snaglist.testing import Answer, Client

AGENT = "agent-key-0123456789abcdef"
Mount = Callable[..., Client]


@pytest.fixture
def mount(fresh_data: Path) -> Iterator[Mount]:
    """Mount a service on a fresh data directory and give a client of it."""
    mounted: list[MountedService] = []

    def make(**arguments: Any) -> Client:
        mounted.append(create_wsgi(data=fresh_data, **arguments))
        client = Client(mounted[-1].service)
        client.app = mounted[-1]
        return client

    yield make
    for one in mounted:
        one.close()


def signed_in(*roles: str, **more: Any) -> Callable[[Any, str | None], Mapping[str, Any]]:
    return lambda request, application: {"id": "7", "label": "Ana", "roles": list(roles), **more}


def call(client: Client, method: str, api: str, body: Any = None, **headers: str) -> Answer:
    content = b"" if body is None else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.request(method, f"/?api={api}", content, {"Content-Type": "application/json", **sent})


WRITES = {
    "issues": {"title": "x"},
    "modules": {"name": "Billing"},
    "tags": {"name": "Bug"},
    "issue-status": {"id": 1, "status": "open"},
    "bulk-issues": {"action": "unsnooze", "ids": [1]},
    "assign-issue": {"id": 1},
    "plugins": {"id": "x", "enabled": True},
    "applications": {"name": "Portal"},
}


class TestRoles:
    def test_viewer_reads(self, mount: Mount) -> None:
        client = mount(identity=signed_in("viewer"))
        for api in ("errors", "groups", "summary", "tags", "modules", "jobs", "plugins", "assignable-users"):
            assert client.get(api).status == 200, api
        for api, body in WRITES.items():
            assert client.post(api, body).status == 403, api

    def test_editor_writes_but_does_not_steer(self, mount: Mount) -> None:
        client = mount(identity=signed_in("editor"))
        assert client.post("tags", {"name": "Bug"}).status == 201
        assert client.post("issues", {"title": "x"}).status == 201
        assert client.post("issue-status", {"id": 1, "status": "fixed"}).status == 200
        assert client.get("error", id=1).json["status_history"][0]["actor"] == "Ana"
        for api in ("modules", "plugins", "applications"):
            assert client.post(api, WRITES[api]).status == 403, api

    @pytest.mark.parametrize("roles", [("nobody",), ()])
    def test_nobody_does_nothing(self, mount: Mount, roles: tuple[str, ...]) -> None:
        client = mount(identity=signed_in(*roles))
        for api in ("errors", "applications", "jobs"):
            assert client.get(api).status == 403, api
        assert client.get("openapi").status == 200, "needs no ability"

    def test_any_role_that_grants_is_enough(self, mount: Mount) -> None:
        assert mount(identity=signed_in("nobody", "viewer")).get("errors").status == 200

    def test_a_default_role_that_there_is_not(self, mount: Mount) -> None:
        """It would grant nothing, so that every request is 403 and nothing says why."""
        with pytest.raises(ConfigurationError, match="default_role: must be one of owner, editor, viewer"):
            mount(identity=lambda request, application: None, default_role="editer")

    @pytest.mark.parametrize(
        ("found", "status"), [({"id": "7"}, 200), ({"id": "7", "roles": None}, 200), ({"id": "7", "roles": []}, 403)]
    )
    def test_default_role(self, mount: Mount, found: dict[str, Any], status: int) -> None:
        """It is for actors without `roles`, not for those with none."""
        client = mount(identity=lambda request, application: found, default_role="viewer")
        assert client.get("errors").status == status
        assert client.post("tags", {"name": "Bug"}).status == 403

    def test_roles_are_checked_before_shapes(self, mount: Mount) -> None:
        """docs/api.md: nobody's body is read for a caller who may not do it anyway."""
        client = mount(identity=signed_in("viewer"))
        assert client.delete("errors").status == 405
        assert client.get("errors", page="x").status == 422
        for body in (b'{"name":""}', b"{", b"\xff", b"[" * 2_000_000):
            for kind in ("application/json", "text/plain"):
                headers = {"Content-Type": kind, "Content-Length": str(len(body))}
                assert client.request("POST", "/?api=tags", body, headers).status == 403
        owner = mount(identity=signed_in("owner"))
        assert owner.post("tags", {"name": ""}).status == 422


class TestSigningIn:
    """Who is not signed in is led to where the host's people sign in; the API answers 401 as ever."""

    @staticmethod
    def page(client: Client, **environ: Any) -> Answer:
        return client.request("GET", "/", headers={"Accept": "text/html"}, **environ)

    @pytest.mark.parametrize(
        ("login_url", "shown"),
        [
            ("/login", b'content="/login"'),
            ('https://a.example/?x=1&y="2', b'content="https://a.example/?x=1&amp;y=&quot;2"'),
            (lambda request: request["SCRIPT_NAME"] + "/login", b'content="/site/login"'),
        ],
    )
    def test_the_page_names_the_address(self, mount: Mount, login_url: Any, shown: bytes) -> None:
        client = mount(identity=lambda request, application: None, login_url=login_url)
        answer = self.page(client, SCRIPT_NAME="/site")
        assert answer.status == 401 and answer.content.count(b'<meta name="login" ' + shown) == 1
        assert (client.get("errors").status, client.get("errors").error) == (401, "Nobody is signed in.")
        assert "location" not in client.get("errors").headers

    @pytest.mark.parametrize("arguments", [{}, {"login_url": ""}, {"login_url": lambda request: ""}])
    def test_a_host_that_does_not_say(self, mount: Mount, arguments: dict[str, Any]) -> None:
        answer = self.page(mount(identity=lambda request, application: None, **arguments))
        assert answer.status == 401 and b'name="login"' not in answer.content

    def test_who_is_signed_in_gets_the_same_page(self, mount: Mount) -> None:
        """A session may end while the page is open."""
        answer = self.page(mount(identity=signed_in("viewer"), login_url="/login"))
        assert answer.status == 200 and b'<meta name="login" content="/login">' in answer.content

    def test_nonsense_is_an_error_of_the_host(self, mount: Mount, caplog: pytest.LogCaptureFixture) -> None:
        client = mount(identity=lambda request, application: None, login_url=lambda request: None)
        assert self.page(client).status == 500
        assert "login_url: must be a text, not NoneType" in caplog.text

    def test_the_service_by_itself_has_none(self, sqlite_client: Client) -> None:
        assert b'name="login"' not in self.page(sqlite_client).content


class TestRolesOfAnApplication:
    """One person is owner here and nothing there."""

    @pytest.fixture
    def client(self, mount: Mount) -> Client:
        roles = {"portal": ["owner"], None: []}

        def identity(request: Any, application: str | None) -> Mapping[str, Any]:
            return {"id": "7", "roles": roles.get(application, [])}

        client = mount(identity=identity)
        add_application(client.service, "Portal")
        add_application(client.service, "Intern")
        return client

    def test_the_application_decides(self, client: Client) -> None:
        """200 in one, 403 in the other."""
        assert client.get("errors", app="portal").status == 200
        assert client.get("errors", app="default").status == 403
        assert client.get("errors").status == 403

    def test_applications_shows_those_that_may_be_read(self, client: Client) -> None:
        assert [row["id"] for row in client.get("applications").json["data"]] == ["portal"]

    def test_applications_are_changed_by_their_owners(self, client: Client) -> None:
        assert client.patch("applications", {"id": "portal", "name": "Door"}).json["name"] == "Door"
        assert client.patch("applications", {"id": "intern", "name": "Door"}).status == 403
        confirmed = {"id": "intern", "confirmation": "DELETE APPLICATION intern"}
        assert client.delete("applications", confirmed).status == 403
        assert client.post("applications", {"name": "New"}).status == 403, "owner of one application only"
        assert client.delete("applications", {**confirmed, "id": "gone"}).status == 422, "the phrase names the id"
        gone = {"id": "gone", "confirmation": "DELETE APPLICATION gone"}
        assert client.delete("applications", gone).status == 404

    def test_an_identity_that_knows_nobody_there(self, mount: Mount) -> None:
        def identity(request: Any, application: str | None) -> Mapping[str, Any] | None:
            return {"id": "7", "roles": ["owner"]} if application is None else None

        client = mount(identity=identity)
        assert client.get("errors").status == 403
        assert client.get("openapi").status == 403


class TestIdentity:
    """What the host's function returns, and when it is asked."""

    def test_none_is_nobody(self, mount: Mount) -> None:
        client = mount(identity=lambda request, application: None)
        for answer in (client.get("errors"), client.get("explode"), client.post("tags", {"name": "x"})):
            assert (answer.status, answer.error) == (401, "Nobody is signed in.")
        assert client.request("GET", "/?api=errors&api=errors").status == 401, "nobody learns nothing"

    @pytest.mark.parametrize(
        "found",
        [
            {"label": "x"}, {"id": ""}, {"id": "  "}, {"id": None}, {"id": True}, {"id": ["7"]}, "ana", ["ana"], 7,
            {"id": "7", "roles": "owner"}, {"id": "7", "roles": [1]}, {"id": "7", "roles": 5}, {"id": "7", "label": 5},
        ],
    )  # fmt: skip
    def test_nonsense_is_an_error_of_the_host(self, mount: Mount, found: Any, caplog: pytest.LogCaptureFixture) -> None:
        client = mount(identity=lambda request, application: found, default_role="owner")
        answer = client.get("errors")
        assert answer.status == 500 and answer.error.startswith("Internal error (reference ")
        reference = answer.error.split()[-1].strip(")")
        assert any(reference in record.getMessage() for record in caplog.records)
        assert "identity" in caplog.text

    def test_an_exception_of_the_host_is_a_500(self, mount: Mount) -> None:
        def identity(request: Any, application: str | None) -> Mapping[str, Any]:
            raise LookupError("the host's database is away")

        answer = mount(identity=identity).get("errors")
        assert answer.status == 500 and "database" not in answer.error

    def test_a_number_is_an_id(self, mount: Mount) -> None:
        client = mount(identity=lambda request, application: {"id": 7, "roles": ["editor"]})
        client.post("issues", {"title": "x"})
        assert client.get("error", id=1).json["status_history"][0]["actor"] == "7", "the label is the id"

    def test_it_is_asked_once_for_anybody_and_once_for_the_application(self, mount: Mount) -> None:
        asked: list[str | None] = []

        def identity(request: Any, application: str | None) -> Mapping[str, Any]:
            assert request["HTTP_HOST"] == "testserver", "without a host's own request it is the WSGI variables"
            asked.append(application)
            return {"id": "7", "roles": ["owner"]}

        client = mount(identity=identity)
        client.get("errors")
        assert asked == [None, "default"]
        asked.clear()
        assert client.get("health").status == 200
        assert client.request("GET", "/static/0123456789ab/dashboard/app.js").status == 404
        assert asked == [], "health and static files never ask"
        client.request("OPTIONS", "/?api=errors")
        assert asked == [None]

    def test_headers_never_make_an_actor(self, mount: Mount) -> None:
        client = mount(identity=lambda request, application: None)
        forged = {"X-Remote-User": "ana", "Remote-User": "ana", "snaglist.request": "ana"}
        assert client.request("GET", "/?api=errors", headers=forged).status == 401

    def test_without_identity_everybody_is_the_local_owner(self, mount: Mount) -> None:
        client = mount()
        assert client.post("plugins", {"id": "gone", "enabled": True}).status == 404
        client.post("issues", {"title": "x"})
        assert client.get("error", id=1).json["status_history"][0]["actor"] == "Local"


class TestKeys:
    """`SERVICE_TOKEN` comes in addition; the agent key is for scripts."""

    def test_the_service_key_comes_in_addition(self, mount: Mount) -> None:
        client = mount(identity=signed_in("viewer"), config={"auth": {"token": "service-key-0123456789"}})
        assert call(client, "GET", "errors").status == 401
        assert call(client, "GET", "errors", X_Service_Token="service-key-0123456789").status == 200

    @pytest.fixture
    def client(self, mount: Mount) -> Client:
        return mount(identity=lambda request, application: None, config={"host.agent_token": AGENT})

    @pytest.mark.parametrize("headers", [{"X_Service_Agent_Token": AGENT}, {"Authorization": f"bearer {AGENT}"}])
    def test_the_agent_is_an_editor(self, client: Client, headers: dict[str, str]) -> None:
        assert call(client, "POST", "issues", {"title": "x"}, **headers).status == 201
        assert call(client, "GET", "error&id=1", **headers).json["status_history"][0]["actor"] == "agent"
        assert call(client, "POST", "plugins", {"id": "x", "enabled": True}, **headers).status == 403

    def test_its_role_is_a_setting(self, mount: Mount) -> None:
        config = {"host": {"agent_token": AGENT, "agent_role": "viewer"}}
        client = mount(identity=lambda request, application: None, config=config)
        assert call(client, "GET", "errors", X_Service_Agent_Token=AGENT).status == 200
        assert call(client, "POST", "issues", {"title": "x"}, X_Service_Agent_Token=AGENT).status == 403

    @pytest.mark.parametrize("header", ["X_Service_Agent_Token", "Authorization"])
    def test_a_wrong_one(self, client: Client, header: str) -> None:
        wrong = "Bearer wrong" if header == "Authorization" else "wrong"
        assert call(client, "GET", "errors", **{header: wrong}).status == 401

    def test_a_wrong_one_never_means_the_person(self, mount: Mount) -> None:
        client = mount(identity=signed_in("owner"), config={"host.agent_token": AGENT})
        assert call(client, "GET", "errors", X_Service_Agent_Token="wrong").status == 401
        assert call(client, "GET", "errors").status == 200

    def test_guessing_is_throttled(self, client: Client) -> None:
        for number in range(21):
            assert call(client, "GET", "errors", X_Service_Agent_Token=f"wrong {number}").status == 401
        answer = call(client, "GET", "errors", X_Service_Agent_Token="another")
        assert answer.status == 429 and int(answer.headers["retry-after"]) >= 1

    def test_without_an_agent_key_the_header_means_nothing(self, mount: Mount) -> None:
        client = mount(identity=lambda request, application: None)
        for token in ("anything", AGENT):
            assert call(client, "GET", "errors", X_Service_Agent_Token=token).status == 401
            assert call(client, "GET", "errors", Authorization=f"Bearer {token}").status == 401
        assert call(client, "GET", "errors", X_Service_Agent_Token="").status == 401

    @pytest.mark.parametrize("key", ["   ", "k y", "ä" * 20])
    def test_an_unusable_one_stops_the_start(self, fresh_data: Path, key: str) -> None:
        with pytest.raises(ConfigurationError, match=r"host\.agent_token"):
            create_wsgi(data=fresh_data, identity=signed_in("owner"), config={"host.agent_token": key})


class TestAssignment:
    PEOPLE: tuple[dict[str, Any], ...] = ({"id": "7", "label": "Ana"}, {"id": 8})

    @pytest.fixture
    def client(self, mount: Mount) -> Client:
        asked: list[Any] = []

        def people(request: Any, application: str) -> Any:
            asked.append(application)
            return self.PEOPLE if application == "default" else []

        client = mount(identity=signed_in("owner", label="Bo"), assignable_users=people)
        client.post("issues", {"title": "x"})
        return client

    def test_the_list(self, client: Client) -> None:
        assert client.get("assignable-users").json == {"data": [{"id": "7", "label": "Ana"}, {"id": "8", "label": "8"}]}
        add_application(client.service, "Portal")
        assert client.get("assignable-users", app="portal").json == {"data": []}

    def test_assigning(self, client: Client) -> None:
        answer = client.post("assign-issue", {"id": 1, "assigned_to_id": "7", "assigned_to_label": "Someone else"})
        assert answer.json == {"id": 1, "assigned_to_id": "7", "assigned_to_label": "Ana"}
        shown = client.get("error", id=1).json
        assert (shown["data"]["assigned_to_id"], shown["data"]["assigned_to_label"]) == ("7", "Ana")
        row = shown["status_history"][0]
        assert (row["event"], row["actor"], row["note"]) == ("assignment", "Bo", "Assigned to Ana")
        assert client.get("errors", assignee="7").json["meta"]["total"] == 1
        assert client.get("errors", assignee="none").json["meta"]["total"] == 0
        again = client.post("assign-issue", {"id": 1, "assigned_to_id": " 7 "})
        assert again.json["assigned_to_id"] == "7"
        assert len(client.get("error", id=1).json["status_history"]) == 2, "nothing changed, nothing noted"

    @pytest.mark.parametrize("nobody", [{"assigned_to_id": None}, {"assigned_to_id": "  "}, {}])
    def test_unassigning(self, client: Client, nobody: dict[str, Any]) -> None:
        client.post("assign-issue", {"id": 1, "assigned_to_id": "7"})
        assert client.post("assign-issue", {"id": 1, **nobody}).json["assigned_to_id"] is None
        history = client.get("error", id=1).json["status_history"]
        assert [row["note"] for row in history[:2]] == ["Unassigned", "Assigned to Ana"]

    def test_who_is_not_in_the_list(self, client: Client) -> None:
        answer = client.post("assign-issue", {"id": 1, "assigned_to_id": "9"})
        assert answer.status == 422 and answer.error.startswith("assigned_to_id:")
        assert client.get("error", id=1).json["data"]["assigned_to_id"] is None

    def test_unknown_issue(self, client: Client) -> None:
        assert client.post("assign-issue", {"id": 99, "assigned_to_id": "9"}).status == 404
        assert client.post("assign-issue", {"assigned_to_id": "7"}).status == 422

    def test_bulk(self, client: Client) -> None:
        client.post("issues", {"title": "y"})
        answer = client.post("bulk-issues", {"action": "assign", "ids": [1, 2], "assigned_to_id": "7"})
        assert (answer.json["assigned_to_label"], answer.json["updated"]) == ("Ana", 2)
        assert client.get("errors", assignee="7").json["meta"]["total"] == 2
        refused = client.post("bulk-issues", {"action": "assign", "ids": [1, 2], "assigned_to_id": "9"})
        assert refused.status == 422

    @pytest.mark.parametrize("found", [None, [{"label": "x"}], ["ana"], [{"id": ""}]])
    def test_nonsense_is_an_error_of_the_host(self, mount: Mount, found: Any) -> None:
        client = mount(identity=signed_in("owner"), assignable_users=lambda request, application: found)
        assert client.get("assignable-users").status == 500

    def test_without_the_list_nothing_is_stored(self, mount: Mount) -> None:
        """As standalone: 200 with nulls, no history row; unknown id 404."""
        client = mount(identity=signed_in("owner"))
        client.post("issues", {"title": "x"})
        assert client.get("assignable-users").json == {"data": []}
        answer = client.post("assign-issue", {"id": 1, "assigned_to_id": "7", "assigned_to_label": "Ana"})
        assert answer.json == {"id": 1, "assigned_to_id": None, "assigned_to_label": None}
        assert len(client.get("error", id=1).json["status_history"]) == 1
        assert client.post("assign-issue", {"id": 99, "assigned_to_id": "7"}).status == 404
        assert client.post("assign-issue", {"id": 1, "assigned_to_id": "x" * 201}).status == 422


class TestMounting:
    """Below a prefix, with the host's headers, in the host's processes."""

    def test_below_a_prefix(self, mount: Mount) -> None:
        client = mount(identity=signed_in("viewer"))
        page = client.request("GET", "/", SCRIPT_NAME="/tools/logs")
        assert page.status == 200 and 'src="static/' in page.text, "links are relative"
        bare = client.request("GET", "", SCRIPT_NAME="/tools/logs")
        assert (bare.status, bare.headers["location"]) == (308, "/tools/logs/")
        asset = page.text.split('src="')[1].split('"')[0]
        assert client.request("GET", f"/{asset}", SCRIPT_NAME="/tools/logs").status == 200

    def test_security_headers_are_the_hosts_business(self, mount: Mount) -> None:
        headers = mount().get("errors").headers
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
        assert not {"content-security-policy", "x-frame-options", "referrer-policy"} & headers.keys()
        assert "set-cookie" not in headers

    def test_unless_they_are_switched_on(self, mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = mount(config={"security.headers_enabled": True}).get("errors").headers
        monkeypatch.setenv("SERVICE_SECURITY_HEADERS_ENABLED", "true")
        assert "content-security-policy" in asked
        assert "content-security-policy" in mount().get("errors").headers

    def test_cross_origin_protection_stays_on(self, mount: Mount) -> None:
        client = mount(identity=signed_in("owner"))
        assert call(client, "POST", "tags", {"name": "x"}, Origin="http://evil.example").status == 403
        assert call(client, "POST", "tags", {"name": "x"}, Origin="http://testserver").status == 201

    def test_jobs_run_from_the_first_request_on(self, mount: Mount) -> None:
        names = [thread.name for thread in threading.enumerate()]
        client = mount(jobs=True)
        assert [thread.name for thread in threading.enumerate()] == names
        assert client.get("health").status == 200
        assert "snaglist-host" in [thread.name for thread in threading.enumerate()]
        assert client.post("import-incoming", wait=True).json["status"] == "succeeded"

    def test_without_jobs_nothing_is_started(self, mount: Mount) -> None:
        client = mount()
        client.get("errors")
        assert "snaglist-host" not in [thread.name for thread in threading.enumerate()]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
    @pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
    def test_a_fork_has_a_service_of_its_own(self, mount: Mount) -> None:
        client = mount(jobs=True)
        client.post("issues", {"title": "of the parent"})
        receiving, sending = multiprocessing.Pipe(duplex=False)

        def child() -> None:
            made = client.post("issues", {"title": "of the child"}).status
            imported = client.post("import-incoming", wait=True).status
            sending.send((made, imported, client.get("errors").json["meta"]["total"]))

        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        assert receiving.poll(30), "the child does not answer"
        assert receiving.recv() == (201, 200, 2)
        process.join(30)
        assert process.exitcode == 0
        assert client.get("errors").json["meta"]["total"] == 2, "the parent goes on"

    def test_a_closed_one_opens_again(self, mount: Mount) -> None:
        client = mount()
        client.app.close()  # type: ignore[attr-defined]
        assert client.get("errors").status == 200

    def test_a_configuration_that_does_not_work_shows_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigurationError):
            create_wsgi(data=tmp_path, config={"auth.token": "   "})


def test_bulk_jobs_keep_the_name_of_the_person(mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
    """History names who asked, although a worker did it."""
    monkeypatch.setattr("snaglist.plugins.issues.bulk.handlers.MAX_ISSUES", 1)
    client = mount(identity=signed_in("editor"), jobs=True)
    client.post("issues", {"title": "x"})
    client.post("issues", {"title": "y"})
    body = {"action": "status", "filter": {}, "status": "fixed"}
    assert client.post("bulk-issues", body, wait=True).json["updated"] == 2
    with client.service.call().transaction(write=False) as db:
        rows = db.execute(tables.status_history.select().where(tables.status_history.c.event == "status")).all()
    assert {row.actor for row in rows} == {"Ana"}

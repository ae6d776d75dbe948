"""The conventions that the customer's document states, line by line.

`Issue-tracking log service: API conventions and tags API`: Base URL, the `app` parameter, Content types and
formats, Authentication, Cross-origin protection, Self-authenticating routes, Errors. Its tags sections have
tests of their own.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.plugins import Plugins
from snaglist.testing import Answer, Client, running_service

KEY = "test-key-0123456789abcdef"
CORE = [
    "applications", "modules", "summary", "sources", "errors", "groups", "error", "group", "tags",
    "ingestion-settings", "plugins",
]  # fmt: skip
WRITING = ["POST", "PATCH", "PUT", "DELETE"]
READING = ["GET", "HEAD", "OPTIONS"]


@pytest.fixture
def keyed(fresh_data: Path, installed: Plugins) -> Iterator[Client]:
    with running_service(fresh_data, jobs=False, plugins=installed, auth__token=KEY) as service:
        yield Client(service)


@pytest.fixture
def opened(fresh_data: Path, installed: Plugins) -> Iterator[Client]:
    with running_service(fresh_data, jobs=False, plugins=installed) as service:
        yield Client(service)


def ask(client: Client, method: str, url: str, headers: Mapping[str, str] | None = None, body: Any = None) -> Answer:
    content = b"" if body is None else json.dumps(body).encode()
    kind = {"Content-Type": "application/json"} if content else {}
    return client.request(method, url, content, {**kind, **(headers or {})})


# -- Base URL


def test_every_endpoint_is_a_query_string_on_the_deployment_root(opened: Client) -> None:
    assert ask(opened, "GET", "/?api=tags").status == 200
    assert ask(opened, "GET", "/tags").status == ask(opened, "GET", "/api/tags").status == 404


def test_paths_do_not_change_with_the_deployment(opened: Client) -> None:
    """The same query string answers the same below any mount point."""
    at_root = ask(opened, "GET", "/?api=tags")
    mounted = opened.request("GET", "/?api=tags", SCRIPT_NAME="/tools/logs")
    assert (mounted.status, mounted.json) == (at_root.status, at_root.json)


@pytest.mark.parametrize(
    ("config", "environ", "base"),
    [
        ({}, {"HTTP_HOST": "logs.example:8787"}, "http://logs.example:8787"),
        ({}, {"HTTP_HOST": "logs.example", "SCRIPT_NAME": "/logs"}, "http://logs.example/logs"),
        ({"server__url": "https://canon.example/x/"}, {"HTTP_HOST": "backend:1"}, "https://canon.example/x"),
    ],
)
def test_base_url(
    fresh_data: Path, installed: Plugins, config: dict[str, str], environ: dict[str, str], base: str
) -> None:
    """Derived from the host the request arrived on; `SERVICE_URL` pins it."""
    seen: list[str] = []
    with running_service(fresh_data, jobs=False, plugins=installed, **config) as service:
        client = Client(service)
        endpoint, _ = service.endpoints()["health"]
        original = endpoint.get.handler  # type: ignore[union-attr]
        object.__setattr__(endpoint.get, "handler", lambda call: seen.append(call.base_url) or original(call))
        try:
            assert client.request("GET", "/?api=health", **environ).status == 200
        finally:
            object.__setattr__(endpoint.get, "handler", original)
    assert seen == [base]


def test_service_url_is_empty_by_default(opened: Client) -> None:
    assert opened.service.settings["server.url"] == ""


# -- The app parameter


def test_app_selects_the_application_and_the_first_is_the_default(opened: Client) -> None:
    opened.post("applications", {"name": "Second"})
    opened.post("tags", {"name": "of the second"}, app="second")
    assert [tag["name"] for tag in opened.get("tags", app="second").json["data"]] == ["of the second"]
    for first in ("", "&app=", "&app=default"):
        assert ask(opened, "GET", f"/?api=tags{first}").json["data"] == []


def test_app_does_not_apply_to_applications(opened: Client) -> None:
    assert ask(opened, "GET", "/?api=applications&app=nope").status == 200


@pytest.mark.parametrize("app", ["*", "all", "default,second", "%25", "nope", "DEFAULT", " default"])
def test_there_is_no_cross_application_value(opened: Client, app: str) -> None:
    answer = ask(opened, "GET", f"/?api=tags&app={app}")
    assert (answer.status, answer.error) == (422, "Unknown application.")


# -- Content types and formats


@pytest.mark.parametrize("url", ["/?api=tags", "/?api=nope", "/?api=tags&app=nope", "/nope", "/?api=tags&a=1&a=2"])
def test_responses_are_json_on_success_and_on_error(opened: Client, url: str) -> None:
    answer = ask(opened, "GET", url)
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert isinstance(answer.json, dict)


@pytest.mark.parametrize("method", WRITING)
def test_request_bodies_are_json(opened: Client, method: str) -> None:
    body = b'{"id":1,"name":"x"}'
    assert opened.request(method, "/?api=tags", body).status == 415
    assert opened.request(method, "/?api=tags", body, {"Content-Type": "text/plain"}).status == 415
    assert opened.request(method, "/?api=tags", body, {"Content-Type": "application/json"}).status in (201, 200, 404)


def test_timestamps_are_utc_in_one_form(opened: Client) -> None:
    made = opened.post("tags", {"name": "x"}).json
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", made["created_at"])


@pytest.mark.parametrize(("text", "status"), [("true", 200), ("false", 200), ("1", 200), ("0", 200), ("yes", 422)])
def test_booleans_in_query_values(opened: Client, text: str, status: int) -> None:
    assert ask(opened, "GET", f"/?api=errors&has_stack={text}").status == status


# -- Authentication


def test_without_a_key_the_api_is_unauthenticated(opened: Client) -> None:
    assert ask(opened, "GET", "/?api=tags").status == 200
    assert ask(opened, "GET", "/?api=tags", {"X-Service-Token": "anything"}).status == 200


@pytest.mark.parametrize("api", CORE)
def test_with_a_key_every_request_must_present_it(keyed: Client, api: str) -> None:
    assert ask(keyed, "GET", f"/?api={api}").status == 401
    assert ask(keyed, "GET", f"/?api={api}", {"X-Service-Token": KEY}).status in (200, 422)


@pytest.mark.parametrize("headers", [{"X-Service-Token": KEY}, {"Authorization": f"Bearer {KEY}"}])
def test_the_key_is_sent_in_either_header(keyed: Client, headers: dict[str, str]) -> None:
    assert ask(keyed, "GET", "/?api=tags", headers).status == 200


def test_a_missing_or_wrong_key_yields_401(keyed: Client) -> None:
    answers = [
        ask(keyed, "GET", "/?api=tags", {"X-Service-Token": key} if key else {}) for key in ("", "wrong", KEY + "x")
    ]
    assert [answer.status for answer in answers] == [401, 401, 401]
    assert len({answer.error for answer in answers}) == 1


@pytest.mark.parametrize("method", [*READING, *WRITING])
@pytest.mark.parametrize("api", ["tags", "issue-tags"])
def test_the_tags_endpoints_require_the_key(keyed: Client, api: str, method: str) -> None:
    assert ask(keyed, method, f"/?api={api}").status == 401


# -- Cross-origin protection


@pytest.mark.parametrize("method", WRITING)
def test_a_foreign_origin_may_not_write(opened: Client, method: str) -> None:
    answer = ask(opened, method, "/?api=tags", {"Origin": "https://evil.example"}, {"id": 1, "name": "x"})
    assert answer.status == 403 and answer.error


@pytest.mark.parametrize("method", WRITING)
@pytest.mark.parametrize("origin", [None, "", "http://testserver"])
def test_own_and_no_origin_pass(opened: Client, method: str, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    assert ask(opened, method, "/?api=tags", headers, {"id": 1, "name": "x"}).status in (200, 201, 404)


@pytest.mark.parametrize("method", READING)
def test_reading_is_never_checked_for_its_origin(opened: Client, method: str) -> None:
    assert ask(opened, method, "/?api=tags", {"Origin": "https://evil.example"}).status in (200, 204)


# -- Self-authenticating routes


def test_health_needs_no_key_and_shows_only_facts(keyed: Client) -> None:
    answer = ask(keyed, "GET", "/?api=health", {"Origin": "https://evil.example"})
    assert answer.status == 200
    assert set(answer.json) == {"status", "checks", "config_warnings", "versions"}
    assert all(isinstance(value, bool) for value in answer.json["checks"].values())
    assert all(isinstance(value, str) for value in answer.json["versions"].values())
    assert KEY not in answer.text and str(keyed.service.settings.data) not in answer.text


def test_every_other_endpoint_goes_through_the_normal_key_check(keyed: Client) -> None:
    exempt = {"health", "ingest", "tracker-webhook"}
    endpoints = keyed.service.endpoints()
    assert {name for name, (endpoint, _) in endpoints.items() if endpoint.authenticate} <= exempt
    for name in set(endpoints) - exempt:
        for method in (*READING, *WRITING):
            assert ask(keyed, method, f"/?api={name}").status == 401, (name, method)


# -- Errors


@pytest.mark.parametrize(
    ("method", "url", "body", "status"),
    [
        ("POST", "/?api=tags", {"name": ""}, 422), ("POST", "/?api=tags", {"name": "x", "color": "red"}, 422),
        ("POST", "/?api=tags", {"name": "x", "icon": "No"}, 422), ("POST", "/?api=tags", {"name": "x" * 81}, 422),
        ("DELETE", "/?api=tags", {"id": 99}, 404), ("PUT", "/?api=tags", {"id": 99, "name": "x"}, 404),
        ("DELETE", "/?api=tags", {"id": 0}, 422), ("POST", "/?api=issue-tags", {"tag_id": 1}, 422),
        ("POST", "/?api=issue-tags", {"group_id": 1}, 422), ("GET", "/?api=nope", None, 404),
        ("PUT", "/?api=summary", None, 405),
    ],
)  # fmt: skip
def test_every_failure_is_the_envelope(opened: Client, method: str, url: str, body: Any, status: int) -> None:
    answer = ask(opened, method, url, body=body)
    assert answer.status == status
    assert list(answer.json) == ["error"] and isinstance(answer.json["error"], str) and answer.json["error"]
    assert answer.headers["content-type"].startswith("application/json")


def test_a_plugin_endpoint_is_404_while_its_plugin_is_disabled(opened: Client) -> None:
    for name, (_, plugin) in opened.service.endpoints().items():
        if plugin and not plugin.core:
            assert ask(opened, "GET", f"/?api={name}").status == 404, name
    assert ask(opened, "GET", "/?api=access-analytics").status == 404

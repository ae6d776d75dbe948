"""An id or filter that is null, empty, misspelt or in the wrong place is a mistake, never a wish for everything."""

from typing import Any

import pytest

from snaglist.testing import Client

NOTHING: tuple[Any, ...] = (None, "", [], {}, 0, False)
# Operations of which a field chooses on what they act, and which act on everything when it is left out.
CHOOSING: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "connectors-sync": ({}, ("id", "snapshot", "snapshots")),
    "connectors-preview": ({}, ("id",)),
    "connectors-test": ({}, ("id",)),
    "reindex": ({}, ("source_id", "module_id")),
    "delete-logs": ({"confirmation": "DELETE LOGS"}, ("date", "source_id")),
    "tracker-sync": ({}, ("action", "ids")),
    "alert-test": ({}, ("id", "rule_id")),
    "jobs": ({"action": "cancel"}, ("id",)),
    "bulk-issues": ({"action": "delete", "confirmation": "DELETE ISSUES"}, ("ids", "filter")),
}


@pytest.fixture
def client(sqlite_client: Client) -> Client:
    """A client of a service where every plugin is on and there is an issue."""
    for plugin in sqlite_client.get("plugins").json["data"]:
        sqlite_client.post("plugins", {"id": plugin["id"], "enabled": True})
    assert sqlite_client.post("issues", {"title": "Broken"}).status == 201
    return sqlite_client


def untouched(client: Client) -> bool:
    kinds = {job["kind"] for job in client.get("jobs").json["data"]}
    asked = {"connectors_sync", "reindex", "delete_logs", "tracker_sync", "bulk_issues"}
    return not kinds & asked and len(client.get("errors").json["data"]) == 1


@pytest.mark.parametrize("api", CHOOSING)
def test_what_chooses_is_not_nothing(client: Client, api: str) -> None:
    body, names = CHOOSING[api]
    for name in names:
        for value in NOTHING:
            if (name, value) in (("filter", {}), ("snapshots", {})):  # everything, said on purpose; none are expected
                continue
            answer = client.post(api, {**body, name: value})
            assert (answer.status, answer.error.split(":")[0]) == (422, name), (value, answer.text)
    assert untouched(client)


@pytest.mark.parametrize("api", CHOOSING)
def test_what_chooses_belongs_in_the_body(client: Client, api: str) -> None:
    body, names = CHOOSING[api]
    for name in names:
        for value in ("1", ""):
            answer = client.post(api, body, **{name: value})
            assert answer.status == 422, (name, answer.text)
            assert f"{name}: must be in the body, not in the query" in answer.error
    assert untouched(client)


@pytest.mark.parametrize("api", ["connectors-sync", "connectors-preview", "reindex", "tracker-sync"])
def test_a_misspelt_choice_is_no_wish_for_everything(client: Client, api: str) -> None:
    for name in ("ID", "ident", "source", "connector_id"):
        answer = client.post(api, {name: 1})
        assert (answer.status, answer.error) == (422, f"{name}: is not a known field")
    assert untouched(client)


FILTERS = ("q", "severity", "status", "origin", "kind", "log_type", "tag", "module", "source", "environment", "release",
           "assignee", "date", "from", "to", "has_stack", "snoozed")  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
def test_a_blank_filter_finds_nothing_to_act_on(client: Client, name: str) -> None:
    for value in ("", "  ", " , ", None, [], [""] if name == "severity" else {}):
        body = {"action": "delete", "confirmation": "DELETE ISSUES", "filter": {name: value}}
        answer = client.post("bulk-issues", body)
        assert (answer.status, answer.error.startswith(f"filter.{name}")) == (422, True), (value, answer.text)
    assert client.get("errors", **{name: ""}).status == 200, "reading is as before"
    assert untouched(client)


def test_everything_is_asked_for_by_leaving_the_choice_out(client: Client) -> None:
    assert client.post("connectors-sync", {}).status == 200
    assert client.post("connectors-preview").json == {"results": [], "errors": []}
    assert client.post("reindex", {}).status == 202
    body = {"action": "status", "status": "fixed", "filter": {}}
    assert client.post("bulk-issues", body).json["ids"] == [1]


def test_a_pull_takes_no_ids(client: Client) -> None:
    """Without an action it is a pull, which is for all items: ids would be passed over."""
    settings = {"provider": "gitlab", "project": "1", "api_key": "k" * 20, "labels": ["bug"], "enabled": True}
    assert client.put("tracker-settings", settings).status == 200
    answer = client.post("tracker-sync", {"ids": [1]})
    assert (answer.status, answer.error.split(",")[0]) == (422, "ids: not with pull")

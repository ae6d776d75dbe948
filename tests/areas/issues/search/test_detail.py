"""One issue in full: `error` and `group`."""

from typing import Any

import pytest
from sqlalchemy import insert

from snaglist.plugins.issues import hookspecs, tables
from snaglist.plugins.issues.events import Event, ExceptionInfo, Frame
from snaglist.testing import Client

pytestmark = pytest.mark.servers

FRAMES = [
    {"function": "charge", "file": "app/orders.py", "line": 42, "column": None, "in_app": True},
    {"function": "send", "file": "/usr/lib/python3/site-packages/http.py", "line": 7, "column": None, "in_app": False},
]
EXCEPTIONS = [{"class": "GatewayTimeout", "message": "no answer", "frames": FRAMES}]  # as older versions stored them
NOTHING_MORE = {"context": None, "repeated": 0, "source_link": None}
SHOWN = [{**EXCEPTIONS[0], "frames": [{**frame, **NOTHING_MORE} for frame in FRAMES]}]
STACK = (
    "Traceback (most recent call last):\n"
    '  File "app/orders.py", line 42, in charge\n'
    "    send()\n"
    '  File "/usr/lib/python3/site-packages/http.py", line 7, in send\n'
    "    raise Timeout\n"
    "GatewayTimeout: no answer"
)


def full(client: Client, issue_id: int, **query: Any) -> dict[str, Any]:
    answer = client.get("error", id=issue_id, **query)
    assert answer.status == 200, answer.text
    return dict(answer.json)


def test_whole_answer(client: Client, rows: Any) -> None:
    """Every part, from rows that are known."""
    tag = rows.tag("Payments", updated_by="Ada")
    rows.source("/srv/log/app.log", family="app.log")
    event = {"at": "2026-01-03 10:00:00", "release": "v2", "server_name": "web-1", "context_preview": '{"order":1}'}
    issue_id = rows.issue(
        "Order 4711 failed",
        ["2026-01-01 08:00:00", {"at": "2026-01-03 09:00:00", "environment": "qa"}, event],
        message="Order 4711 failed: gateway timeout",
        stack=STACK,
        context='{"order":1}',
        exceptions=EXCEPTIONS,
        tags={tag: "rule"},
    )
    found = full(client, issue_id)
    (listed,) = client.get("errors").json["data"]
    samples = {name: found["data"][name] for name in ("sample_message", "sample_stack", "sample_context")}
    assert found["data"] == {**listed, **samples}
    assert samples == {
        "sample_message": "Order 4711 failed: gateway timeout",
        "sample_stack": STACK,
        "sample_context": '{"order":1}',
    }
    newest, _, oldest = found["occurrences"]
    assert (newest["occurred_at"], oldest["occurred_at"]) == ("2026-01-03 10:00:00", "2026-01-01 08:00:00")
    assert (newest["group_id"], newest["grouping_id"]) == (issue_id, found["groupings"][0]["id"])
    assert (newest["release"], newest["server_name"], newest["event_id"]) == ("v2", "web-1", None)
    assert (newest["byte_start"], newest["byte_end"]) == (80, 120)
    assert (newest["path"], newest["log_type"], newest["channel"]) == ("/srv/log/app.log", "monolog", "app.log")
    assert (newest["provisional"], newest["truncated"], newest["context_preview"]) == (False, False, '{"order":1}')
    assert found["timeline"] == [{"day": "2026-01-01", "count": 1}, {"day": "2026-01-03", "count": 2}]
    assert found["tags"] == [
        {
            "id": tag,
            "name": "Payments",
            "color": "#64748b",
            "icon": "tag",
            "created_at": "2026-01-01 00:00:00",
            "created_by": "Local",
            "updated_by": "Ada",
            "source": "rule",
        }
    ]
    (grouping,) = found["groupings"]
    assert grouping["parts"] == {"module": None, "family": "text", "template": "Order 4711 failed"}
    assert (grouping["key"], grouping["count"]) == ("-|text|Order 4711 failed", 3)
    assert found["exceptions"] == SHOWN
    assert found["facets"] == {
        "environment": [{"value": "production", "count": 2}, {"value": "qa", "count": 1}],
        "release": [{"value": "v2", "count": 1}],
        "channel": [{"value": "app.log", "count": 3}],
        "host": [],
        "user": [],
        "source": [{"value": "/srv/log/app.log", "count": 3}],
    }
    assert found["suggestions"] == []
    assert found["meta"] == {
        **{"total": 3, "total_occurrences": 3, "page": 1, "limit": 100, "pages": 1, "next_cursor": None},
        **{"skip_vendor": False, "include_context": True},
    }
    group = client.get("group", id=issue_id).json
    assert group.pop("group") == found.pop("data")
    assert group.pop("meta").pop("limit") == 500
    found.pop("meta")
    assert group == found


def test_ids(client: Client, rows: Any) -> None:
    """Missing or below 1 → 422, unknown → 404, merged → the target."""
    issue_id = rows.issue("target")
    rows.insert("issue_aliases", old_id=99, issue_id=issue_id)
    for api in ("error", "group"):
        assert client.get(api).status == 422
        assert client.get(api, id=0).status == 422
        assert client.get(api, id="x").status == 422
        assert client.get(api, id=999999).status == 404
        assert client.get(api, id=9223372036854775807).status == 404
        assert client.get(api, id=9223372036854775808).status == 422
    assert full(client, 99)["data"]["id"] == issue_id
    assert full(client, 99)["status_history"] == []


def test_history_newest_first(client: Client, rows: Any) -> None:
    issue_id = rows.issue("a")
    shared = {"issue_id": issue_id, "note": "n", "actor": "Local"}
    first = {"event": "status", "from_status": "open", "to_status": "fixed", "created_at": "2026-01-02 12:00:00"}
    second = {"event": "edit", "from_status": None, "to_status": None, "created_at": "2026-01-02 12:00:00"}
    old = rows.insert("status_history", **shared, **first)
    new = rows.insert("status_history", **{**shared, "note": None, "actor": None}, **second)
    assert full(client, issue_id)["status_history"] == [
        {"id": new, "group_id": issue_id, "note": None, "actor": None, **second},
        {"id": old, "group_id": issue_id, "note": "n", "actor": "Local", **first},
    ]


def test_occurrences_by_page_and_by_cursor(client: Client, rows: Any) -> None:
    """Both ways give the same order; `total` is null in cursor mode, `total_occurrences` never."""
    issue_id = rows.issue("a", [f"2026-01-03 10:00:0{n % 3}" for n in range(11)])
    first = full(client, issue_id, limit=4)
    assert first["meta"]["pages"] == 3
    walked, cursor = [row["id"] for row in first["occurrences"]], first["meta"]["next_cursor"]
    while cursor:
        part = full(client, issue_id, limit=4, cursor=cursor)
        meta = part["meta"]
        assert (meta["total"], meta["page"], meta["pages"], meta["total_occurrences"]) == (None, None, None, 11)
        walked += [row["id"] for row in part["occurrences"]]
        cursor = meta["next_cursor"]
    pages = [row["id"] for page in (1, 2, 3) for row in full(client, issue_id, limit=4, page=page)["occurrences"]]
    assert walked == pages and len(set(pages)) == 11
    rows_newest = full(client, issue_id)["occurrences"]
    assert rows_newest == sorted(rows_newest, key=lambda row: (row["occurred_at"], row["id"]), reverse=True)
    other = rows.issue("b")
    cursor = first["meta"]["next_cursor"]
    assert client.get("error", id=other, cursor=cursor).status == 422
    assert client.get("error", id=issue_id, cursor="abc").status == 422
    assert client.get("error", id=issue_id, cursor=cursor, page=1).status == 422
    assert client.get("error", id=issue_id, limit=501).status == 422
    assert full(client, issue_id, page=5)["occurrences"] == []


def test_context_can_be_left_out(sqlite_client: Client, sqlite_rows: Any) -> None:
    """No `sample_context`, no `context_preview`."""
    issue_id = sqlite_rows.issue("a", [{"at": "2026-01-03 10:00:00", "context_preview": "{}"}], context="{}")
    found = full(sqlite_client, issue_id, include_context=False)
    assert "sample_context" not in found["data"] and found["data"]["sample_message"] == "a"
    assert "context_preview" not in found["occurrences"][0]
    assert found["meta"]["include_context"] is False


def test_library_frames_can_be_left_out(sqlite_client: Client, sqlite_rows: Any) -> None:
    """From `sample_stack` wherever it is shown, never from `exceptions`."""
    issue_id = sqlite_rows.issue("a", stack=STACK, exceptions=EXCEPTIONS)
    own = STACK.replace('  File "/usr/lib/python3/site-packages/http.py", line 7, in send\n    raise Timeout\n', "")
    assert own != STACK
    found = full(sqlite_client, issue_id, skip_vendor=True)
    assert found["data"]["sample_stack"] == own
    assert found["exceptions"] == SHOWN
    assert found["meta"]["skip_vendor"] is True
    group = sqlite_client.get("groups", skip_vendor=True).json
    assert group["items"][0]["sample_stack"] == own and group["meta"]["skip_vendor"] is True
    errors = sqlite_client.get("errors", skip_vendor=True, include_stack=True).json
    assert errors["data"][0]["sample_stack"] == own
    assert "exceptions" not in errors["data"][0]
    assert "sample_stack" not in sqlite_client.get("errors", skip_vendor=True).json["data"][0]


def test_manual_issue(client: Client, rows: Any) -> None:
    """A fingerprint but no groupings, no occurrences, no exceptions."""
    issue_id = rows.manual("Write the docs", "2026-01-03 10:00:00", stored_occurrences=0)
    found = full(client, issue_id)
    assert (found["occurrences"], found["groupings"], found["timeline"], found["exceptions"]) == ([], [], [], [])
    assert found["data"]["sample_message"] == "Write the docs"
    assert (found["meta"]["total"], found["meta"]["pages"]) == (0, 0)
    assert found["data"]["fingerprint_version"] == 1


def test_facets_show_twenty_values(sqlite_client: Client, sqlite_rows: Any) -> None:
    """At most 20 values each, most frequent first."""
    events = [{"at": "2026-01-03 10:00:00", "release": f"v{n:02}"} for n in range(25)]
    issue_id = sqlite_rows.issue("a", [*events, {"at": "2026-01-03 10:00:00", "release": "v24"}])
    releases = full(sqlite_client, issue_id)["facets"]["release"]
    assert len(releases) == 20
    assert releases[:2] == [{"value": "v24", "count": 2}, {"value": "v00", "count": 1}]


def test_pushed_events_show_their_length_as_range(sqlite_client: Client, sqlite_rows: Any) -> None:
    """The columns of a pushed event hold its number; answers show 0 and the length."""
    path = "http-ingest/-/api"
    sqlite_rows.source(path, log_type="http", channel="api")
    issue_id = sqlite_rows.issue("a", ["2026-01-03 10:00:00", {"at": "2026-01-03 10:00:01", "path": path}])
    newest, other = full(sqlite_client, issue_id)["occurrences"]
    assert (newest["path"], newest["byte_start"], newest["byte_end"]) == (path, 0, 40)
    assert (other["byte_start"], other["byte_end"]) == (0, 40)


class TestOneOccurrence:
    """`occurrence=`: the texts of that event instead of the sample."""

    @pytest.fixture
    def issue(self, sqlite_rows: Any) -> tuple[int, list[int]]:
        events = [{"at": f"2026-01-03 10:00:0{n}", "context_preview": f"preview {n}"} for n in range(2)]
        issue_id = sqlite_rows.issue("a", events, stack=STACK, exceptions=EXCEPTIONS, context="of the sample")
        client = Client(sqlite_rows.service)
        return issue_id, [row["id"] for row in full(client, issue_id)["occurrences"]]

    def test_sample(self, sqlite_client: Client, issue: tuple[int, list[int]]) -> None:
        issue_id, (sample, _) = issue
        assert full(sqlite_client, issue_id, occurrence=sample) == full(sqlite_client, issue_id)

    def test_unknown_or_of_another_issue(self, sqlite_client: Client, sqlite_rows: Any, issue: Any) -> None:
        issue_id, (sample, _) = issue
        other = sqlite_rows.issue("b")
        assert sqlite_client.get("error", id=issue_id, occurrence=999).status == 404
        assert sqlite_client.get("error", id=other, occurrence=sample).status == 404
        assert sqlite_client.get("error", id=issue_id, occurrence=0).status == 422

    def test_text_that_cannot_be_read_any_more(self, sqlite_client: Client, issue: tuple[int, list[int]]) -> None:
        """The texts of another event are never shown as its own."""
        issue_id, (_, other) = issue
        found = full(sqlite_client, issue_id, occurrence=other)
        assert (found["data"]["sample_message"], found["data"]["sample_stack"]) == (None, None)
        assert found["data"]["sample_context"] == "preview 0"
        assert found["exceptions"] == []
        assert found["data"]["title"] == "a"

    def test_read_back_by_an_area(
        self, sqlite_client: Client, issue: tuple[int, list[int]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        issue_id, (_, other) = issue
        asked: list[int] = []

        def read(call: Any, occurrence_id: int) -> Event:
            asked.append(occurrence_id)
            return Event("its own", exceptions=[ExceptionInfo("E", "m", [Frame("f", "a.py", 1)])], stack="at a.py:1")

        readers = [(None, lambda call, occurrence_id: None), (None, read)]
        plugins = sqlite_client.service.plugins
        calls = plugins.calls
        monkeypatch.setattr(
            plugins, "calls", lambda hook: readers if hook is hookspecs.read_occurrence else calls(hook)
        )
        found = full(sqlite_client, issue_id, occurrence=other)
        assert asked == [other]
        assert (found["data"]["sample_message"], found["data"]["sample_stack"]) == ("its own", "at a.py:1")
        assert found["data"]["sample_context"] is None
        assert found["exceptions"][0]["frames"] == [
            {"function": "f", "file": "a.py", "line": 1, "column": None, "in_app": True, **NOTHING_MORE}
        ]


def test_plugins_may_resolve_the_stack(
    sqlite_client: Client, sqlite_rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`stack_showing`: what the chain returns is shown, and what it was given is the sample."""
    issue_id = sqlite_rows.issue("a", [{"at": "2026-01-03 10:00:00", "release": "v9"}], stack="min.js:1", exceptions=[])
    given: list[Event] = []

    def chain(hook: Any, call: Any, value: Any, *rules: Any) -> Any:
        assert hook is hookspecs.stack_showing
        given.append(value)
        return Event(
            value.message, stack="orders.ts:7", exceptions=[ExceptionInfo("E", "", [Frame("f", "orders.ts", 7)])]
        )

    monkeypatch.setattr(sqlite_client.service.plugins, "chain", chain)
    found = full(sqlite_client, issue_id)
    assert (given[0].stack, given[0].release, given[0].occurred_at) == ("min.js:1", "v9", "2026-01-03 10:00:00")
    assert found["data"]["sample_stack"] == "orders.ts:7"
    assert found["exceptions"][0]["frames"][0]["file"] == "orders.ts"
    assert found["data"]["sample_context"] is None


def test_show_issue_works_inside_a_write(sqlite_service: Any, sqlite_rows: Any) -> None:
    """The answers of `issues` are built in the transaction that changed the issue."""
    from snaglist.plugins.issues.search.detail import show_issue

    issue_id = sqlite_rows.issue("a")
    call = sqlite_service.call()
    with call.transaction() as db:
        history = {"issue_id": issue_id, "event": "edit", "from_status": None, "to_status": None}
        db.execute(insert(tables.status_history), {**history, "note": None, "actor": None, "created_at": call.now})
        assert [entry["event"] for entry in show_issue(call, issue_id)["status_history"]] == ["edit"]

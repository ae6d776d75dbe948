"""What hooks of plugins hand back is checked: on failure the value stays and `last_error` says why."""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import true

from snaglist.kernel import Description, hookimpl, plugins
from snaglist.plugins.issues import AccessInfo, CodeContext, Event, ExceptionInfo, Frame, ListColumn, SearchField
from snaglist.testing import Client, running_service

LINE = "[2026-01-03 10:00:00] production.ERROR: "


@dataclass
class Point:
    """An entry point beside those that are installed."""

    module: Any
    name: str = "wrong"
    dist: None = None

    def load(self) -> Any:
        return self.module


class Site:
    """A client, and a plugin `wrong` whose hooks a test sets as it goes: `site.hooks["events_storing"] = …`."""

    def __init__(self, client: Client, hooks: dict[str, Callable[..., Any]]) -> None:
        self.client, self.hooks = client, hooks

    @property
    def last_error(self) -> Any:
        """What the last failure of the plugin was."""
        return next(p["last_error"] for p in self.client.get("plugins").json["data"] if p["id"] == "wrong")

    def titles(self) -> set[str]:
        """The titles of all issues."""
        return {issue["title"] for issue in self.client.get("errors", limit=100).json["data"]}

    def issue(self) -> int:
        """Make an issue by hand and return its id."""
        made: int = self.client.post("issues", {"title": "by hand"}).json["data"]["id"]
        return made


@pytest.fixture
def site(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path: Path, database_config: dict[str, str]
) -> Iterator[Site]:
    hooks: dict[str, Callable[..., Any]] = {}
    module = ModuleType("wrong")
    nothing = lambda value: None  # noqa: E731
    implementations = {
        "describe": lambda: Description("wrong", "Wrong", "made by a test", "Tests", "1.0"),
        "events_storing": lambda events: hooks.get("events_storing", nothing)(events),
        "stack_showing": lambda event: hooks.get("stack_showing", nothing)(event),
        "link_frames": lambda shown: hooks.get("link_frames", nothing)(shown),
        "issue_changed": lambda change: hooks.get("issue_changed", nothing)(change),
        "register_search_fields": lambda: [
            SearchField(
                "wrong_word",
                lambda call, value: true(),
                {"type": "string"},
                text=lambda call, value: hooks.get("text", nothing)(call),
            )
        ],
        "register_list_columns": lambda: [
            ListColumn("wrong_column", lambda call, ids: hooks.get("column", nothing)(ids) or {}, {"type": "integer"})
        ],
    }
    for name, function in implementations.items():
        setattr(module, name, hookimpl(function))
    installed = plugins.entry_points
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*installed(group=group), Point(module)])
    data = tmp_path / "data" if database_config else request.getfixturevalue("fresh_data")
    with running_service(data, **database_config) as service:
        client = Client(service)
        client.enable("wrong")
        yield Site(client, hooks)


def changed(**fields: Any) -> Callable[..., Any]:
    """Return a hook that gives the first event other fields, in place, as plugins do."""

    def hook(events: Any) -> Any:
        for name, value in fields.items():
            setattr(events[0], name, value)
        return events

    return hook


def changed_and_none(**fields: Any) -> Callable[..., Any]:
    hook = changed(**fields)
    return lambda events: hook(events) and None


def fails_half_way(events: Any) -> None:
    for event in events:
        event.message = "half done"
    raise RuntimeError("on purpose")


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "text": (lambda events: "abc", "events_storing() must return a list of Event, not str"),
    "number": (lambda events: 7, "events_storing() must return a list of Event, not int"),
    "generator": (lambda events: (event for event in events), "must return a list of Event, not generator"),
    "none inside": (lambda events: [None], "events_storing()[0] must be an Event, not NoneType"),
    "severity": (changed(severity="LOUD"), "[0].severity: must be one of EMERGENCY, ALERT"),
    "lower case": (changed(severity="error"), "must be one of"),
    "message": (changed(message=None), "events_storing()[0].message: must be str, not NoneType"),
    "iso time": (changed(occurred_at="2026-01-03T10:00:00Z"), "[0].occurred_at: must be like 2026-01-03 10:00:00"),
    "word as time": (changed(occurred_at="yesterday"), "occurred_at: must be like"),
    "no such day": (changed(occurred_at="2026-02-30 10:00:00"), "occurred_at: must be like"),
    "week": (changed(occurred_at="2026-W01-1 10:00:00"), "occurred_at: must be like"),
    "channel": (changed(channel=5), "channel: must be str, not int"),
    "long type": (changed(log_type="x" * 41), "log_type: must have at most 40 characters"),
    "release": (changed(release=1.5), "release: must be str or None, not float"),
    "tags": (changed(tags=["a", 1]), "tags: must hold texts, not int"),
    "tag text": (changed(tags="abc"), "tags: must be list or tuple, not str"),
    "place": (changed(byte_start=-1), "byte_end: must not lie before byte_start"),
    "other place": (changed(byte_start=3), "byte_start: must be that of an event that was given"),
    "twice": (lambda events: [*events, events[0]], "[2].byte_start: must be that of an event that was given"),
    "truth": (changed(byte_start=True), "byte_start: must be int, not bool"),
    "exceptions": (changed(exceptions=["E"]), "exceptions[0] must be an ExceptionInfo, not str"),
    "frames": (changed(exceptions=[ExceptionInfo("E", "", [None])]), "frames must hold Frame, not NoneType"),  # type: ignore[list-item]
    "line": (changed(exceptions=[ExceptionInfo("E", "", [Frame("f", "a", "7")])]), "frames.line: must be int or None"),  # type: ignore[arg-type]
    "access": (changed(access=AccessInfo("GET", "/", "200")), "access.status: must be int, not str"),  # type: ignore[arg-type]
    "half way": (fails_half_way, "RuntimeError: on purpose"),
    "in place": (changed_and_none(severity="LOUD"), "severity: must be one of"),
}


def test_events_storing_hands_back_what_is_no_event(site: Site) -> None:
    """Whatever it is, the import goes on with the events as they were, and the next good result clears the error."""
    words = iter(
        ("%x" % (number * 7919)).translate(str.maketrans("0123456789", "ghijklmnop")) for number in range(99, 999)
    )
    for name, (hook, message) in WRONG.items():
        first, second = f"Order {next(words)} failed", f"No stock of {next(words)}"
        site.hooks["events_storing"] = hook
        site.client.feed(f"{LINE}{first}\n{LINE}{second}\n", f"{name}.log")
        assert {first, second} <= site.titles(), name
        error = site.last_error
        assert error["hook"] == "events_storing", name
        assert message in error["message"], (name, error)
        site.hooks["events_storing"] = lambda events: None
        site.client.feed(f"{LINE}fine {name}\n", f"{name}-fine.log")
        assert site.last_error is None, name


def test_events_storing_may_change_in_place_and_leave_out(site: Site) -> None:
    def hook(events: Any) -> Any:
        events[0].message, events[0].severity, events[0].occurred_at = "changed", "CRITICAL", ""
        events[0].exceptions = (ExceptionInfo("E", "", [Frame("f", "a.py", 7)]),)
        return events[:-1]

    site.hooks["events_storing"] = hook
    read = site.client.feed(f"{LINE}Order failed\n{LINE}No stock\n{LINE}No money\n")
    assert site.titles() == {"changed", "No stock"}
    assert sum(read["by_type"].values()) == 2
    assert site.last_error is None
    site.hooks["events_storing"] = changed_and_none(message="in place")
    site.client.feed(f"{LINE}Order failed again\n", "b.log")
    assert site.titles() == {"changed", "No stock", "in place"}


def test_events_storing_hands_back_requests_of_access_logs(site: Site) -> None:
    """Their parser knows more of a request than its `AccessInfo` says."""
    site.hooks["events_storing"] = lambda events: events
    request = '203.0.113.7 - - [03/Jan/2026:10:00:00 +0000] "GET /pay HTTP/1.1" 500 12 "-" "curl/8.4"'
    site.client.feed(f"{request}\n", "access.log")
    assert site.titles() == {"GET /pay → 500"}
    assert site.last_error is None


def test_a_pushed_event_that_a_plugin_leaves_out_or_spoils(site: Site) -> None:
    """What is left out is not tried again; the answer counts what arrived."""
    site.client.enable("ingest")
    headers = {
        "X-Service-Ingest-Key": site.client.get("ingest-settings").json["key"],
        "Content-Type": "application/json",
    }

    def push(*messages: str) -> None:
        events = [{"message": message, "level": "error"} for message in messages]
        answer = site.client.request("POST", "/?api=ingest", json.dumps({"events": events}).encode(), headers)
        assert answer.status == 202, answer.text
        assert answer.json["accepted"] == len(messages)

    asked: list[int] = []
    site.hooks["events_storing"] = lambda events: asked.append(len(events)) or events[:1]
    push("Order failed", "No stock")
    assert (site.titles(), asked) == ({"Order failed"}, [2])
    site.hooks["events_storing"] = lambda events: []
    push("No money")
    site.hooks["events_storing"] = changed(byte_start=3)
    push("No answer")
    assert site.titles() == {"Order failed", "No answer"}
    assert "byte_start" in site.last_error["message"]


def test_stack_showing_hands_back_what_is_no_event(site: Site) -> None:
    """It is asked in a transaction that cannot write: the failure is in the log alone."""
    trace = "RuntimeError: no in /app/a.php:7\nStack trace:\n#0 /app/b.php(8): pay()\n#1 {main}"
    site.client.feed(f"{LINE}{trace}\n")
    (issue,) = site.client.get("errors").json["data"]
    before = site.client.get("error", id=issue["id"]).json
    wrong_frames = [ExceptionInfo("E", "m", [Frame(line="seven")])]  # type: ignore[arg-type]

    def spoils(event: Event) -> None:
        event.stack = "half done"
        for exception in event.exceptions:
            exception.frames.clear()
        raise RuntimeError("on purpose")

    for hook in (
        lambda event: 5,
        lambda event: [event],
        lambda event: replace(event, message=None),
        lambda event: replace(event, stack=b"bytes"),
        lambda event: replace(event, exceptions=wrong_frames),
        lambda event: replace(event, exceptions=5),
        spoils,
    ):
        site.hooks["stack_showing"] = hook
        assert site.client.get("error", id=issue["id"]).json == before
    site.hooks["stack_showing"] = lambda event: replace(event, stack="resolved")
    assert site.client.get("error", id=issue["id"]).json["data"]["sample_stack"] == "resolved"


@pytest.mark.parametrize(
    "context",
    ["a line", CodeContext(7), CodeContext("a", ["b"]), CodeContext("a", ("b",), (None,))],  # type: ignore[arg-type]
)
def test_code_of_a_frame_that_is_none(site: Site, context: Any) -> None:
    site.client.feed(f"{LINE}RuntimeError: no in /app/a.php:7\nStack trace:\n#0 {{main}}\n")
    (issue,) = site.client.get("errors").json["data"]
    before = site.client.get("error", id=issue["id"]).json
    coded = [ExceptionInfo("E", "m", [Frame("f", context=context)])]
    site.hooks["stack_showing"] = lambda event: replace(event, exceptions=coded)
    assert site.client.get("error", id=issue["id"]).json == before


def test_link_frames_hands_back_what_is_no_address(site: Site) -> None:
    site.client.feed(f"{LINE}RuntimeError: no in /app/a.php:7\nStack trace:\n#0 /app/b.php(8): pay()\n#1 {{main}}\n")
    (issue,) = site.client.get("errors").json["data"]

    def links() -> list[str | None]:
        (raised,) = site.client.get("error", id=issue["id"]).json["exceptions"]
        return [frame["source_link"] for frame in raised["frames"]]

    assert links() == [None, None]
    told: list[Any] = ["https://git.example.com/a.php", None]
    for wrong in (
        5,
        [],
        [told, told],
        [told[:1]],
        [["javascript:alert(1)", None]],
        [[7, None]],
        [["git.example.com", 7]],
    ):
        site.hooks["link_frames"] = lambda shown, wrong=wrong: wrong
        assert links() == [None, None]
    site.hooks["link_frames"] = lambda shown: [told]
    assert links() == told


# -- issue_changed

LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP


NO_OBJECTS: list[tuple[Any, str]] = [
    ({"x": object()}, "not JSON serializable"),
    ([1], "issue_changed() must return a JSON object or None, not list"),
    ("text", "must return a JSON object or None, not str"),
    (0, "must return a JSON object or None, not int"),
    ({1: "number"}, "must return a JSON object"),
    ({"x": math.nan}, "not JSON compliant"),
    (LOOP, "Circular reference"),
]


def test_issue_changed_hands_back_what_is_no_json_object(site: Site) -> None:
    """The change is made and answered, without the plugin's part."""
    issue_id = site.issue()
    for result, message in NO_OBJECTS:
        site.hooks["issue_changed"] = lambda change, result=result: result
        answer = site.client.post("issue-status", {"id": issue_id, "status": "fixed"})
        assert (answer.status, answer.json["status"]) == (200, "fixed"), message
        assert "wrong" not in answer.json, message
        error = site.last_error
        assert error["hook"] == "issue_changed" and message in error["message"], error
        answer = site.client.post("bulk-issues", {"action": "snooze", "ids": [issue_id], "count": 5})
        assert answer.status == 200 and "wrong" not in answer.json, message
        site.hooks["issue_changed"] = lambda change: {"pushed": [change.kind, None, 1.5]}
        answer = site.client.post("issue-status", {"id": issue_id, "status": "open"})
        assert answer.json["wrong"] == {"pushed": ["status", None, 1.5]}
        assert site.last_error is None


def test_a_search_word_that_fails_finds_nothing_by_its_text(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    """What people type is searched by the areas and by other plugins as ever."""
    site.issue()

    def unknown_table(call: Any) -> None:
        call.db.exec_driver_sql("SELECT * FROM nowhere")

    def leave(call: Any) -> None:
        raise SystemExit("on purpose")

    for fails in (unknown_table, leave, lambda call: "title LIKE 'x'", lambda call: 1 / 0):
        site.hooks["text"] = fails
        caplog.clear()
        for text, found in (("by hand", 1), ("elsewhere", 0)):
            assert len(site.client.get("errors", q=text).json["data"]) == found
        assert "search word wrong_word of plugin wrong failed" in caplog.text
    site.hooks["text"] = lambda call: true()
    assert len(site.client.get("errors", q="elsewhere").json["data"]) == 1


def test_a_column_that_has_no_value_shows_what_is_missing(site: Site) -> None:
    """Which the schemas of the answers take, also where that of a value knows no null."""
    issue_id = site.issue()
    for column, shown in ((lambda ids: {}, None), (lambda ids: 1 / 0, None), (lambda ids: {issue_id: 7}, 7)):
        site.hooks["column"] = column
        [issue] = site.client.get("errors").json["data"]
        assert issue["wrong_column"] == shown


def test_words_and_columns_are_looked_at_when_they_are_added(monkeypatch: pytest.MonkeyPatch, fresh_data: Path) -> None:
    """A column never takes the place of a field that every caller of the API counts on."""
    text = {"type": "string"}
    column, word = ListColumn("mine", lambda call, ids: {}, text), SearchField("mine", lambda call, value: true(), text)
    wrong: dict[str, tuple[str, Any, str]] = {
        "a": ("register_list_columns", replace(column, name="title"), "title: is a field of snaglist itself"),
        "b": ("register_list_columns", replace(column, name="sample_stack"), "is a field of snaglist itself"),
        "c": ("register_list_columns", replace(column, name="tags"), "listcolumn tags is registered already"),
        "d": ("register_list_columns", replace(column, heading=5), "mine: heading: must be a text, not 5"),  # type: ignore[arg-type]
        "e": ("register_list_columns", replace(column, values=None), "mine: values: must be a function"),  # type: ignore[arg-type]
        "f": ("register_search_fields", replace(word, text="mine"), "mine: text: must be a function"),  # type: ignore[arg-type]
        "g": ("register_search_fields", replace(word, name="severity"), "searchfield severity is registered already"),
        "h": ("register_search_fields", replace(word, name="page"), "page: is a parameter of snaglist itself"),
    }
    points = []
    for name, (hook, value, _) in wrong.items():
        module = ModuleType(name)
        vars(module)["describe"] = hookimpl(
            lambda name=name: Description(name, "Wrong", "made by a test", "Tests", "1")
        )
        setattr(module, hook, hookimpl(lambda value=value: [value]))
        points.append(Point(module, name))
    installed = plugins.entry_points
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*installed(group=group), *points])
    with running_service(fresh_data) as service:
        client = Client(service)
        client.feed(f"{LINE}Order failed\n")
        assert [issue["title"] for issue in client.get("errors").json["data"]] == ["Order failed"]
        shown = {found["id"]: found["last_error"] for found in client.get("plugins").json["data"]}
        for name, (hook, _, message) in wrong.items():
            assert shown[name]["hook"] == hook
            assert message in shown[name]["message"]

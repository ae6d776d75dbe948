"""The checker and the published schema give one verdict; whatever is sent, the checker ends."""

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from snaglist.plugins.ingest.checking import Unfit, check_event
from snaglist.plugins.issues import Event
from snaglist.plugins.issues.preparing import REDACTED_KEYS
from snaglist.plugins.logs import redacted_names
from snaglist.plugins.logs.pushing.document import document_of, event_of

SCHEMA = json.loads((files("snaglist.schemas") / "ingest" / "event.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)
NAMES = sorted(SCHEMA["properties"])
NOW = "2026-01-03 10:00:00"
REDACT = redacted_names(REDACTED_KEYS)

texts = st.text() | st.sampled_from(["", " ", "\t\n", "\u00a0", "\u2003", "\x1c", "\x1f", "\x85", "\0", "\ud800", "a"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
events = st.dictionaries(st.sampled_from(NAMES) | texts, values, max_size=8)
with_message = st.builds(lambda event, message: {**event, "message": message}, events, texts)


def verdict(event: Any) -> bool:
    try:
        check_event(event, NOW, REDACT)
    except Unfit:
        return False
    return True


@given(values | events | with_message)
def test_generated_events(event: Any) -> None:
    assert verdict(event) == VALIDATOR.is_valid(event)


GOOD: list[Any] = [
    {"message": "a"}, {"title": "a"}, {"message": None, "title": "a"}, {"message": "a", "title": 5},
    {"message": "a", "level": {}, "stack": 5, "context": [], "tags": "x", "fingerprint": [[1]], "timestamp": []},
]  # fmt: skip
BAD: list[Any] = [
    {}, {"message": ""}, {"message": " \n"}, {"message": 5}, {"message": ["a"]}, {"title": " "}, {"message": None},
    {"message": "", "title": "a"}, {"message": False, "title": "a"}, [], "message", None, 7, True,
]  # fmt: skip


@pytest.mark.parametrize(("event", "good"), [*((e, True) for e in GOOD), *((e, False) for e in BAD)], ids=str)
def test_known_events(event: Any, good: bool) -> None:
    assert verdict(event) is good
    assert VALIDATOR.is_valid(event) is good


@given(with_message)
def test_what_is_kept_gives_the_event_back(sent: dict[str, Any]) -> None:
    """Nothing that a database refuses is left in it, and reading it back is the same event."""
    try:
        pushed = check_event(sent, NOW, REDACT)
    except Unfit:
        return
    event = pushed.event
    document = document_of(event, pushed.raised)
    assert b"\\u0000" not in document and b"\\ud8" not in document
    again = event_of(document, event.preview or "")
    for name in ("message", "stack", "context", "fingerprint", "exceptions", "log_type"):
        assert getattr(again, name) == getattr(event, name), name
    assert len(event.channel) <= 120 and event.environment and len(event.environment) <= 100
    if event.context:
        assert isinstance(json.loads(event.context), dict)


@pytest.mark.parametrize(
    ("preview", "kept"),
    [('{"order":', "4711}"), ('{"order":4711}', ""), ("4711", '{"order":4711}'), (None, '{"order":4711}')],
)
def test_a_context_is_kept_behind_its_preview(preview: str | None, kept: str) -> None:
    """What the occurrence has is not kept again; a preview that is none of its beginning is no part of it."""
    event = Event("Order failed", context='{"order":4711}', preview=preview)
    document = document_of(event, None)
    assert document.split(b"\0")[2] == kept.encode()
    assert event_of(document, preview or "").context == event.context


def test_a_long_preview_is_no_part_of_the_context() -> None:
    """Its occurrence may have less of it."""
    event = Event("Order failed", context="a" * 20_000, preview="a" * 20_000)
    assert event_of(document_of(event, None), "a" * 12_000).context == event.context

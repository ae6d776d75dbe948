"""Any lines are stored, counted, learned from and shown, whatever they hold."""

import itertools
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snaglist.plugins.issues import Event, tables
from snaglist.plugins.issues.learning.tables import learned_later
from snaglist.testing import Client

pytestmark = pytest.mark.servers

WORDS = st.one_of(
    st.sampled_from(
        ["59:Job-Load-21", "text/plain;", "(pack:zip)", "<*>", "[VIP]Zed", "'red'", "a:b", "Anna Berg", "7"]
    ),
    st.text(alphabet="ab7AZ:/[]();.,-_'\"$<*>= \x00\ud800\u00e9\u4e2d\u200b\U0001f642", min_size=1, max_size=12),
)
TURNS = [
    "SwitchPoller",
    "StockWatcher",
    "web-fra",
    "db07",
    "Anna",
    "Ben",
    "x2go",
    "k:v",
    "https://h.io/a",
    "EUR",
    "failed",
]
FAMILIES = itertools.count()


@st.composite
def messages(draw: st.DrawFn) -> list[str]:
    """Draw sentences in which some places change."""
    chance = random.Random(draw(st.integers(0, 9999)))
    found = []
    for pieces in draw(st.lists(st.lists(st.none() | WORDS, min_size=1, max_size=6), min_size=1, max_size=3)):
        found += [
            " ".join(chance.choice(TURNS) if word is None else word for word in pieces)
            for _ in range(draw(st.sampled_from([1, 12, 40])))
        ]
    return found


def check(desk: Any, found: list[str], size: int) -> None:
    """Store messages in batches, as a family of their own, and look at the issues they made."""
    family = f"odd{next(FAMILIES)}"
    before = sum(row["count"] for row in desk.rows(tables.issues))
    stored = []
    for start in range(0, len(found), size):
        events = [
            Event(message, occurred_at="2026-01-03 10:00:00", family=family) for message in found[start : start + size]
        ]
        stored += desk.store(*events).stored
    assert len(stored) == len(found)
    assert sum(row["count"] for row in desk.rows(tables.issues)) == before + len(found)
    client = Client(desk.service)
    for issue_id in sorted({one.issue_id for one in stored})[:5]:
        assert client.get("error", id=issue_id).status == 200
    assert desk.rows(learned_later) == []
    desk.check_counters()


@settings(max_examples=15)
@given(found=messages(), size=st.integers(1, 60))
def test_any_lines_are_stored_and_shown(sqlite_desk: Any, found: list[str], size: int) -> None:
    check(sqlite_desk, found, size)


@settings(max_examples=4)
@given(found=messages(), size=st.integers(5, 60))
def test_any_lines_on_every_database(desk: Any, found: list[str], size: int) -> None:
    check(desk, found, size)


@pytest.mark.long
@settings(max_examples=400)
@given(found=messages(), size=st.integers(1, 60))
def test_very_many_lines_are_stored_and_shown(sqlite_desk: Any, found: list[str], size: int) -> None:
    check(sqlite_desk, found, size)

"""The life cycle of a tag on an issue, row by row of the contract's table."""

from typing import Any

import pytest
from sqlalchemy import insert

from snaglist.plugins.issues import Event
from snaglist.plugins.tags import tables as tag_tables
from snaglist.plugins.tags.assignments import attach_automatic, attach_by_hand, detach_by_hand

NOW = "2026-01-03 12:00:00"
LATER = "2026-01-04 12:00:00"
TAG = 3

REMOVED = "removal remembered"
STATES = ("none", "rule", "manual", "ingest", "tracker", REMOVED)


@pytest.fixture
def issue_id(desk: Any) -> int:
    row = {
        "id": TAG,
        "name": "Payments",
        "name_key": "payments",
        "color": "#64748b",
        "icon": "tag",
        "created_at": NOW,
        "updated_at": NOW,
    }
    with desk.call() as call:
        call.db.execute(insert(tag_tables.tags), [row, {**row, "id": TAG + 1, "name": "Other", "name_key": "other"}])
    found: int = desk.store(Event("Order 1 failed", occurred_at=NOW)).stored[0].issue_id
    return found


def put(desk: Any, issue_id: int, state: str) -> None:
    with desk.call() as call:
        if state == REMOVED:
            attach_automatic(call.db, [(issue_id, TAG)], "rule", now=NOW)
            detach_by_hand(call.db, [issue_id], TAG, now=NOW, label="Ana")
        elif state == "manual":
            attach_by_hand(call.db, [issue_id], TAG, now=NOW, label="Ana")
        elif state != "none":
            attach_automatic(call.db, [(issue_id, TAG)], state, now=NOW)


def state(desk: Any) -> str:
    attached, removed = desk.rows(tag_tables.issue_tags), desk.rows(tag_tables.tag_removals)
    assert len(attached) + len(removed) <= 1
    if removed:
        return REMOVED
    return str(attached[0]["source"]) if attached else "none"


@pytest.mark.parametrize("now", STATES)
def test_added_by_hand(desk: Any, issue_id: int, now: str) -> None:
    put(desk, issue_id, now)
    assert state(desk) == now
    with desk.call() as call:
        attach_by_hand(call.db, [issue_id, issue_id], TAG, now=LATER, label="Ben")
    assert state(desk) == "manual"
    (row,) = desk.rows(tag_tables.issue_tags)
    assert (row["created_at"], row["created_by"]) == ((NOW, "Ana") if now == "manual" else (LATER, "Ben"))


@pytest.mark.parametrize("now", STATES)
def test_removed_by_hand(desk: Any, issue_id: int, now: str) -> None:
    put(desk, issue_id, now)
    with desk.call() as call:
        detach_by_hand(call.db, [issue_id], TAG, now=LATER, label="Ben")
    assert state(desk) == ("none" if now == "none" else REMOVED)
    if now not in ("none", REMOVED):
        (row,) = desk.rows(tag_tables.tag_removals)
        assert (row["removed_at"], row["removed_by"]) == (LATER, "Ben")


@pytest.mark.parametrize("source", ["rule", "ingest", "tracker"])
@pytest.mark.parametrize("now", STATES)
def test_added_by_a_rule_a_sender_or_the_tracker(desk: Any, issue_id: int, now: str, source: str) -> None:
    put(desk, issue_id, now)
    with desk.call() as call:
        attach_automatic(call.db, [(issue_id, TAG), (issue_id, TAG)], source, now=LATER)
    assert state(desk) == (source if now == "none" else now)


def test_only_the_named_tag_is_meant(desk: Any, issue_id: int) -> None:
    other = desk.store(Event("Another thing", occurred_at=NOW)).stored[0].issue_id
    with desk.call() as call:
        attach_by_hand(call.db, [issue_id, other], TAG, now=NOW, label=None)
        attach_by_hand(call.db, [issue_id], TAG + 1, now=NOW, label=None)
        detach_by_hand(call.db, [issue_id], TAG, now=NOW, label=None)
        attach_automatic(call.db, [(issue_id, TAG), (other, TAG + 1)], "rule", now=NOW)
    found = {(row["issue_id"], row["tag_id"]) for row in desk.rows(tag_tables.issue_tags)}
    assert found == {(other, TAG), (issue_id, TAG + 1), (other, TAG + 1)}


@pytest.mark.servers
def test_more_pairs_than_one_statement_takes(desk: Any, issue_id: int) -> None:
    events = [Event("Order 1 failed", occurred_at=NOW, fingerprint=str(number)) for number in range(600)]
    issue_ids = sorted(desk.store(*events).new_issues)
    with desk.call() as call:
        attach_automatic(call.db, [(id_, TAG) for id_ in issue_ids], "rule", now=NOW)
        detach_by_hand(call.db, issue_ids[:550], TAG, now=NOW, label=None)
        attach_automatic(call.db, [(id_, TAG) for id_ in issue_ids], "rule", now=NOW)
        attach_by_hand(call.db, issue_ids[:510], TAG, now=NOW, label=None)
    assert [row["issue_id"] for row in desk.rows(tag_tables.issue_tags)] == issue_ids[:510] + issue_ids[550:]
    assert [row["issue_id"] for row in desk.rows(tag_tables.tag_removals)] == issue_ids[510:550]

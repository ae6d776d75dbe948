"""Learning while events are stored: on each of the three databases."""

import random
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from snaglist.plugins.issues import Event, change_status, resolve_issue_id, store_events, tables
from snaglist.plugins.issues.grouping import template
from snaglist.plugins.issues.learning import Model
from snaglist.plugins.issues.learning.tables import learned_slots, learned_templates
from snaglist.testing import Client

pytestmark = pytest.mark.servers

NAMES = [
    "anna",
    "ben",
    "carla",
    "dmitri",
    "elif",
    "farid",
    "grete",
    "hugo",
    "ines",
    "jonas",
    "kaya",
    "luca",
    "maria",
    "nils",
    "olga",
    "pavel",
]


ZONES = ["zone-north7", "zoneMid", "pier_4b"]


def event(message: str, second: int = 0, **more: Any) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{second // 60:02}:{second % 60:02}", **more)


def calendars(names: Iterable[str]) -> list[Event]:
    return [event(f"Holiday calendar of {name} loaded", second) for second, name in enumerate(names)]


def test_a_value_makes_one_issue_at_once(desk: Any) -> None:
    batch = desk.store(*calendars(NAMES))
    issue = desk.issue()
    assert issue["count"] == len(NAMES) and batch.new_issues == {issue["id"]}
    assert len(desk.rows(tables.groupings)) == len(NAMES)
    assert desk.rows(tables.issue_aliases) == [] and desk.history(issue["id"]) == []
    desk.check_counters()


def test_known_issues_become_one_and_the_oldest_keeps_its_triage(desk: Any) -> None:
    first = desk.store(*calendars(NAMES[:5])).stored
    ids = sorted({stored.issue_id for stored in first})
    assert len(ids) == 5
    with desk.call() as call:
        call.now = "2026-01-03 11:00:00"
        change_status(call, ids[0], "fixed")
        change_status(call, ids[2], "wont_fix")
    batch = desk.store(event("Holiday calendar of olga loaded", 30))
    issue = desk.issue()
    assert (issue["id"], issue["status"], issue["count"]) == (ids[0], "fixed", 6)
    assert (batch.new_issues, batch.reoccurred_issues) == (set(), set())
    assert issue["title"] == "Holiday calendar of olga loaded"
    (merge,) = [row for row in desk.history(ids[0]) if row["event"] == "merge"]
    assert merge["actor"] is None and merge["note"].endswith(": " + ", ".join(map(str, ids[1:])))
    with desk.call(write=False) as call:
        assert {resolve_issue_id(call.db, issue_id) for issue_id in ids} == {ids[0]}
    desk.check_counters()


def test_later_words_go_to_the_issue_and_make_none(desk: Any) -> None:
    desk.store(*calendars(NAMES[:8]))
    before = desk.issue()
    batch = desk.store(*calendars(NAMES[8:]))
    assert (desk.issue()["id"], batch.new_issues) == (before["id"], set())
    assert batch.counts == {before["id"]: (8, len(NAMES))}
    desk.check_counters()


def test_nothing_is_written_for_known_templates(desk: Any) -> None:
    """Cost grows with new templates, not with events."""
    desk.store(*calendars(NAMES))
    before = [len(desk.rows(table)) for table in (learned_templates, learned_slots)]
    desk.store(*calendars(NAMES))
    assert [len(desk.rows(table)) for table in (learned_templates, learned_slots)] == before


def test_few_words_stay_apart_and_are_suggested(desk: Any) -> None:
    stored = desk.store(*calendars(NAMES[:3]), event("Holiday calendar of anna is empty now", 9)).stored
    anna, ben, carla = (row.issue_id for row in stored[:3])
    shown = Client(desk.service).get("error", id=anna).json
    template = "Holiday calendar of <*> loaded"
    assert {(row["issue_id"], row["template"]) for row in shown["suggestions"]} == {(ben, template), (carla, template)}
    assert {row["grouping_id"] for row in shown["suggestions"]} == {shown["groupings"][0]["id"]}
    assert shown["groupings"][0]["learned"] is None


def test_the_page_says_which_words_are_values(desk: Any) -> None:
    desk.store(*calendars(NAMES[:6]))
    shown = Client(desk.service).get("group", id=desk.issue()["id"]).json
    assert shown["suggestions"] == []
    learned = [grouping["learned"] for grouping in shown["groupings"]]
    assert {row["template"] for row in learned} == {"Holiday calendar of <*> loaded"}
    assert sorted(row["values"][0]["word"] for row in learned) == NAMES[:6]
    assert {row["values"][0]["position"] for row in learned} == {3}


def test_the_page_shows_what_two_values_lead_to(sqlite_desk: Any) -> None:
    pairs = [(one, other) for one in NAMES[:7] for other in NAMES[7:14]]
    sqlite_desk.store(*(event(f"User {one} became a member of team {other}") for one, other in pairs))
    shown = Client(sqlite_desk.service).get("error", id=sqlite_desk.issue()["id"]).json
    assert len(shown["groupings"]) == len(pairs)
    assert {grouping["learned"]["template"] for grouping in shown["groupings"]} == {
        "User <*> became a member of team <*>"
    }
    assert all(len(grouping["learned"]["values"]) == 2 for grouping in shown["groupings"])


def test_a_full_name_is_one_value_beside_single_words(desk: Any) -> None:
    names = ["Maria Gruber", "Tom Ritter", "anna", "ben", "carla", "dmitri", "Ivo Petrov"]
    desk.store(*calendars(names))
    shown = Client(desk.service).get("group", id=desk.issue()["id"]).json
    learned = {grouping["learned"]["template"] for grouping in shown["groupings"]}
    words = sorted(grouping["learned"]["values"][0]["word"] for grouping in shown["groupings"])
    assert learned == {"Holiday calendar of <*> loaded"}
    assert words == sorted(names)


def test_names_from_one_message_are_known_in_others(desk: Any) -> None:
    """Whichever comes first, and when the evidence comes with a later batch."""
    desk.store(*(event(f"Badge for {name} is printed") for name in NAMES[:3]))
    assert len(desk.rows(tables.issues)) == 3
    desk.store(*calendars(NAMES[:8]))
    assert len(desk.rows(tables.issues)) == 2
    desk.store(*(event(f"Coat of {name} hangs here") for name in NAMES[5:8]))
    assert len(desk.rows(tables.issues)) == 3
    desk.check_counters()


def messages(seed: int) -> list[str]:
    chance = random.Random(seed)
    patterns = [
        lambda: f"Holiday calendar of {chance.choice(NAMES)} loaded",
        lambda: f"User {chance.choice(NAMES)} became a member of team {chance.choice(NAMES[:6])}",
        lambda: (
            f"Deploy to {chance.choice(['testing', 'staging'])} by {chance.choice(NAMES)} of release {chance.random()}"
        ),
        lambda: f"Upload of report {chance.choice(['failed', 'stopped', 'queued'])} in bucket {chance.choice(NAMES)}",
        lambda: f"Hello {chance.choice(NAMES)}",
        lambda: f"{chance.choice(ZONES)} was closed by {chance.choice(NAMES[:5])} at dusk",
        lambda: f"Fence of {chance.choice(ZONES)} hums again",
        lambda: f"Gate to {chance.choice(ZONES)}, {chance.choice(ZONES)} is stuck",
    ]
    return [chance.choice(patterns)() for _ in range(250)]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_database_learns_what_the_model_learns(desk: Any, seed: int) -> None:
    """Whatever the batches, the groups are those of the whole set."""
    texts = messages(seed)
    chance = random.Random(seed)
    start = 0
    while start < len(texts):
        size = chance.randint(1, 60)
        desk.store(*(event(text) for text in texts[start : start + size]))
        start += size
    model = Model()
    model.add(("-|text||", template(text)) for text in texts)
    wanted: dict[str, set[str]] = {}
    for text in texts:
        wanted.setdefault(model.group("-|text||", template(text)), set()).add(template(text))
    found: dict[int, set[str]] = {}
    for row in desk.rows(tables.groupings):
        found.setdefault(row["issue_id"], set()).add(row["parts"]["template"])
    assert {frozenset(one) for one in found.values()} == {frozenset(one) for one in wanted.values()}
    desk.check_counters()


def test_parallel_writers_learn_together(desk: Any) -> None:
    """Each writer sees less than what it takes; together it is enough."""
    sources = [desk.add_source(f"{number}.log") for number in range(4)]

    def write(number: int) -> None:
        call = desk.service.call()
        for name in NAMES[number * 4 : number * 4 + 4]:

            def once(name: str = name) -> None:
                with call.transaction():
                    one = event(f"Holiday calendar of {name} loaded")
                    one.byte_start = NAMES.index(name)
                    store_events(call, sources[number], [one])

            call.repeat(once)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert desk.issue()["count"] == len(NAMES)
    desk.check_counters()


def test_a_deleted_issue_is_forgotten(desk: Any) -> None:
    desk.store(*calendars(NAMES))
    with desk.call() as call:
        call.db.execute(tables.issues.delete())
        assert call.db.execute(select(func.count()).select_from(learned_templates)).scalar() == 0
        assert call.db.execute(select(func.count()).select_from(learned_slots)).scalar() == 0

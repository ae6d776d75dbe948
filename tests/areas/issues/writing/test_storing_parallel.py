"""Writers that meet: one issue per key, every event once, exact counters."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from snaglist.plugins.issues import Event, EventSource, StoredBatch, store_events, tables

pytestmark = pytest.mark.servers

WRITERS = 4


def store(desk: Any, source: EventSource, events: list[Event], barrier: Barrier) -> StoredBatch:
    call = desk.service.call()

    def once() -> StoredBatch:
        with call.transaction():
            return store_events(call, source, events)

    barrier.wait(timeout=30)
    result: StoredBatch = call.repeat(once)
    return result


def run(desk: Any, batches: list[tuple[EventSource, list[Event]]]) -> list[StoredBatch]:
    barrier = Barrier(len(batches))
    with ThreadPoolExecutor(len(batches)) as pool:
        return [
            future.result(timeout=120)
            for future in [pool.submit(store, desk, source, events, barrier) for source, events in batches]
        ]


def event(number: int, **more: Any) -> Event:
    words = ("alpha", "beta", "gamma", "delta", "eta")
    message = f"{words[number % 5]} {words[number // 5 % 5]} failed"
    occurred_at = f"2026-01-03 10:00:{number % 60:02}"
    return Event(
        message, occurred_at=occurred_at, byte_start=number * 10, byte_end=number * 10 + 10, log_type="json", **more
    )


def test_new_keys_of_parallel_writers_make_one_issue_each(desk: Any) -> None:
    batches = []
    for number in range(WRITERS):
        events = [event(n) for n in range(50)]
        # Each in another order, so that they would meet in the middle.
        batches.append((desk.add_source(f"{number}.log"), events[number * 10 :] + events[: number * 10]))
    stored = run(desk, batches)
    issues = desk.rows(tables.issues)
    assert len(issues) == 25 and {issue["count"] for issue in issues} == {2 * WRITERS}
    assert sum(len(batch.new_issues) for batch in stored) == 25
    desk.check_counters()


def test_known_keys_of_parallel_writers_lose_nothing(desk: Any) -> None:
    desk.store(*(event(n) for n in range(25)))
    for _ in range(3):
        run(desk, [(desk.add_source(f"{n}-{_}.log"), [event(n) for n in range(100)]) for n in range(WRITERS)])
    assert sum(issue["count"] for issue in desk.rows(tables.issues)) == 25 + 3 * WRITERS * 100
    desk.check_counters()


def test_an_event_id_that_parallel_writers_send_is_stored_once(desk: Any) -> None:
    """A known id is a duplicate, also when two requests race."""
    batches = [
        (desk.add_source(f"{number}.log"), [event(n, event_id=f"id-{n}") for n in range(20)])
        for number in range(WRITERS)
    ]
    stored = run(desk, batches)
    assert sum(len(batch.stored) for batch in stored) == 20
    assert sum(batch.duplicates for batch in stored) == 20 * (WRITERS - 1)
    assert len(desk.rows(tables.occurrences)) == 20
    desk.check_counters()


def test_two_readers_of_one_source_store_each_event_once(desk: Any) -> None:
    run(desk, [(desk.source, [event(n) for n in range(50)]) for _ in range(WRITERS)])
    assert len(desk.rows(tables.occurrences)) == 50
    desk.check_counters()

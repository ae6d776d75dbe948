"""Fill a data directory with known issues and two tags: `python seed.py DATA`, run by the installed product.

71 issues with 5,000 events of four weeks: one exception in three events, a hostile message, and 69 others of distinct
levels and messages.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from sqlalchemy import insert, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues import Event, EventSource, ExceptionInfo, Frame, store_events
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import Client, running_service

EVENTS = 5_000
HOSTILE = "Rendering <img src=x onerror=alert(1)> failed"
MANY = 70
MONTH = 28 * 86_400
BATCH = 1_000


def main(data: Path) -> None:
    """Make the data directory."""
    with running_service(data, jobs=False) as service:
        call = service.call()
        source = _source(call)
        known = timeout_events(call.now)
        events = [*known, *spread(plain_events(call.now, MANY), EVENTS - len(known))]
        for start in range(0, len(events), BATCH):
            with call.transaction():
                store_events(call, source, events[start : start + BATCH])
        client = Client(service)
        for tag in ({"name": "Payments", "color": "#dd2244", "match_word": "gateway"}, {"name": "Noise <b>"}):
            assert client.post("tags", tag).status == 201


def _source(call: Call) -> EventSource:
    row = {
        "path": "app.log", "path_hash": "0" * 64, "generation": 1, "node": "n", "size": 900, "offset": 900,
        "prefix_hash": "", "prefix_length": 0, "block_hash": "", "content_hash": "", "log_type": "python",
        "channel": "app.log", "family": "app.log", "encoding": "utf-8", "timezone": "UTC", "parser_version": 1,
        "status": "ok", "occurrence_count": 0, "imported_at": call.now, "created_at": call.now,
    }  # fmt: skip
    with call.transaction() as db:
        db.execute(insert(log_tables.sources), row)
        return EventSource(db.execute(select(log_tables.sources.c.id)).scalar_one(), None, "app.log")


def timeout_events(now: str) -> list[Event]:
    """Three events of one exception issue; the newest one minute old."""
    cause = ExceptionInfo("TimeoutError", "timed out", [Frame("read", "site-packages/socket.py", 10, in_app=False)])
    frames = [
        Frame("send", "site-packages/http.py", 9, in_app=False),
        Frame("retry", "site-packages/http.py", 12, in_app=False),
        Frame("charge", "app/orders.py", 42),
        Frame("order", "app/views.py", 7),
    ]
    raised = ExceptionInfo("GatewayTimeout", "gateway timeout", frames)
    return [
        Event(
            message="Order 4711 failed: gateway timeout",
            occurred_at=times.add(now, seconds=-60 * minute),
            log_type="python",
            level_source="trace",
            channel="app.log",
            exceptions=[cause, raised],
            stack="app/orders.py:42 in charge\nsite-packages/http.py:12 in retry",
            context='{"order": 4711}',
            release="v2.4.0",
            byte_start=1000 * minute,
            byte_end=1000 * minute + 290,
        )
        for minute in (1, 2, 3)
    ]


def plain_events(now: str, count: int) -> list[Event]:
    """The newest event of each issue without a stack: a hostile message, and others.

    Their words differ in more than one place: with one place that differs they would be one issue.
    """
    levels = ("WARNING", "ERROR", "CRITICAL", "NOTICE")
    what = ("cache", "mailer", "queue", "invoice run", "search index", "login form", "tax table", "upload area")
    did = ("lost its lock", "is read only", "took too long", "gave up waiting", "sent nothing", "has no owner")
    where = ("at noon", "after the switch", "for want of memory", "in the second try", "while it was closing")
    words = [f"{a} {b} {c}" for a in what for b in did for c in where][:: len(did) * len(where) // 9]
    return [
        Event(
            message=f"The {words[at]}" if at else HOSTILE,
            severity=levels[at % 4],
            occurred_at=times.add(now, seconds=-600 - 60 * at),
            log_type="python",
            channel="app.log",
            byte_start=1_000_000 * (at + 1),
            byte_end=1_000_000 * (at + 1) + 50,
        )
        for at in range(count)
    ]


def spread(newest: list[Event], total: int) -> Iterator[Event]:
    """Each event with as many older ones as make `total`, over four weeks, closer together towards the newest."""
    for at, event in enumerate(newest):
        number = total // len(newest) + (at < total % len(newest))
        for back in range(number):
            start = event.byte_start + 100 * back
            when = times.add(event.occurred_at, seconds=-(MONTH - 86_400) * (back / number) ** 3)
            yield replace(event, occurred_at=when, byte_start=start, byte_end=start + 50)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""What the page Health tells of logs: what was read last, what is silent, and what is unread or could not be read."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import Row, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues import path_text, show_path
from snaglist.plugins.logs.collect.discovery import UNFINISHED, compile_pattern
from snaglist.plugins.logs.read.tally import WARNING, Tally
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.tables import sources
from snaglist.plugins.system import Figure, Problem, entries_below

DAYS = 7
SHOWN = 5
LOOKED_AT = 200  # sources, from each end of the last days
MAX_NAMES = 2_000  # of the drop folder, that are looked at
SECTION, LAST = "Reading, the last 7 days", "Last events"


def details(call: Call) -> Iterator[Figure | Problem | Callable[[], Iterator[Problem]]]:
    """Give figures and problems of the logs that were read in the last days; in the open transaction."""
    since = times.add(call.now, seconds=-DAYS * 86_400)
    recent = select(sources).where(sources.c.imported_at >= since)
    newest = call.db.execute(recent.order_by(sources.c.imported_at.desc()).limit(LOOKED_AT)).all()
    eldest = call.db.execute(recent.order_by(sources.c.imported_at).limit(LOOKED_AT)).all()
    yield from _reading(newest)
    yield from _last_events(call, newest, eldest)
    yield from _unread(call, newest)
    yield lambda: _left_lying(call)


def _reading(newest: Sequence[Row[Any]]) -> Iterator[Figure]:
    view = {"view": "sources"}
    if newest:
        yield Figure(SECTION, "Last read", newest[0].imported_at, "time", view)
    tally = sum((Tally.read(row.reading) for row in newest), Tally())
    yield Figure(SECTION, "Logs" if len(newest) < LOOKED_AT else "Logs, the newest", len(newest), view=view)
    yield Figure(SECTION, "Entries", tally.entries)
    for label, number in (
        ("Without a time", tally.entries - tally.with_time),
        ("Without a level", tally.entries - tally.with_level),
        ("Skipped by level", tally.filtered),
    ):
        if number:
            yield Figure(SECTION, label, number)


def _last_events(call: Call, newest: Sequence[Row[Any]], eldest: Sequence[Row[Any]]) -> Iterator[Figure]:
    """Of those that were read last and of those that are followed and say nothing for longest, the newest first."""
    shown = newest[:SHOWN]
    known = {row.id for row in shown}
    silent = [row for row in eldest if row.id not in known and "/processed/" not in row.path and row.status == "ok"]
    found = [(queries.last_event_at(call.db, row.id), row.channel) for row in [*shown, *silent[:SHOWN]]]
    for last, channel in sorted(((last, channel) for last, channel in found if last), reverse=True):
        yield Figure(LAST, channel, last, "time", {"source": channel, "status": "all"})


def _unread(call: Call, newest: Sequence[Row[Any]]) -> Iterator[Problem]:
    failed = [row for row in newest if row.last_error]
    for row in failed[:SHOWN]:
        step = "Make it readable; it is read again by itself, or by Read again."
        yield Problem(
            f"{show_path(call, row.path)} is not read: {row.last_error.rstrip('.')}.", step, {"view": "sources"}
        )
    if len(failed) > SHOWN:
        yield Problem(f"{len(failed) - SHOWN:,} more logs are not read.", "See them.", {"view": "sources"})
    unclear = [row for row in newest if any(one["kind"] == WARNING for one in Tally.read(row.reading).remarks())]
    for row in unclear[:SHOWN]:
        remark = next(one for one in Tally.read(row.reading).remarks() if one["kind"] == WARNING)
        told = remark["text"].partition(":")[0].replace("this file", row.channel)
        step = "Make a format that says where they stand in a line."
        yield Problem(f"{told[:1].upper()}{told[1:]}.", step, {"view": "format", "source": row.id})


def _left_lying(call: Call) -> Iterator[Problem]:
    """What lies in the drop folder and is no log by its name; needs no transaction."""
    pattern = compile_pattern(call.setting("ingestion.log_file_pattern"))
    looked_at = islice(entries_below(call.application.logs), MAX_NAMES)
    names = [entry.name for entry in looked_at if not entry.is_dir()]
    strange = [name for name in names if not pattern.fullmatch(name) and not name.endswith(UNFINISHED)]
    if strange:
        named = ", ".join(path_text(name) for name in sorted(strange)[:3])
        more = f" and {len(strange) - 3:,} more" if len(strange) > 3 else ""
        step = "Give it a name that ends in .log, or change ingestion.log_file_pattern."
        yield Problem(f"Not read in the drop folder, because of the name: {named}{more}.", step)

"""What the page Health tells of logs: what was read last, what is silent, and what is unread or could not be read.

Lists are short and the logs that are looked at are few; where there are more, the answer says so.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, func, or_, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues import path_text, show_path
from snaglist.plugins.logs.collect.discovery import compile_pattern
from snaglist.plugins.logs.collect.unfinished import is_part
from snaglist.plugins.logs.read.tally import WARNING, Tally
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.tables import sources
from snaglist.plugins.system import Figure, Problem, entries_below

DAYS = 7
SHOWN = 5
LOOKED_AT = 200  # sources, from each end of the last days
MAX_NAMES = 2_000  # of the drop folder, that are looked at
SECTION, LAST = f"Logs read in the last {DAYS} days", "Last events"
_VIEW = {"view": "sources"}
_STEPS = {
    "error": "Make it readable; it is read again by itself, or by Read again.",
    "missing": f"Put it back, or leave it: {DAYS} days after it was last read this line goes.",
}


def details(call: Call) -> Iterator[Figure | Problem | Callable[[], Iterator[Problem]]]:
    """Give figures of the logs that were read in the last days, and problems; in the open transaction."""
    since = times.add(call.now, seconds=-DAYS * 86_400)
    lately = sources.c.imported_at >= since
    number = int(call.db.scalar(select(func.count()).where(lately)) or 0)
    recent = select(sources).where(lately).limit(LOOKED_AT)
    newest = call.db.execute(recent.order_by(sources.c.imported_at.desc())).all()
    eldest = call.db.execute(recent.order_by(sources.c.imported_at)).all()
    tallies = [Tally.read(row.reading) for row in newest]
    yield from _reading(newest, tallies, number)
    yield from _last_events(call, newest, eldest, number)
    yield from _failed(call, lately)
    yield from _unclear(newest, tallies, number)
    yield lambda: _left_lying(call)


def _reading(newest: Sequence[Row[Any]], tallies: Sequence[Tally], number: int) -> Iterator[Figure]:
    if newest:
        yield Figure(SECTION, "Last read", newest[0].imported_at, "time", _VIEW)
    tally = sum(tallies, Tally())
    yield Figure(SECTION, "Logs", number, view=_VIEW)
    of = "" if number <= LOOKED_AT else f", of the {LOOKED_AT} read last"
    yield Figure(SECTION, f"Entries in them{of}", tally.entries)
    for label, entries in (
        ("Without a time", tally.entries - tally.with_time),
        ("Without a level", tally.entries - tally.with_level),
        ("Skipped by level", tally.filtered),
    ):
        if entries:
            yield Figure(SECTION, f"{label}{of}", entries)


def _last_events(call: Call, newest: Sequence[Row[Any]], eldest: Sequence[Row[Any]], number: int) -> Iterator[Figure]:
    """Of those that were read last and of those that are followed and say nothing for longest, the newest first."""
    shown = newest[:SHOWN]
    known = {row.id for row in shown}
    silent = [row for row in eldest if row.id not in known and "/processed/" not in row.path and row.status == "ok"]
    chosen = [*shown, *silent[:SHOWN]]
    found = [(queries.last_event_at(call.db, row.id), row.channel) for row in chosen]
    listed = sorted(((last, channel) for last, channel in found if last), reverse=True)
    section = LAST if len(chosen) == number else f"{LAST}, {len(listed)} of {number:,} logs"
    for last, channel in listed:
        yield Figure(section, channel, last, "time", {"source": channel, "status": "all"})


def _failed(call: Call, lately: ColumnElement[bool]) -> Iterator[Problem]:
    """Tell which logs cannot be read, however old; of files that are gone, those that were read lately."""
    unread = (sources.c.status == "error", and_(sources.c.status == "missing", lately))
    failed = select(sources.c.path, sources.c.status, sources.c.last_error).where(
        sources.c.last_error.is_not(None), or_(*unread)
    )
    number = int(call.db.scalar(select(func.count()).select_from(failed.subquery())) or 0)
    for row in call.db.execute(failed.order_by(sources.c.imported_at.desc(), sources.c.id.desc()).limit(SHOWN)):
        told = f"{show_path(call, row.path)} is not read: {row.last_error.rstrip('.') or 'nobody knows why'}."
        yield Problem(told, _STEPS[row.status], _VIEW)
    if number > SHOWN:
        yield Problem(f"{_more(number - SHOWN, 'is', 'are')} not read.", "See them.", _VIEW)


def _unclear(newest: Sequence[Row[Any]], tallies: Sequence[Tally], number: int) -> Iterator[Problem]:
    """Tell of which logs nothing is understood."""
    told_of = [(row, one) for row, tally in zip(newest, tallies, strict=True) for one in tally.remarks()]
    unclear = [(row, one["text"]) for row, one in told_of if one["kind"] == WARNING]
    for row, text in unclear[:SHOWN]:
        told = text.partition(":")[0].replace("this file", row.channel)
        step = "Make a format that says where they stand in a line."
        yield Problem(f"{told[:1].upper()}{told[1:]}.", step, {"view": "format", "source": row.id})
    if len(unclear) > SHOWN:
        of = f" Of {number:,} logs, the {LOOKED_AT} read last were looked at." if number > LOOKED_AT else ""
        told = f"{_more(len(unclear) - SHOWN, 'has', 'have')} no time or level that is known.{of}"
        yield Problem(told, "See them.", _VIEW)


def _more(number: int, one: str, several: str) -> str:
    return f"1 more log {one}" if number == 1 else f"{number:,} more logs {several}"


def _left_lying(call: Call) -> Iterator[Problem]:
    """What lies in the drop folder and is no log by its name; needs no transaction."""
    if not call.application.logs.is_dir():
        yield Problem("The drop folder is not there.", f"Make the folder again: {call.application.logs}", _VIEW)
    pattern = compile_pattern(call.setting("ingestion.log_file_pattern"))
    looked_at = list(islice(entries_below(call.application.logs), MAX_NAMES + 1))
    names = [entry.name for entry in looked_at[:MAX_NAMES] if not entry.is_dir()]
    strange = [name for name in names if not pattern.fullmatch(name) and not is_part(name)]
    if strange:
        named = ", ".join(path_text(name) for name in sorted(strange)[:3])
        more = f" and {len(strange) - 3:,} more" if len(strange) > 3 else ""
        of = f" Only {MAX_NAMES:,} names were looked at." if len(looked_at) > MAX_NAMES else ""
        step = "Give it a name that ends in .log, or change ingestion.log_file_pattern."
        yield Problem(f"Not read in the drop folder, because of the name: {named}{more}.{of}", step)

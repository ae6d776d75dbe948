"""SQL of the area: sums are kept in the transaction of the lines they count, and read for any window."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, literal, select

from snaglist.kernel import digest
from snaglist.kernel.database import upsert
from snaglist.plugins.access_analytics.sketches import Distinct, Quantiles
from snaglist.plugins.access_analytics.tables import hours, sources
from snaglist.plugins.access_analytics.tally import ALL, NO_PATH, OTHER, SCANNER, Key, Sums
from snaglist.plugins.logs import stored
from snaglist.plugins.system import rows

_TOTALS = ("all", SCANNER + "all")
MAX_VALUES = 1_000  # of a dimension per source and hour; what comes later is summed up as OTHER


_SUMMED = ("hits", "errors", "bytes", "failed", "missing")
_SUMS = (*_SUMMED, "visitors", "times")


def position(db: Connection, source_id: int) -> int | None:
    """Return the byte before which lines of a source were counted; None when none was."""
    found = db.execute(select(sources.c.position).where(sources.c.source_id == source_id)).scalar()
    return None if found is None else int(found)


def keep_position(db: Connection, source_id: int, byte: int) -> None:
    """Remember how far a source was counted."""
    upsert(db, sources, [{"source_id": source_id, "position": byte}], replace=("position",))


def forget(db: Connection, source_id: int) -> None:
    """Remove all that was counted of a source."""
    db.execute(delete(hours).where(hours.c.source_id.in_((source_id, -source_id))))
    db.execute(delete(sources).where(sources.c.source_id == source_id))


def take_out(db: Connection, source_id: int, day: str = "") -> dict[str, dict[Key, Sums]]:
    """Remove the rows of a source, or of a day of it, and return them by hour and key."""
    where = hours.c.source_id == source_id
    if day:
        where &= hours.c.hour.between(f"{day} 00:00:00", f"{day} 23:00:00")
    found: dict[str, dict[Key, Sums]] = {}
    for row in db.execute(select(hours).where(where)):
        found.setdefault(row.hour, {})[row.dim, row.value, bool(row.bot)] = _sums(row)
    if found:
        db.execute(delete(hours).where(where))
    return found


def add(db: Connection, source_id: int, counted: Mapping[str, Mapping[Key, Sums]]) -> None:
    """Add sums by hour and key to what is kept of a source; in hour order, so that writers do not deadlock."""
    for hour in sorted(counted):
        _add_hour(db, source_id, hour, counted[hour])


def _add_hour(db: Connection, source_id: int, hour: str, counted: Mapping[Key, Sums]) -> None:
    here = and_(hours.c.source_id == source_id, hours.c.hour == hour)
    kept = _kept(db, here, counted)
    room: dict[str, int] = {}
    merged: dict[Key, Sums] = {}
    # The values with most requests come first, in case that not all have room.
    for key, sums in sorted(counted.items(), key=lambda item: (-item[1].hits, item[0])):
        dim, value, bot = key
        if key not in kept and dim not in _TOTALS and value != NO_PATH:
            room = room or _room(db, here)
            if room.setdefault(dim, MAX_VALUES) > 0:
                room[dim] -= 1
            else:
                key = (dim, OTHER, bot)
        merged.setdefault(key, Sums()).add(sums)
    for key, sums in merged.items():
        if key in kept:
            sums.add(kept[key])
    now = [_row(source_id, hour, key, merged[key]) for key in sorted(merged)]
    upsert(db, hours, now, replace=_SUMS)


def _kept(db: Connection, here: ColumnElement[bool], counted: Iterable[Key]) -> dict[Key, Sums]:
    """Return what is kept of these values, and of the rest that had no room."""
    hashes = {digest(value) for _, value, _ in counted} | {digest(OTHER)}
    found = rows.among(db, select(hours).where(here), hours.c.value_hash, hashes)
    return {(row.dim, row.value, bool(row.bot)): _sums(row) for row in found}


def _room(db: Connection, here: ColumnElement[bool]) -> dict[str, int]:
    """Return how many more values each dimension takes in; `all` is there even when nothing else is."""
    used = select(hours.c.dim, func.count()).where(here, hours.c.value_hash != digest(OTHER)).group_by(hours.c.dim)
    return {"all": 0, **{dim: MAX_VALUES - count for dim, count in db.execute(used)}}


def _sums(row: Row[Any]) -> Sums:
    visitors = None if row.visitors is None else Distinct(row.visitors)
    times = None if row.times is None else Quantiles(row.times)
    return Sums(row.hits, row.errors, row.bytes, row.failed, row.missing, visitors, times)


def _row(source_id: int, hour: str, key: Key, sums: Sums) -> dict[str, Any]:
    dim, value, bot = key
    return {
        "source_id": source_id,
        "hour": hour,
        "dim": dim,
        "value": value,
        "value_hash": digest(value),
        "bot": bot,
        "hits": sums.hits,
        "errors": sums.errors,
        "bytes": sums.bytes,
        "failed": sums.failed,
        "missing": sums.missing,
        "visitors": sums.visitors.stored() if sums.visitors else None,
        "times": sums.times.stored() if sums.times else None,
    }


@dataclass(frozen=True, slots=True)
class Window:
    """Rows from an hour on and before another, perhaps of the sources of one channel, and of whom."""

    start: str
    end: str
    channel: str | None
    bots: bool = True
    scanners: bool = True

    def of(self, *dims: str) -> ColumnElement[bool]:
        """Return the condition of the rows of some dimensions."""
        names = [*dims, *(SCANNER + dim for dim in dims if self.scanners)]
        wanted = [hours.c.dim.in_(names), hours.c.hour >= self.start, hours.c.hour < self.end]
        if not self.bots:
            wanted.append(hours.c.bot.is_(False))
        if self.channel is not None:
            of_channel = select(stored.sources.id).where(stored.sources.channel == self.channel)
            wanted.append(func.abs(hours.c.source_id).in_(of_channel))
        return and_(*wanted)


def totals(db: Connection, window: Window) -> Iterator[tuple[str, Key, Sums]]:
    """Give the rows of whole hours: hour, key and sums."""
    for row in db.execute(select(hours).where(window.of("all")).order_by(hours.c.hour)):
        yield row.hour, (row.dim, row.value, bool(row.bot)), _sums(row)


def classes(db: Connection, window: Window) -> Iterator[tuple[str, str, int]]:
    """Give hour, first digit of the statuses, and how many requests."""
    digit = func.substr(hours.c.value, 1, 1)
    found = select(hours.c.hour, digit, func.sum(hours.c.hits)).where(window.of("status")).group_by(hours.c.hour, digit)
    for hour, first, hits in db.execute(found):
        yield str(hour), str(first), int(hits)


def undetailed_until(db: Connection, window: Window) -> str | None:
    """Return the last hour of a window whose errors were not told apart; None when all were."""
    found = select(func.max(hours.c.hour)).where(window.of("all"), hours.c.value == ALL, hours.c.failed.is_(None))
    last = db.execute(found).scalar()
    return None if last is None else str(last)


def values(
    db: Connection, window: Window, dim: str, limit: int | None = None, *, by: str = "hits"
) -> list[tuple[str, bool, Sums]]:
    """Return the values of a dimension with most of one sum: value, bot (agents only), sums; ties by name."""
    bot = hours.c.bot if dim == "agent" else literal(False).label("bot")
    total = {name: func.coalesce(func.sum(hours.c[name]), 0).label(name) for name in _SUMMED}
    found = (
        select(hours.c.value, bot, *total.values())
        .where(window.of(dim))
        .group_by(hours.c.value, *([bot] if dim == "agent" else []))
        .having(total[by] > 0)
        .order_by(total[by].desc(), hours.c.value)
        .limit(limit)
    )
    return [
        (
            row.value,
            bool(row.bot),
            Sums(int(row.hits), int(row.errors), int(row.bytes), int(row.failed), int(row.missing)),
        )
        for row in db.execute(found)
    ]


def add_times(db: Connection, window: Window, paths: Mapping[str, Sums]) -> None:
    """Add the response times of some paths."""
    if not paths:
        return
    known = hours.c.value_hash.in_([digest(path) for path in paths])
    found = select(hours.c.value, hours.c.times).where(window.of("path"), known, hours.c.times.is_not(None))
    for path, times in db.execute(found):
        paths[path].add(Sums(times=Quantiles(times)))


def unfolded(db: Connection, start: str, end: str) -> list[tuple[int, str]]:
    """Return source and day of the rows from a time on and before another."""
    day = func.substr(hours.c.hour, 1, 10)
    rows = select(hours.c.source_id, day).where(hours.c.hour >= start, hours.c.hour < end).distinct()
    return sorted((int(source_id), str(found)) for source_id, found in db.execute(rows))

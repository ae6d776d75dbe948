"""Under which settings the bytes of a source were read: what was counted once must not be counted again.

A source remembers what it was read under, so that a change of the settings shows as sources to read again, and
from which byte on which severities and access lines were ever counted, so that reading again tells an event
that was never counted from one whose occurrence is gone.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.plugins.issues import RANK, Event
from snaglist.plugins.logs.own_formats.pattern import digest_of
from snaglist.plugins.logs.read.portions import FAILURES, Rules
from snaglist.plugins.logs.read.tally import LEVELLED, Tally, left_out

# First byte, severities as bits by rank, lowest status of access lines, severities of lines without a level.
Part = Sequence[int]
_FORMATS = " formats "


def stamp(rules: Rules, zone: str | None) -> str:
    """Return the settings in short; `zone` is None when it was given for the source."""
    unlevelled = "" if rules.unlevelled == FAILURES else f" {rules.unlevelled}"
    formats = f"{_FORMATS}{digest_of(rules.formats)}" if rules.formats else ""
    return f"{_bits(rules.severities)} {rules.access_issue_min_status} {zone or '-'}{unlevelled}{formats}"


def columns(known: Row[Any] | None, rules: Rules, zone: str, *, own_zone: bool, zone_known: bool) -> dict[str, Any]:
    """Return what a source was read under once more bytes of it are; `known`: the source as it was, if it was."""
    if known is None or not known.offset:
        counted = {"parts": [_part(0, rules)], "own_zone": own_zone, "zone_known": zone_known}
        return {"read_under": stamp(rules, None if own_zone else zone), "counted": counted}
    own_zone = own_zone or known.counted["own_zone"]
    parts: list[Part] = [_whole(earlier) for earlier in known.counted["parts"]]
    part = _part(known.offset, rules)
    if list(parts[-1][1:]) != part[1:]:
        parts = [*(earlier for earlier in parts if earlier[0] < known.offset), part]
    now = stamp(rules, None if own_zone else zone)
    counted = {"parts": parts, "own_zone": own_zone, "zone_known": zone_known or own_zone}
    return {"read_under": now if now == known.read_under else "", "counted": counted}


def zone_known(source: Row[Any]) -> bool:
    """Tell whether somebody had set the zone of a source; the first version did not note it of the settings."""
    return bool(source.counted.get("zone_known", source.counted["own_zone"]))


def widen(record: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Return the record after all bytes were read again under these rules."""
    _, severities, status, unlevelled = _part(0, rules)
    parts = [
        [start, known | severities, min(lowest, status), known_unlevelled | unlevelled]
        for start, known, lowest, known_unlevelled in map(_whole, record["parts"])
    ]
    return {**record, "parts": parts}


def has_formats(read_under: str, rules: Rules) -> bool:
    """Tell whether a source was read with the formats of people's own that are in use now."""
    return read_under.partition(_FORMATS)[2] == digest_of(rules.formats)


def was_counted(record: Mapping[str, Any], event: Event) -> bool:
    """Tell whether an event was counted when it was read before."""
    part = [part for part in record["parts"] if part[0] <= event.byte_start][-1]
    _, severities, min_status, unlevelled = _whole(part)
    if event.access is not None and event.access.status < min_status:
        return False
    counted = severities if event.level_source in LEVELLED else unlevelled
    return bool(counted & 1 << RANK[event.severity])


def shown_reading(source: Row[Any]) -> dict[str, Any]:
    """Return how a source is read as the API has it; `reading` is null of one of which nothing was counted."""
    filtered_as = None
    if source.reading:  # which entries were not kept, as it was read last
        severities = source.counted["parts"][-1][1]
        filtered_as = left_out(name for name, rank in RANK.items() if severities & 1 << rank)
    remarks = Tally.read(source.reading).remarks()
    return {"reading": source.reading, "remarks": remarks, "filtered_as": filtered_as, "layout": source.layout}


def _part(start: int, rules: Rules) -> list[int]:
    unlevelled = _bits(rules.severities_of_unlevelled)
    return [start, _bits(rules.severities), rules.access_issue_min_status, unlevelled]


def _whole(part: Part) -> Part:
    """Return a part as it is written today: versions before treated lines without a level like any other."""
    return [*part, part[1]] if len(part) == 3 else part


def _bits(severities: Iterable[str]) -> int:
    return sum(1 << RANK[severity] for severity in severities)

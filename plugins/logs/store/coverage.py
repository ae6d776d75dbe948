"""Under which settings the bytes of a source were read: what was counted once must not be counted again.

A source remembers what it was read under, so that a change of the settings shows as sources to read again, and
from which byte on which severities and access lines were ever counted, so that reading again tells an event
that was never counted from one whose occurrence is gone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.plugins.issues import RANK, Event
from snaglist.plugins.logs.read.portions import Rules

Part = Sequence[int]  # first byte, severities as bits by rank, lowest status of access lines


def stamp(rules: Rules, zone: str | None) -> str:
    """Return the settings in short; `zone` is None when it was given for the source."""
    return f"{_severities(rules)} {rules.access_issue_min_status} {zone or '-'}"


def begin(rules: Rules, *, own_zone: bool) -> dict[str, Any]:
    """Return the record of a source to be read from its first byte."""
    return {"parts": [_part(0, rules)], "own_zone": own_zone}


def columns(known: Row[Any] | None, rules: Rules, zone: str, *, own_zone: bool) -> dict[str, Any]:
    """Return what a source was read under once more bytes of it are; `known`: the source as it was, if it was."""
    if known is None or not known.offset:
        return {"read_under": stamp(rules, None if own_zone else zone), "counted": begin(rules, own_zone=own_zone)}
    own_zone = own_zone or known.counted["own_zone"]
    parts: list[Part] = list(known.counted["parts"])
    part = _part(known.offset, rules)
    if list(parts[-1][1:]) != part[1:]:
        parts = [*(earlier for earlier in parts if earlier[0] < known.offset), part]
    now = stamp(rules, None if own_zone else zone)
    return {"read_under": now if now == known.read_under else "", "counted": {"parts": parts, "own_zone": own_zone}}


def widen(record: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Return the record after all bytes were read again under these rules."""
    _, severities, status = _part(0, rules)
    parts = [[part[0], part[1] | severities, min(part[2], status)] for part in record["parts"]]
    return {**record, "parts": parts}


def was_counted(record: Mapping[str, Any], event: Event) -> bool:
    """Tell whether an event was counted when it was read before."""
    _, severities, min_status = [part for part in record["parts"] if part[0] <= event.byte_start][-1]
    if event.access is not None and event.access.status < min_status:
        return False
    return bool(severities & 1 << RANK[event.severity])


def _part(start: int, rules: Rules) -> list[int]:
    return [start, _severities(rules), rules.access_issue_min_status]


def _severities(rules: Rules) -> int:
    return sum(1 << RANK[severity] for severity in rules.severities)

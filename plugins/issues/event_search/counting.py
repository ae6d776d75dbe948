"""What values the events of an issue have, and how often: counted over its newest events that match."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from snaglist.kernel import Call
from snaglist.plugins.issues.event_search.finding import Found, Wanted, matching_texts
from snaglist.plugins.issues.values.reading import StoredText

MOST_COUNTED = 5_000  # events
VALUES_SHOWN = 20
FIELDS_SHOWN = 60
_NUMBER = re.compile(r"(-?\d{1,15}(?:\.\d{1,9})?)\s?(%|[^\W\d_]{0,12})")
_NUMERIC_FROM = 0.9  # this share of the values must be numbers, and more than a few of them differ
_FEW = 5


def count_values(call: Call, wanted: Wanted) -> dict[str, Any]:
    """Return the answer of `event-values`; needs an open transaction."""
    found = Found([], [])
    seen: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    units: dict[tuple[str, str], str] = {}
    events = 0
    for text in matching_texts(call, wanted, MOST_COUNTED, found):
        events += 1
        for kind, name, unit, value in _values_of(text):
            seen[kind, name][value] += 1
            units.setdefault((kind, name), unit)
    shown = [_shown(*named, values, units[named]) for named, values in seen.items()]
    shown.sort(key=lambda one: (one["kind"] != "event", one["distinct"] < 2, one["kind"] != "message"))
    return {
        "data": shown[:FIELDS_SHOWN],
        "meta": {
            "events": events,
            "complete": found.complete,
            "since": None if found.complete or found.last is None else found.last.occurred_at,
            "left_out": max(0, len(shown) - FIELDS_SHOWN),
        },
    }


def _values_of(text: StoredText) -> Iterator[tuple[str, str, str, str]]:
    """Give kind, name, unit and text of an event's values; what is said twice under one name counts once."""
    row = text.row
    columns = {"user": row.user_name, "host": row.server_name, "release": row.release, "environment": row.environment}
    inside = {name: ("context", "", value) for name, value in text.fields.items()}
    inside |= {name: ("message", unit, value) for name, unit, value in text.named_values()}
    for name, (kind, unit, value) in inside.items():
        if columns.get(name) != value:
            yield kind, name, unit, value
    yield from (("event", name, "", value) for name, value in columns.items() if value)


def _shown(kind: str, name: str, values: Counter[str], unit: str) -> dict[str, Any]:
    numbers, own_unit = (None, "") if kind == "event" else _distribution(values, unit)
    listed = sorted(values.items(), key=lambda one: (-one[1], one[0]))[:VALUES_SHOWN]
    return {
        "name": name,
        "kind": kind,
        "unit": unit or own_unit or None,
        "events": values.total(),
        "distinct": len(values),
        "values": [{"value": value, "count": count} for value, count in listed],
        "numbers": numbers,
    }


def _distribution(values: Counter[str], unit: str) -> tuple[dict[str, float] | None, str]:
    """Return the spread of values that are numbers, None where they are not, and the unit that they have with them.

    Numbers that count something have a unit, or decimals; others are names: of orders, processes, ports.
    """
    found: list[tuple[float, int]] = []
    units: set[str] = set()
    decimal = False
    for value, count in values.items():
        number = _NUMBER.fullmatch(value)
        if number is None:
            continue
        found.append((float(number[1]), count))
        units.add(number[2])
        decimal |= "." in number[1]
    if len(found) < _FEW or sum(count for _, count in found) < _NUMERIC_FROM * values.total():
        return None, ""
    own_unit = units.pop()
    if units or not (unit or own_unit or decimal):  # of 900 ms and 1 s the numbers alone would lie
        return None, ""
    found.sort()
    spread = {"median": _quantile(found, 0.5), "p95": _quantile(found, 0.95)}
    return {"min": found[0][0], **spread, "max": found[-1][0]}, own_unit


def _quantile(found: Sequence[tuple[float, int]], share: float) -> float:
    """Return the smallest number that at least this share of the events do not exceed (nearest rank)."""
    wanted, seen = share * sum(count for _, count in found), 0
    for number, count in found:
        seen += count
        if seen >= wanted:
            return number
    return found[-1][0]

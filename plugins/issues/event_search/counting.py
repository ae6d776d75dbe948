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
_NUMBER = re.compile(r"(-?\d{1,15}(?:\.\d{1,9})?)\s?([a-zA-Zµ%]{0,12})")
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
    numbers = None if kind == "event" else _distribution(values, unit)
    listed = sorted(values.items(), key=lambda one: (-one[1], one[0]))[:VALUES_SHOWN]
    return {
        "name": name,
        "kind": kind,
        "unit": unit or (numbers or {}).pop("unit", "") or None,
        "events": values.total(),
        "distinct": len(values),
        "values": [{"value": value, "count": count} for value, count in listed],
        "numbers": numbers,
    }


def _distribution(values: Counter[str], unit: str) -> dict[str, Any] | None:
    """Return the smallest, middle, 95th of a hundred and largest of values that are numbers; None where they are not.

    Numbers that count something have a unit, or decimals; others are names: of orders, processes, ports.
    """
    found: list[tuple[float, int]] = []
    units: Counter[str] = Counter()
    decimal = False
    for value, count in values.items():
        number = _NUMBER.fullmatch(value)
        if number is None:
            continue
        found.append((float(number[1]), count))
        units[number[2]] += count
        decimal |= "." in number[1]
    if not found or sum(count for _, count in found) < _NUMERIC_FROM * values.total() or len(found) < _FEW:
        return None
    most = units.most_common(1)[0][0]
    if not (unit or most or decimal) or (units[most] < _NUMERIC_FROM * units.total()):
        return None
    found.sort()
    return {
        "min": found[0][0],
        "median": _quantile(found, 0.5),
        "p95": _quantile(found, 0.95),
        "max": found[-1][0],
        **({"unit": most} if most else {}),
    }


def _quantile(found: Sequence[tuple[float, int]], share: float) -> float:
    """Return the smallest number that at least this share of the events do not exceed (nearest rank)."""
    wanted, seen = share * sum(count for _, count in found), 0
    for number, count in found:
        seen += count
        if seen >= wanted:
            return number
    return found[-1][0]

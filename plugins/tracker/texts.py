"""Small readings of what trackers say, alike for several of them."""

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from snaglist.kernel import key, times
from snaglist.plugins.issues import clean
from snaglist.plugins.tracker.contract import TrackerFailure

UNEXPECTED = "The tracker answered with something else than expected: is endpoint_url its API?"
EARLIEST = "1970-01-01 00:00:00"  # nothing was tracked before, and reckoning from the first year of all fails
MAX_DEPTH = 128
_COLOR = re.compile(r"#?[0-9a-fA-F]{6}", re.ASCII)


def moment(value: Any) -> str:
    """Return a time of an API in the contract's form, none before 1970; raises TrackerFailure."""
    try:
        return max(times.parse(str(value)), EARLIEST)
    except ValueError as error:
        raise TrackerFailure("The tracker sent a time that is none.") from error


def cleaned(value: Any, depth: int = MAX_DEPTH) -> Any:
    """Return a JSON value without U+0000 and lone surrogates, which databases refuse; ValueError when it is deeper."""
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, dict | list):
        return value
    if not depth:
        raise ValueError("nests too deeply")
    if isinstance(value, dict):
        return {clean(name): cleaned(inner, depth - 1) for name, inner in value.items()}
    return [cleaned(inner, depth - 1) for inner in value]


def iso(moment: str) -> str:
    """Return a time of ours as ISO 8601."""
    return moment.replace(" ", "T") + "Z"


def color(value: Any) -> str | None:
    """Return a colour `rrggbb` or `#rrggbb` as `#rrggbb` in lower case; None for anything else."""
    if isinstance(value, str) and _COLOR.fullmatch(value):
        return "#" + value.lower().removeprefix("#")
    return None


def among(names: Iterable[str], others: Iterable[str]) -> bool:
    """Tell whether one of the names is one of the others, whatever their case."""
    return not {key(name) for name in names}.isdisjoint(map(key, others))


def parts(row: Mapping[str, Any], *names: str) -> tuple[str, ...]:
    """Return the fields of an object that are set, as texts."""
    return tuple(str(row[name]) for name in names if row.get(name) not in (None, ""))


def inside(row: Any, name: str) -> Mapping[str, Any]:
    """Return an object within an object, empty when there is none."""
    found = row.get(name) if isinstance(row, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def rows(value: Any) -> list[Mapping[str, Any]]:
    """Return a list of objects; raises TrackerFailure for anything else."""
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise TrackerFailure(UNEXPECTED)
    return value


def row(value: Any) -> Mapping[str, Any]:
    """Return an object; raises TrackerFailure for anything else."""
    return rows([value])[0]


def token(mark: str) -> str:
    """Return a mark as it stands in a text; one is never part of another."""
    return f"[snaglist:{mark}]"


def uuid_of(mark: str) -> str:
    """Return a UUID of version 4's form for a mark: the same for all attempts."""
    return str(uuid.UUID(bytes=hashlib.sha256(mark.encode()).digest()[:16], version=4))


def hidden(mark: str) -> str:
    """Return a mark as a comment that Markdown does not show."""
    return f"<!-- {token(mark)} -->"

"""All events of an issue that match, as a file: `format=csv` and `format=ndjson`, streamed."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snaglist.kernel import Call, Reply
from snaglist.plugins.issues.event_search.finding import Found, Wanted, find_events, matching_texts
from snaglist.plugins.issues.search.export import TYPES, cell, line
from snaglist.plugins.issues.search.occurrence import load_occurrences

BATCH = 500
LOOKED_AT = 1_000  # newest events whose values become columns; other values are in the last column, by name
COLUMNS = (
    "id", "occurred_at", "severity", "message", "user", "server_name", "release", "environment", "event_id", "path",
)  # fmt: skip
OTHERS = "other_values"


def export(call: Call, wanted: Wanted, form: str) -> Reply:
    """Return a streamed reply; needs an open transaction."""
    names = _names(call, wanted) if form == "csv" else []

    def body() -> Iterator[bytes]:
        if form == "csv":
            yield line([*COLUMNS, *(f"value: {name}" for name in names), OTHERS])
        after = None
        while True:
            with call.transaction(write=False):
                found = find_events(call, wanted, BATCH, after=after)
                shown = load_occurrences(call, wanted.issue_id, found.ids[:BATCH])
            if shown:
                yield _csv(shown, names) if form == "csv" else _ndjson(shown)
            if found.complete and len(found.ids) <= BATCH:
                return
            after = found.last if not found.complete else found.places[BATCH - 1]

    name = f"events-{wanted.issue_id}-{call.now[:10].replace('-', '')}.{form}"
    return Reply(body(), headers={"Content-Disposition": f'attachment; filename="{name}"'}, content_type=TYPES[form])


def _names(call: Call, wanted: Wanted) -> list[str]:
    names: dict[str, None] = {}
    for text in matching_texts(call, wanted, LOOKED_AT, Found([], [])):
        names.update(dict.fromkeys(name for name, _, _ in text.named_values()))
        names.update(dict.fromkeys(text.fields))
    return list(names)


def _csv(shown: Sequence[Mapping[str, Any]], names: Sequence[str]) -> bytes:
    return b"".join(_row(event, names) for event in shown)


def _row(event: Mapping[str, Any], names: Sequence[str]) -> bytes:
    values = {**event["fields"], **{one["name"]: one["value"] for one in event["values"]}}
    others = {name: value for name, value in values.items() if name not in names}
    more = json.dumps(others, ensure_ascii=False) if others else ""
    return line(map(cell, [*(event[name] for name in COLUMNS), *(values.get(name) for name in names), more]))


def _ndjson(shown: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(json.dumps(event, ensure_ascii=False).encode() + b"\n" for event in shown)

"""Events as answers show them: the occurrence, its message with the values in it, who it happened to."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues.above import sources
from snaglist.plugins.issues.search import parts
from snaglist.plugins.issues.stored_paths import show_path
from snaglist.plugins.issues.values.reading import StoredText

PUSHED = "http"  # log type of pushed channels: their positions are numbers of events, not of bytes


def load_occurrences(call: Call, issue_id: int, ids: Sequence[int]) -> list[dict[str, Any]]:
    """Return events of an issue in the order of their ids given; those that are gone are left out."""
    rows = {row.id: row for row in parts.occurrences_with(call.db, sources(call).table, ids)}
    return [show_occurrence(call, issue_id, rows[occurrence_id]) for occurrence_id in ids if occurrence_id in rows]


def show_occurrence(call: Call, issue_id: int, row: Row[Any]) -> dict[str, Any]:
    """Return an event of a row that `parts` selects."""
    pushed = row.log_type == PUSHED
    text = StoredText(row)
    return {
        "id": row.id,
        "group_id": issue_id,
        "grouping_id": row.grouping_id,
        "source_id": row.source_id,
        "occurred_at": row.occurred_at,
        "received_at": row.received_at,
        "time_source": row.time_source,
        "severity": row.severity,
        "level_source": row.level_source,
        "environment": row.environment,
        "release": row.release,
        "server_name": row.server_name,
        "user": row.user_name,
        "event_id": row.event_id,
        "byte_start": 0 if pushed else row.byte_start,
        "byte_end": row.byte_end - row.byte_start if pushed else row.byte_end,
        "provisional": bool(row.provisional),
        "truncated": bool(row.truncated),
        "message": text.message,
        "values": _values(text),
        "fields": text.fields,
        "context_preview": row.context_preview,
        "path": show_path(call, row.path),
        "log_type": row.log_type,
        "channel": row.channel,
    }


def _values(text: StoredText) -> list[dict[str, Any]]:
    """Return the values of a message with where they begin in it, in characters."""
    shown = []
    position = 0
    for piece, (name, unit, value) in zip(text.pieces, text.named_values(), strict=False):
        position += len(piece)
        shown.append({"name": name, "unit": unit or None, "value": value, "start": position})
        position += len(value)
    return shown

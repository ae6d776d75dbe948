"""The rows of sources: the one of a path, and one to come."""

from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import path_text, stored_path
from snaglist.plugins.logs.identify.fingerprint import name_family
from snaglist.plugins.logs.parsers import PARSER_VERSION
from snaglist.plugins.logs.read.parsing import Reading
from snaglist.plugins.logs.store import coverage, queries


def known_source(call: Call, path: Path) -> Row[Any] | None:
    """Return the newest source of a path on this node; needs an open transaction."""
    return queries.newest(call.db, stored_path(call, path), call.service.file_node)


def new_source_row(call: Call, path: Path, reading: Reading) -> dict[str, Any]:
    """Return the row of a source to come; needs an open transaction."""
    name = path_text(reading.name or path.name)
    stored = stored_path(call, path)
    return {
        **queries.new_source(stored, queries.next_generation(call.db, stored), call.service.settings.node),
        "log_type": "console",
        "encoding": "utf-8",
        "channel": name[:255],
        "family": name_family(name),
        "timezone": reading.zone,
        **coverage.columns(None, reading.rules, reading.zone, own_zone=reading.own_zone, zone_known=reading.zone_known),
        "module_id": reading.module_id,
        "connector_id": reading.connector_id,
        "parser_version": PARSER_VERSION,
    }

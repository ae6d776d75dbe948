"""The row of a source that is read for the first time."""

from pathlib import Path
from typing import Any

from snaglist.kernel import Call
from snaglist.plugins.issues import path_text, stored_path
from snaglist.plugins.logs.identify.fingerprint import name_family
from snaglist.plugins.logs.parsers import PARSER_VERSION
from snaglist.plugins.logs.read.parsing import Reading
from snaglist.plugins.logs.store import coverage, queries


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
        "read_under": coverage.stamp(reading.rules, None if reading.own_zone else reading.zone),
        "counted": coverage.begin(reading.rules, own_zone=reading.own_zone),
        "module_id": reading.module_id,
        "connector_id": reading.connector_id,
        "parser_version": PARSER_VERSION,
    }

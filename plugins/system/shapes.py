"""Whether the tables of a database are those of the code.

The ledger says which steps ran, not what they were: before a release a step may change in place, and a database that
was made before looks current. Its columns tell: their names, kinds, lengths, and which may be empty.
"""

import re
from typing import Any

from sqlalchemy import Connection, Table, text

from snaglist.kernel import store
from snaglist.kernel.applications import Application
from snaglist.kernel.plugin import DISTRIBUTION
from snaglist.kernel.service import Service

_SQLITE = """
SELECT m.name, c.name, c.type, NULL, c."notnull" = 0, c.dflt_value
FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'
"""
_SERVER = """
SELECT table_name, column_name, data_type, character_maximum_length, is_nullable = 'YES', column_default
FROM information_schema.columns WHERE table_schema = :tenant
"""
_LENGTH = re.compile(r"char\w*\s?\(([0-9]+)\)", re.IGNORECASE)
_KINDS = {"bytes": ("blob", "bytea", "binary"), "text": ("char", "text", "clob", "json")}
Column = tuple[str, int | None, bool]  # kind, length of a short text, whether it may be empty


def unlike(service: Service, application: Application) -> str:
    """Return the first of the code's tables that the database has not or has otherwise, "" when all fit.

    A plugin that was installed beside snaglist is taken out: the rest can do without it.
    """
    with service.database.transaction(application, write=False) as db:
        found = _found(db)
        tables = {plugin.id: _first_unlike(db, plugin.tables, found) for plugin in service.plugins.loaded()}
        first = _first_unlike(db, [store.settings, store.jobs], found)
    for plugin_id, table in tables.items():
        plugin = service.plugins.find(plugin_id)
        if plugin is None or not table:
            continue
        if plugin.distribution == DISTRIBUTION:
            first = first or table
        else:
            said = f"table {table} is not as this version has it: a released step never changes, a new one is added"
            service.take_out(plugin, "register_tables", said)
    return first


def _first_unlike(db: Connection, tables: list[Table], found: dict[str, dict[str, tuple[Column, bool]]]) -> str:
    for table in tables:
        there = found.get(table.name, {})
        wanted = {column.name: _column(db, column) for column in table.columns}
        missing = [name for name, column in wanted.items() if name not in there or there[name][0] != column]
        if missing or any(needed for name, (_, needed) in there.items() if name not in wanted):
            return table.name
    return ""


def _found(db: Connection) -> dict[str, dict[str, tuple[Column, bool]]]:
    """Return tables and columns as they are, and of each column whether every new row has to give it."""
    tenant = db.get_execution_options().get("tenant")
    rows = db.execute(text(_SERVER), {"tenant": tenant}) if tenant else db.execute(text(_SQLITE))
    tables: dict[str, dict[str, tuple[Column, bool]]] = {}
    for table, name, kind, length, optional, default in rows:
        column = (_kind(kind), _length(f"{kind}({length})" if length else kind), bool(optional))
        tables.setdefault(table, {})[name] = column, not optional and default is None
    return tables


def _column(db: Connection, column: Any) -> Column:
    shown = column.type.compile(dialect=db.dialect)
    return _kind(shown), _length(shown), column.nullable


def _kind(shown: str) -> str:
    name = shown.lower().partition("(")[0]
    return next((kind for kind, words in _KINDS.items() if any(word in name for word in words)), "other")


def _length(shown: str) -> int | None:
    found = _LENGTH.search(shown.replace("character varying", "varchar"))
    return int(found[1]) if found else None

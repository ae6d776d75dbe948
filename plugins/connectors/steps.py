"""Schema steps of the connectors area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import BigInteger, Column, Connection, MetaData, String, Table, select, update

from snaglist.kernel import digest
from snaglist.kernel.columns import document, metadata
from snaglist.plugins.connectors.tables import TABLES
from snaglist.plugins.issues import relative_to_data


def s001(db: Connection) -> None:
    """Create all tables of the area."""
    metadata.create_all(db, tables=TABLES, checkfirst=True)


def s002(db: Connection) -> None:
    """Store paths in the data directory relative to it: of mirrors, and of files and folders that are read in place."""
    connectors = Table("connectors", MetaData(), Column("id", BigInteger), Column("type", String), document("config"))
    columns = (Column(name, String) for name in ("remote_path", "path_hash", "local_path"))
    streams = Table("streams", MetaData(), Column("id", BigInteger), Column("connector_id", BigInteger), *columns)
    local = {
        row.id: row.config for row in db.execute(select(connectors).where(connectors.c.type == "local")) if row.config
    }
    rows = db.execute(select(streams)).all()
    in_place = [row for row in rows if row.connector_id in local]
    folders = {config["directory"] for config in local.values() if "directory" in config}
    paths = {row.local_path for row in rows if row.local_path} | {row.remote_path for row in in_place} | folders
    # A folder counts as one of its files would: a path has something behind `logs/`.
    moved = relative_to_data(db, sorted({*paths, *(f"{folder}/" for folder in folders)}))
    for row in rows:
        values = {"local_path": moved[row.local_path]} if row.local_path in moved else {}
        if row in in_place and row.remote_path in moved:
            path = moved[row.remote_path]
            values |= {"remote_path": path, "path_hash": digest(path)}
        if values:
            db.execute(update(streams).where(streams.c.id == row.id).values(values))
    for connector_id, config in local.items():
        folder = config.get("directory", "")
        if place := moved.get(folder) or moved.get(f"{folder}/", "").rstrip("/"):
            changed = {**config, "directory": place}
            db.execute(update(connectors).where(connectors.c.id == connector_id).values(config=changed))


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))

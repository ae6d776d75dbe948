"""SQL of connectors and their streams."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, func, select, true

from snaglist.kernel import digest
from snaglist.plugins.connectors.tables import connectors, streams
from snaglist.plugins.issues import stored
from snaglist.plugins.logs import forget_connector
from snaglist.plugins.system import rows


def all_connectors(db: Connection) -> Sequence[Row[Any]]:
    """Return every connector as it is shown, in the order of `key(name)`."""
    return db.execute(_shown().order_by(connectors.c.name_key)).all()


def one_connector(db: Connection, connector_id: int) -> Row[Any] | None:
    """Return one connector like `all_connectors`."""
    return db.execute(_shown().where(connectors.c.id == connector_id)).first()


def enabled_connectors(db: Connection, node: str) -> Sequence[Row[Any]]:
    """Return the enabled connectors whose files or mirrors are on a node, by id; an empty node is any."""
    enabled = select(connectors).where(connectors.c.enabled == true()).order_by(connectors.c.id)
    return db.execute(enabled.where(connectors.c.node == node) if node else enabled).all()


def find_id(db: Connection, name_key: str) -> int | None:
    """Return the id of the connector with a folded name."""
    return db.execute(select(connectors.c.id).where(connectors.c.name_key == name_key)).scalar()


def lock_connectors(db: Connection, ids: Sequence[int]) -> None:
    """Keep others from changing or starting these connectors until the end of the transaction."""
    db.execute(
        select(connectors.c.id).where(connectors.c.id.in_(ids)).order_by(connectors.c.id).with_for_update()
    ).all()


def remove_connector(db: Connection, connector_id: int) -> None:
    """Delete a connector, and by their keys its streams and runs; its sources stay without it."""
    forget_connector(db, connector_id)
    rows.remove(db, connectors, connector_id)


def failed_connectors(db: Connection) -> Sequence[Row[Any]]:
    """Return the enabled connectors whose last sync failed, by name."""
    failed = select(connectors).where(connectors.c.enabled == true(), connectors.c.last_status == "failed")
    return db.execute(failed.order_by(connectors.c.name_key)).all()


def _shown() -> Select[Any]:
    stream_count = (
        select(func.count(streams.c.path_hash.distinct()))
        .where(streams.c.connector_id == connectors.c.id)
        .correlate(connectors)
        .scalar_subquery()
    )
    return stored.with_module(select(connectors, stream_count.label("stream_count")), connectors.c.module_id)


# --- streams ------------------------------------------------------------------------------------------------------


def newest_streams(db: Connection, connector_id: int) -> list[Row[Any]]:
    """Return the newest generation of each path of a connector, by id, with what is known of its source."""
    newest = (
        select(streams.c.path_hash, func.max(streams.c.generation).label("generation"))
        .where(streams.c.connector_id == connector_id)
        .group_by(streams.c.path_hash)
        .subquery()
    )
    shown = (
        select(streams)
        .join(newest, (newest.c.path_hash == streams.c.path_hash) & (newest.c.generation == streams.c.generation))
        .where(streams.c.connector_id == connector_id)
        .order_by(streams.c.id)
    )
    return list(db.execute(shown))


def source_ids(db: Connection, connector_id: int) -> list[Row[Any]]:
    """Return path and source of all streams of a connector that were read."""
    shown = select(streams.c.remote_path, streams.c.source_id)
    return list(db.execute(shown.where(streams.c.connector_id == connector_id, streams.c.source_id.is_not(None))))


def next_generation(db: Connection, connector_id: int, path: str) -> int:
    """Return the generation that a new stream of a path gets."""
    of_path = (streams.c.connector_id == connector_id, streams.c.path_hash == digest(path))
    return (db.execute(select(func.max(streams.c.generation)).where(*of_path)).scalar_one() or 0) + 1


def old_mirrors(db: Connection, connector_id: int, before: str) -> list[Row[Any]]:
    """Return id and mirror of the streams whose file last changed, or was last read, before a time."""
    shown = select(streams.c.id, streams.c.local_path).where(
        streams.c.connector_id == connector_id,
        streams.c.local_path.is_not(None),
        func.coalesce(streams.c.remote_modified_at, streams.c.last_synced_at) < before,
        streams.c.last_synced_at < before,
    )
    return list(db.execute(shown))

"""SQL of channels."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from snaglist.kernel.database import inserted_id
from snaglist.plugins.alerting.tables import channels


def all_channels(db: Connection) -> Sequence[Row[Any]]:
    """Return every channel."""
    return db.execute(select(channels)).all()


def one_channel(db: Connection, channel_id: int) -> Row[Any] | None:
    """Return one channel."""
    return db.execute(select(channels).where(channels.c.id == channel_id)).first()


def some_channels(db: Connection, ids: Collection[int]) -> dict[int, Row[Any]]:
    """Return channels by id."""
    return {row.id: row for row in db.execute(select(channels).where(channels.c.id.in_(sorted(ids))))}


def lock_channel(db: Connection, channel_id: int) -> Row[Any] | None:
    """Return one channel, kept from others until the end of the transaction."""
    return db.execute(select(channels).where(channels.c.id == channel_id).with_for_update()).first()


def add_channel(db: Connection, row: Mapping[str, Any]) -> int:
    """Insert a channel and return its id."""
    return inserted_id(db.execute(insert(channels).values(row)))


def change_channel(db: Connection, channel_id: int, **values: Any) -> None:
    """Change columns of a channel."""
    db.execute(update(channels).where(channels.c.id == channel_id).values(values))


def remove_channel(db: Connection, channel_id: int) -> bool:
    """Delete a channel, and by their keys its rules; its messages stay without it. False when there is none."""
    return db.execute(delete(channels).where(channels.c.id == channel_id)).rowcount > 0


def sealed_channels(db: Connection) -> list[Row[Any]]:
    """Return id, name, target and signing key of all channels."""
    return list(db.execute(select(channels.c.id, channels.c.name, channels.c.target, channels.c.signing)))

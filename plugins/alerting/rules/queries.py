"""SQL of rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, true, update

from snaglist.kernel.database import inserted_id
from snaglist.plugins.alerting.tables import channels, rules, state
from snaglist.plugins.issues import stored
from snaglist.plugins.tags import hold_tags, tag_name


def all_rules(db: Connection) -> Sequence[Row[Any]]:
    """Return every rule as it is shown, the newest first."""
    return db.execute(_shown().order_by(rules.c.id.desc())).all()


def one_rule(db: Connection, rule_id: int) -> Row[Any] | None:
    """Return one rule like `all_rules`."""
    return db.execute(_shown().where(rules.c.id == rule_id)).first()


def enabled_rules(db: Connection) -> Sequence[Row[Any]]:
    """Return the enabled rules, by id, with `channel_enabled`."""
    found = select(rules, channels.c.enabled.label("channel_enabled"))
    joined = found.join(channels, channels.c.id == rules.c.channel_id)
    return db.execute(joined.where(rules.c.enabled == true()).order_by(rules.c.id)).all()


def lock_rule(db: Connection, rule_id: int) -> Row[Any] | None:
    """Return a rule, kept from others until the end of the transaction."""
    return db.execute(select(rules).where(rules.c.id == rule_id).with_for_update()).first()


def add_rule(db: Connection, row: Mapping[str, Any]) -> int:
    """Insert a rule and return its id."""
    return inserted_id(db.execute(insert(rules).values(row)))


def change_rule(db: Connection, rule_id: int, **values: Any) -> None:
    """Change columns of a rule."""
    db.execute(update(rules).where(rules.c.id == rule_id).values(values))


def change_rules(db: Connection, **values: Any) -> None:
    """Change columns of all rules."""
    db.execute(update(rules).values(values))


def remove_rule(db: Connection, rule_id: int) -> bool:
    """Delete a rule, and by its key what it fired for; its messages stay. False when there is none."""
    return db.execute(delete(rules).where(rules.c.id == rule_id)).rowcount > 0


def forget_fired(db: Connection, rule_id: int) -> None:
    """Forget what a rule fired for."""
    db.execute(delete(state).where(state.c.rule_id == rule_id))


def channel_exists(db: Connection, channel_id: int) -> bool:
    """Tell whether there is such a channel, and keep it from being deleted until the end of the transaction."""
    found = select(channels.c.id).where(channels.c.id == channel_id).with_for_update(read=True, key_share=True)
    return db.execute(found).first() is not None


def tag_exists(db: Connection, tag_id: int) -> bool:
    """Tell the same of a tag."""
    return bool(hold_tags(db, [tag_id]))


def _shown() -> Select[Any]:
    shown = (channels.c.name.label("channel_name"), channels.c.type.label("channel_type"))
    rows = select(rules, *shown, tag_name(rules.c.tag_id).label("tag_name"))
    return stored.with_module(rows.join(channels, channels.c.id == rules.c.channel_id), rules.c.module_id)

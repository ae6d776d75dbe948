"""SQL of rules."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, insert, select, true, update

from snaglist.kernel.database import inserted_id
from snaglist.plugins.alerting.tables import channels, rules, state
from snaglist.plugins.issues import tables
from snaglist.plugins.tags import hold_tags, tag_name

_modules = tables.modules


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
    return _held(db, channels.c.id, channel_id)


def module_exists(db: Connection, module_id: int) -> bool:
    """Tell the same of a module."""
    return _held(db, _modules.c.id, module_id)


def tag_exists(db: Connection, tag_id: int) -> bool:
    """Tell the same of a tag."""
    return bool(hold_tags(db, [tag_id]))


def _held(db: Connection, column: Any, wanted: int) -> bool:
    found = select(column).where(column == wanted).with_for_update(read=True, key_share=True)
    return db.execute(found).first() is not None


def _shown() -> Select[Any]:
    return select(
        rules,
        channels.c.name.label("channel_name"),
        channels.c.type.label("channel_type"),
        _modules.c.name.label("module_name"),
        _modules.c.slug.label("module_slug"),
        tag_name(rules.c.tag_id).label("tag_name"),
    ).select_from(
        rules.join(channels, channels.c.id == rules.c.channel_id).outerjoin(
            _modules, _modules.c.id == rules.c.module_id
        )
    )

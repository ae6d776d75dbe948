"""SQL of rules."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnCollection, ColumnElement, Connection, Row, Select, select, true

from snaglist.plugins.alerting.tables import channels, rules
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


def about(rule: Row[Any], events: ColumnCollection[str, ColumnElement[Any]]) -> list[ColumnElement[bool]]:
    """Return the conditions on columns of events that a rule is about: its severities and its environment."""
    found: list[ColumnElement[bool]] = []
    if rule.severities:
        found.append(events.severity.in_(rule.severities))
    if rule.environment is not None:
        found.append(events.environment == rule.environment)
    return found


def is_about(rule: Row[Any], severity: str, environment: str) -> bool:
    """Tell the same of one event."""
    return (not rule.severities or severity in rule.severities) and rule.environment in (None, environment)


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

"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import (
    Column,
    Connection,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    literal_column,
    select,
    update,
)

from snaglist.kernel.columns import data, document, flag, id_column, moment, number, real, reference, text
from snaglist.kernel.ddl import create_table
from snaglist.plugins.issues import relative_to_data


def s001(db: Connection) -> None:
    """Create the tables of the area."""
    create_table(
        db,
        "alert_channels",
        id_column(),
        text("name", 120),
        text("type", 16),
        data("target", nullable=True),
        text("target_hint", 200),
        data("signing", nullable=True),
        flag("enabled"),
        text("last_status", 16, nullable=True),
        text("last_error", 500, nullable=True),
        moment("retry_at", nullable=True),
        moment("created_at"),
        moment("updated_at"),
        Index("ix_alert_channels_name", "name"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "alert_rules",
        id_column(),
        text("name", 120),
        reference("channel_id", "alert_channels.id"),
        text("trigger_type", 20),
        document("severities"),
        reference("module_id", "modules.id", on_delete="SET NULL"),
        text("environment", 100, nullable=True),
        reference("tag_id", "tags.id", on_delete="SET NULL"),
        text("source", 255, nullable=True),
        number("min_count"),
        real("spike_factor"),
        number("window_minutes"),
        number("cooldown_minutes"),
        flag("enabled"),
        moment("started_at"),
        moment("last_event_at", nullable=True),
        moment("last_triggered_at", nullable=True),
        moment("created_at"),
        moment("updated_at"),
        Index("ix_alert_rules_enabled", "enabled"),
        Index("ix_alert_rules_channel_id", "channel_id"),
        Index("ix_alert_rules_module_id", "module_id"),
        Index("ix_alert_rules_tag_id", "tag_id"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "alert_state",
        reference("rule_id", "alert_rules.id"),
        number("issue_id"),
        moment("last_fired_at"),
        PrimaryKeyConstraint("rule_id", "issue_id"),
        Index("ix_alert_state_issue_id", "issue_id"),
    )
    create_table(
        db,
        "alert_outbox",
        id_column(),
        text("delivery_id", 36),
        reference("rule_id", "alert_rules.id", on_delete="SET NULL"),
        reference("channel_id", "alert_channels.id", on_delete="SET NULL"),
        text("trigger_type", 20),
        document("payload"),
        text("status", 16),
        number("attempts"),
        moment("next_attempt_at"),
        number("job_id", nullable=True),
        text("detail", 500, nullable=True),
        moment("created_at"),
        moment("finished_at", nullable=True),
        UniqueConstraint("delivery_id", name="uq_alert_outbox_delivery_id"),
        Index("ix_alert_outbox_status", "status", "next_attempt_at"),
        Index("ix_alert_outbox_counted", "status", "created_at"),
        Index("ix_alert_outbox_job_id", "job_id"),
        Index("ix_alert_outbox_rule_id", "rule_id"),
        Index("ix_alert_outbox_channel_id", "channel_id"),
        Index("ix_alert_outbox_created_at", literal_column("created_at DESC")),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "alert_minutes",
        number("issue_id"),
        moment("minute"),
        text("severity", 16),
        text("environment", 100),
        number("count"),
        PrimaryKeyConstraint("issue_id", "minute", "severity", "environment"),
        Index("ix_alert_minutes_minute", "minute"),
    )


def s002(db: Connection) -> None:
    """Let rules look for files of the data directory by the paths that are stored now."""
    rules = Table("alert_rules", MetaData(), Column("source", String))
    named = db.execute(select(rules.c.source).where(rules.c.source.is_not(None)).distinct()).scalars().all()
    for source, path in relative_to_data(db, named).items():
        db.execute(update(rules).where(rules.c.source == source).values(source=path))


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))

"""Tables of the area: channels, rules and what fired when, messages, and events by the minute."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from snaglist.kernel.columns import data, document, flag, id_column, metadata, moment, number, real, reference, text

# `retry_at`: until then a channel that gave no answer at all is left alone.
channels = Table(
    "alert_channels",
    metadata,
    id_column(),
    text("name", 120),
    text("type", 16),
    data("target", nullable=True),  # null for the moment between getting an id and being sealed for it
    text("target_hint", 200),
    data("signing", nullable=True),
    flag("enabled"),
    text("last_status", 16, nullable=True),
    text("last_error", 500, nullable=True),
    moment("retry_at", nullable=True),
    moment("created_at"),
    moment("updated_at"),
    Index("ix_alert_channels_name", "name"),
    sqlite_autoincrement=True,  # secrets are sealed for the id
)

# `started_at`: events before it never count. `last_event_at`: when an event for a heartbeat was received last.
rules = Table(
    "alert_rules",
    metadata,
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
    sqlite_autoincrement=True,  # messages of a deleted rule must not become those of the next one
)

# When a rule last fired for an issue, in the time of its events.
state = Table(
    "alert_state",
    metadata,
    reference("rule_id", "alert_rules.id"),
    number("issue_id"),
    moment("last_fired_at"),
    PrimaryKeyConstraint("rule_id", "issue_id"),
    Index("ix_alert_state_issue_id", "issue_id"),
)

outbox = Table(
    "alert_outbox",
    metadata,
    id_column(),
    text("delivery_id", 36),
    reference("rule_id", "alert_rules.id", on_delete="SET NULL"),
    reference("channel_id", "alert_channels.id", on_delete="SET NULL"),
    text("trigger_type", 20),
    document("payload"),
    text("status", 16),
    number("attempts"),
    moment("next_attempt_at"),
    number("job_id", nullable=True),  # the job that sends it now
    text("detail", 500, nullable=True),
    moment("created_at"),
    moment("finished_at", nullable=True),
    UniqueConstraint("delivery_id", name="uq_alert_outbox_delivery_id"),
    Index("ix_alert_outbox_status", "status", "next_attempt_at"),
    Index("ix_alert_outbox_counted", "status", "created_at"),  # how many went out within an hour
    Index("ix_alert_outbox_job_id", "job_id"),
    Index("ix_alert_outbox_rule_id", "rule_id"),
    Index("ix_alert_outbox_channel_id", "channel_id"),
    sqlite_autoincrement=True,
)
Index("ix_alert_outbox_created_at", outbox.c.created_at.desc())

# Events of an issue by minute, of long past hours by hour.
minutes = Table(
    "alert_minutes",
    metadata,
    number("issue_id"),
    moment("minute"),
    text("severity", 16),
    text("environment", 100),
    number("count"),
    PrimaryKeyConstraint("issue_id", "minute", "severity", "environment"),
    Index("ix_alert_minutes_minute", "minute"),
)

TABLES = (channels, rules, state, outbox, minutes)

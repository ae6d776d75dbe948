"""Tables of the issues area: modules, issues, groupings, occurrences, counters, history.

`occurrences` refers to `sources` of the logs area: what an event came from is the business of whoever read it.
"""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint, event

from snaglist.kernel.columns import document, flag, id_column, metadata, moment, number, reference, text
from snaglist.plugins.issues.packed import packed_document, packed_text
from snaglist.plugins.issues.values.index import add_word_index

modules = Table(
    "modules",
    metadata,
    id_column(),
    text("name", 100),
    text("name_key", 300),
    text("slug", 64),
    text("color", 7),
    moment("created_at"),
    moment("updated_at"),
    UniqueConstraint("name_key", name="uq_modules_name_key"),
    UniqueConstraint("slug", name="uq_modules_slug"),
    sqlite_autoincrement=True,  # or SQLite gives the id of a deleted module to the next one
)

issues = Table(
    "issues",
    metadata,
    id_column(),
    text("origin", 16),
    text("kind", 20),
    reference("module_id", "modules.id", on_delete="SET NULL"),
    text("severity", 16),
    number("severity_rank"),
    text("environment", 100),
    text("log_type", 40),
    text("channel", 255),
    text("title", 500),
    text("exception_class", 255, nullable=True),
    text("source_frame", 1000, nullable=True),
    text("fingerprint", 64),
    number("count"),
    number("stored_occurrences"),
    number("users", server_default="0"),  # how many different ones its events name
    moment("first_seen"),
    moment("last_seen"),
    number("sample_occurrence_id", nullable=True),
    text("search_text"),
    text("status", 16),
    moment("status_updated_at", nullable=True),
    moment("fixed_at", nullable=True),
    text("fixed_release", 120, nullable=True),
    moment("snoozed_until", nullable=True),
    number("snooze_count", nullable=True),
    text("external_source", 40, nullable=True),
    text("external_id", 200, nullable=True),
    text("external_url", 1000, nullable=True),
    text("assignee", 200, nullable=True),
    text("assigned_to_id", 200, nullable=True),
    text("assigned_to_label", 200, nullable=True),
    moment("created_at"),
    moment("updated_at"),
    UniqueConstraint("external_source", "external_id", name="uq_issues_external"),
    Index("ix_issues_log_type", "log_type"),
    Index("ix_issues_origin", "origin", "created_at"),  # with the time: scopes list manual and tracker issues by it
    Index("ix_issues_kind", "kind"),
    Index("ix_issues_module_id", "module_id"),
    Index("ix_issues_assigned_to_id", "assigned_to_id"),
    sqlite_autoincrement=True,  # or SQLite gives the id of a merged issue to the next one
)
Index("ix_issues_last_seen", issues.c.last_seen.desc(), issues.c.id.desc())
Index("ix_issues_first_seen", issues.c.first_seen, issues.c.id)
Index("ix_issues_count", issues.c.count.desc(), issues.c.id.desc())
Index("ix_issues_users", issues.c.users.desc(), issues.c.id.desc())
Index("ix_issues_status", issues.c.status, issues.c.last_seen)
Index("ix_issues_severity", issues.c.severity_rank, issues.c.last_seen)
for column in (issues.c.assignee, issues.c.snoozed_until, issues.c.snooze_count):  # few issues have one
    few = column.is_not(None)
    Index(f"ix_issues_{column.name}", column, sqlite_where=few, postgresql_where=few)

groupings = Table(
    "groupings",
    metadata,
    id_column(),
    reference("issue_id", "issues.id"),
    number("module_id", nullable=True),
    text("fingerprint", 64),
    number("fingerprint_version"),
    text("key"),
    document("parts"),
    number("count"),
    moment("first_seen"),
    moment("last_seen"),
    moment("created_at"),
    UniqueConstraint("fingerprint", name="uq_groupings_fingerprint"),
    Index("ix_groupings_issue_id", "issue_id"),
    Index("ix_groupings_module_id", "module_id"),
)

issue_samples = Table(
    "issue_samples",
    metadata,
    reference("issue_id", "issues.id", primary_key=True, autoincrement=False),
    text("message"),
    packed_text("stack"),
    packed_text("context"),
    packed_document("exceptions"),
    # Every event rewrites a sample: within its row PostgreSQL uses the room again at once, else after a VACUUM.
    postgresql_with={"toast_tuple_target": 8_160, "fillfactor": 50},
)

issue_aliases = Table(
    "issue_aliases",
    metadata,
    number("old_id", primary_key=True, autoincrement=False),
    reference("issue_id", "issues.id"),
    # What most of its events came to, which the id follows; null: merged by a version that did not keep it.
    number("grouping_id", nullable=True),
    Index("ix_issue_aliases_issue_id", "issue_id"),
)

event_hours = Table(
    "event_hours",
    metadata,
    reference("grouping_id", "groupings.id"),
    moment("hour"),
    number("issue_id"),
    number("count"),
    PrimaryKeyConstraint("grouping_id", "hour"),
    Index("ix_event_hours_issue", "issue_id", "hour"),
    Index("ix_event_hours_found", "hour", "issue_id"),
)

event_days = Table(
    "event_days",
    metadata,
    text("day", 10),
    text("severity", 16),
    number("count"),
    PrimaryKeyConstraint("day", "severity"),
)

issue_totals = Table(
    "issue_totals",
    metadata,
    text("status", 16),
    text("severity", 16),
    text("log_type", 40),
    number("issues"),
    number("occurrences"),
    PrimaryKeyConstraint("status", "severity", "log_type"),
)

issue_facets = Table(
    "issue_facets",
    metadata,
    reference("issue_id", "issues.id"),
    text("facet", 20),
    text("value"),
    text("value_hash", 64),
    number("count"),
    moment("first_seen"),
    moment("last_seen"),
    PrimaryKeyConstraint("issue_id", "facet", "value_hash"),
    Index("ix_issue_facets_found", "facet", "value_hash", "issue_id"),
)

occurrences = Table(
    "occurrences",
    metadata,
    id_column(),
    reference("issue_id", "issues.id"),
    # No foreign key: without an index of its own every removal of a grouping would search the whole table, and
    # the index would cost every insert. Whoever removes a grouping moves or removes its occurrences.
    number("grouping_id"),
    reference("source_id", "sources.id"),
    moment("occurred_at"),
    moment("received_at"),
    text("time_source", 10),
    text("level_source", 10, nullable=True),  # null: stored by a version that did not keep it
    text("severity", 16),
    text("environment", 100),
    text("release", 120, nullable=True),
    text("server_name", 200, nullable=True),
    text("user_name", 200, nullable=True),
    text("event_id", 64, nullable=True),
    number("byte_start"),
    number("byte_end"),
    flag("provisional"),
    flag("truncated"),
    text("context_preview", nullable=True),
    # The layout of the message, a row of `grouping_texts`, and its values; null: stored by a version without them.
    # No foreign key, for the reason above; layouts go with their grouping.
    number("layout_id", nullable=True),
    text("slots", nullable=True),
    text("words", nullable=True),  # by which a search finds the event; `values.index` made their index
    UniqueConstraint("source_id", "byte_start", name="uq_occurrences_source_start"),
)
Index("ix_occurrences_issue", occurrences.c.issue_id, occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
Index(
    "uq_occurrences_event_id",
    occurrences.c.event_id,
    unique=True,
    sqlite_where=occurrences.c.event_id.is_not(None),
    postgresql_where=occurrences.c.event_id.is_not(None),
)
Index(
    "ix_occurrences_release",
    occurrences.c.release,
    sqlite_where=occurrences.c.release.is_not(None),
    postgresql_where=occurrences.c.release.is_not(None),
)

Index(
    "ix_occurrences_user_name",
    occurrences.c.user_name,
    sqlite_where=occurrences.c.user_name.is_not(None),
    postgresql_where=occurrences.c.user_name.is_not(None),
)

# What is fixed in the texts of a grouping's events: the layouts of their messages, and the stacks that they had.
grouping_texts = Table(
    "grouping_texts",
    metadata,
    id_column(),
    reference("grouping_id", "groupings.id"),
    text("kind", 8),
    text("digest", 32),
    text("body"),
    text("words", nullable=True),
    Index("ix_grouping_texts_grouping_id", "grouping_id"),
)

for indexed in (occurrences, grouping_texts):
    event.listen(indexed, "after_create", lambda table, db, **_: add_word_index(db, table.name))

status_history = Table(
    "status_history",
    metadata,
    id_column(),
    reference("issue_id", "issues.id"),
    text("event", 20),
    text("from_status", 16, nullable=True),
    text("to_status", 16, nullable=True),
    text("note", nullable=True),
    text("actor", 200, nullable=True),
    moment("created_at"),
)
Index(
    "ix_status_history_issue", status_history.c.issue_id, status_history.c.created_at.desc(), status_history.c.id.desc()
)

TABLES = (
    modules,
    issues,
    groupings,
    issue_samples,
    issue_aliases,
    event_hours,
    event_days,
    issue_totals,
    issue_facets,
    occurrences,
    grouping_texts,
    status_history,
)

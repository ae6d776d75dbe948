"""Schema steps of the issues area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import ColumnElement, Connection, Index, PrimaryKeyConstraint, UniqueConstraint, literal_column

from snaglist.kernel.columns import data, document, flag, id_column, moment, number, reference, text
from snaglist.kernel.ddl import add_column, add_index, create_table, drop_index
from snaglist.plugins.issues.stored_paths import make_relative
from snaglist.plugins.issues.values.steps import add_values


def s001(db: Connection) -> None:
    """Create all tables of the area."""
    create_table(
        db,
        "modules",
        id_column(),
        text("name", 100),
        text("name_key", 300),
        text("slug", 64),
        text("color", 7),
        moment("created_at"),
        moment("updated_at"),
        UniqueConstraint("name_key", name="uq_modules_name_key"),
        UniqueConstraint("slug", name="uq_modules_slug"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "sources",
        id_column(),
        text("path"),
        text("path_hash", 64),
        number("generation"),
        text("node", 64),
        text("identity", 128, nullable=True),
        number("size"),
        moment("modified_at", nullable=True),
        number("offset"),
        number("first_byte"),
        text("prefix_hash", 64),
        number("prefix_length"),
        text("block_hash", 64),
        text("content_hash", 64),
        text("log_type", 40),
        text("channel", 255),
        text("family", 255),
        text("encoding", 32),
        text("timezone", 64),
        reference("module_id", "modules.id", on_delete="SET NULL"),
        number("connector_id", nullable=True),
        number("parser_version"),
        document("open_event", nullable=True),
        text("read_under", 120),
        document("counted", nullable=True),
        text("status", 16),
        text("last_error", 1000, nullable=True),
        number("occurrence_count"),
        moment("imported_at"),
        moment("created_at"),
        UniqueConstraint("path_hash", "generation", name="uq_sources_path_generation"),
        Index("ix_sources_identity", "identity"),
        Index("ix_sources_module_family", "module_id", "family"),
        Index("ix_sources_content_hash", "content_hash"),
        Index("ix_sources_imported_at", "imported_at"),
        Index("ix_sources_family", "family"),
    )
    create_table(
        db,
        "issues",
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
        Index("ix_issues_origin", "origin", "created_at"),
        Index("ix_issues_kind", "kind"),
        Index("ix_issues_module_id", "module_id"),
        Index("ix_issues_assigned_to_id", "assigned_to_id"),
        Index("ix_issues_last_seen", literal_column("last_seen DESC"), literal_column("id DESC")),
        Index("ix_issues_first_seen", "first_seen", "id"),
        Index("ix_issues_count", literal_column("count DESC"), literal_column("id DESC")),
        Index("ix_issues_status", "status", "last_seen"),
        Index("ix_issues_severity", "severity_rank", "last_seen"),
        _index_of_given("ix_issues_assignee", "assignee"),
        _index_of_given("ix_issues_snoozed_until", "snoozed_until"),
        _index_of_given("ix_issues_snooze_count", "snooze_count"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "groupings",
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
    create_table(
        db,
        "issue_samples",
        reference("issue_id", "issues.id", primary_key=True, autoincrement=False),
        text("message"),
        data("stack", nullable=True),
        data("context", nullable=True),
        data("exceptions", nullable=True),
        postgresql_with={"toast_tuple_target": 8_160, "fillfactor": 50},
    )
    create_table(
        db,
        "issue_aliases",
        number("old_id", primary_key=True, autoincrement=False),
        reference("issue_id", "issues.id"),
        Index("ix_issue_aliases_issue_id", "issue_id"),
    )
    create_table(
        db,
        "event_hours",
        reference("grouping_id", "groupings.id"),
        moment("hour"),
        number("issue_id"),
        number("count"),
        PrimaryKeyConstraint("grouping_id", "hour"),
        Index("ix_event_hours_issue", "issue_id", "hour"),
        Index("ix_event_hours_hour", "hour"),
    )
    create_table(
        db,
        "event_days",
        text("day", 10),
        text("severity", 16),
        number("count"),
        PrimaryKeyConstraint("day", "severity"),
    )
    create_table(
        db,
        "issue_totals",
        text("status", 16),
        text("severity", 16),
        text("log_type", 40),
        number("issues"),
        number("occurrences"),
        PrimaryKeyConstraint("status", "severity", "log_type"),
    )
    create_table(
        db,
        "issue_facets",
        reference("issue_id", "issues.id"),
        text("facet", 20),
        text("value"),
        text("value_hash", 64),
        number("count"),
        moment("first_seen"),
        moment("last_seen"),
        PrimaryKeyConstraint("issue_id", "facet", "value_hash"),
        Index("ix_issue_facets_value", "facet", "value_hash"),
    )
    create_table(
        db,
        "occurrences",
        id_column(),
        reference("issue_id", "issues.id"),
        number("grouping_id"),
        reference("source_id", "sources.id"),
        moment("occurred_at"),
        moment("received_at"),
        text("time_source", 10),
        text("severity", 16),
        text("environment", 100),
        text("release", 120, nullable=True),
        text("server_name", 200, nullable=True),
        text("event_id", 64, nullable=True),
        number("byte_start"),
        number("byte_end"),
        flag("provisional"),
        flag("truncated"),
        text("context_preview", nullable=True),
        UniqueConstraint("source_id", "byte_start", name="uq_occurrences_source_start"),
        Index("ix_occurrences_issue", "issue_id", literal_column("occurred_at DESC"), literal_column("id DESC")),
        _index_of_given("uq_occurrences_event_id", "event_id", unique=True),
        _index_of_given("ix_occurrences_release", "release"),
    )
    create_table(
        db,
        "payloads",
        reference("occurrence_id", "occurrences.id", primary_key=True, autoincrement=False),
        text("codec", 16),
        data("body"),
    )
    create_table(
        db,
        "payload_dictionaries",
        id_column(),
        reference("issue_id", "issues.id", on_delete="SET NULL"),
        data("body"),
        moment("created_at"),
        Index("ix_payload_dictionaries_issue_id", "issue_id"),
    )
    create_table(
        db,
        "status_history",
        id_column(),
        reference("issue_id", "issues.id"),
        text("event", 20),
        text("from_status", 16, nullable=True),
        text("to_status", 16, nullable=True),
        text("note", nullable=True),
        text("actor", 200, nullable=True),
        moment("created_at"),
        Index("ix_status_history_issue", "issue_id", literal_column("created_at DESC"), literal_column("id DESC")),
    )
    create_table(
        db,
        "tags",
        id_column(),
        text("name", 80),
        text("name_key", 300),
        text("color", 7),
        text("icon", 32),
        moment("created_at"),
        moment("updated_at"),
        text("created_by", 200, nullable=True),
        text("updated_by", 200, nullable=True),
        UniqueConstraint("name_key", name="uq_tags_name_key"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "tag_rules",
        id_column(),
        reference("tag_id", "tags.id"),
        text("match_word", 200),
        text("match_key", 800),
        flag("enabled"),
        moment("created_at"),
        UniqueConstraint("tag_id", name="uq_tag_rules_tag_id"),
        sqlite_autoincrement=True,
    )
    create_table(
        db,
        "issue_tags",
        reference("issue_id", "issues.id"),
        reference("tag_id", "tags.id"),
        text("source", 10),
        moment("created_at"),
        text("created_by", 200, nullable=True),
        PrimaryKeyConstraint("issue_id", "tag_id"),
        Index("ix_issue_tags_tag_id", "tag_id"),
    )
    create_table(
        db,
        "tag_removals",
        reference("issue_id", "issues.id"),
        reference("tag_id", "tags.id"),
        moment("removed_at"),
        text("removed_by", 200, nullable=True),
        PrimaryKeyConstraint("issue_id", "tag_id"),
    )


def s002(db: Connection) -> None:
    """Create the tables of the second stage of grouping."""
    create_table(
        db,
        "learned_templates",
        id_column(),
        text("digest", 32),
        text("role", 10),
        text("context"),
        text("template"),
        reference("grouping_id", "groupings.id"),
        UniqueConstraint("digest", "role", name="uq_learned_templates_digest"),
        Index("ix_learned_templates_grouping_id", "grouping_id"),
    )
    create_table(
        db,
        "learned_slots",
        text("digest", 32),
        reference("template_id", "learned_templates.id"),
        document("words"),
        PrimaryKeyConstraint("digest", "template_id"),
        Index("ix_learned_slots_template_id", "template_id"),
    )
    create_table(
        db,
        "learned_apart",
        reference("grouping_id", "groupings.id", primary_key=True, autoincrement=False),
        moment("created_at"),
        text("actor", 200, nullable=True),
    )


def s003(db: Connection) -> None:
    """Create the table of templates that could not be learned."""
    create_table(
        db,
        "learned_later",
        reference("grouping_id", "groupings.id", primary_key=True, autoincrement=False),
        number("tries"),
        moment("due_at"),
        text("version", 40),
        Index("ix_learned_later_due_at", "due_at"),
        Index("ix_learned_later_version", "version"),
    )


def s004(db: Connection) -> None:
    """Store paths of files in the data directory relative to it."""
    make_relative(db)


def s005(db: Connection) -> None:
    """Let the indexes of tags, facets and hours hold the issues that a search looks for."""
    for table, old, new in (
        ("issue_tags", "ix_issue_tags_tag_id", Index("ix_issue_tags_tag", "tag_id", "issue_id")),
        ("issue_facets", "ix_issue_facets_value", Index("ix_issue_facets_found", "facet", "value_hash", "issue_id")),
        ("event_hours", "ix_event_hours_hour", Index("ix_event_hours_found", "hour", "issue_id")),
    ):
        add_index(db, table, new)  # first, or MySQL keeps the old one for a foreign key
        drop_index(db, table, old)
    if db.dialect.name == "sqlite" and db.exec_driver_sql("SELECT 1 FROM issues LIMIT 1").first():
        db.exec_driver_sql("ANALYZE")  # versions before never did


def add_level_source(db: Connection) -> None:
    """Remember how the severity of an event was found."""
    add_column(db, "occurrences", text("level_source", 10, nullable=True))


def let_aliases_follow(db: Connection) -> None:
    """Remember of a merged issue which grouping its id follows."""
    add_column(db, "issue_aliases", number("grouping_id", nullable=True))


def _index_of_given(name: str, column: str, *, unique: bool = False) -> Index:
    """Return an index of the rows that have a value there; MySQL and MariaDB index all."""
    given: ColumnElement[bool] = literal_column(f"{column} IS NOT NULL")
    return Index(name, column, unique=unique, sqlite_where=given, postgresql_where=given)


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (
    ("s001", s001),
    ("s002", s002),
    ("s003", s003),
    ("s004", s004),
    ("s005", s005),
    ("add_level_source", add_level_source),
    ("add_values", add_values),
    ("let_aliases_follow", let_aliases_follow),
)

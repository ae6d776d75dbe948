"""Tables of the area; steps of the issues area made them. What issues read of them goes through `service.Tagging`."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from snaglist.kernel.columns import flag, id_column, metadata, moment, reference, text

tags = Table(
    "tags",
    metadata,
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
    sqlite_autoincrement=True,  # or SQLite gives the id of a deleted tag to the next one
)

tag_rules = Table(
    "tag_rules",
    metadata,
    id_column(),
    reference("tag_id", "tags.id"),
    text("match_word", 200),
    text("match_key", 800),
    flag("enabled"),
    moment("created_at"),
    UniqueConstraint("tag_id", name="uq_tag_rules_tag_id"),
    sqlite_autoincrement=True,  # a rebuilt rule has a new id, by which a job knows that its rule is outdated
)

issue_tags = Table(
    "issue_tags",
    metadata,
    reference("issue_id", "issues.id"),
    reference("tag_id", "tags.id"),
    text("source", 10),
    moment("created_at"),
    text("created_by", 200, nullable=True),
    PrimaryKeyConstraint("issue_id", "tag_id"),
    Index("ix_issue_tags_tag", "tag_id", "issue_id"),
)

tag_removals = Table(
    "tag_removals",
    metadata,
    reference("issue_id", "issues.id"),
    reference("tag_id", "tags.id"),
    moment("removed_at"),
    text("removed_by", 200, nullable=True),
    PrimaryKeyConstraint("issue_id", "tag_id"),
)

TABLES = (tags, tag_rules, issue_tags, tag_removals)

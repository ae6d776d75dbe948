"""The schema step of what events differ in; it never changes after release."""

from sqlalchemy import ColumnElement, Connection, Index, literal_column

from snaglist.kernel.columns import id_column, number, reference, text
from snaglist.kernel.ddl import add_column, add_index, create_table
from snaglist.plugins.issues.values.index import add_word_index


def add_values(db: Connection) -> None:
    """Keep what events differ in: the layouts and values of their messages, their users, the words that find them."""
    create_table(
        db,
        "grouping_texts",
        id_column(),
        reference("grouping_id", "groupings.id"),
        text("kind", 8),
        text("digest", 32),
        text("body"),
        text("words", nullable=True),
        Index("ix_grouping_texts_grouping_id", "grouping_id"),
    )
    for column in (
        text("user_name", 200, nullable=True),
        number("layout_id", nullable=True),
        text("slots", nullable=True),
        text("words", nullable=True),
    ):
        add_column(db, "occurrences", column)
    given: ColumnElement[bool] = literal_column("user_name IS NOT NULL")
    few = Index("ix_occurrences_user_name", "user_name", sqlite_where=given, postgresql_where=given)
    add_index(db, "occurrences", few)
    add_column(db, "issues", number("users", server_default="0"))
    add_index(db, "issues", Index("ix_issues_users", literal_column("users DESC"), literal_column("id DESC")))
    add_word_index(db, "occurrences")
    add_word_index(db, "grouping_texts")

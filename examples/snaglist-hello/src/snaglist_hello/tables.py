"""The plugin's table, and the steps that make it."""

from sqlalchemy import Connection, Table, UniqueConstraint

from snaglist.kernel.columns import id_column, metadata, moment, number, text
from snaglist.kernel.ddl import create_table

words = Table(
    "hello_words",
    metadata,
    id_column(),
    text("word", 80),
    text("word_key", 300),  # as `key()` makes it: upper and lower case are one
    number("count"),
    moment("seen_at"),
    UniqueConstraint("word_key", name="uq_hello_words_key"),
)


def s001(db: Connection) -> None:
    """Make the table. A released step never changes: it holds what it made, and the next change is the next step."""
    create_table(
        db,
        "hello_words",
        id_column(),
        text("word", 80),
        text("word_key", 300),
        number("count"),
        moment("seen_at"),
        UniqueConstraint("word_key", name="uq_hello_words_key"),
    )


STEPS = (("s001", s001),)

"""The plugin's table."""

from sqlalchemy import Connection, Table, UniqueConstraint

from snaglist.kernel.columns import id_column, metadata, moment, number, text

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


def create(db: Connection) -> None:
    """Step s001."""
    words.create(db, checkfirst=True)

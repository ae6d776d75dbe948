"""The index of words that each database brings: FTS5 of SQLite, GIN of PostgreSQL, FULLTEXT of MySQL and MariaDB.

It belongs to a table with a column `words`, made by `words.index_words`, so that the three agree on what a word is.
Measured beside a table of our own with a row for each word: that one took 8 times as long to write on SQLite, and three
times the room on PostgreSQL.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    MetaData,
    Select,
    Table,
    cast,
    column,
    inspect,
    literal,
    literal_column,
    select,
    table,
)
from sqlalchemy.dialects import mysql, postgresql

from snaglist.plugins.issues.values.words import index_begin, index_prefix, index_word
from snaglist.plugins.system import qualified

MERGED_PAGES = 500  # at once
_SPLIT = "array_to_tsvector(string_to_array(words, ' '))"


def add_word_index(db: Connection, name: str) -> None:
    """Make the index of the `words` of a table that has an `id`, in a schema step."""
    indexed = Table(name, MetaData())
    name = f"ix_{indexed.name}_words"
    if db.dialect.name == "sqlite":
        _add_on_sqlite(db, indexed.name)
    elif db.dialect.name == "postgresql":
        db.exec_driver_sql(f"CREATE INDEX IF NOT EXISTS {name} ON {qualified(db, indexed)} USING gin ({_SPLIT})")
    elif name not in _indexes(db, indexed):
        db.exec_driver_sql(f"ALTER TABLE {qualified(db, indexed)} ADD FULLTEXT INDEX {name} (words)")


def _indexes(db: Connection, indexed: Table) -> set[str | None]:
    return {found["name"] for found in inspect(db).get_indexes(indexed.name, db.get_execution_options().get("tenant"))}


def _add_on_sqlite(db: Connection, name: str) -> None:
    index = f"{name}_index"
    tokens = "unicode61 remove_diacritics 0 tokenchars _"
    db.exec_driver_sql(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {index} USING fts5(words, content='{name}', content_rowid='id',"
        f" detail=none, columnsize=0, tokenize='{tokens}')"
    )
    db.exec_driver_sql(f"CREATE TABLE IF NOT EXISTS {index}_later (later INTEGER NOT NULL)")
    db.exec_driver_sql(f"INSERT INTO {index}_later SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM {index}_later)")
    add = f"INSERT INTO {index} (rowid, words) VALUES (new.id, new.words);"
    take = f"INSERT INTO {index} ({index}, rowid, words) VALUES ('delete', old.id, old.words);"
    for event, when, work in (
        ("INSERT", f"new.words IS NOT NULL AND (SELECT later FROM {index}_later) = 0", add),
        ("DELETE", "old.words IS NOT NULL", take),
        ("UPDATE OF id, words", "old.words IS NOT NULL", take),
        ("UPDATE OF words, id", "new.words IS NOT NULL", add),
    ):
        trigger = f"{index}_{event.lower().replace(', ', '_').replace(' ', '_')}"
        moment = "BEFORE" if work is take and event.startswith("UPDATE") else "AFTER"
        db.exec_driver_sql(
            f"CREATE TRIGGER IF NOT EXISTS {trigger} {moment} {event} ON {name} WHEN {when} BEGIN {work} END"
        )


@contextmanager
def indexed_at_once(db: Connection, indexed: Table) -> Iterator[None]:
    """Let SQLite index the rows that are inserted meanwhile when all are there.

    PERF: its index writes all that it holds with each statement that fires a trigger, which takes ten times as long.
    """
    if db.dialect.name != "sqlite":
        yield
        return
    index = f"{indexed.name}_index"
    last = db.exec_driver_sql(f"SELECT coalesce(max(id), 0) FROM {indexed.name}").scalar_one()
    db.exec_driver_sql(f"UPDATE {index}_later SET later = 1")
    yield  # a failure undoes all of it
    new = f"SELECT id, words FROM {indexed.name} WHERE id > {last} AND words IS NOT NULL"
    db.exec_driver_sql(f"INSERT INTO {index} (rowid, words) {new}")
    db.exec_driver_sql(f"UPDATE {index}_later SET later = 0")


def tidy_word_index(db: Connection, indexed: Table, *, first: bool) -> bool:
    """Write a part of an index anew, without words that no row has any more; False when nothing is left to do.

    Only SQLite keeps them until then: PostgreSQL and MariaDB do it themselves, in their own time.
    """
    if db.dialect.name != "sqlite":
        return False
    index = f"{indexed.name}_index"
    changes = "SELECT total_changes()"
    before = db.exec_driver_sql(changes).scalar_one()
    pages = -MERGED_PAGES if first else MERGED_PAGES  # negative: all of the index is to become one part
    db.exec_driver_sql(f"INSERT INTO {index}({index}, rank) VALUES('merge', {pages})")
    return bool(db.exec_driver_sql(changes).scalar_one() - before >= 2)  # as SQLite's documentation of FTS5 says


def found_by_index(db: Connection, statement: Select[Any]) -> list[Any]:
    """Run a statement that asks the index, and return its rows.

    PERF: PostgreSQL thinks that to make the words of a row is free, and would rather do that for every row.
    """
    if db.dialect.name != "postgresql":
        return list(db.execute(statement))
    db.exec_driver_sql("SET LOCAL enable_seqscan = off")
    found = list(db.execute(statement))
    db.exec_driver_sql("SET LOCAL enable_seqscan = on")
    return found


def newest(db: Connection, indexed: Table, ids: Select[int], most: int, *columns: ColumnElement[Any]) -> Select[Any]:
    """Select columns of the newest of the rows that `rows_with` selects, at most so many.

    Its index is a table of SQLite; on servers it is one of the rows, and to join them once more would read them all.
    """
    if db.dialect.name != "sqlite":
        return ids.with_only_columns(*columns).order_by(indexed.c.id.desc()).limit(most)
    found = ids.subquery()
    some = select(found.c.id).order_by(found.c.id.desc()).limit(most).subquery()
    return select(*columns).join_from(some, indexed, indexed.c.id == some.c.id)


def rows_with(db: Connection, indexed: Table, words: Sequence[str], *, prefix: bool = False) -> Select[int]:
    """Select the ids of the rows that have all of some words; with `prefix` the last one may go on."""
    ids = indexed.c.id
    wanted = [_Wanted(index_word(word), index_begin(word)) for word in words]
    if prefix:
        wanted[-1] = _Wanted(None, index_prefix(words[-1]))
    if db.dialect.name == "sqlite":
        index = table(f"{indexed.name}_index", column("rowid"), column(f"{indexed.name}_index"))
        matched = " AND ".join(one.spelled('"{}"', '"{}" *', " OR ") for one in wanted)
        return select(index.c.rowid.label("id")).where(index.c[f"{indexed.name}_index"].op("MATCH")(matched))
    if db.dialect.name == "postgresql":
        matched = " & ".join(one.spelled("'{}'", "'{}':*", " | ") for one in wanted)
        query = cast(literal(matched), postgresql.TSQUERY)
        split: ColumnElement[Any] = literal_column(f"array_to_tsvector(string_to_array({indexed.name}.words, ' '))")
        return select(ids).where(split.op("@@")(query))
    matched = " ".join("+" + one.spelled("{}", "{}*", " ") for one in wanted)
    return select(ids).where(mysql.match(indexed.c.words, against=literal(matched)).in_boolean_mode())


class _Wanted(NamedTuple):
    """A word that rows must have: as it is in the index, or what it begins with."""

    whole: str | None
    begin: str | None

    def spelled(self, whole: str, begin: str, either: str) -> str:
        """Return it in the language of a database."""
        ways = [whole.format(self.whole) if self.whole else "", begin.format(self.begin) if self.begin else ""]
        return f"({either.join(filter(None, ways))})"

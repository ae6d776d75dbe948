"""The changes that schema steps make of tables: alike on every database, repeatable, and of one application alone."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, Index, MetaData, Table, UniqueConstraint, event, insert, select
from sqlalchemy.engine import Engine

from snaglist.kernel import times
from snaglist.kernel.applications import Application
from snaglist.kernel.columns import data, id_column, moment, number, reference, text
from snaglist.kernel.ddl import (
    add_column,
    add_index,
    create_table,
    drop_column,
    drop_index,
    drop_table,
    rename_column,
    rename_table,
)
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings

Config = dict[str, str]
Shape = Callable[..., dict[str, Any]]


@pytest.fixture
def service(tmp_path: Any, own_database_config: Config) -> Iterator[Service]:
    """A service that has touched no database yet."""
    given = {name.replace("__", "."): value for name, value in own_database_config.items()}
    made = Service(Settings({"server.data": str(tmp_path / "data"), **given}, environ={}))
    yield made
    made.close()


def an_application(service: Service, name: str) -> Application:
    made = service.applications.make(name, name, times.now())
    service.database.create(made)
    return made


def begin(db: Connection) -> None:
    """Three tables of a first version."""
    create_table(db, "people", id_column(), text("name", 80))
    create_table(
        db,
        "notes",
        id_column(),
        text("note", 500),
        text("kind", 20),
        moment("made_at"),
        number("width", nullable=True),
        reference("person_id", "people.id"),
        UniqueConstraint("note", name="uq_notes_note"),
        Index("ix_notes_kind", "kind"),
        Index("ix_notes_made", "made_at", "kind"),
        Index("ix_notes_day", "made_at"),
        sqlite_autoincrement=True,
    )
    create_table(db, "drafts", id_column(), reference("person_id", "people.id", on_delete="SET NULL"))


def change(db: Connection) -> None:
    """What a second version made of them."""
    add_column(db, "people", text("team", 40, nullable=True, index=True))
    add_column(db, "people", number("rank", server_default="7"))
    add_column(db, "people", text("said", 40, server_default="100% 'sure': yes"))
    add_column(db, "people", data("photo", nullable=True))
    create_table(db, "projects", id_column(), text("title", 80))
    add_column(db, "notes", reference("project_id", "projects.id", on_delete="SET NULL"))
    add_index(db, "notes", Index("ix_notes_project", "project_id"))
    add_index(db, "people", Index("uq_people_name", "name", unique=True))
    drop_column(db, "notes", "kind")
    drop_column(db, "notes", "width")
    drop_index(db, "notes", "ix_notes_day")
    drop_table(db, "drafts")


def rename(db: Connection) -> None:
    """And a third: what is renamed is in a step of its own, so that no line before it has the old name."""
    rename_column(db, "notes", "note", "words")
    rename_table(db, "people", "persons")


STEPS = (begin, change, rename)


def wanted() -> MetaData:
    """The tables as the later version describes them."""
    tables = MetaData()
    Table("projects", tables, id_column(), text("title", 80))
    Table(
        "persons",
        tables,
        id_column(),
        text("name", 80),
        text("team", 40, nullable=True),
        number("rank", server_default="7"),
        text("said", 40, server_default="100% 'sure': yes"),
        data("photo", nullable=True),
        Index("uq_people_name", "name", unique=True),
        Index("ix_people_team", "team"),  # names of indexes do not follow the name of their table
    )
    Table(
        "notes",
        tables,
        id_column(),
        text("words", 500),
        moment("made_at"),
        reference("person_id", "persons.id"),
        reference("project_id", "projects.id", on_delete="SET NULL"),
        UniqueConstraint("words", name="uq_notes_note"),
        Index("ix_notes_project", "project_id"),
        sqlite_autoincrement=True,
    )
    return tables


@pytest.fixture
def expected(service: Service, shape: Shape) -> dict[str, Any]:
    """What a database is like that the tables of the third version were made in."""
    application = an_application(service, "expected")
    with service.database.transaction(application, write=True) as db:
        wanted().create_all(db)
    return shape(service, application)


def run(service: Service, application: Application, *steps: Callable[[Connection], None]) -> None:
    for step in steps:
        with service.database.exclusive(application) as db:
            step(db)


def fill(db: Connection) -> None:
    """A row in each table that stays."""
    db.execute(insert(Table("people", MetaData(), id_column(), text("name"))), {"id": 3, "name": "Ana"})
    columns = (text("note"), text("kind"), moment("made_at"), number("person_id"))
    row = {"id": 5, "note": "kept", "kind": "x", "made_at": "2026-01-01 00:00:00", "person_id": 3}
    db.execute(insert(Table("notes", MetaData(), id_column(), *columns)), row)


def kept(service: Service, application: Application) -> list[Any]:
    notes = Table("notes", MetaData(), id_column(), text("words"), number("person_id"), number("project_id"))
    people = Table("persons", MetaData(), id_column(), text("name"), text("team"), number("rank"), text("said"))
    with service.database.transaction(application, write=False) as db:
        return [tuple(row) for one in (notes, people) for row in db.execute(select(one))]


ROWS = [(5, "kept", 3, None), (3, "Ana", None, 7, "100% 'sure': yes")]


def test_an_old_database_and_a_fresh_one_end_alike(service: Service, shape: Shape, expected: dict[str, Any]) -> None:
    """With their rows, also when each step runs twice; an application beside them is not touched."""
    old, fresh, beside = (an_application(service, name) for name in ("old", "fresh", "beside"))
    run(service, beside, begin, fill)
    before = shape(service, beside)
    run(service, old, begin, fill, *(step for step in STEPS for _ in range(2)))
    run(service, fresh, *STEPS)
    assert shape(service, old) == shape(service, fresh) == expected
    assert kept(service, old) == ROWS
    assert shape(service, beside) == before


def test_a_step_goes_on_where_it_was_interrupted(service: Service, shape: Shape, expected: dict[str, Any]) -> None:
    """After each of its statements: what the database committed then stays."""
    application = an_application(service, "old")
    run(service, application, begin, fill)
    interrupted = 0
    for step in STEPS[1:]:
        number_of_it = 0
        while True:
            number_of_it += 1
            try:
                with interrupting(number_of_it):
                    run(service, application, step)
                break
            except InterruptedError:
                interrupted += 1
    assert interrupted >= 12
    assert shape(service, application) == expected
    assert kept(service, application) == ROWS


@contextmanager
def interrupting(number_of_it: int) -> Iterator[None]:
    """Raise in place of the n-th statement that changes a table; where such are committed at once, after the next."""
    seen = 0

    def listen(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        nonlocal seen
        if statement.split(maxsplit=1)[0] in ("CREATE", "ALTER", "DROP"):
            seen += 1
            if seen > (1 if connection.dialect.name == "mysql" else number_of_it):
                raise InterruptedError

    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


@pytest.mark.parametrize(
    "refused",
    [
        lambda db: add_column(db, "people", text("team", 40)),  # no value for the rows that are there
        lambda db: add_column(db, "people", text("team", 40, nullable=True, unique=True)),
        lambda db: drop_column(db, "people", "id"),
        lambda db: drop_column(db, "notes", "note"),
        lambda db: drop_column(db, "notes", "person_id"),
        lambda db: drop_table(db, "people"),
        lambda db: rename_column(db, "notes", "nothing", "something"),
        lambda db: rename_column(db, "notes", "kind", "note"),
        lambda db: rename_table(db, "people", "notes"),
    ],
)
def test_what_no_database_or_not_every_one_can_do_is_refused(
    service: Service, shape: Shape, refused: Callable[[Connection], None]
) -> None:
    """Before anything is changed."""
    application = an_application(service, "old")
    run(service, application, begin)
    before = shape(service, application)
    with pytest.raises(ValueError):
        run(service, application, refused)
    assert shape(service, application) == before

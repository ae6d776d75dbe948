"""Many rows in one statement: the same rows arrive as one by one, on every database."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, Table, UniqueConstraint, func, select
from sqlalchemy.exc import DBAPIError, IntegrityError

from snaglist.kernel import columns
from snaglist.kernel.bulk import FEW
from snaglist.kernel.database import upsert
from snaglist.kernel.service import Service
from snaglist.plugins.issues.row_updates import update_rows
from snaglist.plugins.system import insert_rows

MANY = FEW * 3
things = Table(
    "test_things", MetaData(),
    columns.id_column(), columns.text("name", 100), columns.text("body", nullable=True),
    columns.number("total", nullable=True), columns.flag("done"), columns.document("value", nullable=True),
    columns.data("bytes", nullable=True), columns.moment("at", nullable=True), columns.real("share"),
    UniqueConstraint("name"),
)  # fmt: skip
texts = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=60)
NASTY = "\\N \\. \t\r\n\"'%s :x {} \\\\ \u2028 😀 ß e\u0301 $1 ; --"


@pytest.fixture
def write(bare: Service) -> Iterator[Callable[..., Any]]:
    """Open transactions of an application that has the test's table."""
    application = bare.applications.all()[0]
    with bare.database.transaction(application, write=True) as db:
        things.create(db)
    yield lambda: bare.database.transaction(application, write=True)


def row(number: int, **more: Any) -> dict[str, Any]:
    return {
        "name": f"n{number:03}", "body": NASTY + str(number), "total": 2**63 - 1 - number, "done": number % 2 == 0,
        "value": {"ü": [number, None, NASTY]}, "bytes": bytes([0, 9, 10, 92, 255, number % 256]), "at": None,
        "share": number / 3, **more,
    }  # fmt: skip


def stored(db: Any, *names: str) -> list[dict[str, Any]]:
    wanted = [things.c[name] for name in names] or [c for c in things.c if c.name != "id"]
    return [dict(found) for found in db.execute(select(*wanted).order_by(things.c.name)).mappings()]


@pytest.mark.parametrize("count", [0, 1, MANY])
def test_insert_rows(write: Callable[..., Any], count: int) -> None:
    rows = [row(number) for number in range(count)]
    with write() as db:
        insert_rows(db, things, rows)
    with write() as db:
        assert stored(db) == rows


@settings(max_examples=25)
@given(st.lists(texts, min_size=MANY, max_size=MANY))
def test_any_text_arrives(write: Callable[..., Any], bodies: list[str]) -> None:
    rows = [row(number, body=body, value=body) for number, body in enumerate(bodies)]
    with write() as db:
        db.execute(things.delete())
        insert_rows(db, things, rows)
        assert stored(db) == rows
        changed = [
            {"row_id": found.id, "body": found.body[::-1] or None, "total": None}
            for found in db.execute(select(things.c.id, things.c.body))
        ]
        update_rows(db, things, changed)
        assert stored(db, "body", "total") == [{"body": body[::-1] or None, "total": None} for body in bodies]


@pytest.mark.parametrize("count", [1, MANY])
def test_update_rows_changes_the_named_ones_only(write: Callable[..., Any], count: int) -> None:
    with write() as db:
        insert_rows(db, things, [row(number) for number in range(MANY + 1)])
        ids = db.scalars(select(things.c.id).order_by(things.c.name)).all()
        update_rows(db, things, [])
        update_rows(
            db,
            things,
            [{"row_id": ids[n], "total": n, "at": "2026-01-01 00:00:00", "body": NASTY} for n in range(count)],
        )
        found = stored(db)
    expected = [row(number) for number in range(MANY + 1)]
    for number in range(count):
        expected[number] |= {"total": number, "at": "2026-01-01 00:00:00", "body": NASTY}
    assert found == expected


@pytest.mark.parametrize("with_bytes", [True, False], ids=["bytes", "records"])
def test_upsert_of_many(write: Callable[..., Any], with_bytes: bool) -> None:
    """Bytes have no place in a JSON document: rows that hold them go one by one."""
    dropped = {} if with_bytes else {"bytes": None}

    def given_row(number: int, total: int) -> dict[str, Any]:
        made = row(number, total=total, **dropped)
        return made if with_bytes else {name: value for name, value in made.items() if name != "bytes"}

    with write() as db:
        upsert(db, things, [given_row(n, 1) for n in range(MANY)], add=["total"], replace=["body", "value"])
        again = [given_row(n, 5) | {"body": f"{NASTY} again", "value": None} for n in range(FEW, MANY * 2)]
        upsert(db, things, again, add=["total"], replace=["body", "value"])
        found = stored(db)
    assert [each["total"] for each in found] == [1] * FEW + [6] * (MANY - FEW) + [5] * MANY
    assert [each["body"] for each in found[FEW:]] == [f"{NASTY} again"] * (MANY * 2 - FEW)
    assert found[FEW]["value"] is None and found[0]["value"] == {"ü": [0, None, NASTY]}
    assert found[0]["bytes"] == (row(0)["bytes"] if with_bytes else None)


def test_a_clash_is_an_integrity_error_and_the_transaction_goes_on(write: Callable[..., Any]) -> None:
    """Storing relies on it: it repeats a batch in a savepoint when another writer was first."""
    with write() as db:
        insert_rows(db, things, [row(1)])
        with pytest.raises(IntegrityError) as failure, db.begin_nested():
            insert_rows(db, things, [row(number) for number in range(MANY)])
        assert NASTY not in str(failure.value)
        insert_rows(db, things, [row(number + 2) for number in range(MANY)])
    with write() as db:
        assert db.execute(select(func.count()).select_from(things)).scalar_one() == MANY + 1


@pytest.mark.parametrize("own_database_config", ["postgresql", "mariadb"], indirect=True)
def test_what_does_not_fit_is_an_error_of_sqlalchemy(write: Callable[..., Any]) -> None:
    """SQLite keeps texts of any length."""
    with pytest.raises(DBAPIError), write() as db:
        insert_rows(db, things, [row(number, name="x" * 101) for number in range(MANY)])
    with write() as db:
        assert stored(db) == []

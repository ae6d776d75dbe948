"""What a small new file costs the database: transactions, each of which is a flush to disk or a snapshot."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.applications import Applications
from snaglist.kernel.database import Database
from snaglist.kernel.service import Service
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.collect import drop_folder
from snaglist.plugins.system import JobCall


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with each transaction of the test itself: `read` or `write`; the worker has its own."""
    opened: list[str] = []
    real = Database.transaction
    mine = threading.get_ident()

    @contextmanager
    def counted(self: Database, *tenant: Any, write: bool, **options: Any) -> Iterator[Any]:
        if threading.get_ident() == mine:
            opened.append("write" if write else "read")
        with real(self, *tenant, write=write, **options) as connection:
            yield connection

    monkeypatch.setattr(Database, "transaction", counted)
    # A slow machine looks more often whether to go on, and which applications there are.
    monkeypatch.setattr(drop_folder, "_PULSE_SECONDS", 3_600)
    listed = Applications.all
    monkeypatch.setattr(Applications, "all", lambda self: listed(self, 3_600))
    return opened


def test_a_small_file_costs_at_most_five_transactions(
    sqlite_service: Service, drop: Any, line: Callable[..., str], make_store: Any, transactions: list[str]
) -> None:
    """From finding it in the folder: imported, checkpointed, archived, and told as done."""
    store, application = make_store(sqlite_service), sqlite_service.applications.all()[0]
    drop(sqlite_service, "first.log", line("the plugins of the application are known from now on"))
    drop_folder.run_import(JobCall(sqlite_service, application))
    file = drop(sqlite_service, "app.log", line("one") + line("two"))
    size = file.stat().st_size
    transactions.clear()
    told = drop_folder.run_import(JobCall(sqlite_service, application))
    spent = list(transactions)
    assert (told["files"], told["events"], told["processed"], told["errors"]) == (1, 2, 1, [])
    (source,) = (row for row in store.rows(log_tables.sources) if Path(row.path).name == "app.log")
    assert source.offset == size and source.occurrence_count == 2
    assert (application.processed / "app.log").is_file() and not file.exists()
    assert 1 <= len(spent) <= 5, spent
    assert spent.count("write") <= 3, spent


def test_what_was_appended_costs_two(
    sqlite_store: Any, tmp_path: Path, line: Callable[..., str], transactions: list[str]
) -> None:
    """One to look the file up, one that stores and moves the checkpoint; one more for the settings of the test."""
    log = tmp_path / "app.log"
    log.write_text(line("one"))
    sqlite_store.read(log)
    with log.open("a") as stream:
        stream.write(line("two"))
    transactions.clear()
    assert sqlite_store.read(log).events == 1
    assert 1 <= len(transactions) <= 3, transactions

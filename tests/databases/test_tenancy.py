"""Tenancy fails closed: a statement without its tenant finds nothing, however inviting the default database is.

That no such statement is ever sent is asserted for the whole suite: see `Servers` in tests/conftest.py.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from snaglist.kernel import store
from snaglist.kernel.service import Service
from snaglist.testing import Client, running_service

SERVERS = ("postgresql", "mariadb")


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, database_on: Callable[[str], dict[str, str]], tmp_path: Path) -> Any:
    """A service on a server, whose URL names a database that holds decoys."""
    with running_service(tmp_path / "data", jobs=False, **database_on(request.param)) as service:
        yield service


def ask(url: str, statement: str) -> list[Any]:
    """Send a statement as somebody else who was given the same URL."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = list(connection.execute(text(statement)).scalars())
    engine.dispose()
    return found


def test_a_raw_statement_finds_no_table(server: Service) -> None:
    """The decoys are there for anybody else who uses the same URL."""
    application = server.applications.all()[0]
    for name in ("settings", "issues", "applications"):
        assert ask(server.settings["database.url"], f"SELECT count(*) FROM {name}") == [0]
        for statement in (f"SELECT count(*) FROM {name}", f"DELETE FROM {name}"):
            with pytest.raises(DBAPIError), server.database.transaction(application, write=True) as db:
                db.execute(text(statement))


@pytest.mark.parametrize("server", ["postgresql"], indirect=True)
def test_session_settings_of_the_url_are_kept(server: Service) -> None:
    """All but those that tenancy stands on: the tests' own URL names a search path, too."""
    with server.database.transaction(server.applications.all()[0], write=False) as db:
        shown = [db.execute(text(f"SHOW {name}")).scalar_one() for name in ("synchronous_commit", "search_path")]
    assert shown == ["off", "pg_catalog"]


def test_check_46_and_48_long_ids_and_separate_data(server: Service) -> None:
    """Two ids of 64 characters that differ in the last one: two databases of at most 63, nothing shared."""
    client = Client(server)
    made = [client.post("applications", {"name": "long", "id": "a" * 63 + last}).json for last in "xy"]
    names = [each["database"] for each in made]
    assert len(set(names)) == 2 and all(len(name) <= 63 for name in names)
    one, other = (each["id"] for each in made)
    for number in range(3):
        assert client.post("tags", {"name": f"tag {number}"}, app=one).status == 201
    assert len(client.get("tags", app=one).json["data"]) == 3
    assert client.get("tags", app=other).json["data"] == client.get("tags", app="default").json["data"] == []
    phrase = f"DELETE APPLICATION {one}"
    assert client.delete("applications", {"id": one, "confirmation": phrase}).status == 200
    assert client.get("tags", app=other).status == 200
    postgres = server.database.engine_name == "postgresql"
    listing = "SELECT nspname FROM pg_namespace" if postgres else "SHOW DATABASES"
    assert set(ask(server.settings["database.url"], listing)) & set(names) == {names[1]}


def test_a_connection_forgets_its_tenant(server: Service) -> None:
    """One pool serves all applications: what one transaction was set to must not reach the next."""
    Client(server).post("applications", {"name": "second"})
    first, second = server.applications.refresh()
    for turn in range(20):
        application = (first, second)[turn % 2]
        with server.database.transaction(application, write=True, snapshot=turn % 3 == 0) as db:
            assert store.get_setting(db, "turn") in (None, turn - 2)
            store.put_setting(db, "turn", turn)
    engine = server.database._server
    assert engine is not None
    with engine.connect() as connection:
        level = connection.get_isolation_level()
    assert level == "READ COMMITTED"

"""The example of docs/plugins.md: the second version of a wheel adds columns, on every database."""

import importlib.metadata as packages
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from sqlalchemy import insert, select

from snaglist.kernel import plugins
from snaglist.kernel.columns import metadata
from snaglist.kernel.ddl import drop_table
from snaglist.plugins.system.dumping.dump import dump
from snaglist.plugins.system.dumping.load import Loader
from snaglist.testing import Client, running_service

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
FIRST, HOOKS, SECOND = re.findall(r"```python\n(.*?)```", PAGE.read_text().split("## Tables and steps")[1], re.S)[:3]
Config = dict[str, Any]


class Distribution(NamedTuple):
    """What the plugin was installed from."""

    name: str
    version: str


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Any]]:
    """Install a version of the plugin, by its `tables.py`; returns that."""

    def forget() -> None:
        if "oops_notes" in metadata.tables:
            metadata.remove(metadata.tables["oops_notes"])

    def run(source: str) -> Any:
        forget()
        tables, package = ModuleType("snaglist_oops.tables"), ModuleType("snaglist_oops")
        exec(source, vars(tables))
        vars(package)["tables"] = tables
        monkeypatch.setitem(sys.modules, "snaglist_oops", package)
        exec(HOOKS, vars(package))
        point = SimpleNamespace(name="oops", load=lambda: package, dist=Distribution("snaglist-oops", "1.0"))
        monkeypatch.setattr(plugins, "entry_points", lambda group: [*packages.entry_points(group=group), point])
        return tables

    installed = packages.version
    monkeypatch.setattr(packages, "version", lambda name: "1.0" if name == "snaglist-oops" else installed(name))
    yield run
    forget()


def test_columns_of_a_second_version(
    install: Callable[[str], Any],
    shape: Callable[..., Any],
    tmp_path: Path,
    own_database_config: Config,
) -> None:
    """An application that is there, a new one and a dump of the first version end with the tables of the second."""
    first = install(FIRST)
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        issue = Client(service).post("issues", {"title": "Order failed"}).json["data"]["id"]
        with service.call().transaction() as db:
            db.execute(insert(first.notes), {"issue_id": issue, "note": "kept"})
        dump(service, service.applications.all(), tmp_path / "first.dump", lambda *_: None)
    second = install(SECOND)
    kept = [("kept", None, "calm")]
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        client = Client(service)
        client.enable("oops")
        assert client.post("applications", {"name": "fresh"}).status == 201
        assert client.post("applications", {"name": "wanted"}).status == 201
        old, fresh, wanted = service.applications.all()
        with service.database.transaction(wanted, write=True) as db:
            drop_table(db, "oops_notes")
            second.notes.create(db)
        assert shape(service, old) == shape(service, fresh) == shape(service, wanted)
        columns = select(second.notes.c["note", "author", "mood"])
        with service.call().transaction(write=False) as db:
            assert list(db.execute(columns)) == kept
        Loader(service, tmp_path / "first.dump", lambda *_: None).load(None, replace=True)
        assert shape(service, old) == shape(service, fresh)
        with service.call().transaction(write=False) as db:
            assert list(db.execute(columns)) == kept

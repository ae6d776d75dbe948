"""A plugin fails beside `db load`, `db upgrade` and the start: it is named, with cause and way on; the rest goes on."""

import json
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Table, func, insert, select

from snaglist.kernel import Description, columns, hookimpl, plugins
from snaglist.kernel.plugins import Plugins
from snaglist.plugins.system import cli
from snaglist.testing import Client, running_service

Config = dict[str, str]
notes = Table("standup_notes", columns.metadata, columns.id_column(), columns.text("note", 50))
columns.metadata.remove(notes)  # until a test installs the plugin
GONE = "LookupError: no such table: standup_notes"
WAY = "mend it, uninstall it, or set SERVICE_DISABLED_PLUGINS=standup"


class Distribution(NamedTuple):
    """What a plugin was installed from."""

    name: Any
    version: Any


class House:
    """An installation on one of the databases, in which a plugin comes and changes."""

    def __init__(self, data: Path, config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
        self.data, self.config, self._patch = data, config, monkeypatch

    def install(self, module: Any) -> None:
        """Install a plugin `standup`, or none, beside all areas."""
        dist = Distribution("snaglist-standup", "1")
        points = [] if module is None else [SimpleNamespace(name="standup", load=lambda: module, dist=dist)]
        self._patch.setattr(plugins, "entry_points", lambda group: [*entry_points(group=group), *points])

    def run(self, *arguments: str, data: Path | None = None, **environ: str) -> Result:
        """Run a command in this process."""
        named = {f"SERVICE_{name.upper().replace('__', '_')}": value for name, value in self.config.items()}
        before = dict(cli.commands)
        try:
            loaded = Plugins()
            loaded.load()
            cli.commands = {str(made.name): made for _, made in loaded.commands()}
            given = ["--data", str(data or self.data), *arguments]
            done = CliRunner().invoke(cli, given, env={**named, **environ}, standalone_mode=False)
            done.exit_code = done.exit_code or done.return_value or 0
            return done
        finally:
            cli.commands = before


def standup(*steps: tuple[str, Callable[[Any], None]]) -> Any:
    """A plugin with a table and schema steps."""
    module: Any = ModuleType("plugin_standup")

    def describe() -> Description:
        return Description("standup", "Standup", "", "Tests", "1")

    def register_tables() -> Any:
        return [notes]

    def register_steps() -> Any:
        return steps

    for hook in (describe, register_tables, register_steps):
        setattr(module, hook.__name__, hookimpl(hook))
    return module


def make(db: Any) -> None:
    notes.create(db, checkfirst=True)


def fine(db: Any) -> None:
    pass


def fail(db: Any) -> None:
    raise LookupError("no such table: standup_notes")


def leave(db: Any) -> None:
    raise SystemExit("on purpose")


@pytest.fixture
def house(tmp_path: Path, own_database_config: Config, monkeypatch: pytest.MonkeyPatch) -> Any:
    columns.metadata._add_table(notes.name, None, notes)
    yield House(tmp_path / "data", own_database_config, monkeypatch)
    columns.metadata.remove(notes)


@pytest.fixture
def dumped(house: House, tmp_path: Path) -> Path:
    """A dump, made on SQLite with the plugin in order: an issue and two notes."""
    house.install(standup(("s001", make), ("s002", fine)))
    file = tmp_path / "all.dump"
    with running_service(tmp_path / "source", jobs=False) as service:
        assert Client(service).post("issues", {"title": "Order failed"}).status == 201
        with service.call().transaction() as db:
            db.execute(insert(notes), [{"note": "one"}, {"note": "two"}])
    done = House(tmp_path / "source", {}, house._patch).run("db", "dump", str(file))
    assert done.exit_code == 0, done.output
    return file


def check_rest(house: House, rows: int) -> None:
    with running_service(house.data, jobs=False, **house.config) as service:
        client = Client(service)
        assert [issue["title"] for issue in client.get("errors").json["data"]] == ["Order failed"]
        if service.plugins.find("standup") and not service.plugins.find("standup").error:
            with service.call().transaction(write=False) as db:
                assert db.scalar(select(func.count()).select_from(notes)) == rows


@pytest.mark.parametrize(
    ("step", "cause"), [(fail, "LookupError: no such table: standup_notes"), (leave, "SystemExit: on purpose")]
)
def test_db_load_goes_on_without_a_plugin_whose_step_fails(house: House, dumped: Path, step: Any, cause: str) -> None:
    """The step is one that the dump had: its rows are left out, told with cause and way on, loaded once it works."""
    house.install(standup(("s001", make), ("s002", step)))
    done = house.run("--json", "db", "load", str(dumped))
    assert done.exit_code == 3, done.output
    assert f"plugin standup failed in step s002: {cause}; all else goes on without it; {WAY}" in done.stderr
    matter = f"failed: {cause}"
    assert f"warning: default: rows of standup are left out, because its plugin {matter}; once it works" in done.stderr
    (loaded,) = json.loads(done.stdout)["applications"]
    assert loaded["left_out"] == {"standup": matter} and loaded["rows"] > 0
    check_rest(house, 0)
    house.install(standup(("s001", make), ("s002", fine)))
    again = house.run("--json", "db", "load", str(dumped), "--replace")
    assert (again.exit_code, json.loads(again.stdout)["applications"][0]["left_out"]) == (0, {})
    check_rest(house, 2)


def test_db_load_keeps_the_rows_when_a_later_step_fails(house: House, dumped: Path) -> None:
    house.install(standup(("s001", make), ("s002", fine), ("s003", fail)))
    done = house.run("--json", "db", "load", str(dumped))
    assert (done.exit_code, json.loads(done.stdout)["applications"][0]["left_out"]) == (0, {}), done.output
    assert "plugin standup failed in step s003: LookupError" in done.stderr
    house.install(standup(("s001", make), ("s002", fine), ("s003", fine)))
    check_rest(house, 2)


@pytest.mark.parametrize(
    ("module", "environ", "matter"),
    [
        (None, {}, "is not installed"),
        ("denied", {"SERVICE_DISABLED_PLUGINS": "standup"}, "failed: blocked by plugins.disabled"),
        (SimpleNamespace(), {}, "failed: AttributeError"),
    ],
)
def test_both_ways_on_load_the_rest(
    house: House, dumped: Path, module: Any, environ: dict[str, str], matter: str
) -> None:
    """Uninstalled, kept out, or broken at its import: the rest is loaded, and what is left out is named."""
    house.install(standup(("s001", make), ("s002", fail)) if module == "denied" else module)
    done = house.run("--json", "db", "load", str(dumped), **environ)
    assert done.exit_code == 3, done.output
    (loaded,) = json.loads(done.stdout)["applications"]
    assert loaded["left_out"]["standup"].startswith(matter)
    assert "warning: default: rows of standup are left out, because its plugin" in done.stderr
    house.install(None)
    check_rest(house, 0)


def test_db_upgrade_and_the_start_say_it_too(house: House) -> None:
    house.install(standup(("s001", fail)))
    told = f"plugin standup failed in step s001: {GONE}; all else goes on without it; {WAY}"
    done = house.run("--json", "db", "upgrade")
    assert done.exit_code == 0 and told in done.stderr, done.output
    owners = {step["owner"] for step in json.loads(done.stdout)["applied"]}
    assert {"core", "issues", "tracker"} < owners and "standup" not in owners, "also those before it are told"
    with running_service(house.data, jobs=False, **house.config) as service:
        assert service.plugins.find("standup").failed_hook == "step s001"  # type: ignore[union-attr]
        assert Client(service).get("errors").status == 200
    doctor = house.run("doctor")
    line = next(line for line in doctor.stdout.splitlines() if "plugin standup" in line)
    assert line == f"warn  plugin standup: step s001: {GONE}; all else goes on without it; {WAY}"


def test_a_table_that_refers_to_nothing_hinders_no_dump(house: House, tmp_path: Path) -> None:
    """It stands in the common metadata although its plugin failed."""
    odd = Table("standup_odd", columns.metadata, columns.id_column(), columns.reference("gone_id", "gone.id"))
    try:
        house.install(standup(("s001", make)))
        done = house.run("db", "dump", str(tmp_path / "all.dump"))
        assert done.exit_code == 0, done.exception
    finally:
        columns.metadata.remove(odd)

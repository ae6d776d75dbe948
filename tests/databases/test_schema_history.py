"""Schema steps as a whole: what they make, and from where they go on.

That a released step stays as it is shows in `test_upgrades.py`: what it made then is recorded there.
"""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, delete, insert, select

from snaglist.kernel import store, times
from snaglist.kernel.applications import Application
from snaglist.kernel.columns import metadata
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.system.dumping.dump import tables_of
from snaglist.testing import running_service

Config = dict[str, str]
ENGINES = os.environ.get("TEST_ENGINES", "sqlite,postgresql,mariadb").split(",")


@pytest.fixture
def unstarted(tmp_path: Path, own_database_config: Config) -> Iterator[Service]:
    """A service with all areas that has touched no database yet."""
    given = {name.replace("__", "."): value for name, value in own_database_config.items()}
    service = Service(Settings({"server.data": str(tmp_path / "data"), **given}, environ={}))
    yield service
    service.close()


def an_application(service: Service, name: str) -> Application:
    """An application with an empty database."""
    made = service.applications.make(name, name, times.now())
    service.database.create(made)
    return made


def test_steps_make_the_live_tables(unstarted: Service, shape: Callable[..., Any]) -> None:
    """What the steps reach is what the code works with: a change of a table needs a step that makes it.

    See `snaglist.kernel.ddl` for what a step can say, and docs/plugins.md for an example.
    """
    by_steps, by_tables = (an_application(unstarted, name) for name in ("by-steps", "by-tables"))
    unstarted.steps.upgrade(by_steps)
    with unstarted.database.transaction(by_tables, write=True) as db:
        metadata.create_all(db, tables=[store.schema_step, *tables_of(unstarted)])
    reached, expected = shape(unstarted, by_steps), shape(unstarted, by_tables)
    assert set(reached) == set(expected)
    for name in expected:
        assert reached[name] == expected[name], name


# On the servers every table of every state is made anew: minutes, where `test_upgrades.py` has the released ones.
EACH = [pytest.param(engine, marks=[] if engine == "sqlite" else pytest.mark.long) for engine in ENGINES]


@pytest.mark.parametrize("own_database_config", EACH, indirect=True)
def test_from_every_earlier_state(unstarted: Service, shape: Callable[..., Any]) -> None:
    """Upgraded from after each step, and from where a step's work is there but not its row in the ledger."""
    steps = unstarted.steps._steps
    fresh = an_application(unstarted, "fresh")
    assert unstarted.steps.upgrade(fresh) == steps
    expected = shape(unstarted, fresh)
    for number in range(1, len(steps)):
        application = an_application(unstarted, f"from-{number}")
        earlier = {(step.owner, step.name) for step in steps[:number]}
        assert unstarted.steps.upgrade(application, only=earlier) == steps[:number]
        assert unstarted.steps.upgrade(application) == steps[number:]
        assert shape(unstarted, application) == expected
    for number in range(len(steps)):
        with unstarted.database.transaction(fresh, write=True) as db:
            for step in steps[number:]:
                table = store.schema_step
                db.execute(delete(table).where(table.c.owner == step.owner, table.c.name == step.name))
        assert unstarted.steps.upgrade(fresh) == steps[number:]
        assert shape(unstarted, fresh) == expected


@pytest.mark.whole
def test_four_processes_upgrade_one_fresh_database(
    tmp_path: Path, own_database_config: Config, commands: Callable[..., Any]
) -> None:
    """All succeed, and each step was applied by exactly one of them."""
    data = tmp_path / "data"
    outcomes = commands(data, own_database_config, *[["db", "upgrade", "--json"]] * 4)
    assert [code for code, _, _ in outcomes] == [0] * 4, outcomes
    applied = [(s["application"], s["owner"], s["name"]) for _, out, _ in outcomes for s in json.loads(out)["applied"]]
    assert len(applied) == len(set(applied))
    with running_service(data, jobs=False, **own_database_config) as service:
        registry = {(None, "core", "s001"), (None, "core", "s002")}
        assert set(applied) == registry | {("default", s.owner, s.name) for s in service.steps._steps}


def change_ledger(data: Path, config: Config, change: Callable[[Connection], Any]) -> None:
    with (
        running_service(data, jobs=False, **config) as service,
        service.database.transaction(service.applications.all()[0], write=True) as db,
    ):
        change(db)


@pytest.mark.whole
def test_check_tells_and_doctor_names_orphans(
    tmp_path: Path, own_database_config: Config, commands: Callable[..., Any]
) -> None:
    """`db upgrade --check`: steps of an owner that is not installed do not count, `doctor` reports them."""
    data, config = tmp_path / "data", own_database_config
    table = store.schema_step
    assert commands(data, config, ["db", "upgrade", "--check"])[0][:2] == (0, "nothing is pending\n")
    orphan = {"owner": "gone", "name": "s001", "applied_at": times.now()}
    change_ledger(data, config, lambda db: db.execute(insert(table), orphan))
    code, out, err = commands(data, config, ["doctor"])[0]
    assert code == 0, (out, err)
    assert "tables of gone belong to a plugin that is not installed" in out
    change_ledger(data, config, lambda db: db.execute(delete(table).where(table.c.owner == "issues")))
    [check, upgrade, again] = [
        commands(data, config, ["db", "upgrade", "--json", *more])[0] for more in (["--check"], [], ["--check"])
    ]
    pending = json.loads(check[1])["pending"]
    assert check[0] == 1 and {step["owner"] for step in pending} == {"issues"}
    assert upgrade[0] == 0 and json.loads(upgrade[1]) == {"applied": pending, "pending": []}
    assert again[0] == 0 and json.loads(again[1]) == {"applied": [], "pending": []}


@pytest.mark.whole
def test_tables_of_a_denied_plugin(tmp_path: Path, own_database_config: Config, commands: Callable[..., Any]) -> None:
    """`doctor` says what is true of it, and `db dump` does not leave its rows out without a word."""
    data, config, file = tmp_path / "data", own_database_config, tmp_path / "all.dump"
    assert commands(data, config, ["doctor"])[0][0] == 0
    denied = {**config, "plugins__disabled": "releases"}
    code, out, err = commands(data, denied, ["doctor"])[0]
    assert code == 0, (out, err)
    assert "tables of releases belong to a plugin that failed: blocked by plugins.disabled" in out
    code, out, err = commands(data, denied, ["db", "dump", str(file), "--json"])[0]
    assert code == 0, (out, err)
    assert json.loads(out)["applications"][0]["left_out"] == {"releases": "failed: blocked by plugins.disabled"}
    said = "warning: default: rows of releases are left out, because its plugin failed: blocked by plugins.disabled"
    assert said in err
    code, out, err = commands(data, config, ["db", "dump", str(file), "--json"])[0]
    assert (code, json.loads(out)["applications"][0]["left_out"]) == (0, {})
    assert "left out" not in err


@pytest.mark.whole
def test_check_120_a_newer_database(tmp_path: Path, own_database_config: Config, nodes: Callable[..., Any]) -> None:
    """Nodes are upgraded one after another: the older code answers 503 to the newer database, and harms nothing."""
    data, config = tmp_path / "data", own_database_config
    [node] = nodes(1, data, config)
    assert node.get("tags").status == 200
    newer = {"owner": "issues", "name": "s999", "applied_at": times.now()}
    change_ledger(data, config, lambda db: db.execute(insert(store.schema_step), newer))
    [late] = nodes(1, data, config)
    refused = late.get("tags")
    assert refused.status == 503 and int(refused.headers["Retry-After"]) >= 1
    assert late.post("tags", {"name": "x"}).status == 503
    health = late.get("health")
    assert (health.status, health.json["status"], health.json["checks"]["schema"]) == (503, "degraded", False)
    assert health.json["checks"]["database"] is True
    with running_service(data, jobs=False, **config) as service:
        with service.database.transaction(service.applications.all()[0], write=False) as db:
            owners = db.scalars(select(store.schema_step.c.name)).all()
        assert "s999" in owners

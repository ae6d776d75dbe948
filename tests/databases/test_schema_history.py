"""Schema steps as a whole: what they make, from where they go on, and that released ones stay as they are.

`steps.json` holds a digest of the statements of each step on each engine. A released step never changes: add a
new one. While a step is unreleased, `PIN_STEPS=1 pytest -n 0 tests/databases/test_schema_history.py` renews it.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Connection, MetaData, Table, delete, event, insert, inspect, select
from sqlalchemy.engine import Engine

from snaglist.kernel import columns as columns_of
from snaglist.kernel import store, times
from snaglist.kernel.applications import Application
from snaglist.kernel.columns import metadata
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.issues.tables import issue_samples
from snaglist.plugins.system.dumping.dump import tables_of
from snaglist.testing import Client, running_service

PINS = Path(__file__).with_name("steps.json")
RENEW = os.environ.get("PIN_STEPS") == "1"
Config = dict[str, str]


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


@contextmanager
def statements() -> Iterator[list[str]]:
    """Collect what is sent that changes a schema."""
    sent: list[str] = []

    def listen(connection: Connection, cursor: Any, statement: str, *_: Any) -> None:
        words = " ".join(statement.split())
        if words.split(" ", 1)[0] in ("CREATE", "ALTER", "DROP", "UPDATE", "INSERT", "DELETE"):
            tenant = connection.get_execution_options().get("tenant")
            sent.append(words.replace(f"{tenant}.", "") if tenant else words)

    event.listen(Engine, "before_cursor_execute", listen)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", listen)


def shape(service: Service, application: Application) -> dict[str, Any]:
    """Describe every table of a database as the database sees it."""
    with service.database.transaction(application, write=False) as db:
        schema = db.get_execution_options().get("tenant")
        found = inspect(db)
        described = {}
        for name in found.get_table_names(schema):
            keys = found.get_foreign_keys(name, schema)
            columns = found.get_columns(name, schema)
            described[name] = {
                "columns": {c["name"]: (str(c["type"]), c["nullable"], bool(c["default"])) for c in columns},
                "primary": found.get_pk_constraint(name, schema)["constrained_columns"],
                "unique": sorted(sorted(u["column_names"]) for u in found.get_unique_constraints(name, schema)),
                "indexes": sorted(
                    (i["name"] or "", str(i["column_names"]), i["unique"]) for i in indexes(found, name, schema)
                ),
                "references": sorted((k["constrained_columns"], k["referred_table"], str(k["options"])) for k in keys),
            }
        return described


def indexes(found: Any, name: str, schema: str | None) -> list[Any]:
    return [i for i in found.get_indexes(name, schema) if not i.get("duplicates_constraint")]


def test_steps_make_the_live_tables(unstarted: Service) -> None:
    """§10: what the steps reach is what the code expects, as the database itself describes it."""
    by_steps, by_tables = (an_application(unstarted, name) for name in ("by-steps", "by-tables"))
    unstarted.steps.upgrade(by_steps)
    with unstarted.database.transaction(by_tables, write=True) as db:
        metadata.create_all(db, tables=[store.schema_step, *tables_of(unstarted)])
    reached, expected = shape(unstarted, by_steps), shape(unstarted, by_tables)
    assert set(reached) == set(expected)
    for name in expected:
        assert reached[name] == expected[name], name


def test_from_every_earlier_state(unstarted: Service) -> None:
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


def digests(service: Service) -> dict[str, str]:
    application = an_application(service, "pinned")
    made = {}
    for step in service.steps._steps:
        with statements() as sent:
            service.steps._apply(application, step)
        ours = [words for words in sent if "schema_step" not in words or step.owner == "core"]
        # Sorted: SQLAlchemy keeps the indexes of a table in a set, so their order differs between processes.
        made[f"{step.owner}:{step.name}"] = hashlib.sha256("\n".join(sorted(ours)).encode()).hexdigest()[:32]
    return made


def test_a_released_step_never_changes(unstarted: Service) -> None:
    engine = unstarted.database.engine_name
    found = digests(unstarted)
    pinned = json.loads(PINS.read_text(encoding="utf-8")) if PINS.exists() else {}
    if RENEW:
        pinned[engine] = found
        PINS.write_text(json.dumps(pinned, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    assert found == pinned[engine], "a step is new or has changed: see the top of this file"


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


def test_check_tells_and_doctor_names_orphans(
    tmp_path: Path, own_database_config: Config, commands: Callable[..., Any]
) -> None:
    """§33 `db upgrade --check`; §9: steps of an owner that is not installed do not count, `doctor` reports them."""
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


def text_for_bytes(columns: list[Column[Any]]) -> list[Column[Any]]:
    return [columns_of.text("stack", nullable=True) if column.name == "stack" else column for column in columns]


def one_less(columns: list[Column[Any]]) -> list[Column[Any]]:
    return [column for column in columns if column.name != "context"]


def one_more_to_fill(columns: list[Column[Any]]) -> list[Column[Any]]:
    return [*columns, columns_of.text("more", 10)]


def never_empty(columns: list[Column[Any]]) -> list[Column[Any]]:
    return [columns_of.data("stack") if column.name == "stack" else column for column in columns]


def of_another_make(service: Service, change: Callable[[list[Column[Any]]], list[Column[Any]]]) -> None:
    """Make a table as an unreleased version may have made it."""
    with service.database.transaction(service.applications.all()[0], write=True) as db:
        issue_samples.drop(db)
        plain = [
            Column(c.name, c.type, primary_key=c.primary_key, nullable=c.nullable, autoincrement=False)
            for c in issue_samples.columns
        ]
        Table(issue_samples.name, MetaData(), *change(plain)).create(db)


@pytest.mark.parametrize("change", [text_for_bytes, one_less, one_more_to_fill, never_empty])
def test_a_database_of_an_unreleased_version_is_told(
    tmp_path: Path, own_database_config: Config, change: Callable[..., Any]
) -> None:
    """Its ledger is current, its table is not: 503 that names the table, where errors gave 500 and pushes failed."""
    data, config = tmp_path / "data", own_database_config
    with running_service(data, jobs=False, **config) as service:
        assert Client(service).get("errors").status == 200
        of_another_make(service, change)
    with running_service(data, jobs=False, **config) as service:
        client = Client(service)
        refused = client.get("errors")
        assert refused.status == 503 and int(refused.headers["retry-after"]) >= 1
        assert "The table issue_samples was made by an unreleased version" in refused.error
        assert client.get("health").json["checks"]["schema"] is False
        assert service.plugins.find("issues") in service.plugins.loaded()


def test_a_database_with_more_than_the_code_needs_is_current(tmp_path: Path, own_database_config: Config) -> None:
    """What an older version does not know (a column that may be empty, or has a default) hinders it nowhere."""
    data, config = tmp_path / "data", own_database_config
    with running_service(data, jobs=False, **config) as service:
        of_another_make(
            service,
            lambda columns: [
                *columns,
                columns_of.text("more", 10, nullable=True),
                columns_of.text("filled", 10, server_default=""),
            ],
        )
    with running_service(data, jobs=False, **config) as service:
        assert Client(service).get("errors").status == 200


def test_the_way_out_of_a_database_of_an_unreleased_version(
    tmp_path: Path, own_database_config: Config, commands: Callable[..., Any]
) -> None:
    """Each command says it; a dump of the version that made it is loaded over it."""
    data, config, file = tmp_path / "data", own_database_config, tmp_path / "all.dump"
    with running_service(data, jobs=False, **config) as service:
        assert Client(service).post("tags", {"name": "kept"}).status == 201
    assert commands(data, config, ["db", "dump", str(file)])[0][0] == 0
    with running_service(data, jobs=False, **config) as service:
        of_another_make(service, text_for_bytes)
    tried = [["db", "upgrade"], ["db", "upgrade", "--check"], ["db", "dump", str(tmp_path / "x")], ["doctor"]]
    for code, out, err in commands(data, config, *tried):
        assert code == 1 and "issue_samples was made by an unreleased version" in err, (out, err)
    code, out, err = commands(data, config, ["db", "load", str(file), "--replace"])[0]
    assert code == 0, (out, err)
    assert [command[0] for command in commands(data, config, ["doctor"], ["db", "upgrade", "--check"])] == [0, 0]
    with running_service(data, jobs=False, **config) as service:
        client = Client(service)
        assert [tag["name"] for tag in client.get("tags").json["data"]] == ["kept"]
        assert client.get("errors").status == 200

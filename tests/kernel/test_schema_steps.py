"""Schema steps: applied once, in order, under a lock."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, Table, delete, insert, inspect, select

from snaglist.kernel import columns, store, times
from snaglist.kernel.service import Service
from snaglist.kernel.steps import Step, StepFailed, Steps
from snaglist.plugins.system.upgrading import pending_steps, upgrade
from snaglist.testing import Client, running_service

Install = Kernel = Callable[..., Any]
things = Table("test_things", MetaData(), columns.id_column(), columns.text("word", 50))


def ledger(service: Service) -> list[tuple[str, str]]:
    with service.database.transaction(service.applications.all()[0], write=False) as db:
        table = store.schema_step
        return sorted((row.owner, row.name) for row in db.execute(select(table.c.owner, table.c.name)))


def record(service: Service, owner: str, name: str) -> None:
    """Write a row that some other version left."""
    with service.database.transaction(service.applications.all()[0], write=True) as db:
        db.execute(insert(store.schema_step), {"owner": owner, "name": name, "applied_at": times.now()})


def has_table(service: Service, name: str) -> bool:
    with service.database.transaction(service.applications.all()[0], write=False) as db:
        return inspect(db).has_table(name, schema=db.get_execution_options().get("tenant"))


def test_a_fresh_database_gets_every_step_once(bare: Service) -> None:
    application = bare.applications.all()[0]
    assert ledger(bare) == [("core", "s001")]
    assert bare.steps.upgrade(application) == []
    assert upgrade(bare) == []
    assert pending_steps(bare) == []


def test_steps_run_in_the_order_of_registration(bare: Service) -> None:
    application = bare.applications.all()[0]
    ran: list[str] = []
    steps = Steps(bare.database, store.schema_step, lambda: ["a", "b"])
    for owner, name in [("core", "s001"), ("b", "z"), ("a", "y"), ("b", "a")]:
        steps.add(Step(owner, name, lambda db, label=f"{owner}:{name}": ran.append(label)))
    assert [step.name for step in steps.state(application).pending] == ["z", "y", "a"]
    assert [step.name for step in steps.upgrade(application)] == ["z", "y", "a"]
    assert ran == ["b:z", "a:y", "b:a"]
    assert steps.upgrade(application) == []
    with pytest.raises(ValueError):
        steps.add(Step("b", "z", lambda db: None))


def test_a_failing_step_leaves_no_ledger_row(bare: Service) -> None:
    """Where the engine has transactional DDL its tables are gone too; MySQL and MariaDB commit them at once."""
    application = bare.applications.all()[0]
    steps = Steps(bare.database, store.schema_step, lambda: ["a"])
    fails = [True]

    def step(db: Any) -> None:
        things.create(db, checkfirst=True)
        if fails:
            raise RuntimeError("on purpose")

    steps.add(Step("core", "s001", lambda db: None))
    steps.add(Step("a", "s001", step))
    with pytest.raises(StepFailed, match="a:s001") as failure:
        steps.upgrade(application)
    assert isinstance(failure.value.__cause__, RuntimeError)
    assert ("a", "s001") not in ledger(bare)
    assert has_table(bare, "test_things") == (bare.database.engine_name == "mysql")
    fails.clear()
    assert [made.name for made in steps.upgrade(application)] == ["s001"]
    assert has_table(bare, "test_things")


def test_a_failing_step_takes_its_plugin_out(
    install: Install, kernel: Kernel, own_database_config: dict[str, str]
) -> None:
    """The rest starts and the application is usable."""
    install("bad", register_steps=lambda: [("s001", lambda db: None), ("s002", _fail)])
    install("good", register_steps=lambda: [("s001", things.create)])
    with kernel(plugins__enabled=["bad", "good"], **own_database_config) as client:
        found = {plugin["id"]: plugin for plugin in client.get("plugins").json["data"]}
        assert (found["bad"]["status"], found["good"]["status"]) == ("failed", "active")
        assert found["bad"]["last_error"]["hook"] == "step s002"
        assert found["bad"]["last_error"]["message"] == "RuntimeError: on purpose"
        assert ledger(client.service) == [("bad", "s001"), ("core", "s001"), ("good", "s001")]
        assert client.get("health").json["checks"]["schema"] is True


def _fail(db: Any) -> None:
    raise RuntimeError("on purpose")


def test_a_failing_core_step_stops_the_start(install: Install, kernel: Kernel) -> None:
    install("area", core=True, register_steps=lambda: [("s001", _fail)])
    with pytest.raises(StepFailed, match="area:s001"), kernel():
        pass


def test_a_database_that_is_newer(bare: Service) -> None:
    """`checks.schema` false, its own requests 503, other applications work."""
    client = Client(bare)
    client.post("applications", {"name": "second"})
    record(bare, "core", "s999")
    bare.applications.forget_state(bare.applications.all()[0])
    refused = client.get("plugins")
    assert refused.status == 503 and refused.error
    assert int(refused.headers["retry-after"]) >= 1
    assert client.get("plugins", app="second").status == 200
    health = client.get("health")
    assert (health.status, health.json["status"], health.json["checks"]["schema"]) == (200, "degraded", False)
    call = bare.call(bare.applications.find("second"))
    with call.transaction():
        pass


def test_a_newer_database_names_the_version_that_made_it(bare: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was made by that version or upgraded, also by an older one before."""
    application = bare.applications.all()[0]
    for newer in ("0.8.0", "0.9.0"):
        with monkeypatch.context() as patched:
            patched.setattr(bare, "version", newer)
            bare.steps.add(Step("core", f"s{newer}", lambda db: None))
            bare.upgrade_registered(application)
            bare.introduce(application)
    bare.steps._steps = bare.steps._steps[:1]
    bare.applications.forget_state(application)
    said = "The database of the application default was made by a newer snaglist, 0.9.0."
    assert Client(bare).get("plugins").error == said


def test_no_application_is_usable(bare: Service) -> None:
    """503 only when requests would fail."""
    record(bare, "core", "s999")
    bare.applications.forget_state(bare.applications.all()[0])
    health = Client(bare).get("health")
    assert (health.status, health.json["status"]) == (503, "degraded")


def test_a_database_that_is_behind(bare: Service) -> None:
    application = bare.applications.all()[0]
    with bare.database.transaction(application, write=True) as db:
        db.execute(delete(store.schema_step))
    bare.applications.forget_state(application)
    client = Client(bare)
    assert client.get("plugins").status == 503
    assert pending_steps(bare) == [{"application": "default", "owner": "core", "name": "s001"}]
    assert upgrade(bare) == [{"application": "default", "owner": "core", "name": "s001"}]
    assert client.get("plugins").status == 200


def test_auto_upgrade_can_be_off(install: Install, kernel: Kernel) -> None:
    with kernel():
        pass
    install("late", register_steps=lambda: [("s001", things.create)])
    with kernel(database__auto_upgrade=False) as client:
        assert client.get("plugins").status == 503
        assert upgrade(client.service) == [{"application": "default", "owner": "late", "name": "s001"}]
        assert client.get("plugins").status == 200


def test_orphans_do_not_count_as_newer(bare: Service) -> None:
    """Steps of a plugin that is not installed block nobody."""
    application = bare.applications.all()[0]
    record(bare, "gone", "s001")
    state = bare.steps.state(application)
    assert state.current
    assert state.orphans == [("gone", "s001")]


def test_a_plugin_that_comes_back_goes_on_where_it_stopped(install: Install, kernel: Kernel) -> None:
    ran: list[str] = []
    with kernel() as client:
        record(client.service, "back", "s001")
    install(
        "back",
        register_steps=lambda: [(name, lambda db, n=name: ran.append(n)) for name in ("s001", "s002")],
    )
    with kernel():
        assert ran == ["s002"]


STARTING = """
import json, sys
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
service = Service(Settings(json.loads(sys.argv[1]), environ={}))
print("ready", flush=True)
sys.stdin.readline()
service.start()
print(*[application.id for application in service.applications.refresh()])
service.close()
"""


@pytest.mark.whole
def test_four_processes_start_at_once(tmp_path: Path, own_database_config: dict[str, str]) -> None:
    """Nobody fails, nothing is made twice."""
    config = {name.replace("__", "."): value for name, value in own_database_config.items()}
    command = [sys.executable, "-c", STARTING, json.dumps({"server.data": str(tmp_path / "data"), **config})]
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }
    processes = [subprocess.Popen(command, **pipes) for _ in range(4)]
    for process in processes:
        assert process.stdout.readline() == "ready\n", process.communicate()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [(process.communicate(timeout=120), process.returncode) for process in processes]
    assert [(said, code) for (said, _), code in outcomes] == [("default\n", 0)] * 4, outcomes
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        assert ("core", "s001") in ledger(service)
        assert pending_steps(service) == []

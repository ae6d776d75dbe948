"""Each hook of the plugin contract: when it is called, with what, and what its result does."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path as File
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner
from sqlalchemy import MetaData, Table, insert, select, text
from sqlalchemy.exc import OperationalError

from snaglist.kernel import (
    Assets,
    Description,
    Endpoint,
    NotFound,
    Option,
    Path,
    Reply,
    columns,
    hookimpl,
    hookspec,
    read,
    write,
)
from snaglist.kernel.engines import TransactionEnded
from snaglist.kernel.hookspecs import dashboard_assets, register_tables
from snaglist.kernel.plugins import Plugins
from snaglist.plugins.connectors import ConnectorType
from snaglist.plugins.connectors.contract import register_connectors
from snaglist.plugins.issues.hookspecs import events_stored, events_storing, issue_changed, link_frames, stack_showing
from snaglist.plugins.logs import Parser
from snaglist.plugins.logs.hookspecs import lines_read, register_parsers
from snaglist.plugins.system import HealthCheck, Job, Session, Worker, cli, command
from snaglist.plugins.system.health import words as words_of_check

Install = Kernel = Callable[..., Any]
ANY = {"type": "object"}

tables = MetaData()
notes = Table("test_notes", tables, columns.id_column(), columns.text("word", 50))


def make_notes(db: Any) -> None:
    notes.create(db, checkfirst=True)


def note(word: str) -> Callable[..., None]:
    """Return a hook that writes one row."""

    def hook(call: Any) -> None:
        call.db.execute(insert(notes), {"word": word})

    return hook


def words(client: Any) -> list[str]:
    call = client.service.call()
    with call.transaction(write=False) as db:
        return sorted(db.scalars(select(notes.c.word)))


def enable(client: Any, *names: str, on: bool = True) -> None:
    for name in names:
        assert client.post("plugins", {"id": name, "enabled": on}).status == 200


def state(client: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(p for p in client.get("plugins").json["data"] if p["id"] == name)
    return found


def emit(client: Any, hook: Any, value: Any) -> dict[str, Any]:
    call = client.service.call()
    with call.transaction():
        results: dict[str, Any] = call.emit(hook, value)
        return results


# -- collect


def test_hook_describe(install: Install, kernel: Kernel) -> None:
    install("a", describe=lambda: Description("a", "Title", "Text", "Insights", "3.2.1"), source="snaglist-a")
    with kernel() as client:
        shown = state(client, "a")
        assert [shown[name] for name in ("name", "description", "category", "version", "source")] == [
            "Title", "Text", "Insights", "3.2.1", "installed",
        ]  # fmt: skip


def test_hook_register_endpoints(install: Install, kernel: Kernel, schemas: Callable[..., File]) -> None:
    folder = schemas("thing", {"get-response": ANY, "post-body": ANY, "post-response": ANY})
    endpoint = Endpoint(
        "thing",
        get=read(lambda call: {"application": call.application.id}, "things.read"),
        post=write(lambda call: call.body, "things.write", 201),
        schemas=folder,
    )
    install("a", register_endpoints=lambda: [endpoint])
    with kernel() as client:
        assert client.get("thing").status == 404
        enable(client, "a")
        assert client.get("thing").json == {"application": "default"}
        assert client.post("thing", {"x": 1}).json == {"x": 1}
        assert client.put("thing", {}).headers["allow"] == "GET, HEAD, POST, OPTIONS"
        assert state(client, "a")["endpoints"] == ["thing"]
        enable(client, "a", on=False)
        assert client.get("thing").status == 404


def test_hook_register_paths(install: Install, kernel: Kernel) -> None:
    def file(match: Any, call: Any) -> Reply:
        return Reply(match["name"].encode(), content_type="text/plain")

    install("a", register_paths=lambda: [Path(r"files/(?P<name>[a-z]+)\.txt", file)])
    with kernel(auth__token="test-key-0123456789abcdef") as client:
        assert client.request("GET", "/files/abc.txt").content == b"abc"
        assert client.request("HEAD", "/files/abc.txt").content == b""
        assert client.request("GET", "/files/abc.txt/x").status == 401  # no such path, so the key is asked for
        assert client.request("POST", "/files/abc.txt").status == 401


def test_hook_register_tables(install: Install, kernel: Kernel) -> None:
    install("a", register_tables=lambda: [notes])
    with kernel() as client:
        assert client.service.plugins.find("a").values(register_tables) == [notes]


def test_hook_register_steps(install: Install, kernel: Kernel) -> None:
    ran: list[str] = []

    def look(db: Any) -> None:
        ran.append(db.execute(select(notes.c.id)).all())

    install("a", register_steps=lambda: [("s001", make_notes), ("s002", look)])
    with kernel() as client:
        assert ran == [[]]
        client.post("applications", {"name": "second"})
        assert ran == [[], []]
    with kernel():
        assert ran == [[], []]


def test_hook_register_settings(install: Install, kernel: Kernel) -> None:
    install("a", register_settings=lambda: [Option("a.count", 3, "a number", 1, 5)])
    with kernel(a__count=9) as client:
        assert client.service.call().setting("a.count") == 3
        [warning] = client.get("health").json["config_warnings"]
        assert warning == "a.count: must be a whole number from 1 to 5; the default is used"
    with kernel(a__count=4) as client:
        assert client.service.call().setting("a.count") == 4


def test_hook_register_jobs(install: Install, kernel: Kernel) -> None:
    install("a", register_jobs=lambda: [Job("double", lambda call: {"twice": 2 * call.args["n"]})])
    with kernel() as client:
        call = client.service.call()
        with call.transaction():
            job = call.enqueue("double", {"n": 21})
        client.service.jobs.run_queued(call.application)
        assert client.get("jobs", id=job).json["data"]["result"] == {"twice": 42}


def test_hook_register_parsers(install: Install, kernel: Kernel) -> None:
    parser = Parser()
    parser.log_type = "a"  # type: ignore[misc]
    install("a", register_parsers=lambda: [parser])
    with kernel() as client:
        assert client.service.plugins.find("a").values(register_parsers) == [parser]


def test_what_is_added_by_name(install: Install, kernel: Kernel, tmp_path: File) -> None:
    """A name that is taken is refused, and nothing of its plugin is there."""
    folder = tmp_path / "definitions"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"connector-{name}.json").touch()
    kind = ConnectorType(check=lambda *_: {}, open=contextlib.nullcontext, schemas=tmp_path)  # type: ignore[arg-type]
    install("a", register_connectors=lambda: {"one": kind})
    install("b", register_connectors=lambda: {"two": kind, "one": kind})
    with kernel() as client:
        assert client.service.plugins.types(register_connectors) == {"one": kind}
        assert state(client, "b")["last_error"]["message"].endswith("one is registered already")


def test_hook_register_hookspecs(install: Install, kernel: Kernel) -> None:
    """A plugin brings hooks of its own; who implements them where it is missing marks that."""

    @hookspec
    def colours() -> Sequence[str]:  # type: ignore[empty-body]
        """Collect."""

    @hookspec
    def painted(call: Any, colour: str) -> str | None:
        """Robust."""

    install("painter", register_hookspecs=lambda: SimpleNamespace(colours=colours, painted=painted))
    hooks = {"colours": lambda: ["red"], "painted": lambda colour: f"very {colour}"}
    install("a", **hooks)
    install("b", colours=lambda: [1])
    absent = install("c", events_stored=lambda batch: None)
    absent.module.missing = hookimpl(lambda: None, optionalhook=True)
    install("d", missing=lambda: None)
    with kernel(plugins__enabled=["a", "c"]) as client:
        plugins = client.service.plugins
        assert [(plugin.id, value) for plugin, value in plugins.added(colours)] == [("a", "red")]
        assert emit(client, painted, "red") == {"a": "very red"}
        assert state(client, "b")["last_error"]["message"] == "TypeError: colours() must return str, not int"
        assert state(client, "c")["status"] == "active"
        assert state(client, "d")["last_error"]["message"].startswith("ValueError: unknown hook missing")


def of_nothing_known() -> "Sequence[Nowhere]":  # type: ignore[name-defined] # noqa: F821
    ...


def without_a_word():  # type: ignore[no-untyped-def]
    ...


def of_one() -> int:  # type: ignore[empty-body]
    ...


def of_anything() -> Sequence:  # type: ignore[type-arg, empty-body]
    ...


COLLECTED = "TypeError: colours(): a hook without arguments returns a Sequence[…] or a Mapping[str, …]"


@pytest.mark.parametrize(
    ("colours", "message"),
    [
        (None, "ZeroDivisionError: division by zero"),
        (of_nothing_known, "NameError: name 'Nowhere' is not defined"),
        (without_a_word, COLLECTED),
        (of_one, COLLECTED),
        (of_anything, COLLECTED),
    ],
)
def test_hooks_that_cannot_be_added(install: Install, kernel: Kernel, colours: Any, message: str) -> None:
    """The plugin that brings them is failed, not one that implements them."""

    def bring() -> Any:
        if colours is None:
            raise ZeroDivisionError("division by zero")
        colours.__name__ = "colours"
        return SimpleNamespace(colours=hookspec(colours))

    install("painter", register_hookspecs=bring)
    install("a").module.colours = hookimpl(lambda: ["red"], optionalhook=True)
    with kernel() as client:
        assert (state(client, "painter")["status"], state(client, "a")["status"]) == ("failed", "active")
        assert state(client, "painter")["last_error"]["message"] == message


def test_the_order_of_hooks(install: Install, kernel: Kernel) -> None:
    """Core areas, then by name; `tryfirst` and `trylast` come before and after all others."""
    seen: list[str] = []
    first, last = {"tryfirst": True}, {"trylast": True}
    for name, options in {"a": last, "b": {}, "c": first, "d": {}, "e": first, "f": last}.items():
        module = install(name, core=name == "d").module
        module.events_stored = hookimpl(lambda batch, name=name: seen.append(name), **options)
    with kernel(plugins__enabled=list("abcef")) as client:
        emit(client, events_stored, None)
    assert seen == ["c", "e", "d", "b", "a", "f"]


def test_hook_register_commands(install: Install, kernel: Kernel, tmp_path: File) -> None:
    @command(None, "test-hello")
    def hello(session: Session) -> None:
        """Say hello."""
        session.print({"hello": session.app}, f"hello {session.app}")

    install("a", register_commands=lambda: [hello])
    install("b", register_commands=lambda: 1 / 0)
    plugins = Plugins()
    plugins.load()
    try:
        for _, made in plugins.commands():
            cli.add_command(made)
        said = CliRunner().invoke(cli, ["--app", "x", "test-hello", "--json"])
        assert said.stdout == '{"hello": "x"}\n'
    finally:
        cli.commands.pop("test-hello", None)
    assert plugins.find("b").failed_hook == "register_commands"  # type: ignore[union-attr]


def test_a_command_asks_the_api(install: Install, kernel: Kernel, tmp_path: File, schemas: Callable[..., File]) -> None:
    """Query values are Python values as in tests; an endpoint that is not there is told, not raised as KeyError."""
    given = {"properties": {"issue_id": {"type": "integer"}, "deep": {"type": "boolean"}}}
    folder = schemas("thing", {"get-query": given, "get-response": ANY})
    endpoint = Endpoint("thing", get=read(lambda call: dict(call.query), "things.read"), schemas=folder)
    install("a", register_endpoints=lambda: [endpoint])
    session = Session({"data": str(tmp_path / "data")})
    try:
        assert session.request("thing", issue_id=2, deep=True) == {"issue_id": 2, "deep": True}
        assert session.request("thing", issue_id="2", deep=None) == {"issue_id": 2}
        with pytest.raises(NotFound, match="There is no endpoint gone"):
            session.request("gone")
    finally:
        session.close()


def test_a_command_that_exists_is_not_replaced(install: Install, kernel: Kernel) -> None:
    install("a", register_commands=lambda: [click.Command("taken")])
    install("b", register_commands=lambda: [click.Command(name) for name in ("new", "taken")])
    plugins = Plugins()
    plugins.load()
    assert {"taken"} == {made.name for plugin, made in plugins.commands() if plugin.id != "system"}
    assert plugins.find("a").error is None  # type: ignore[union-attr]
    assert plugins.find("b").error == "ValueError: command taken is registered already"  # type: ignore[union-attr]


def test_hook_health_checks(install: Install, kernel: Kernel) -> None:
    fine = {"a": True}

    checks = [
        HealthCheck("a_fine", lambda service: fine["a"]),
        HealthCheck("a_broken", lambda service: 1 / 0),  # type: ignore[arg-type,return-value]
        HealthCheck("database", lambda service: False),  # the kernel's own are not replaced
    ]
    install("a", register_endpoints=lambda: None, health_checks=lambda: checks)
    with kernel() as client:
        answer = client.get("health")
        assert answer.status == 200
        assert answer.json["status"] == "degraded"
        assert {name: answer.json["checks"][name] for name in ("a_fine", "a_broken", "database")} == {
            "a_fine": True, "a_broken": False, "database": True,
        }  # fmt: skip


def test_a_check_that_needs_the_service(install: Install, kernel: Kernel) -> None:
    """It says by itself whether there is something to ask, and what to do."""

    asked = HealthCheck("a_asked", lambda service: service.settings["server.port"] == 0, "mend it")
    idle = HealthCheck("a_idle", lambda service: True, asked=lambda service: False)
    install("a", health_checks=lambda: [asked, idle])
    with kernel() as client:
        checks = client.get("health").json["checks"]
        assert (checks["a_asked"], "a_idle" in checks) == (False, False)
        told = [words_of_check(client.service, name).hint for name in ("a_asked", "b")]
        assert told == ["mend it", "see its plugin"]


def test_hook_run_beside_worker(install: Install, kernel: Kernel) -> None:
    """It begins and ends with the worker, which waits for it."""
    seen: list[Any] = []

    def run(service: Any, stop: Any) -> None:
        seen.append(service)
        stop.wait(30)
        seen.append("ended")

    install("a", run_beside_worker=run)
    with kernel() as client:
        worker = Worker(client.service, "test")
        worker.start()
        worker.stop()
        assert seen == [client.service, "ended"]


def test_hook_dashboard_assets(install: Install, kernel: Kernel, tmp_path: File) -> None:
    assets = Assets("a", tmp_path, "main.js", ("main.css",))
    for name in ("main.js", "main.css"):
        (tmp_path / name).touch()
    install("a", dashboard_assets=lambda: [assets])
    install("b", dashboard_assets=lambda: None)
    with kernel() as client:
        added = client.service.plugins.added(dashboard_assets)
        assert [one for plugin, one in added if plugin.id != "system"] == [assets]


# -- robust and chain


def test_hook_lines_read(install: Install, kernel: Kernel) -> None:
    seen: list[Any] = []
    install("a", lines_read=lambda batch: seen.append(batch))
    with kernel(plugins__enabled=["a"]) as client:
        emit(client, lines_read, ["line"])
    assert seen == [["line"]]


def test_hook_events_storing(install: Install, kernel: Kernel) -> None:
    """A chain: each plugin gets what the one before made of it; None leaves it, a failure too."""

    def broken(call: Any, events: list[str]) -> list[str]:
        events_copy = [*events, "never seen"]
        raise RuntimeError(str(len(events_copy)))

    install("a", events_storing=lambda events: [event.upper() for event in events])
    install("b", events_storing=broken)
    install("c", events_storing=lambda call, events: None)
    install("d", events_storing=lambda events: [*events, "added"])
    with kernel(plugins__enabled=["a", "b", "c", "d"]) as client:
        call = client.service.call()
        with call.transaction():
            assert call.chain(events_storing, ["x"]) == ["X", "added"]
        assert state(client, "b")["last_error"]["message"] == "RuntimeError: 2"


def test_hook_events_stored(install: Install, kernel: Kernel) -> None:
    seen: list[Any] = []
    install("a", events_stored=lambda call, batch: seen.append((call.application.id, batch)))
    with kernel(plugins__enabled=["a"]) as client:
        emit(client, events_stored, {"new": [1]})
    assert seen == [("default", {"new": [1]})]


def test_hook_stack_showing(install: Install, kernel: Kernel) -> None:
    """On reading: a failure leaves the value and writes nothing."""
    install("a", stack_showing=lambda event: event | {"resolved": True})
    install("b", stack_showing=lambda event: 1 / 0)
    with kernel(plugins__enabled=["a", "b"]) as client:
        call = client.service.call()
        with call.transaction(write=False):
            assert call.chain(stack_showing, {"id": 1}) == {"id": 1, "resolved": True}
        assert state(client, "b")["last_error"] is None


def test_hook_link_frames(install: Install, kernel: Kernel) -> None:
    """On reading: a failure leaves what others say and writes nothing."""
    install("a", link_frames=lambda shown: 1 / 0)
    install("b", link_frames=lambda call, shown: [shown["links"]])
    with kernel(plugins__enabled=["a", "b"]) as client:
        call = client.service.call()
        with call.transaction(write=False):
            assert call.emit(link_frames, {"links": ["https://git.example.com/a.py", None]}) == {
                "b": [["https://git.example.com/a.py", None]]
            }
        assert state(client, "a")["last_error"] is None


def test_hook_issue_changed(install: Install, kernel: Kernel) -> None:
    """What plugins return comes back under their ids."""
    install("a", issue_changed=lambda change: {"pushed": change["issue"]})
    install("b", issue_changed=lambda call, change: None)
    with kernel(plugins__enabled=["a", "b"]) as client:
        assert emit(client, issue_changed, {"issue": 7}) == {"a": {"pushed": 7}}


def test_hook_plugin_switched(install: Install, kernel: Kernel) -> None:
    seen: list[tuple[str, bool]] = []
    install("a", plugin_switched=lambda call, on: seen.append(("a", on)))
    install("b", plugin_switched=lambda call, on: seen.append(("b", on)))
    with kernel() as client:
        enable(client, "a", "a")
        enable(client, "a", on=False)
    assert seen == [("a", True), ("a", False)]


def test_hook_application_changed(install: Install, kernel: Kernel) -> None:
    """For every loaded plugin, enabled or not; each once."""
    seen: list[tuple[str, str]] = []
    install("a", application_changed=lambda call, change: seen.append((call.application.id, change)))
    with kernel() as client:
        client.post("applications", {"name": "second"})
        client.delete("applications", {"id": "second", "confirmation": "DELETE APPLICATION second"})
    with kernel():
        pass
    assert seen == [("default", "created"), ("second", "created"), ("second", "removed")]


def test_hook_request_answered(install: Install, kernel: Kernel) -> None:
    seen: list[Any] = []
    install("a", request_answered=lambda endpoint, method, status: seen.append((endpoint, method, status)))
    with kernel() as client:
        client.get("health")
        client.request("GET", "/?api=gone")
    assert seen == [("health", "GET", 200), (None, "GET", 404)]


# -- containment of robust hooks


@pytest.fixture
def on_each_database(own_database_config: dict[str, str]) -> dict[str, Any]:
    return {**own_database_config, "plugins__enabled": ["steps", "before", "broken", "behind"]}


def _failing(kind: str) -> Callable[..., None]:
    def hook(call: Any, batch: Any) -> None:
        note("half")(call)
        if kind == "raise":
            raise RuntimeError("on purpose " + "x" * 500)
        if kind == "exit":
            raise SystemExit(1)
        if kind == "statement":
            call.db.execute(select(Table("no_such_table", MetaData(), columns.id_column())))

    return hook


@pytest.mark.parametrize("kind", ["raise", "exit", "statement"])
def test_a_failing_hook_loses_its_own_rows_only(
    install: Install, kernel: Kernel, on_each_database: dict[str, Any], kind: str
) -> None:
    """The request goes on, others keep their rows, the failure shows and its next success clears it."""
    failing = {"on": True}

    def sometimes(call: Any, batch: Any) -> None:
        if failing["on"]:
            _failing(kind)(call, batch)

    install("steps", register_steps=lambda: [("s001", make_notes)])
    install("before", events_stored=lambda call, batch: note("before")(call))
    install("broken", events_stored=sometimes, issue_changed=lambda change: None)
    install("behind", events_stored=lambda call, batch: note("behind")(call))
    with kernel(**on_each_database) as client:
        emit(client, events_stored, None)
        assert words(client) == ["before", "behind"]
        error = state(client, "broken")["last_error"]
        assert error["hook"] == "events_stored"
        assert 0 < len(error["message"]) <= 300
        assert "SELECT" not in error["message"] and "INSERT" not in error["message"]
        failing["on"] = False
        emit(client, issue_changed, None)  # another hook's success says nothing about this one
        assert state(client, "broken")["last_error"] is not None
        emit(client, events_stored, None)
        assert state(client, "broken")["last_error"] is None
        assert state(client, "behind")["last_error"] is None


def test_a_hook_that_hides_a_database_failure(
    install: Install, kernel: Kernel, on_each_database: dict[str, Any]
) -> None:
    """PostgreSQL refuses everything after a failed statement: the savepoint must bring the transaction back."""

    def hook(call: Any, batch: Any) -> None:
        with contextlib.suppress(Exception):
            call.db.execute(select(Table("no_such_table", MetaData(), columns.id_column())))

    install("steps", register_steps=lambda: [("s001", make_notes)])
    install("broken", events_stored=hook)
    install("behind", events_stored=lambda call, batch: note("behind")(call))
    with kernel(**on_each_database) as client:
        emit(client, events_stored, None)
        assert words(client) == ["behind"]


def test_a_deadlock_is_never_contained(install: Install, kernel: Kernel, own_database_config: dict[str, str]) -> None:
    """The transaction is lost, so it is repeated as a whole, not carried on without the plugin's part."""
    tries: list[int] = []

    class Deadlock(Exception):
        sqlstate = "40P01"

    def hook(call: Any, batch: Any) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise OperationalError("UPDATE", {}, Deadlock())
        note("at last")(call)

    install("a", events_stored=hook, register_steps=lambda: [("s001", make_notes)])
    with kernel(plugins__enabled=["a"], **own_database_config) as client:
        call = client.service.call()

        def work() -> None:
            with call.transaction() as db:
                db.execute(insert(notes), {"word": "row"})
                call.emit(events_stored, None)

        call.repeat(work)
        assert len(tries) == 3
        assert words(client) == ["at last", "row"]
        assert state(client, "a")["last_error"] is None


def test_enabled_is_asked_at_call_time(install: Install, kernel: Kernel) -> None:
    """A switch holds from the next call on, per application, in every process."""
    seen: list[str] = []
    install("a", events_stored=lambda call, batch: seen.append(call.application.id))
    with kernel() as client, kernel() as other:
        client.post("applications", {"name": "second"})
        emit(other, events_stored, None)
        enable(client, "a")
        emit(other, events_stored, None)
        second = other.service.applications.find("second")
        call = other.service.call(second)
        with call.transaction():
            call.emit(events_stored, None)
        enable(client, "a", on=False)
        emit(other, events_stored, None)
    assert seen == ["default"]


def test_every_hook_has_its_test() -> None:
    """A hook without a test named after it fails here."""
    from snaglist.kernel import hookspecs
    from snaglist.plugins.system.hookspecs import register_jobs, run_beside_worker

    asked_elsewhere = {"open_schemas", "check_added", "check_plugin", "service_parts"}
    hooks = {name for name, function in vars(hookspecs).items() if hasattr(function, "snaglist_spec")} - asked_elsewhere
    hooks |= {register_jobs.__name__, run_beside_worker.__name__}
    missing = [name for name in hooks if f"test_hook_{name}" not in globals()]
    assert missing == []


def test_hookimpl_is_the_marker_of_the_door() -> None:
    from snaglist import kernel as door
    from snaglist.kernel import hookspecs

    assert door.hookimpl is hookspecs.hookimpl is hookimpl


# -- the transaction is not a plugin's to end


def _ending(kind: str) -> Callable[[Any], object]:
    return {
        "commit": lambda db: db.commit(),
        "rollback": lambda db: db.rollback(),
        "close": lambda db: db.close(),
        "outermost": lambda db: db.get_transaction().commit(),
    }[kind]


ENDINGS = ["commit", "rollback", "close", "outermost"]


def test_no_hook_ends_the_transaction_of_others(
    install: Install, kernel: Kernel, on_each_database: dict[str, Any]
) -> None:
    """The same on each database: the others keep their rows, all or none, and `last_error` says what was refused."""
    kind = [""]

    def hook(call: Any, batch: Any) -> None:
        note("half")(call)
        _ending(kind[0])(call.db)

    install("steps", register_steps=lambda: [("s001", make_notes)])
    install("before", events_stored=lambda call, batch: note("before")(call))
    install("broken", events_stored=hook)
    install("behind", events_stored=lambda call, batch: note("behind")(call))
    with kernel(**on_each_database) as client:
        for number, kind[0] in enumerate(ENDINGS, 1):
            emit(client, events_stored, None)
            assert words(client) == sorted(["before", "behind"] * number), kind
            assert "the transaction of call.db is shared" in state(client, "broken")["last_error"]["message"], kind
        call = client.service.call()
        with contextlib.suppress(ZeroDivisionError), call.transaction():
            call.emit(events_stored, None)
            raise ZeroDivisionError
        assert len(words(client)) == 2 * len(ENDINGS)
        with call.transaction() as db, db.begin_nested() as savepoint:
            db.execute(insert(notes), {"word": "never"})
            savepoint.rollback()
        assert "never" not in words(client)


@pytest.mark.parametrize("sql", ["COMMIT", "ROLLBACK"])
def test_a_transaction_that_sql_ended_goes_no_further(
    install: Install, kernel: Kernel, on_each_database: dict[str, Any], sql: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody reads the SQL of plugins; what it broke is seen when the hook returns, and nothing more is written."""
    install("steps", register_steps=lambda: [("s001", make_notes)])
    install("broken", events_stored=lambda call, batch: call.db.exec_driver_sql(sql))
    install("late", events_stored=lambda call, batch: note("behind")(call))
    with kernel(**on_each_database) as client:
        with pytest.raises(TransactionEnded, match="is shared: SQL ended it"):
            emit(client, events_stored, None)
        assert "plugin broken, hook events_stored: the transaction of call.db is shared" in caplog.text
        assert words(client) == []
        with (call := client.service.call()).transaction():
            note("after")(call)
        assert words(client) == ["after"]


def _writing(kind: str) -> Callable[[Any], object]:
    return {
        "insert": lambda db: db.execute(insert(notes), {"word": "x"}),
        "text": lambda db: db.execute(text("INSERT INTO test_notes (word) VALUES ('x')")),
        "update": lambda db: db.execute(notes.update().values(word="x")),
        "delete": lambda db: db.exec_driver_sql("delete from test_notes"),
        "with": lambda db: db.execute(text("WITH a AS (SELECT 1) DELETE FROM test_notes")),
    }[kind]


def test_what_reads_writes_on_no_database(
    install: Install, kernel: Kernel, on_each_database: dict[str, Any], schemas: Callable[..., File]
) -> None:
    """GET never changes stored data, whatever a plugin's handler does."""
    endpoint = Endpoint(
        "thing",
        get=read(lambda call: {"done": str(_writing(call.query["how"])(call.db))}, None),
        post=write(lambda call: {"done": str(_writing(call.body["how"])(call.db))}, None),
        schemas=schemas(
            "thing",
            {
                "get-query": {"type": "object", "properties": {"how": {"type": "string"}}},
                "get-response": ANY,
                "post-body": ANY,
                "post-response": ANY,
            },
        ),
    )
    install("steps", register_steps=lambda: [("s001", make_notes)])
    install("before", register_endpoints=lambda: [endpoint])
    with kernel(**on_each_database) as client:
        with (call := client.service.call()).transaction() as db:
            db.execute(insert(notes), {"word": "there"})
        for how in ("insert", "text", "update", "delete", "with"):
            assert client.get("thing", how=how).status == 500
            assert words(client) == ["there"], how
        with call.transaction(write=False) as db:  # what only reads like a change
            assert db.scalar(text("SELECT replace('; DELETE FROM x', 'x', 'update y')")) == "; DELETE FROM update y"
        assert client.post("thing", {"how": "insert"}).status == 200
        assert client.post("thing", {"how": "update"}).status == 200
        assert words(client) == ["x", "x"]

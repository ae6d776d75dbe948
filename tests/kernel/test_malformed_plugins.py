"""Whatever a plugin raises or hands over, at every hook: the plugin is named, and everything else goes on.

One table for all hooks of kernel/hookspecs.py; a hook that is missing in it fails the first test.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path as File
from types import SimpleNamespace
from typing import Any, NamedTuple

import click
import pytest
from sqlalchemy import Column, ForeignKey, Integer, MetaData, Table

from snaglist.kernel import (
    Assets,
    Description,
    Endpoint,
    Operation,
    Option,
    Path,
    Reply,
    hookspec,
    hookspecs,
    own,
    read,
    write,
)
from snaglist.kernel.containment import Escaped, Interrupted, contained, describe
from snaglist.kernel.errors import ServiceError
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.settings import UrlOption
from snaglist.plugins import issues, logs, program, system
from snaglist.plugins.connectors import ConnectorType, contract
from snaglist.plugins.system import HealthCheck, Job, Worker, cli
from snaglist.plugins.system.jobs.schedules import Schedules

Install = Kernel = Schemas = Callable[..., Any]


class Strange(BaseException):
    """A class of a plugin's own."""


class Mute(Exception):
    """Says nothing of itself, and fails when asked."""

    def __str__(self) -> str:
        raise RuntimeError("no")


RAISED = [ValueError, RecursionError, MemoryError, KeyboardInterrupt, SystemExit, GeneratorExit, Strange, Mute]
COLLECT = {
    "register_endpoints", "register_paths", "register_tables", "register_steps", "register_settings", "register_jobs",
    "register_parsers", "health_checks", "dashboard_assets", "register_hookspecs", "register_metrics",
    "register_connectors", "register_module_references", "register_search_fields", "register_list_columns",
    "service_parts", "open_schemas", "register_tagging", "register_sources",
}  # fmt: skip
ROBUST = {"lines_read", "events_stored", "issue_changed", "link_frames"}
CHAIN = {"events_storing", "stack_showing"}
DIRECT = {"run_beside_worker", "request_answered", "stored_secrets", "doctor_warnings", "health_details"}
OTHERS = {"describe", "register_commands", "plugin_switched", "application_changed"}
# Asked of the areas of snaglist: what they raise is a failure of whoever is looked at, or of the request.
OF_AREAS = {
    "check_added", "check_plugin", "read_occurrence",
    "compare_releases",
}  # fmt: skip
HOOKS = {
    name: found
    for module in (hookspecs, issues.hookspecs, logs.hookspecs, system.hookspecs, contract)
    for name, found in vars(module).items()
    if hasattr(found, "snaglist_spec")
}


def raising(raised: type[BaseException]) -> Callable[..., Any]:
    def hook(*_: Any, **__: Any) -> Any:
        raise raised("on purpose")

    return hook


def endless(depth: int = 0) -> int:
    return endless(depth + 1) + 1


def plugin(client: Any, name: str = "bad") -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in client.get("plugins").json["data"] if one["id"] == name)
    return found


def in_thread(work: Callable[[], Any]) -> Any:
    """Run work as the server does, in another thread than the main one; what it raises is raised here."""
    found: dict[str, Any] = {}

    def run() -> None:
        try:
            found["result"] = work()
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(30)
    if "error" in found:
        raise found["error"]
    return found["result"]


PLACES = pytest.mark.parametrize("place", [lambda work: work(), in_thread], ids=["main", "thread"])
BAD = {f"bad_{raised.__name__.lower()}": raised for raised in RAISED}  # a plugin for each, all in one service


def test_every_hook_has_its_row() -> None:
    assert set(HOOKS) == COLLECT | ROBUST | CHAIN | DIRECT | OTHERS | OF_AREAS


# -- raised


@PLACES
def test_at_import_and_in_describe(install: Install, kernel: Kernel, place: Any) -> None:
    for name, raised in BAD.items():
        install(name, raised("on purpose"), source=f"snaglist-{name}")
        install(f"{name}_told", describe=raising(raised), source=f"snaglist-{name}-told")
    install("good", source="snaglist-good")

    def look() -> None:
        with kernel() as client:
            for name, raised in BAD.items():
                for shown in (plugin(client, name), plugin(client, f"{name}_told")):
                    assert (name, shown["status"]) == (name, "failed")
                    assert shown["last_error"]["message"].startswith(raised.__name__)
            assert plugin(client, "good")["status"] == "active"

    place(look)


@PLACES
@pytest.mark.parametrize("hook", sorted(COLLECT))
def test_in_a_collect_hook(install: Install, kernel: Kernel, hook: str, place: Any) -> None:
    for name, raised in BAD.items():
        install(name, **{hook: raising(raised)})
    install("good", register_jobs=lambda: [Job("good_job", lambda call: None)])

    def look() -> None:
        with kernel() as client:
            for name, raised in BAD.items():
                shown = plugin(client, name)
                assert (name, shown["status"], shown["last_error"]["hook"]) == (name, "failed", hook)
                assert shown["last_error"]["message"].startswith(raised.__name__)
            assert plugin(client, "good")["status"] == "active"
            assert client.get("health").status == 200

    place(look)


@PLACES
def test_in_register_commands(install: Install, place: Any) -> None:
    for name, raised in BAD.items():
        install(name, register_commands=raising(raised))

    def look() -> None:
        plugins = Plugins()
        plugins.load()
        plugins.commands()
        for name, raised in BAD.items():
            failed = plugins.find(name)
            assert failed and failed.error and failed.error.startswith(raised.__name__), name

    place(look)


@PLACES
@pytest.mark.parametrize("hook", sorted([*ROBUST, *CHAIN, "plugin_switched", "application_changed"]))
def test_in_a_robust_or_chain_hook(install: Install, kernel: Kernel, hook: str, place: Any) -> None:
    """The request goes on, with what it had."""
    for name, raised in BAD.items():
        install(name, **{hook: raising(raised)})
    with kernel(plugins__enabled=list(BAD)) as client:

        def look() -> None:
            call = client.service.call()
            with call.transaction():
                if hook in ROBUST:
                    assert call.emit(HOOKS[hook], 1) == {}
                elif hook in CHAIN:
                    assert call.chain(HOOKS[hook], [1]) == [1]
                elif hook == "plugin_switched":
                    for name in BAD:
                        client.service.plugins.emit(HOOKS[hook], call, True, only=client.service.plugins.find(name))
                else:
                    call.emit(HOOKS[hook], "created")

        place(look)
        for name, raised in BAD.items():
            error = plugin(client, name)["last_error"]
            assert (name, error["hook"]) == (name, hook) and error["message"].startswith(raised.__name__)


@PLACES
@pytest.mark.parametrize("way", ["read", "write", "own", "authenticate", "select", "stream", "page"])
def test_in_an_endpoint(
    install: Install, kernel: Kernel, schemas: Schemas, way: str, place: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Answered with 500 and a reference; the log names the plugin."""
    for name, raised in BAD.items():
        api = name.replace("_", "-")
        found = endpoint_that_fails(api, way, raising(raised), schemas(api, {"get-response": {}}))
        path = Path(f"{api}/page", raising(raised))
        install(name, register_endpoints=lambda e=found: [e], register_paths=lambda p=path: [p])
    with kernel(plugins__enabled=list(BAD)) as client:
        for name in BAD:
            api = name.replace("_", "-")
            url = f"/{api}/page" if way == "page" else f"/?api={api}"
            if way == "stream":
                with pytest.raises(Exception) as failure:
                    place(lambda url=url: client.request("GET", url))
                assert isinstance(failure.value, Exception)
                continue
            answer = place(lambda url=url: client.request("GET", url))
            assert answer.status == 500 and answer.error.startswith("Internal error (reference "), name
            if way != "page":
                assert f"internal error, plugin {name}, reference" in caplog.text


def endpoint_that_fails(api: str, way: str, fail: Callable[..., Any], folder: File) -> Endpoint:
    def stream(call: Any) -> Reply:
        def pieces() -> Iterator[bytes]:
            yield b"begun"
            fail()

        return Reply(pieces(), content_type="text/plain")

    kinds = {"read": read, "write": write, "own": own}
    handler = stream if way == "stream" else (lambda call: {}) if way in ("authenticate", "select") else fail
    hooks = {name: fail for name in ("authenticate", "select") if name == way}
    return Endpoint(api, get=kinds.get(way, own)(handler, None), schemas=folder, **hooks)


@PLACES
def test_in_a_job(install: Install, kernel: Kernel, place: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The job is failed, the next one runs; a schedule that cannot be asked hinders no other."""
    for name, raised in BAD.items():
        seconds = Option(f"{name}.seconds", 1, "for a test")
        jobs = [
            Job(f"{name}_job", raising(raised), max_attempts=1),
            Job(f"{name}_due", lambda call: None, every=seconds.name, due=raising(raised)),
        ]
        install(name, register_settings=lambda s=seconds: [s], register_jobs=lambda j=jobs: j)
    ran: list[int] = []
    install(
        "good",
        register_settings=lambda: [Option("good.seconds", 1, "for a test")],
        register_jobs=lambda: [Job("good_job", lambda call: ran.append(1), every="good.seconds", due=lambda call: {})],
    )
    with kernel(plugins__enabled=[*BAD, "good"]) as client:
        call = client.service.call()
        with call.transaction():
            ids = {name: call.enqueue(f"{name}_job") for name in BAD}

        def look() -> None:
            client.service.part(Schedules).ask(call.application)
            client.service.jobs.run_queued(call.application)

        place(look)
        assert ran == [1]
        for name, raised in BAD.items():
            assert client.get("jobs", id=ids[name]).json["data"]["status"] == "failed", name
            assert f"job {name}_job {ids[name]} of plugin {name} failed" in caplog.text
            error = plugin(client, name)["last_error"]
            assert error["hook"] == f"job {name}_due" and error["message"].startswith(raised.__name__)


def test_the_failure_of_a_schedule_is_shown_until_it_can_be_asked(install: Install, kernel: Kernel) -> None:
    fails = [True]

    def due(call: Any) -> None:
        if fails:
            raise SystemExit

    install(
        "bad",
        register_settings=lambda: [Option("bad.seconds", 0.001, "for a test")],
        register_jobs=lambda: [Job("bad_due", lambda call: None, every="bad.seconds", due=due)],
    )
    with kernel(plugins__enabled=["bad"]) as client:
        application = client.service.applications.all()[0]
        client.service.settings._values["bad.seconds"] = 1
        client.service.part(Schedules).ask(application)
        assert plugin(client)["last_error"]["hook"] == "job bad_due"
        fails.clear()
        del client.service._parts[Schedules]  # as in another process
        client.service.part(Schedules).ask(application)
        assert plugin(client)["last_error"] is None


def test_in_a_step(install: Install, kernel: Kernel) -> None:
    for name, raised in BAD.items():
        install(name, register_steps=lambda raised=raised: [("s001", raising(raised))])
    with kernel() as client:
        for name, raised in BAD.items():
            error = plugin(client, name)["last_error"]
            assert (name, error["hook"]) == (name, "step s001")
            assert error["message"].startswith(raised.__name__)


@pytest.mark.parametrize("raised", RAISED)
def test_in_a_direct_hook(
    install: Install, kernel: Kernel, raised: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """Observers, health checks, secrets, and threads beside the worker."""
    fail = raising(raised)
    install(
        "bad",
        request_answered=fail,
        run_beside_worker=fail,
        stored_secrets=fail,
        health_checks=lambda: [
            HealthCheck("weather", fail), HealthCheck("bad", fail, "look"), HealthCheck("odd", fail, asked=fail)
        ],
    )  # fmt: skip
    with kernel() as client:
        checks = client.get("health").json["checks"]
        assert (checks["weather"], checks["bad"], checks["odd"]) == (False, False, False)
        assert client.get("plugins").status == 200
        assert "an observer of requests failed, plugin bad" in caplog.text
        worker = Worker(client.service, "test")
        worker.start()
        worker.stop()
        assert "run_beside_worker of plugin bad" in caplog.text


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("hook", ["check_plugin", "service_parts"])
def test_in_what_is_asked_when_a_service_is_made(
    install: Install, kernel: Kernel, hook: str, raised: type[BaseException]
) -> None:
    fail = raising(raised)
    install("bad", **{hook: {"check_plugin": lambda service: fail(), "service_parts": lambda: {"bad": fail}}[hook]})
    install("good")
    with kernel() as client:
        shown = plugin(client)
        assert (shown["status"], shown["last_error"]["hook"]) == ("failed", hook)
        assert shown["last_error"]["message"].startswith(raised.__name__)
        assert plugin(client, "good")["status"] == "active"


@pytest.mark.parametrize(
    ("hook", "function", "message"),
    [
        ("check_plugin", lambda service: 5, "'int' object is not iterable"),
        ("check_plugin", lambda service: [5], "cannot unpack"),
        ("check_plugin", lambda service: None, "'NoneType' object is not iterable"),
        ("service_parts", lambda: {"plugins": lambda service: 5}, "a service has plugins already"),
        ("service_parts", lambda: {"start": lambda service: 5}, "a service has start already"),
        ("register_hookspecs", lambda: None, "did not find any 'snaglist' hooks in None"),
    ],
)
def test_what_is_given_when_a_service_is_made(
    install: Install, kernel: Kernel, hook: str, function: Any, message: str
) -> None:
    install("bad", **{hook: function})
    install("good", register_jobs=lambda: [Job("good_job", lambda call: None)])
    with kernel() as client:
        shown = plugin(client)
        assert (shown["status"], shown["last_error"]["hook"]) == ("failed", hook)
        assert message in shown["last_error"]["message"]
        assert plugin(client, "good")["status"] == "active"


def test_a_plugin_refuses_what_is_added_to_its_own_hooks_alone(install: Install, kernel: Kernel) -> None:
    """A check that raises for everything, or knows too little of other hooks, harms nobody."""

    @hookspec
    def colours() -> Sequence[str]:  # type: ignore[empty-body]
        """Collect."""

    def check(hook: str, value: Any) -> None:
        raise ValueError(f"{hook} takes no {value}")

    install("bad", register_hookspecs=lambda: SimpleNamespace(colours=colours), check_added=check)
    install("nosy", check_added=check)
    install("good", register_jobs=lambda: [Job("good_job", lambda call: None)])
    install("painter", colours=lambda: ["red"])
    with kernel() as client:
        found = {name: plugin(client, name)["status"] for name in ("bad", "nosy", "good", "painter")}
        assert found == dict.fromkeys(("bad", "nosy", "good"), "active") | {"painter": "failed"}
        assert plugin(client, "painter")["last_error"]["message"] == "ValueError: colours takes no red"


def test_endless_recursion(install: Install, kernel: Kernel) -> None:
    install("bad", register_endpoints=endless)
    with kernel() as client:
        assert plugin(client)["last_error"]["message"].startswith("RecursionError")


# -- handed over


def answer(call: Any) -> dict[str, Any]:
    return {}


def broken_option(**fields: Any) -> Option:
    return Option(**{"name": "bad.key", "default": "", "reason": "for a test", **fields})


class Hostile(Option):
    def read(self, raw: Any) -> Any:
        raise KeyboardInterrupt


alien = MetaData()
Table("there", alien, Column("id", Integer, primary_key=True))
orphan = Table("bad_orphan", alien, Column("id", Integer, ForeignKey("gone.id"), primary_key=True))
lost = Table("bad_lost", alien, Column("id", Integer, ForeignKey("there.gone"), primary_key=True))

CONNECTOR = ConnectorType(check=lambda *_: {}, open=print)  # type: ignore[arg-type]

WRONG: list[tuple[str, Callable[..., Any], str]] = [
    ("describe", lambda: Description("bad", "x", "x", "x", "1", after=None), "describe(): after: must be a tuple"),  # type: ignore[arg-type]
    ("describe", lambda: Description("bad", "x", "x", "x", "1", after="issues"), "describe(): after: must be a tuple"),  # type: ignore[arg-type]
    ("describe", lambda: Description("bad", None, "x", "x", "1"), "describe(): name: must be a text"),  # type: ignore[arg-type]
    ("describe", lambda: Description("bad", "x", "x", "x", 1), "describe(): version: must be a text"),  # type: ignore[arg-type]
    ("describe", lambda: Description("bad", "x", "x", "x", "1", lacks=b"x"), "describe(): lacks: must be a text"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint(5)], "name must be like my-endpoint"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", get=answer)], "get: must be read(…), write(…) or own(…)"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", get=read(None, None))], "handler: must be a function"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", get=read(answer, 5))], "ability: must be a text"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", get=Operation(answer, None, "x", (200,)))], "transaction must"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", get=Operation(answer, None, "own", ()))], "statuses must be"),
    ("register_endpoints", lambda: [Endpoint("odd", get=own(answer, None, "200"))], "statuses must be"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", get=own(answer, None, 99))], "statuses must be"),
    ("register_endpoints", lambda: [Endpoint("odd", schemas="schemas")], "schemas: must be a folder"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", body_limit=-1)], "body_limit: must be a number from 0"),
    ("register_endpoints", lambda: [Endpoint("odd", body_limit=None)], "body_limit: must be a number"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", body_limit="bad.gone")], "there is no setting bad.gone that is"),
    ("register_endpoints", lambda: [Endpoint("odd", body_limit="server.host")], "no setting server.host that is a"),
    ("register_endpoints", lambda: [Endpoint("odd", authenticate="yes")], "authenticate: must be a function"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", select=1)], "select: must be a function"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", cross_origin="X-Key")], "cross_origin: must be a tuple"),  # type: ignore[arg-type]
    ("register_endpoints", lambda: [Endpoint("odd", cross_origin=("a\r\nb",))], "is no name of a header"),
    ("register_paths", lambda: [Path("(", answer)], "'(' is no regular expression"),  # type: ignore[arg-type]
    ("register_paths", lambda: [Path("a{99999999999}", answer)], "is no regular expression"),  # type: ignore[arg-type]
    ("register_paths", lambda: [Path(b"x", answer)], "path: must be a text"),  # type: ignore[arg-type]
    ("register_paths", lambda: [Path("x", "handler")], "handler: must be a function"),  # type: ignore[arg-type]
    ("register_paths", lambda: [Path("x")], "needs a handler"),
    ("register_tables", lambda: ["table"], "register_tables() must return Table, not str"),
    ("register_tables", lambda: [orphan], "could not find table 'gone'"),
    ("register_tables", lambda: [lost], "'gone'"),
    ("register_steps", lambda: [("s001", "step")], "step s001: must be a function"),
    ("register_steps", lambda: [5], "cannot unpack non-iterable int object"),
    ("register_steps", lambda: [("s001",)], "not enough values to unpack (expected 2, got 1)"),
    ("register_steps", lambda: [(1, print)], "step: must be a text"),
    ("register_steps", lambda: [("s" * 101, print)], "step: must have at most 100 characters"),
    ("register_settings", lambda: [broken_option(pattern="(")], "'(' is no regular expression"),
    ("register_settings", lambda: [broken_option(pattern=5)], "pattern: must be a text"),
    ("register_settings", lambda: [broken_option(name="key")], "name must be like my_plugin.key"),
    ("register_settings", lambda: [broken_option(name=None)], "name must be like my_plugin.key"),
    ("register_settings", lambda: [broken_option(default=None)], "default: must be a text, number, boolean or list"),
    ("register_settings", lambda: [broken_option(default={})], "default: must be a text, number, boolean or list"),
    ("register_settings", lambda: [broken_option(default=[1])], "default: must be a tuple of texts"),
    ("register_settings", lambda: [broken_option(default=5, minimum="0")], "limits: must be a number"),
    ("register_settings", lambda: [broken_option(default=5, minimum=6)], "its own default does not fit"),
    ("register_settings", lambda: [broken_option(choices=5)], "choices: must be a tuple of texts"),
    ("register_settings", lambda: [broken_option(default="x", choices=("a",))], "its own default does not fit"),
    ("register_settings", lambda: [UrlOption("bad.url", "no url", "for a test")], "its own default does not fit"),
    ("register_settings", lambda: [Hostile("bad.key", "", "for a test")], "KeyboardInterrupt"),
    ("register_jobs", lambda: [Job("k" * 41, print)], "job: kind: must have at most 40 characters"),
    ("register_jobs", lambda: [Job(None, print)], "job: kind: must be a text"),  # type: ignore[arg-type]
    ("register_jobs", lambda: [Job("bad", "run")], "run: must be a function"),  # type: ignore[arg-type]
    ("register_jobs", lambda: [Job("bad", print, due=5)], "due: must be a function"),  # type: ignore[arg-type]
    ("register_jobs", lambda: [Job("bad", print, every=5)], "every: must be a text"),  # type: ignore[arg-type]
    ("register_jobs", lambda: [Job("bad", print, every="bad.gone")], "there is no setting bad.gone that"),
    ("register_jobs", lambda: [Job("bad", print, every="log.level")], "no setting log.level that is a number"),
    ("register_jobs", lambda: [Job("bad", print, max_attempts=0)], "max_attempts: must be a number from 1"),
    ("register_jobs", lambda: [Job("bad", print, unit="u" * 21)], "unit: must have at most 20 characters"),
    ("register_parsers", lambda: [object()], "register_parsers() must return Parser, not object"),
    ("register_parsers", lambda: [logs.Parser], "register_parsers() must return Parser, not type"),
    ("dashboard_assets", lambda: ["ui"], "dashboard_assets() must return Assets, not str"),
    ("dashboard_assets", lambda: [Assets("bad", "ui", "x.js")], "root: must be a folder"),  # type: ignore[arg-type]
    ("dashboard_assets", lambda: [Assets("bad", File(), None)], "module: must be a text"),  # type: ignore[arg-type]
    ("dashboard_assets", lambda: [Assets("bad", File(), "x.js", "x.css")], "styles: must be a tuple of texts"),
    ("dashboard_assets", lambda: [Assets("bad", File(), "../x.js")], "there is no file ../x.js"),
    ("dashboard_assets", lambda: [Assets("bad", File(), "gone.js")], "there is no file gone.js"),
]  # fmt: skip


@pytest.mark.parametrize(("hook", "function", "message"), WRONG)
def test_what_is_handed_over_is_looked_at_when_it_is(
    install: Install, kernel: Kernel, hook: str, function: Callable[..., Any], message: str
) -> None:
    install("bad", **{hook: function})
    install("good")
    with kernel(bad__key="zz") as client:
        shown = plugin(client)
        assert (shown["status"], plugin(client, "good")["status"]) == ("failed", "active")
        assert shown["last_error"]["hook"] == ("load" if hook == "describe" else hook)
        assert message in shown["last_error"]["message"], shown["last_error"]["message"]
        assert client.get("health").status == 200
        assert client.get("openapi").status == 200


@pytest.mark.parametrize(
    ("hook", "added", "message"),
    [
        ("register_metrics", {"bad": 5}, "register_metrics() must return Callable, not int"),
        ("register_metrics", {None: print}, "None: a name must be like my_type"),
        ("register_metrics", {"": print}, "'': a name must be like my_type"),
        ("health_checks", [print], "health_checks() must return HealthCheck, not builtin_function_or_method"),
        ("health_checks", [HealthCheck("", print)], "health check: must be a text"),
        ("health_checks", [HealthCheck("bad", None)], "health check bad: must be a function"),
        ("health_checks", [HealthCheck("bad", print, None)], "health check bad: hint: must be a text"),
        ("register_connectors", {"Bad Name": CONNECTOR}, "a name must be like my_type"),
        ("register_connectors", {"bad": 5}, "register_connectors() must return ConnectorType, not int"),
    ],
)
def test_values_of_areas_are_looked_at(install: Install, kernel: Kernel, hook: str, added: Any, message: str) -> None:
    install("bad", **{hook: lambda: added})
    with kernel() as client:
        shown = plugin(client)
        assert (shown["status"], shown["last_error"]["hook"]) == ("failed", hook)
        assert message in shown["last_error"]["message"]


@pytest.mark.parametrize("added", [None, "text", print])
def test_what_is_no_command(install: Install, added: Any) -> None:
    install("bad", register_commands=lambda: [added])
    plugins = Plugins()
    plugins.load()
    assert "bad" not in {found.id for found, _ in plugins.commands()}
    failed = plugins.find("bad")
    assert failed and failed.error and "register_commands() must return Command" in failed.error


def test_a_result_that_cannot_be_stored_fails_its_job(install: Install, kernel: Kernel) -> None:
    results = {"a": object(), "b": 5, "c": {"x": float("nan")}, "d": {"x": {1}}}

    jobs = [Job(f"job_{name}", lambda call, result=result: result, max_attempts=1) for name, result in results.items()]
    install("bad", register_jobs=lambda: jobs)
    with kernel() as client:
        call = client.service.call()
        with call.transaction():
            ids = [call.enqueue(f"job_{name}") for name in results]
        assert client.service.jobs.run_queued(call.application) == 4
        assert {client.get("jobs", id=job_id).json["data"]["status"] for job_id in ids} == {"failed"}


class Distribution(NamedTuple):
    """What a plugin was installed from."""

    name: Any
    version: Any


def test_damaged_metadata_of_a_distribution(install: Install, kernel: Kernel) -> None:
    class Damaged:
        @property
        def name(self) -> str:
            raise KeyError("Name")

    install("bad").dist = Damaged()
    install("odd").dist = Distribution(None, None)
    with kernel() as client:
        assert plugin(client)["status"] == plugin(client, "odd")["status"] == "active"


# -- the operator


@contextmanager
def default_interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "put back"
    finally:
        signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)  # ended by the signal


def test_an_interrupt_of_the_operator_goes_through() -> None:
    """While code of a plugin runs in the main thread: what it raises itself does not, the same from outside does."""
    with default_interrupts():
        with pytest.raises(Interrupted):
            contained(interrupt)
        with pytest.raises(Interrupted):
            contained(contained, interrupt)
        with pytest.raises(Escaped, match="KeyboardInterrupt: on purpose"):
            contained(raising(KeyboardInterrupt))
        assert contained(lambda value: value, 5) == 5


def test_an_interrupt_in_a_hook_ends_the_request(install: Install, kernel: Kernel) -> None:
    install("slow", events_stored=lambda call, batch: interrupt())
    with kernel(plugins__enabled=["slow"]) as client, default_interrupts():
        call = client.service.call()
        with pytest.raises(KeyboardInterrupt), call.transaction():
            call.emit(HOOKS["events_stored"], 1)


SCRIPT = """
import sys, time, types
from types import SimpleNamespace
from importlib.metadata import entry_points
from snaglist.kernel import Description, hookimpl, plugins
from snaglist.plugins.start import main

module = types.ModuleType("slow")
def describe():
    return Description("slow", "Slow", "", "Tests", "1.0")
class Finalized:
    def __del__(self):
        time.sleep(30)
def register_jobs():
    sys.stderr.write("here\\n"); sys.stderr.flush()
    if when == "in a finalizer":
        Finalized()
    time.sleep(30)
module.describe, module.register_jobs = hookimpl(describe), hookimpl(register_jobs)
point = SimpleNamespace(name="slow", load=lambda: module, dist=None)
plugins.entry_points = lambda group: [*entry_points(group=group), point]
when, folder = sys.argv[1:]
sys.argv = ["snaglist", "--data", folder, "plugins", "list"]
main()
"""


@pytest.mark.parametrize("when", ["in a hook", "in a finalizer"])
def test_an_interrupt_ends_a_command_while_a_plugin_is_asked(tmp_path: File, when: str) -> None:
    """Python drops what is raised in a finalizer, so the interrupt has to come again."""
    command = [sys.executable, "-c", SCRIPT, when, tmp_path]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stderr.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline() == "snaglist: interrupted\n"
        process.send_signal(signal.SIGINT)  # it ends already
        assert process.wait(20) == 130
        assert process.stderr.read() == ""


def test_what_describes_an_error() -> None:
    assert describe(Mute()) == "Mute:"
    assert describe(Escaped(SystemExit(3))) == "SystemExit: 3"
    assert len(describe(ValueError("x" * 1000))) <= 300


# -- texts that no database takes, and values of another shape


@pytest.mark.parametrize("text", ["half \ud800 a surrogate", "NUL \0"])
def test_a_text_that_no_database_takes_ends_its_job_only(
    install: Install, kernel: Kernel, database_config: dict[str, str], text: str
) -> None:
    """Neither as a result nor in the message of a failure: how it ended could never be written, and no job ran."""

    def fail(call: Any) -> None:
        raise ServiceError(text)

    ran: list[int] = []
    install(
        "bad",
        register_jobs=lambda: [
            Job("job_result", lambda call: {"x": text}, max_attempts=1),
            Job("job_failure", fail, max_attempts=1),
        ],
    )
    install("good", register_jobs=lambda: [Job("job_good", lambda call: ran.append(1))])
    with kernel(**database_config, plugins__enabled=["bad", "good"]) as client:
        call = client.service.call()
        for kind in ("job_result", "job_failure", "job_good"):
            with call.transaction():
                call.enqueue(kind)
        client.service.jobs.run_queued(call.application)
        assert ran == [1]
        ended = {job["kind"]: job["status"] for job in client.get("jobs").json["data"]}
        assert ended["job_failure"] == "failed" and ended["job_result"] in ("failed", "succeeded")


@pytest.mark.parametrize("args", ["text", [1], 7, False, {1}, {"x": float("nan")}, {"x": "\ud800"}, {"x": "\0"}])
def test_a_due_that_returns_something_else(
    install: Install, kernel: Kernel, database_config: dict[str, str], args: Any
) -> None:
    """It ended the round of its application each second: nobody's job ran there."""
    ran: list[int] = []
    install(
        "bad",
        register_settings=lambda: [Option("bad.seconds", 1, "for a test")],
        register_jobs=lambda: [Job("bad_due", lambda call: None, every="bad.seconds", due=lambda call: args)],
    )
    install(
        "good",
        register_settings=lambda: [Option("good.seconds", 1, "for a test")],
        register_jobs=lambda: [Job("good_job", lambda call: ran.append(1), every="good.seconds", due=lambda call: {})],
    )
    with kernel(**database_config, plugins__enabled=["bad", "good"]) as client:
        application = client.service.applications.all()[0]
        client.service.part(Schedules).ask(application)
        client.service.jobs.run_queued(application)
        assert ran == [1]
        if not isinstance(args, dict) or not isinstance(args["x"], str):
            assert plugin(client)["last_error"]["hook"] == "job bad_due"


@pytest.mark.parametrize("passed", ["no", 1, None, object()])
def test_a_health_check_passes_with_true_alone(install: Install, kernel: Kernel, passed: Any) -> None:
    class Hostile:
        def __bool__(self) -> bool:
            raise KeyboardInterrupt

    found = [HealthCheck("odd", lambda service: passed), HealthCheck("worse", lambda service: Hostile())]
    install("bad", health_checks=lambda: found)
    with kernel() as client:
        checks = client.get("health").json["checks"]
        assert (checks["odd"], checks["worse"]) == (False, False)


@pytest.mark.parametrize("raised", [RuntimeError, KeyboardInterrupt, GeneratorExit])
def test_a_command_that_fails_names_its_plugin(
    install: Install, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], raised: type[BaseException]
) -> None:
    """What it says to its user, and the exit code that it asks for, stay its own."""
    known = dict(cli.commands)

    @click.group("odd")
    def odd() -> None: ...

    @odd.command("fail")
    def fail() -> None:
        raise raised("on purpose")

    @odd.command("say")
    def say() -> None:
        raise click.ClickException("no such thing")

    @odd.command("end")
    def end() -> None:
        sys.exit(7)

    install("bad", source="acme", register_commands=lambda: [odd])
    try:
        for argument, message in (("fail", "command fail of plugin bad failed: "), ("say", "no such thing")):
            monkeypatch.setattr(sys, "argv", ["snaglist", "odd", argument])
            assert program.run() == 1
            assert message in capsys.readouterr().err
        monkeypatch.setattr(sys, "argv", ["snaglist", "odd", "end"])
        with pytest.raises(SystemExit) as ended:
            program.run()
        assert ended.value.code == 7
    finally:
        cli.commands = known

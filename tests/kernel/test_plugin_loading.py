"""Loading plugins: whatever one does wrong, the rest starts."""

import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import MetaData, Table

from snaglist.kernel import Description, Endpoint, Option, Path, hookimpl, read, write
from snaglist.plugins.system import Job

Install = Kernel = Schemas = Callable[..., Any]


def states(client: Any) -> dict[str, dict[str, Any]]:
    return {plugin["id"]: plugin for plugin in client.get("plugins").json["data"]}


def answer(call: Any) -> dict[str, Any]:
    return {}


def endpoint(name: str) -> Endpoint:
    return Endpoint(name, get=read(answer, None))


def _syntax_error() -> SyntaxError:
    try:
        compile("def", "plugin.py", "exec")
    except SyntaxError as error:
        return error
    raise AssertionError


def _module(**functions: Callable[..., Any]) -> Any:
    module = ModuleType("plugin_bad")
    described = {"describe": lambda: Description("bad", "Bad", "", "Tests", "1.0")}
    for name, function in {**described, **functions}.items():
        setattr(module, name, hookimpl(function))
    return module


def _without_description() -> Any:
    module = _module()
    del module.describe
    return module


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (ImportError("No module named 'gone'"), "ImportError: No module named 'gone'"),
        (_syntax_error(), "SyntaxError: "),
        (SystemExit(3), "SystemExit: 3"),
        (RuntimeError(), "RuntimeError"),
        (_module(on_everything=lambda call: None), "ValueError: unknown hook on_everything"),
        (_module(events_stored=lambda call, batch, more: None), "PluginValidationError: "),
        (_without_description(), "AttributeError: "),
        (_module(describe=lambda: {"id": "bad"}), "TypeError: describe() must return a Description"),
        (_module(describe=lambda: Description("Bad-Id", "", "", "", "")), "TypeError: describe() must return"),
        (_module(describe=lambda: Description("other", "", "", "", "")), "ValueError: describe() says id other"),
        (_module(describe=lambda: 1 / 0), "ZeroDivisionError: "),
    ],
)
def test_a_plugin_that_cannot_be_loaded(install: Install, kernel: Kernel, module: Any, message: str) -> None:
    install("bad", module, source="snaglist-bad")
    install("good", source="snaglist-good")
    with kernel() as client:
        found = states(client)
        assert (found["good"]["status"], found["good"]["source"]) == ("active", "installed")
        assert (found["bad"]["status"], found["bad"]["enabled"]) == ("failed", False)
        assert found["bad"]["last_error"]["hook"] == "load"
        assert found["bad"]["last_error"]["message"].startswith(message)
        assert client.post("plugins", {"id": "bad", "enabled": True}).status == 409
        assert client.post("plugins", {"id": "bad", "enabled": False}).status == 200
        assert client.get("health").json["status"] == "ok"


def raising(*_: Any, **__: Any) -> None:
    raise RuntimeError("on purpose")


def leaving() -> None:
    raise SystemExit(1)


@pytest.mark.parametrize(
    ("hook", "function", "message"),
    [
        ("register_endpoints", lambda: [endpoint("health")], "endpoint health is registered already"),
        ("register_endpoints", lambda: [endpoint("openapi")], "endpoint openapi is registered"),
        ("register_endpoints", lambda: [endpoint("taken")], "endpoint taken is registered already"),
        ("register_endpoints", lambda: [endpoint("No Name")], "name must be like my-endpoint"),
        ("register_endpoints", lambda: ["bad"], "register_endpoints() must return Endpoint, not str"),
        ("register_endpoints", lambda: endpoint("lone"), "must return a sequence of Endpoint, not Endpoint"),
        ("register_endpoints", lambda: "bad", "must return a sequence of Endpoint, not str"),
        ("register_endpoints", lambda: {"bad": endpoint("bad")}, "must return a sequence of Endpoint, not dict"),
        ("register_connectors", lambda: ["bad"], "must return a mapping of ConnectorType, not list"),
        ("register_connectors", lambda: {"bad": 5}, "register_connectors() must return ConnectorType, not int"),
        ("register_endpoints", leaving, "SystemExit"),
        ("register_paths", lambda: [Path("taken", lambda match, call: None)], "path taken is"),  # type: ignore[arg-type,return-value]
        ("register_tables", lambda: [Table("settings", MetaData())], "table settings is registered"),
        ("register_steps", lambda: [("s1", print), ("s1", print)], "second:s1 is registered"),
        ("register_settings", lambda: [Option("server.port", 1, "no")], "server.port is registered"),
        ("register_settings", lambda: [Option("taken.key", 1, "no")], "taken.key is registered"),
        ("register_jobs", lambda: [Job("taken", lambda call: None)], "job taken is registered"),
        ("register_jobs", lambda: [lambda: None], "register_jobs() must return Job, not function"),
        ("dashboard_assets", lambda: 1 / 0, "ZeroDivisionError"),
        *((name, raising, "RuntimeError: on purpose") for name in (
            "register_endpoints", "register_paths", "register_tables", "register_steps", "register_settings",
            "register_jobs", "register_parsers", "health_checks", "dashboard_assets",
        )),
    ],
)  # fmt: skip
def test_a_registration_that_is_refused(
    install: Install, kernel: Kernel, hook: str, function: Callable[..., Any], message: str
) -> None:
    """The failing plugin contributes nothing; what was there first stays."""
    install(
        "first",
        register_endpoints=lambda: [endpoint("taken")],
        register_paths=lambda: [Path("taken", lambda match, call: None)],  # type: ignore[arg-type,return-value]
        register_settings=lambda: [Option("taken.key", 1, "first")],
        register_jobs=lambda: [Job("taken", lambda call: None)],
    )
    hooks: dict[str, Any] = {
        "register_endpoints": lambda: [endpoint("its-own")],
        "register_jobs": lambda: [Job("its_own", lambda call: None)],
        "register_settings": lambda: [Option("its.own", 1, "second")],
    }
    install("second", **{**hooks, hook: function})
    with kernel() as client:
        found = states(client)
        assert found["first"]["status"] == "active"
        assert found["second"]["status"] == "failed"
        assert found["second"]["last_error"]["hook"] == hook
        assert message in found["second"]["last_error"]["message"]
        assert client.request("GET", "/?api=its-own").status == 404
        assert client.get("health").status == 200
        service = client.service
        assert "taken" in service.endpoints() and "its-own" not in service.endpoints()
        assert not [option for option in service.settings.options if option.name == "its.own"]
        with pytest.raises(KeyError):
            call = service.call()
            with call.transaction():
                call.enqueue("its_own")


def test_two_plugins_of_one_name(install: Install, kernel: Kernel) -> None:
    """The later one is refused, the first stays."""
    install("twin", source="snaglist-one")
    install("twin", source="snaglist-two")
    with kernel() as client:
        found = states(client)
        assert found["twin"]["status"] == "active"
        assert found["snaglist-two:twin"]["status"] == "failed"


def test_only_snaglist_has_core_areas(install: Install, kernel: Kernel) -> None:
    install("inside", core=True)
    install("outside", core=True, source="snaglist-outside")
    with kernel() as client:
        assert list(states(client)) == ["outside"]
        assert "only areas of snaglist itself can be core" in states(client)["outside"]["last_error"]["message"]
        assert client.post("plugins", {"id": "inside", "enabled": False}).status == 404


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
def test_schemas_that_are_not_there(install: Install, kernel: Kernel, schemas: Schemas, method: str) -> None:
    """Each method needs a response, and one that takes a body needs that: else anything would be stored."""
    needed = {"response", "body"} if method in ("post", "put", "patch") else {"response"}
    for missing in needed:
        folder = schemas(f"no-{missing}", {f"{method}-{part}": {} for part in needed - {missing}})
        bad = Endpoint(f"no-{missing}", **{method: write(answer, None)}, schemas=folder)  # type: ignore[arg-type]
        install(f"no_{missing}", source="snaglist-bad", register_endpoints=lambda bad=bad: [bad])
    folder = schemas("fine", {f"{method}-{part}": {} for part in needed})
    fine = Endpoint("fine", **{method: write(answer, None)}, schemas=folder)  # type: ignore[arg-type]
    install("fine", source="snaglist-fine", register_endpoints=lambda: [fine])
    with kernel() as client:
        found = states(client)
        assert found["fine"]["status"] != "failed"
        for missing in needed:
            assert found[f"no_{missing}"]["status"] == "failed"
            message = found[f"no_{missing}"]["last_error"]["message"]
            assert f"schema no-{missing}/{method}-{missing}.json: is missing" in message


def test_an_endpoint_that_reads_its_body_itself_needs_no_schema_of_it(
    install: Install, kernel: Kernel, schemas: Schemas
) -> None:
    folder = schemas("raw", {"post-response": {}})
    raw = Endpoint("raw", post=write(answer, None), authenticate=lambda call: None, schemas=folder)
    install("raw", source="snaglist-raw", register_endpoints=lambda: [raw])
    with kernel() as client:
        assert states(client)["raw"]["status"] != "failed"


@pytest.mark.parametrize("name", ["guest", "snaglist-guest", "snaglist_guest", "Snaglist.Guest"])
def test_deny_list(install: Install, kernel: Kernel, schemas: Schemas, name: str) -> None:
    """`plugins.disabled` takes ids and distribution names and beats the database."""
    guest = Endpoint("guest", get=read(answer, None), schemas=schemas("guest", {"get-response": {}}))
    install("guest", source="snaglist-guest", register_endpoints=lambda: [guest])
    with kernel() as client:
        assert client.post("plugins", {"id": "guest", "enabled": True}).json["data"][0]["enabled"] is True
    with kernel(plugins__disabled=[name]) as client:
        found = states(client)["guest"]
        assert (found["status"], found["enabled"]) == ("failed", False)
        assert found["last_error"]["message"] == "blocked by plugins.disabled"
        assert client.request("GET", "/?api=guest").status == 404


def test_new_applications_start_with_the_configured_plugins(install: Install, kernel: Kernel) -> None:
    """The state of a new application comes from SERVICE_PLUGINS; an existing one keeps its own."""
    install("a")
    install("b")
    with kernel(plugins__enabled=["a", "unknown"]) as client:
        assert {name: state["enabled"] for name, state in states(client).items()} == {"a": True, "b": False}
        client.post("applications", {"name": "second"})
    with kernel(plugins__enabled=["b"]) as client:
        assert {name: state["enabled"] for name, state in states(client).items()} == {"a": True, "b": False}
        client.post("applications", {"name": "third"})
        third = {plugin["id"]: plugin["enabled"] for plugin in client.get("plugins", app="third").json["data"]}
        assert third == {"a": False, "b": True}


def test_plugins_load_after_those_they_name(install: Install, kernel: Kernel) -> None:
    install("a", after=("b",))
    install("b", after=("core_area", "a"))  # a circle is cut, not followed
    install("core_area", core=True)
    with kernel() as client:
        order = [plugin.id for plugin in client.service.plugins.loaded()]
        assert order[0] == "core_area"
        assert sorted(order) == ["a", "b", "core_area", "system"]


def test_hook_trace(install: Install, kernel: Kernel, caplog: pytest.LogCaptureFixture) -> None:
    """`log.hook_trace` logs every hook call, collect hooks included."""
    install("traced", register_endpoints=lambda: None, application_changed=lambda call, change: None)
    with caplog.at_level(logging.INFO, "snaglist"), kernel(log__hook_trace=True):
        traced = [record.getMessage() for record in caplog.records if record.getMessage().startswith("hook ")]
    assert "hook traced.register_endpoints()" in traced
    assert "hook traced.application_changed(call, change)" in traced


@pytest.mark.parametrize(
    "hooks",
    [
        {"register_endpoints": lambda register: register(endpoint("old"))},
        {"register_types": lambda kind, register: None},
        {"register_commands": lambda cli: None},
    ],
)
def test_the_contract_before_0_2(install: Install, kernel: Kernel, hooks: dict[str, Any]) -> None:
    install("old", **hooks)
    with kernel() as client:
        message = states(client)["old"]["last_error"]["message"]
        assert f"{next(iter(hooks))}(): since 0.2 a hook returns what it adds" in message
        assert "Changes of the contract in 0.2" in message and "docs/plugins.md" in message


@pytest.mark.parametrize("marker", [{"wrapper": True}, {"hookwrapper": True}])
def test_wrappers_are_refused(install: Install, kernel: Kernel, marker: dict[str, bool]) -> None:
    def around(batch: Any) -> Any:
        yield

    install("bad").module.events_stored = hookimpl(around, **marker)
    with kernel() as client:
        assert "wrappers are not supported" in states(client)["bad"]["last_error"]["message"]

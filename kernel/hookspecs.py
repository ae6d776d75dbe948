"""The hooks that the kernel calls, and what a hook is.

A plugin is a module named by an entry point of the group `snaglist.plugins`; it implements any hooks, marked with
`hookimpl`. Areas, and wheels, add hooks of their own with `register_hookspecs`. Modes:

- *collect*: called once at start, before any request, and returns what the plugin adds. An exception, or a value of the
  wrong shape, marks the plugin `failed`; the rest starts.
- *robust*: called inside the transaction of what happened, for plugins enabled in that application, each in
  a savepoint of its own: a failure undoes this plugin's rows only and shows as its `last_error`.
- *chain*: as robust, and the result replaces the value for the next plugin; `None` leaves it as it is. A plugin gets
  a copy, so what it changed before it failed is gone.
- *direct*: called where something is done, without a savepoint; the text of the hook says what a failure does.

Core areas come first, then plugins by name, each after those it names in `after`; `hookimpl(tryfirst=True)` and
`trylast=True` change that. An implementation may leave out arguments it does not need.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
import pluggy
from sqlalchemy import Connection, Table

from snaglist.kernel.call import Call
from snaglist.kernel.endpoints import Assets, Endpoint, Path
from snaglist.kernel.installation import Installation
from snaglist.kernel.plugin import Description, Plugin
from snaglist.kernel.settings import Option

hookspec = pluggy.HookspecMarker("snaglist")
SchemaStep = tuple[str, Callable[[Connection], None]]
hookimpl = pluggy.HookimplMarker("snaglist")


@hookspec
def describe() -> Description:  # type: ignore[empty-body]
    """Collect. Return the plugin's id, name, description, category and version. Required. Since 0.1.

    Called first, right after the import. The id is the name of the entry point.
    """


@hookspec
def register_hookspecs() -> object:
    """Collect. Return a module, or another namespace, of hooks that this plugin calls. Since 0.2.

    Each is a function marked with `hookspec`; one without arguments is called at start and says by its annotation what
    it returns: a `Sequence`, or a `Mapping` by name, of a class. The plugin gets it with
    `service.plugins.added(hook)` or `types(hook)`, and calls others with `call.emit(hook, value)`,
    `call.chain(hook, value)` or `service.plugins.calls(hook)`. Implementations of a hook whose plugin may be missing
    are marked `hookimpl(optionalhook=True)`.
    """


@hookspec
def register_endpoints() -> Sequence[Endpoint]:  # type: ignore[empty-body]
    """Collect. Return an `Endpoint` for each `api` value. A name already taken is refused. Since 0.1.

    The endpoint answers 404 in applications where the plugin is off. A schema file that is no JSON or no JSON Schema
    makes the plugin `failed`, with the name of the file, and so does one that is missing: each method needs a response,
    `post`, `put` and `patch` a body too, unless the endpoint has `authenticate`.
    """


@hookspec
def register_paths() -> Sequence[Path]:  # type: ignore[empty-body]
    """Collect. Return a `Path` for each path beside `?api=`: the page at the root, public files. Since 0.1.

    Only for files that anybody may read, and for foreign protocols that cannot use `?api=` and authenticate by
    themselves. A pattern already taken is refused.
    """


@hookspec
def register_tables() -> Sequence[Table]:  # type: ignore[empty-body]
    """Collect. Return the SQLAlchemy Core tables of an application's database. Since 0.1.

    Registering lets `db dump` and `db load` take the table along; a step creates it. A name already taken is
    refused, so it should begin with the plugin's id.
    """


@hookspec
def register_steps() -> Sequence[SchemaStep]:  # type: ignore[empty-body]
    """Collect. Return pairs `(name, step)` in order; each step runs once per application database.

    A step gets the open connection, runs in one transaction with its ledger row, must be repeatable (MySQL commits
    DDL by itself; `snaglist.kernel.ddl` looks first), and never changes after release: it holds the tables as they were
    when it was written, and never names those that the code uses now. A step that raises makes the plugin `failed`, and
    so does a database that a newer version of the plugin has changed; its tables stay. Since 0.1.
    """


@hookspec
def register_settings() -> Sequence[Option]:  # type: ignore[empty-body]
    """Collect. Return an `Option("section.name", default, reason)` for each configuration key. Since 0.1.

    Read them with `call.setting("section.name")`. A name already taken is refused: the section is the plugin's id.
    """


@hookspec
def register_commands() -> Sequence[click.Command]:  # type: ignore[empty-body]
    """Collect. Return commands of the command line, made with `snaglist.plugins.system.command`. Since 0.1.

    Called at the start of each `snaglist` command, before an application is known. A name that is taken is refused:
    then none of the plugin's commands is there, and stderr says so.
    """


@hookspec
def dashboard_assets() -> Sequence[Assets]:  # type: ignore[empty-body]
    """Collect. Return the plugin's browser module and styles, in a list. Since 0.1.

    `Assets(plugin id, folder, "main.js", ("main.css",))`; a file that is missing makes the plugin `failed`. See
    [Dashboard](#dashboard) for the module.
    """


@hookspec
def check_added(plugin: Plugin, hook: str, name: str | None, value: Any) -> None:
    """Direct. Look at a value that a plugin adds by a collect hook, and raise to refuse it. Since 0.2.

    `name` is its key where the hook returns a mapping. For the plugin that calls the hook, which is asked about values
    of no other: what is only used later would fail there, in somebody else's work. What it raises makes the plugin that
    adds the value `failed`.
    """


@hookspec
def check_plugin(service: Installation, plugin: Plugin) -> Iterable[tuple[str, BaseException | str]]:  # type: ignore[empty-body]
    """Direct. Give hooks of a plugin and what is wrong with what it added by them, now that all is there. Since 0.2.

    For the plugin that calls these hooks. What it raises makes itself `failed`.
    """


@hookspec
def open_schemas() -> Mapping[str, Callable[[Any], Mapping[str, Any]]]:  # type: ignore[empty-body]
    """Collect. Return, by the name of an `x-open` of schemas, a function of the service: more properties. Since 0.2."""


@hookspec
def service_parts() -> Mapping[str, Callable[[Any], object]]:  # type: ignore[empty-body]
    """Collect. Return, by attribute, what makes a part of a service that the kernel does not use itself. Since 0.2.

    A name that a service has already is refused.
    """


@hookspec
def request_answered(endpoint: str | None, method: str, status: int, started: float) -> None:
    """Direct. After each request, in its thread and outside transactions, to count answers. Since 0.2.

    `endpoint` is the `api` value, None without one; `started` is of `time.perf_counter()`. A failure is in the log.
    """


@hookspec
def plugin_switched(call: Call, on: bool) -> None:
    """Robust. Called for the plugin that was just enabled or disabled in the call's application. Since 0.1.

    The place to make keys, or to note from where on new data counts. Not called when the state stays as it was.
    """


@hookspec
def application_changed(call: Call, change: str) -> None:
    """Robust. After an application was `created`, or before it is `removed`; for every loaded plugin. Since 0.1.

    Its database goes with it, so there is nothing to delete there; this is for what lies elsewhere.
    """

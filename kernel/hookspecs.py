"""The plugin contract: every hook the kernel calls.

A plugin is a module named by an entry point of the group `snaglist.plugins`; it implements any of
these functions, marked with `hookimpl`. Three modes:

- *collect*: called once at start, before any request. An exception, or a value of the wrong shape, marks the plugin
  `failed`; the rest starts.
- *robust*: called inside the transaction of what happened, for plugins enabled in that application, each in
  a savepoint of its own: a failure undoes this plugin's rows only and shows as its `last_error`.
- *chain*: as robust, and the result replaces the value for the next plugin; `None` leaves it as it is. A plugin gets
  a copy, so what it changed before it failed is gone.

An implementation may leave out arguments it does not need.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    import click
    from sqlalchemy import Connection, Table

    from snaglist.kernel.call import Call
    from snaglist.kernel.endpoints import Assets, Endpoint, Path
    from snaglist.kernel.jobs import Job
    from snaglist.kernel.settings import Option

hookspec = pluggy.HookspecMarker("snaglist")
hookimpl = pluggy.HookimplMarker("snaglist")


@dataclass(frozen=True, slots=True)
class Description:
    """What a plugin is. `id`: `^[a-z][a-z0-9_]{0,40}$`, equal to its entry point's name.

    Core areas cannot be switched off. `after` names plugins whose tables this one's refer to. `lacks` says what
    does not work until something is installed; the list of plugins and `snaglist doctor` show it.
    """

    id: str
    name: str
    description: str
    category: str
    version: str
    core: bool = False
    after: tuple[str, ...] = ()
    lacks: str = ""


@hookspec
def describe() -> Description:  # type: ignore[empty-body]
    """Collect. Return the plugin's id, name, description, category and version. Required. Since 0.1.

    Called first, right after the import. The id is the name of the entry point.
    """


@hookspec
def register_endpoints(register: "Callable[[Endpoint], None]") -> None:
    """Collect. Call `register(Endpoint(...))` for each `api` value. A name already taken is refused. Since 0.1.

    The endpoint answers 404 in applications where the plugin is off. A schema file that is no JSON or no JSON Schema
    makes the plugin `failed`, with the name of the file, and so does one that is missing: each method needs a response,
    `post`, `put` and `patch` a body too, unless the endpoint has `authenticate`.
    """


@hookspec
def register_paths(register: "Callable[[Path], None]") -> None:
    """Collect. Call `register(Path(...))` for paths beside `?api=`: the page at the root, public files. Since 0.1.

    Only for files that anybody may read, and for foreign protocols that cannot use `?api=` and authenticate by
    themselves. A pattern already taken is refused.
    """


@hookspec
def register_tables(register: "Callable[[Table], None]") -> None:
    """Collect. Call `register(table)` for each SQLAlchemy Core table of an application's database. Since 0.1.

    Registering lets `db dump` and `db load` take the table along; a step creates it. A name already taken is
    refused, so it should begin with the plugin's id.
    """


@hookspec
def register_steps(register: "Callable[[str, Callable[[Connection], None]], None]") -> None:
    """Collect. Call `register(name, step)` in order; each step runs once per application database.

    A step gets the open connection, runs in one transaction with its ledger row, must be repeatable (MySQL commits
    DDL by itself; `snaglist.kernel.ddl` looks first), and never changes after release: it holds the tables as they were
    when it was written, and never names those that the code uses now. A step that raises makes the plugin `failed`, and
    so does a database that a newer version of the plugin has changed; its tables stay. Since 0.1.
    """


@hookspec
def register_settings(register: "Callable[[Option], None]") -> None:
    """Collect. Call `register(Option("section.name", default, reason))` for configuration keys. Since 0.1.

    Read them with `call.setting("section.name")`. A name already taken is refused: the section is the plugin's id.
    """


@hookspec
def register_jobs(register: "Callable[[Job], None]") -> None:
    """Collect. Call `register(Job(kind, run, ...))` for background work and its schedule. Since 0.1.

    `kind` has at most 40 characters and begins with the plugin's id. `run(call)` gets a `JobCall` and returns a JSON
    object or None. What it raises makes the job failed (after a ServiceError with that message, else with a reference
    into the log). Scheduled jobs run where the plugin is on. Jobs of an uninstalled plugin wait until it is back.
    """


@hookspec
def register_parsers(register: Callable[[Any], None]) -> None:
    """Collect. Call `register(parser)` with a `snaglist.plugins.logs.Parser`. Since 0.1.

    Parsers take part in the applications where the plugin is on, before the built-in ones. The format of a file
    is that of the parser with the most headers in its first 64 KiB. When a parser raises, or gives what is no event,
    the file is read on without it; the failure is the plugin's `last_error` until it reads a file of its format.
    """


@hookspec
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Collect. Call `register(name, value)` for kinds owned by areas, such as connector types. Since 0.1.

    Called once for each kind that an area asks for with `service.plugins.types(kind)`; ignore kinds you do not know.
    Kinds: `connector` (a `ConnectorType`), `alert channel type` (a `ChannelType`), `tracker provider` (a `Provider`):
    their names are like `my_type`, at most 16 characters; `sealed` (`stored(call)`, for plugins that keep
    secrets); `metric`, `request_observer`, `beside_worker` and `health_check` (see
    [Types of other areas](#types-of-other-areas)). A name already taken is refused, and then the plugin is `failed`.
    """


@hookspec
def register_commands(cli: "click.Group") -> None:
    """Collect. Add commands to the command line with `snaglist.kernel.cli.command`. Since 0.1.

    Called at the start of each `snaglist` command, before an application is known. A command that exists is not
    replaced: then none of the plugin's commands is there, and stderr says so.
    """


@hookspec
def health_checks(register: "Callable[[str, Callable[[], bool]], None]") -> None:
    """Collect. Call `register(name, check)`; the check returns True when all is well. Since 0.1.

    Asked with every `?api=health`, so it must be quick. Anything but True, or an exception, makes the health
    `degraded`; the names of snaglist's own checks are not replaced.
    """


@hookspec
def dashboard_assets() -> "Assets":  # type: ignore[empty-body]
    """Collect. Return the plugin's browser module and styles. Since 0.1.

    `Assets(plugin id, folder, "main.js", ("main.css",))`; a file that is missing makes the plugin `failed`. See
    [Dashboard](#dashboard) for the module.
    """


@hookspec
def lines_read(call: "Call", batch: Any) -> None:
    """Robust. Every parsed entry of an import batch (`snaglist.plugins.logs.LineBatch`), before filters. Since 0.1.

    At most 5,000 entries, in the transaction that stores those that are kept. A file that is read anew (`batch.reread`)
    hands the same entries out again.
    """


@hookspec
def events_storing(call: "Call", events: Sequence[Any]) -> Sequence[Any] | None:
    """Chain. May change events (`snaglist.plugins.issues.Event`) before they are grouped. Since 0.1.

    Return a list of the events to go on with, or None; changing them in place counts too. At most 1,000 events, from
    files or pushed. Events may be left out; each that stays keeps its `byte_start`. A result with anything else in it
    is a failure of the hook.
    """


@hookspec
def events_stored(call: "Call", batch: Any) -> None:
    """Robust. After a batch was stored (`snaglist.plugins.issues.StoredBatch`), same transaction. Since 0.1.

    At most 1,000 events. `batch.new_issues`, `changed_issues`, `reoccurred_issues` and `counts` say what it did.
    """


@hookspec
def stack_showing(call: "Call", event: Any) -> Any | None:
    """Chain. May resolve the exceptions of an event when it is shown. Since 0.1.

    In a transaction that cannot write. Return the changed event, or None; changing it in place counts too. Failures
    are only in the log.
    """


@hookspec
def issue_changed(call: "Call", change: Any) -> Mapping[str, Any] | None:
    """Robust. After status, assignment, merge, edit or delete (`snaglist.plugins.issues.IssueChange`). Since 0.1.

    Return a JSON object or None; anything else is a failure of the hook. It is added under the plugin's id to the
    answers of `issue-status`, `assign-issue` and `bulk-issues` (for status, assignment and snooze); with other changes
    it is dropped.
    """


@hookspec
def plugin_switched(call: "Call", on: bool) -> None:
    """Robust. Called for the plugin that was just enabled or disabled in the call's application. Since 0.1.

    The place to make keys, or to note from where on new data counts. Not called when the state stays as it was.
    """


@hookspec
def application_changed(call: "Call", change: str) -> None:
    """Robust. After an application was `created`, or before it is `removed`; for every loaded plugin. Since 0.1.

    Its database goes with it, so there is nothing to delete there; this is for what lies elsewhere.
    """

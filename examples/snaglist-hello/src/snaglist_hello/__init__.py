"""Hello, a plugin of snaglist. This module is its table of contents: what it adds."""

from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import click
from sqlalchemy import Connection, Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, Option, hookimpl, read, write
from snaglist.plugins.issues import IssueChange, StoredBatch
from snaglist.plugins.logs import Parser
from snaglist_hello import commands, connector, events, handlers, jobs, parser, tables

HERE = files(__name__)


@hookimpl
def describe() -> Description:
    """Say what this plugin is."""
    text = "Counts the events in which a word occurs"
    return Description("hello", "Hello", text, "Examples", version("snaglist-hello"))


@hookimpl
def register_tables(register: Callable[[Table], None]) -> None:
    """Name the plugin's tables."""
    register(tables.words)


@hookimpl
def register_steps(register: Callable[[str, Callable[[Connection], None]], None]) -> None:
    """Name what creates and changes them, in order."""
    for name, step in tables.STEPS:
        register(name, step)


@hookimpl
def register_settings(register: Callable[[Option], None]) -> None:
    """Add configuration keys, each with its default and the reason for it."""
    register(Option("hello.keep_days", 30, "words that nothing was seen of for longer are forgotten", 1, 3650))
    register(Option("hello.interval_seconds", 3600, "seconds between two looks at that; 0: never", 0))


@hookimpl
def register_endpoints(register: Callable[[Endpoint], None]) -> None:
    """Answer `?api=hello`."""
    register(
        Endpoint(
            "hello",
            get=read(handlers.list_words, "hello.read"),
            post=write(handlers.watch_word, "hello.write", 201),
            schemas=HERE / "schemas",
        )
    )


@hookimpl
def register_jobs(register: Callable[[Job], None]) -> None:
    """Forget old words in the background."""
    register(Job(jobs.KIND, jobs.forget, unit="words", every="hello.interval_seconds", due=jobs.due))


@hookimpl
def register_parsers(register: Callable[[Parser], None]) -> None:
    """Read one more log format."""
    register(parser.AtSigns())


@hookimpl
def register_types(kind: str, register: Callable[[str, Any], None]) -> None:
    """Add types of what other areas own; a kind that nobody asks for costs nothing."""
    if kind == "connector":
        register("hello", connector.make(HERE / "schemas"))
    elif kind == "alert channel type":
        from snaglist_hello import channel  # here, so that the plugin works where the alerting area does not

        register("hello", channel.TYPE)
    elif kind == "tracker provider":
        from snaglist_hello import tracker  # here, for the same reason

        register("hello", tracker.PROVIDER)


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Look at what was stored, in the transaction that stores it."""
    events.count(call, batch)


@hookimpl
def issue_changed(change: IssueChange) -> Mapping[str, Any] | None:
    """Add something to the answer of a change."""
    return events.remark(change)


@hookimpl
def dashboard_assets() -> Assets:
    """Show a panel beside every issue."""
    return Assets("hello", HERE / "ui", "hello.js")


@hookimpl
def register_commands(cli: click.Group) -> None:
    """Add `snaglist hello`."""
    commands.add(cli)


@hookimpl
def health_checks(register: Callable[[str, Callable[[], bool]], None]) -> None:
    """Tell an operator when something of ours is missing."""
    register("hello", lambda: (HERE / "ui" / "hello.js").is_file())

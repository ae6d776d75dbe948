"""Hello, a plugin of snaglist. This module is its table of contents: what it adds."""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import click
from sqlalchemy import Table

from snaglist.kernel import Assets, Call, Description, Endpoint, Option, SchemaStep, hookimpl, read, write
from snaglist.plugins.connectors import ConnectorType
from snaglist.plugins.issues import IssueChange, StoredBatch
from snaglist.plugins.logs import Parser
from snaglist.plugins.system import HealthCheck, Job
from snaglist_hello import commands, connector, events, handlers, jobs, parser, tables

if TYPE_CHECKING:
    from snaglist.plugins.alerting import ChannelType
    from snaglist.plugins.tracker import Provider

HERE = files(__name__)


@hookimpl
def describe() -> Description:
    """Say what this plugin is."""
    text = "Counts the events in which a word occurs"
    return Description("hello", "Hello", text, "Examples", version("snaglist-hello"))


@hookimpl
def register_tables() -> Sequence[Table]:
    """Name the plugin's tables."""
    return [tables.words]


@hookimpl
def register_steps() -> Sequence[SchemaStep]:
    """Name what creates and changes them, in order."""
    return tables.STEPS


@hookimpl
def register_settings() -> Sequence[Option]:
    """Add configuration keys, each with its default and the reason for it."""
    return [
        Option("hello.keep_days", 30, "words that nothing was seen of for longer are forgotten", 1, 3650),
        Option("hello.interval_seconds", 3600, "seconds between two looks at that; 0: never", 0),
    ]


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Answer `?api=hello`."""
    return [
        Endpoint(
            "hello",
            get=read(handlers.list_words, "hello.read"),
            post=write(handlers.watch_word, "hello.write", 201),
            schemas=HERE / "schemas",
        ),
    ]


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Forget old words in the background."""
    return [Job(jobs.KIND, jobs.forget, unit="words", every="hello.interval_seconds", due=jobs.due)]


@hookimpl
def register_parsers() -> Sequence[Parser]:
    """Read one more log format."""
    return [parser.AtSigns()]


@hookimpl
def register_connectors() -> Mapping[str, ConnectorType]:
    """Read files of one more kind of place."""
    return {"hello": connector.make(HERE / "schemas")}


@hookimpl(optionalhook=True)
def register_channel_types() -> "Mapping[str, ChannelType]":
    """Send alerts one more way; `optionalhook`, so that the plugin works where the alerting area does not."""
    from snaglist_hello import channel  # here, for the same reason

    return {"hello": channel.TYPE}


@hookimpl(optionalhook=True)
def register_trackers() -> "Mapping[str, Provider]":
    """Know one more tracker; the tracker's area is optional too."""
    from snaglist_hello import tracker

    return {"hello": tracker.PROVIDER}


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Look at what was stored, in the transaction that stores it."""
    events.count(call, batch)


@hookimpl
def issue_changed(change: IssueChange) -> Mapping[str, Any] | None:
    """Add something to the answer of a change."""
    return events.remark(change)


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Show a panel beside every issue."""
    return [Assets("hello", HERE / "ui", "hello.js")]


@hookimpl
def register_commands() -> Sequence[click.Command]:
    """Add `snaglist hello`."""
    return [commands.show]


@hookimpl
def health_checks() -> Sequence[HealthCheck]:
    """Tell an operator when something of ours is missing."""
    return [HealthCheck("hello", lambda service: (HERE / "ui" / "hello.js").is_file(), "install it again")]

"""How files are read: the settings of a run, what a file may go on from, and the reader that both need."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Row

from snaglist.kernel import Call, Installation, Plugin, times
from snaglist.plugins.logs import hookspecs
from snaglist.plugins.logs.own_formats.parser import OwnFormat
from snaglist.plugins.logs.own_formats.pattern import Format
from snaglist.plugins.logs.own_formats.store import in_use
from snaglist.plugins.logs.parsers import BUILT_IN, Parser, ParserFailed, Reader, Watched
from snaglist.plugins.logs.read.portions import Rules
from snaglist.plugins.logs.store import coverage

log = logging.getLogger("snaglist")

Watch = Callable[[int], None]
_Made = TypeVar("_Made")


class ParseFailure(Exception):
    """A parser raised; the message names only the kind of the error."""


class FileChanged(Exception):
    """The file does not hold the bytes any more that were read of it: it was truncated or written anew."""


class StillWritten(Exception):
    """A compressed file is damaged, or not all there yet."""


class Unreadable(Exception):
    """Nothing of a compressed file can be read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read.

    `zone` is that of times without an offset; `zone_known`: somebody set it, for these files (`own_zone`, so that
    the settings do not change it) or in the settings; else it is only what the machine has. `final`: the file will
    not grow, so its last entry is complete. `growing`: it may be a copy in the making, so that an archive that ends
    too early is no failure. `complete`: all of the file is there, however young it is. `name` stands for the file's
    own name where that was lost on the way here. `parsers` are those of `read_with`.
    """

    rules: Rules
    zone: str
    module_id: int | None = None
    connector_id: int | None = None
    final: bool = False
    growing: bool = False
    own_zone: bool = False
    zone_known: bool = False
    name: str = ""
    parsers: Sequence[Parser] = ()
    complete: bool = False


def parsers_of(service: Installation, call: Call | None, formats: Sequence[Format] | None = None) -> tuple[Parser, ...]:
    """Return the formats of the call's application, the parsers of its plugins that are on, and the built-in ones.

    Without an application no formats, and the parsers of all plugins that work. `formats`: those known already.
    """
    added = service.plugins.added(hookspecs.register_parsers)
    adding = {plugin.id for plugin, _ in added if call is None or _is_on(call, plugin)}
    if formats is None:
        formats = _formats_of(call) if call is not None else ()
    ours = [OwnFormat(one) for one in formats]
    return (*ours, *(Watched(parser, plugin.id) for plugin, parser in added if plugin.id in adding), *BUILT_IN)


def _formats_of(call: Call) -> list[Format]:
    if call.connection is not None:
        return in_use(call.db)
    with call.transaction(write=False) as db:
        return in_use(db)


def _is_on(call: Call, plugin: Plugin) -> bool:
    if plugin.core:
        return True
    if call.connection is not None:
        return call.enabled(plugin.id)
    return call.remembered(f"plugin.{plugin.id}", partial(call.service.plugins.enabled, plugin_id=plugin.id))


def read_with(
    service: Installation,
    call: Call | None,
    work: Callable[[Sequence[Parser]], _Made],
    formats: Sequence[Format] | None = None,
) -> _Made:
    """Do the work that reads one file with these parsers; again, without it, when a parser of a plugin fails at it.

    What the work stored before it failed has to stand: it goes on from there. The failure is that of the plugin and
    stands in its `last_error`, until a file of the parser's format is read without one.
    """
    parsers = parsers_of(service, call, formats)
    while True:
        try:
            return work(parsers)
        except ParserFailed as failure:
            log.error("%s; the file is read without it", failure, exc_info=failure)
            parsers = tuple(one for one in parsers if not (isinstance(one, Watched) and failure.is_of(one)))
            if call is not None:
                _note(call, failure.plugin, failure.log_type, failure.reason)


def note_success(call: Call, parser: Parser) -> None:
    """Take back what the last error of a plugin says of its parser: a file of its format was read."""
    if isinstance(parser, Watched):
        _note(call, parser.plugin, parser.log_type, None)


def _note(call: Call, plugin_id: str, log_type: str, message: str | None) -> None:
    plugins = call.service.plugins
    plugin, hook = plugins.find(plugin_id), f"parser {log_type}"
    if plugin is None or call.connection is not None:  # an open transaction is for reading an event, not for this
        return
    with call.transaction(write=False) as db:
        noted = plugins.is_failing(db, plugin, hook)
    if message or noted:
        with call.transaction():
            plugins.note(call, plugin, hook, message)


def make_reader(
    service: Installation,
    head: bytes,
    *,
    parsers: Sequence[Parser],
    start: int,
    zone: str,
    zone_known: bool,
    modified_at: str,
    **known: Any,
) -> Reader:
    """Return a reader with the limits of the configuration; `known` is what an earlier reader found out.

    Raises ParseFailure or ParserFailed: the parsers look at the head of the file.
    """
    settings = service.settings
    return parse(
        lambda: Reader(
            head,
            start=start,
            zone=zone,
            zone_known=zone_known,
            modified_at=modified_at,
            now=times.now(),
            parsers=parsers,
            fallback_encoding=settings["ingestion.fallback_encoding"],
            capture_limit=settings["ingestion.capture_limit"],
            message_limit=settings["ingestion.message_limit"],
            context_limit=settings["ingestion.context_preview_limit"],
            **known,
        )
    )


def reader_again(
    service: Installation,
    head: bytes,
    source: Row[Any],
    *,
    parsers: Sequence[Parser],
    start: int,
    modified_at: str,
    **known: Any,
) -> Reader:
    """Return a reader that frames a file as its source was read; `known` as of `make_reader`."""
    known |= {"channel": source.channel, "log_type": source.log_type, "encoding": source.encoding}
    return make_reader(
        service,
        head,
        parsers=parsers,
        start=start,
        zone=source.timezone,
        zone_known=coverage.zone_known(source),
        modified_at=modified_at,
        **known,
    )


def parse(step: Callable[[], _Made]) -> _Made:
    """Make a reader or take a step of it; raises ParserFailed for a parser of a plugin, else ParseFailure."""
    try:
        return step()
    except ParserFailed:
        raise
    except Exception as error:
        log.exception("a parser failed")
        raise ParseFailure(f"cannot be parsed ({type(error).__name__})") from error

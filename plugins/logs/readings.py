"""How files are read: the settings of a run, what a file may go on from, and the reader that both need."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Row

from snaglist.kernel import Call, times
from snaglist.kernel.service import Service
from snaglist.plugins.logs import queries
from snaglist.plugins.logs.batches import Rules
from snaglist.plugins.logs.files import OpenFile
from snaglist.plugins.logs.parsers import BUILT_IN, Parser, Reader
from snaglist.plugins.logs.paths import path_text
from snaglist.plugins.logs.trail import Trail

log = logging.getLogger("snaglist")

Watch = Callable[[int], None]
Near = Callable[[Row[Any]], bool]
_Made = TypeVar("_Made")


class ParseFailure(Exception):
    """A parser raised; the message names only the kind of the error."""


class FileChanged(Exception):
    """The file does not hold the bytes any more that were read of it: it was truncated or written anew."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How files are read.

    `zone` is that of times without an offset; `own_zone`: it was given for these files, so that the settings do
    not change it. `final`: the file will not grow, so its last entry is complete. `growing`: it may be a copy in the
    making, so that an archive that ends too early is no failure. `name` stands for the file's own name where that was
    lost on the way here.
    """

    rules: Rules
    zone: str
    module_id: int | None = None
    connector_id: int | None = None
    final: bool = False
    growing: bool = False
    own_zone: bool = False
    name: str = ""


@dataclass(slots=True)
class Found:
    """A source whose content a file begins with, and the trail behind those bytes.

    `moves`: the file is what the source was read from, at another path, so that the source follows; otherwise
    the file is a copy. A copy without a trail needs no reading at all. `ends`: the byte at which the copy ended;
    if it is longer when it is read, it is still being made.
    """

    source: Row[Any]
    trail: Trail | None
    moves: bool = False
    ends: int | None = None


Search = Callable[[OpenFile, bytes], Found | None]


def known_source(call: Call, path: Path) -> Row[Any] | None:
    """Return the newest source of a path on this node; needs an open transaction."""
    return queries.newest(call.db, path_text(path), call.service.file_node)


def parsers_of(service: Service) -> tuple[Parser, ...]:
    """Return the parsers of loaded plugins and the built-in ones."""
    added = [parser for plugin in service.plugins.loaded() for parser in plugin.parsers]
    return (*added, *BUILT_IN)


def make_reader(service: Service, head: bytes, *, start: int, zone: str, modified_at: str, **known: Any) -> Reader:
    """Return a reader with the limits of the configuration; `known` is what an earlier reader found out.

    Raises ParseFailure: the parsers look at the head of the file.
    """
    settings = service.settings
    return parse(
        lambda: Reader(
            head,
            start=start,
            zone=zone,
            modified_at=modified_at,
            now=times.now(),
            parsers=parsers_of(service),
            fallback_encoding=settings["ingestion.fallback_encoding"],
            capture_limit=settings["ingestion.capture_limit"],
            message_limit=settings["ingestion.message_limit"],
            context_limit=settings["ingestion.context_preview_limit"],
            **known,
        )
    )


def parse(step: Callable[[], _Made]) -> _Made:
    """Make a reader or take a step of it; raises ParseFailure for whatever a parser raises."""
    try:
        return step()
    except Exception as error:  # a parser of a third party may raise anything
        log.exception("a parser failed")
        raise ParseFailure(f"cannot be parsed ({type(error).__name__})") from error

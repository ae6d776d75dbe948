"""Direct hooks that give what a plugin knows of an application: one that fails is noted, and the others are asked."""

import logging
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from snaglist.kernel import Call
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.database import ends_transaction

log = logging.getLogger("snaglist")
T = TypeVar("T")


def ask_all(call: Call, hook: Callable[[Call], Iterable[T]], *, enabled: bool = False) -> Iterator[T]:
    """Give what the plugins return, in the open transaction; with `enabled` only those that are on there."""
    plugins = call.service.plugins
    for plugin, function in plugins.calls(hook):
        if enabled and not plugin.core and not plugins.enabled(call.db, plugin.id):
            continue
        found: list[T] = []
        try:
            with call.db.begin_nested():
                found = contained(_listed, function, call)
        except Exception as error:
            if plugin.core or ends_transaction(error):
                raise
            log.exception("%s of plugin %s failed", hook.__name__, plugin.id)
            plugins.note(call, plugin, hook.__name__, describe(error))
        yield from found


def _listed(function: Callable[[Call], Iterable[T]], call: Call) -> list[T]:
    return list(function(call))

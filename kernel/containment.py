"""Calling code of others: what a plugin raises is a failure of the plugin, and never the end of the process.

What is no `Exception` (SystemExit, KeyboardInterrupt, GeneratorExit, a class of its own) arrives as `Escaped`. Only
what the operator wants goes through. Python hands signals to the main thread alone, so in any other thread nothing
comes from outside. In the main thread an interrupt raises `Interrupted` while a plugin's code runs: no plugin does.
"""

import signal
import threading
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

from sqlalchemy.exc import DBAPIError

from snaglist.kernel.text import clip

__all__ = ["contained", "describe"]

P = ParamSpec("P")
T = TypeVar("T")
_MESSAGE = 300


class Interrupted(KeyboardInterrupt):
    """The operator interrupted the process while a plugin's code ran."""


class Escaped(RuntimeError):
    """Code of a plugin raised what would have ended the process; the cause is that."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(describe(error))


def contained(function: Callable[P, T], *arguments: P.args, **named: P.kwargs) -> T:
    """Call code of a plugin: it raises nothing but an Exception, unless the operator ends the process."""
    marked = _mark_interrupts()
    try:
        return function(*arguments, **named)
    except (Exception, Interrupted):
        raise
    except BaseException as error:
        raise Escaped(error) from error
    finally:
        if marked:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def describe(error: BaseException) -> str:
    """Return what went wrong in a line; of a database failure the driver's words, never the statement."""
    if isinstance(error, Escaped):
        return str(error)
    cause: BaseException = error.orig if isinstance(error, DBAPIError) and error.orig else error
    try:
        said = str(cause)
    except Exception:  # a class of a plugin may say nothing of itself
        said = ""
    return clip(f"{type(cause).__name__}: {said}".strip(), _MESSAGE)


def _mark_interrupts() -> bool:
    """Let an interrupt raise `Interrupted` from here on; False where a signal would raise nothing or something else."""
    if threading.current_thread() is not threading.main_thread():
        return False
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # a host's own, or this one already
        return False
    signal.signal(signal.SIGINT, _interrupt)
    return True


def _interrupt(*_: Any) -> NoReturn:
    raise Interrupted

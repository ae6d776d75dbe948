"""The hooks that this area calls."""

from collections.abc import Sequence
from typing import Any

from snaglist.kernel import Call, hookspec
from snaglist.plugins.logs.parsers import Parser
from snaglist.plugins.logs.read.portions import LineBatch

LONGEST = 40  # of a format's name, as long as its column


@hookspec
def lines_read(call: Call, batch: LineBatch) -> None:
    """Robust. Every parsed entry of an import batch (`snaglist.plugins.logs.LineBatch`), before filters. Since 0.1.

    At most 5,000 entries, in the transaction that stores those that are kept. A file that is read anew (`batch.reread`)
    hands the same entries out again.
    """


@hookspec
def register_parsers() -> Sequence[Parser]:  # type: ignore[empty-body]
    """Collect. Return parsers, objects of classes below `snaglist.plugins.logs.Parser`. Since 0.1.

    Parsers take part in the applications where the plugin is on, before the built-in ones. The format of a file
    is that of the parser with the most headers in its first 64 KiB. When a parser raises, or gives what is no event,
    the file is read on without it; the failure is the plugin's `last_error` until it reads a file of its format.
    """


def check_added(hook: str, value: Any) -> None:
    """Look at a parser that a plugin adds; raises for what does not fit."""
    if hook != register_parsers.__name__:
        return
    what = f"parser {type(value).__name__}"
    if missing := [
        name
        for name in ("fresh", "prime", "header", "foreign", "incomplete", "event")
        if not callable(getattr(value, name))
    ]:
        raise TypeError(f"{what}: it has no {missing[0]}()")
    for name in ("log_type", "family"):
        found = getattr(value, name)
        if not isinstance(found, str) or not found.strip():
            raise TypeError(f"{what}: {name}: must be a text, not {found!r:.60}")
    if len(value.log_type) > LONGEST:
        raise ValueError(f"{what}: log_type: must have at most {LONGEST} characters")
    if not isinstance(value.multiline, bool):
        raise TypeError(f"{what}: multiline: must be True or False")
    if not isinstance(value.begins, str):
        raise TypeError(f"{what}: begins: must be a text, not {value.begins!r:.60}")

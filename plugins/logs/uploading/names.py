"""Under which names files that were handed over lie in the folder `logs`."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from snaglist.kernel import Invalid
from snaglist.kernel.text import CONTROLS, storable, visible
from snaglist.plugins.logs.collect.discovery import compile_pattern

LONGEST_NAME = 200  # bytes, so that there is room for a number and for what the archive adds
_UNFIT = re.compile(r'[<>:"|?*\\/]')
_KNOWN = (
    "names of logs end in .log, .jsonl, .ndjson, .out or .err, also with numbers and compressed (.gz, .bz2, .xz, .zst),"
    " or are syslog, messages, access_log or error_log"
)


def safe_name(text: str, pattern: str) -> str:
    """Return the name that a file gets; Invalid when no log has such a name.

    What a browser gives is any text: of a path the last part counts, and what could steer a screen or cannot be in a
    name on some system becomes an underscore.
    """
    last = re.split(r"[\\/]", text)[-1]
    plain = _UNFIT.sub("_", CONTROLS.sub("_", visible(storable(last)))).lstrip(".").rstrip(". ")
    name = _shortened(plain.strip())
    if not name or not compile_pattern(pattern).fullmatch(name):
        rule = f"names of logs fit {pattern}" if pattern else _KNOWN
        raise Invalid(f"name: is not that of a log: {rule}")
    return name


def numbered(folder: Path, name: str) -> Iterator[Path]:
    """Give the places for a file of that name: its own, then with numbers before the first dot."""
    yield folder / name
    stem, dot, rest = name.partition(".")
    for number in range(2, 10_000):
        yield folder / f"{stem}-{number}{dot}{rest}"


def _shortened(name: str) -> str:
    """Cut a long name before its endings; empty when these alone are too long."""
    stem, dot, rest = name.partition(".")
    over = len(os.fsencode(name)) - LONGEST_NAME
    if over <= 0:
        return name
    cut = os.fsencode(stem)[:-over].decode("utf-8", "ignore")
    return cut and cut + dot + rest

"""Settings with a name that nothing has, but that somebody may have meant as the key of the service.

A key under a wrong name is no key: the service would be open to everybody, and nobody would look at a warning.
"""

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

MARKS = ("token", "key", "secret", "auth", "pass", "pwd", "credential", "bearer")
TYPED = ("token", "password")
CLOSE = 0.8  # of difflib: one or two letters of a word are wrong
# Sections of settings that a key of the service may be looked for in; all other sections have keys of their own.
SECTIONS = frozenset({"auth", "server", "security", "host"})
_SET_BY_KUBERNETES = re.compile(r"_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)")


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name that is no setting: as it was written, its value, and where it stands (file and line), if in a file."""

    name: str
    value: Any
    place: str = ""

    @property
    def variable(self) -> bool:
        """Whether it is an environment variable."""
        return self.name.startswith("SERVICE_")

    def __str__(self) -> str:
        return f"{self.name} ({self.place})" if self.place else self.name


def meant_as_key(unknown: Iterable[Unknown], sections: Iterable[str]) -> list[Unknown]:
    """Return those that look like a key; `sections` are the first parts of the names of all settings and plugins."""
    others = frozenset(sections) - SECTIONS
    return [one for one in unknown if one.value and not _elsewhere(one, others) and _is_like_key(one)]


def _elsewhere(one: Unknown, sections: frozenset[str]) -> bool:
    """Tell whether a name belongs to an area with keys of its own, or to what the machine is told about its network."""
    if one.variable:
        prefixes = tuple(f"SERVICE_{section.upper()}_" for section in sections)
        return one.name.startswith(prefixes) or bool(_SET_BY_KUBERNETES.search(one.name))
    section, dot, _ = one.name.partition(".")
    return section in sections and bool(dot or isinstance(one.value, Mapping))


def _is_like_key(one: Unknown) -> bool:
    return any(_fits(name) for name in _names(one.name.removeprefix("SERVICE_"), one.value))


def _names(name: str, value: Any) -> list[str]:
    """Return a name, and all that stands below it and is not empty."""
    inner = value.items() if isinstance(value, Mapping) else ()
    return [name] + [below for key, item in inner if item for below in _names(str(key), item)]


def _fits(name: str) -> bool:
    lower = name.lower()
    words = re.findall("[a-z]+", lower)
    return any(mark in lower for mark in MARKS) or any(difflib.get_close_matches(w, TYPED, 1, CLOSE) for w in words)


def line_of(text: str, name: str) -> int:
    """Return the number of the line of a TOML file that gives a key, 0 when that cannot be told."""
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+([^\[\]]+)\]", line):
            section = f"{_plain(header[1])}."
            given = section[:-1]
        elif assigned := re.match(r"([^=#]+)=", line):
            given = section + _plain(assigned[1])
        else:
            continue
        if name == given or (not line.lstrip().startswith("[") and name.startswith(f"{given}.")):
            return number
    return 0


def _plain(written: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in written.split("."))

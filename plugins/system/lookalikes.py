"""Settings with a name that nothing has, but that somebody may have meant as the key of the service.

A key under a wrong name is no key: the service would be open to everybody, and nobody would look at a warning.
"""

import difflib
import re
from collections.abc import Mapping
from typing import Any

from snaglist.kernel.service import Service
from snaglist.kernel.settings import ConfigurationError, Settings

WORDS = ("key", "auth", "pass", "bearer", "cred")
ENDS = ("token", "secret", "password", "passwd", "pwd", "passphrase", "credential", "apikey", "authkey", "secretkey")
TYPED = ("token", "password")
CLOSE = 0.8  # of difflib: one or two letters of a word are wrong
# Sections of settings that a key of the service may be looked for in; all other sections have keys of their own.
SECTIONS = frozenset(
    {"auth", "server", "security", "host", "access", "dashboard", "health", "issues", "log", "plugins", "system"}
)
_SET_BY_KUBERNETES = re.compile(r"_(SERVICE_HOST|SERVICE_PORT|PORT)(_|$)", re.IGNORECASE)


def require_intended_key(service: Service) -> None:
    """Raise ConfigurationError when nobody has to present a key although something was set that looks like one."""
    settings = service.settings
    if service.keys.required:
        return
    # What is set for a plugin that does not work is no key either.
    known = {option.name.partition(".")[0] for option in settings.options} | {p.id for p in service.plugins.all()}
    found = [
        f"{name}{_place(settings, name)}: no such setting"
        for name, kind, value in settings.unknown()
        if value and not _elsewhere(name, kind, value, known - SECTIONS) and _is_like_key(name, value)
    ]
    found += [f"{name}: no key by itself" for name in ("auth.previous_token", "host.agent_token") if settings[name]]
    if found:
        raise ConfigurationError(
            f"{'; '.join(found)}; and no key is set, so that everybody could use the service. "
            "The key is SERVICE_TOKEN, in the file token below [auth]; remove what was not meant as one"
        )


def _elsewhere(name: str, kind: str, value: Any, sections: frozenset[str] | set[str]) -> bool:
    """Tell whether a name belongs to an area with keys of its own, or to what the machine is told about its network."""
    if kind != "key":
        prefixes = tuple(f"SERVICE_{section.upper()}_" for section in sections)
        return name.upper().startswith(prefixes) or "://" in value or bool(_SET_BY_KUBERNETES.search(name))
    section, dot, _ = name.partition(".")
    return section in sections and bool(dot or isinstance(value, Mapping))


def _is_like_key(name: str, value: Any) -> bool:
    return any(_fits(one.lower()) for one in _names(re.sub("^SERVICE_", "", name, flags=re.IGNORECASE), value))


def _names(name: str, value: Any) -> list[str]:
    """Return a name, and all that stands below it and is not empty."""
    inner = value.items() if isinstance(value, Mapping) else ()
    return [name] + [below for key, item in inner if item for below in _names(str(key), item)]


def _fits(name: str) -> bool:
    words = re.findall("[a-z]+", name)
    return any(
        {word, word.removesuffix("s")} & {*WORDS}
        or word.removesuffix("s").endswith(ENDS)
        or difflib.get_close_matches(word, TYPED, 1, CLOSE)
        for word in words
    )


def _place(settings: Settings, name: str) -> str:
    line = line_of(settings.text, name)
    return f" ({settings.file} line {line})" if line else ""


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

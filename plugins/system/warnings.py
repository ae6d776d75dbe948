"""What an operator should look at in the configuration."""

import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from snaglist.kernel.origin import is_loopback, parse_host
from snaglist.kernel.plugins import normal
from snaglist.kernel.service import KEY_FILE, Service
from snaglist.kernel.settings import Settings

SHORT_KEY = 16


def config_warnings(service: Service, *, told: bool = False) -> list[str]:
    """Return a line for each matter: names of keys, never values, because anybody may ask for health.

    With `told` the lines are for the operator alone, and name what was written and what is possible.
    """
    found = [*service.settings.warnings(), *_about_keys(service.settings)]
    if not service.keys.required and service.bound is not None and not is_loopback(service.bound):
        found.append("auth.token: not set, and the instance is reachable from other machines")
    optional = [plugin for plugin in service.plugins.all() if not plugin.core]
    possible = f"no optional area; there are {', '.join(sorted(plugin.id for plugin in optional))}"
    for name, number, entry, what in (*_unknown(service), *_unserved(service)):
        what = what or possible
        found.append(f"{name}: {entry!r} is {what}" if told else f"{name}: entry {number} is {what.partition(';')[0]}")
    return found


def _about_keys(settings: Settings) -> Iterator[str]:
    if not settings["auth.token"]:
        return
    if len(settings["auth.token"].strip()) < SHORT_KEY:
        yield "auth.token: shorter than 16 characters; make one with `snaglist key`"
    if settings["auth.previous_token"]:
        yield "auth.previous_token: two keys are accepted; clear it when all clients use the new one"


def _unknown(service: Service) -> Iterator[tuple[str, int, str, str]]:
    """Entries of the lists of areas that name none which can be switched: key, number, text."""
    optional = [plugin for plugin in service.plugins.all() if not plugin.core]
    ids = {plugin.id for plugin in optional}
    denied = {normal(name) for plugin in optional for name in (plugin.id, plugin.distribution)}
    for number, entry in enumerate(service.settings["plugins.enabled"], 1):
        if entry not in ids:
            yield "plugins.enabled", number, entry, ""
    for number, entry in enumerate(service.settings["plugins.disabled"], 1):
        if normal(entry) not in denied:
            yield "plugins.disabled", number, entry, ""


def _unserved(service: Service) -> Iterator[tuple[str, int, str, str]]:
    """Entries that no Host header of a request can fit."""
    for number, entry in enumerate(service.settings["server.allowed_hosts"], 1):
        read = parse_host(entry) or parse_host(f"[{entry}]")
        if entry not in ("*", "auto") and (read is None or read.port is not None):
            yield "server.allowed_hosts", number, entry, "no host name; it has no scheme, port or *: logs.example.com"


def open_to_others(service: Service) -> list[str]:
    """Return a warning for each file or folder that is not the owner's (and of a group that he lets in) alone."""
    data, applications = service.settings.data, service.applications.all()
    databases = [service.applications.registry.file, *(one.file for one in applications)]
    found = [
        f"{path}: any user of this machine may read it: chmod o= {path}"
        for path in [
            *(data / name for name in (KEY_FILE, "snaglist.toml")),
            *(data.glob("keys/*") if _mode(data / "keys") & stat.S_IXOTH else ()),
            *(Path(f"{database}{suffix}") for database in databases for suffix in ("", "-wal")),
            *(folder for one in applications for folder in (one.processed, one.sources)),
        ]
        if (mode := _mode(path)) & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH)
    ]
    folders = [data, data / "applications", *(one.folder for one in applications)]
    found += [f"{path}: any user may put files in: chmod o-w {path}" for path in folders if _mode(path) & stat.S_IWOTH]
    return found


def _mode(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mode
    return 0

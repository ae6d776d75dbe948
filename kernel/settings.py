"""Configuration: every key with its default and the reason for it, read from flags, environment and a TOML file.

Precedence: overrides (flags, `create_wsgi(config=…)`), environment, file, default. A value that cannot
be used is replaced by the default and named in `warnings`; names are shown, values never.
"""

import math
import os
import platform
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from snaglist.kernel.origin import is_url, parse_networks

__all__ = ["KERNEL_OPTIONS", "ConfigurationError", "Settings", "Value"]

Value = str | int | float | bool | list[str]

SHORT_NAMES = {
    "SERVICE_DATA": "server.data",
    "SERVICE_URL": "server.url",
    "SERVICE_TOKEN": "auth.token",
    "SERVICE_AGENT_TOKEN": "host.agent_token",
    "SERVICE_SECRET": "security.secret",
    "SERVICE_DATABASE_URL": "database.url",
    "SERVICE_PLUGINS": "plugins.enabled",
    "SERVICE_ALLOWED_HOSTS": "server.allowed_hosts",
    "SERVICE_DISABLED_PLUGINS": "plugins.disabled",
    "SERVICE_HOOK_TRACE": "log.hook_trace",
}
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text", list: "a list of texts"}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class ConfigurationError(Exception):
    """The configuration does not allow a start; the message is for the operator."""


@dataclass(frozen=True, slots=True)
class Option:
    """One configuration key `section.name`; its type is the type of the default.

    A value that does not fit (type, `minimum`, `maximum`, `choices` (each of a list), full match of `pattern`) is
    replaced by the default and named in the warnings; with `vital` it stops the start instead.
    """

    name: str
    default: Value
    reason: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    pattern: str = ""
    vital: bool = False

    def read(self, raw: Any) -> Value:
        """Return the value of a raw text, TOML or Python value; raises ValueError when it does not fit."""
        value = _convert(raw, self.default)
        chosen = value if isinstance(value, list) else [value]
        fits = (not self.choices or {*chosen} <= {*self.choices}) and bool(
            re.fullmatch(self.pattern or "(?s).*", str(value))
        )
        if isinstance(value, int | float):
            low, high = self.minimum, self.maximum
            fits = fits and (low is None or value >= low) and (high is None or value <= high)
        if not fits:
            raise ValueError(self.name)
        return value

    @property
    def wanted(self) -> str:
        """What a value must be, in words for the operator."""
        several = "a list of" if isinstance(self.default, list) else "one of"
        kind = f"{several} {', '.join(self.choices)}" if self.choices else _KINDS[type(self.default)]
        limits = "" if self.minimum is None else f" from {self.minimum}"
        limits += "" if self.maximum is None else f" to {self.maximum}"
        return kind + limits + (self.pattern and f" that fits {self.pattern}")


class NetworksOption(Option):
    """A configuration key that lists networks."""

    wanted = "a list of networks like 10.0.0.0/8"

    def read(self, raw: Any) -> Value:
        """Return the list; raises ValueError when one of them is no network."""
        texts: Any = Option.read(self, raw)
        return [str(network) for network in parse_networks(texts)]


class UrlOption(Option):
    """A configuration key that is empty or an http(s) URL."""

    wanted = "a URL like https://logs.example.com"

    def read(self, raw: Any) -> Value:
        """Return the URL; raises ValueError when it is none."""
        if (url := str(Option.read(self, raw))) and not is_url(url):
            raise ValueError(self.name)
        return url


def _convert(raw: Any, default: Value) -> Value:
    if isinstance(default, list):
        items = raw.split(",") if isinstance(raw, str) else raw
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise ValueError("not a list of texts")
        return [item.strip() for item in items if item.strip()]
    if isinstance(raw, str) and not isinstance(default, str):
        raw = _from_text(raw.strip(), default)
    if isinstance(default, float) and isinstance(raw, int) and not isinstance(raw, bool):
        raw = float(raw)
    if type(raw) is not type(default) or (isinstance(raw, float) and not math.isfinite(raw)):
        raise ValueError("not of the type of the default")
    return raw


def _from_text(text: str, default: Value) -> Value:
    if isinstance(default, bool):
        return _BOOLEANS[text]
    if isinstance(default, int) and not _INTEGER.fullmatch(text):
        raise ValueError("not a whole number")
    return type(default)(text)


ROLES = ("owner", "editor", "viewer")
KERNEL_OPTIONS = (
    Option("server.data", "./data", "everything snaglist writes lies below one folder", pattern=".+", vital=True),
    UrlOption("server.url", "", "pins the canonical URL, behind a proxy or for scripts"),
    Option("server.host", "127.0.0.1", "an instance without a key stays on this machine"),
    Option("server.port", 8787, "free on most machines", 0, 65535),
    Option("server.threads", 8, "handlers wait for the database; more threads do not help", 1, 256),
    Option("server.allowed_hosts", ["auto"], "host names that are served; auto guards an open loopback instance"),
    NetworksOption("server.trusted_proxies", [], "networks whose X-Forwarded-* headers count"),
    Option("server.node", "", "the machine files belong to; empty: the host name"),
    Option("server.shared_data", False, "true when all nodes share the data directory"),
    Option("plugins.enabled", [], "optional areas that new applications start with"),
    Option("plugins.disabled", [], "optional areas, by id or distribution, that are off whatever the database says"),
    Option("auth.token", "", "the key every request must present; empty: open", vital=True),
    Option("auth.previous_token", "", "accepted too while keys are rotated", vital=True),
    Option("security.secret", "", "seals stored secrets; empty: a key file in the data directory", vital=True),
    Option("security.headers_enabled", True, "security headers on every answer"),
    Option("security.content_security_policy", "", "empty: the built-in policy"),
    Option("security.hsts_max_age", 0, "seconds; 0: no Strict-Transport-Security", 0),
    Option("security.hsts_include_subdomains", False, "part of Strict-Transport-Security"),
    Option("security.hsts_preload", False, "part of Strict-Transport-Security"),
    NetworksOption("outbound.allow_private", [], "networks that are not public and that outbound requests may go to"),
    Option("database.url", "", "empty: one SQLite file per application", vital=True),
    Option("database.prefix", "app_", "of schemas or databases on a server", pattern="[a-z0-9_]{1,32}", vital=True),
    Option("database.auto_upgrade", True, "schema steps run at start"),
    Option("database.busy_timeout_ms", 5000, "how long a writer waits for another", 0, 600_000),
    Option("database.pool_size", 8, "one connection per server thread", 1, 200),
    Option("jobs.workers", 1, "worker threads beside the server", 1, 32),
    Option("jobs.keep_days", 30, "finished jobs are kept that long", 1, 3650),
    Option("host.agent_token", "", "key of scripts in host mode", vital=True),
    Option("host.agent_role", "editor", "of scripts in host mode", choices=ROLES, vital=True),
    Option("log.level", "info", "of the service's own log", choices=("debug", "info", "warning", "error")),
    Option("log.format", "text", "of the service's own log", choices=("text", "json")),
    Option("log.hook_trace", False, "logs every hook call, for plugin authors"),
)


def flatten(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `section.name` keys of a mapping that may nest sections."""
    flat: dict[str, Any] = {}
    for name, value in config.items():
        nested = isinstance(value, Mapping) and value
        flat |= {f"{name}.{inner}": item for inner, item in value.items()} if nested else {name: value}
    return flat


class Settings:
    """The values in force. Options are added by the kernel and by areas; reading an unknown key is a bug."""

    def __init__(
        self,
        overrides: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
        defaults: Mapping[str, Value] | None = None,
    ) -> None:
        """Read the configuration; `defaults` are other defaults than the options' own."""
        self._defaults = dict(defaults or {})
        self._overrides = flatten(overrides or {})
        given = os.environ if environ is None else environ
        self._environ = {name: text for name, text in given.items() if name.upper().startswith("SERVICE_")}
        self._options: dict[str, Option] = {}
        self._values: dict[str, Value] = {}
        self._unfit: dict[str, Option] = {}
        self._file: dict[str, Any] = {}
        self.file, self.text = Path(), ""  # the file that was read, and what is in it
        named = self._overrides.pop("config", None) or self._environ.get("SERVICE_CONFIG")
        # The file may lie in the data directory, and may itself say where the data directory is.
        self._resolve(KERNEL_OPTIONS[0])
        self._file = self._read_file(named)
        for option in KERNEL_OPTIONS:
            self.add(option)

    def __getitem__(self, name: str) -> Any:
        """Return the value of a key."""
        return self._values[name]

    def add(self, option: Option) -> None:
        """Take a key in; a name that is taken is refused."""
        if option.name in self._options:
            raise ValueError(f"setting {option.name} is registered twice")
        if option.name in self._defaults:
            option = replace(option, default=self._defaults[option.name])
        self._options[option.name] = option
        self._resolve(option)

    @property
    def options(self) -> list[Option]:
        """All keys, in order of registration."""
        return list(self._options.values())

    @cached_property
    def data(self) -> Path:
        """The data directory, absolute."""
        return Path(self["server.data"]).resolve()

    @property
    def node(self) -> str:
        """The name of this machine."""
        return self["server.node"] or platform.node() or "localhost"

    def warnings(self) -> list[str]:
        """Name every key and variable that is unknown or was replaced by its default."""
        found = [f"{name}: must be {option.wanted}; the default is used" for name, option in self._unfit.items()]
        return found + [f"{name}: unknown {kind}" for name, kind, _ in self.unknown()]

    def unknown(self) -> list[tuple[str, str, Any]]:
        """Return the name, kind (`environment variable` or `key`) and value of all that is given and no setting."""
        variables = {_variable(name) for name in self._options} | set(SHORT_NAMES) | {"SERVICE_CONFIG"}
        strange = [(name, "environment variable", self._environ[name]) for name in sorted({*self._environ} - variables)]
        given = {**self._file, **self._overrides}
        return strange + [(name, "key", value) for name, value in given.items() if not self._knows(name, value)]

    def _knows(self, name: str, value: Any) -> bool:
        """Tell whether a name is a key, or a section that is empty."""
        return name in self._options or (value == {} and any(o.startswith(f"{name}.") for o in self._options))

    def _read_file(self, named: str | None) -> dict[str, Any]:
        candidates = [Path(named)] if named else [Path("snaglist.toml"), self.data / "snaglist.toml"]
        for path in candidates:
            try:
                self.file, self.text = path, path.read_text("utf-8")
                return flatten(tomllib.loads(self.text))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except (OSError, ValueError) as error:  # not TOML, or not even UTF-8
                reason = getattr(error, "strerror", error)
                raise ConfigurationError(f"configuration file {path}: {reason}") from error
        if named:
            raise ConfigurationError(f"configuration file {named}: does not exist")
        return {}

    def _resolve(self, option: Option) -> None:
        short = next((k for k, v in SHORT_NAMES.items() if v == option.name), "")
        variables = ((self._environ, name) for name in (short, _variable(option.name)))
        layers = ((self._overrides, option.name), *variables, (self._file, option.name))
        self._values[option.name] = option.default
        for layer, name in layers:
            raw = layer.get(name)
            # An environment variable that is set but empty counts as not set, so that it hides no key of the file.
            if raw is None or (raw == "" and (layer is self._environ or not isinstance(option.default, str))):
                continue
            try:
                self._values[option.name] = option.read(raw)
            except (ValueError, KeyError):
                if option.vital:
                    raise ConfigurationError(f"{option.name}: must be {option.wanted}") from None
                self._unfit[option.name] = option
            return


def _variable(name: str) -> str:
    return "SERVICE_" + name.upper().replace(".", "_")

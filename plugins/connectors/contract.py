"""What a connector type is: the contract of `register_connectors()`.

A type says how its `config` is checked and how its files are listed and read. Everything else is the same for all
types: planning, mirrors, reading, runs, and keeping secrets.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Protocol

from snaglist.kernel import BadGateway, Call, hookspec

Config = Mapping[str, Any]
ReadAt = Callable[[int, int], bytes]
MAX_NAME = 16  # of a type, as long as its column


class RemoteFailure(BadGateway):
    """The other side refused, failed or did not answer; the message is shown, so it holds no secret."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file as it was listed.

    `path` tells it from the others of its connector and ends with its base name. `modified_at` is in the contract's
    form (UTC). `identity` stays with the file when it is renamed, like device and inode; None when nothing does.
    """

    path: str
    size: int
    modified_at: str | None = None
    identity: str | None = None


class Remote(Protocol):
    """An open connection to where the files are."""

    def files(self, limit: int) -> list[RemoteFile]:
        """List the log files; when there are more than `limit`, at least one more than that."""

    def open(self, path: str) -> AbstractContextManager[ReadAt]:
        """Open a listed file: a function of offset and size that returns the bytes there, fewer at the end only.

        Where the other side can, all reads are of the file that was there when it was opened.
        """


@dataclass(frozen=True, slots=True)
class Opening:
    """What `ConnectorType.open` gets. `learn` stores changed fields of `config`, where the operation may."""

    call: Call
    config: Config
    secrets: Mapping[str, Any]
    learn: Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True)
class ConnectorType:
    """A type of connector.

    `schemas` is the folder that holds `definitions/connector-<type>.json`, the schema of `config` with its defaults.
    `secrets` names the fields of `config` that are write-only. `check(call, config, secrets)` looks, outside a
    transaction, at what a schema cannot and returns the config to store; it raises Invalid. `in_place`: the files
    are on this machine and their paths are paths here, or relative to the data directory; otherwise the fetched
    bytes are kept in mirrors.
    `open(opening)` connects and raises RemoteFailure.
    """

    check: Callable[[Call, Config, Mapping[str, Any]], Config]
    open: Callable[[Opening], AbstractContextManager[Remote]]
    secrets: tuple[str, ...] = ()
    in_place: bool = False
    schemas: Traversable = field(default_factory=lambda: files("snaglist.schemas"))


@hookspec
def register_connectors() -> Mapping[str, ConnectorType]:  # type: ignore[empty-body]
    """Collect. Return types of connectors by name, like `my_type`, at most 16 characters. Since 0.2."""


def types(call: Call) -> Mapping[str, ConnectorType]:
    """Return the types of all plugins by name."""
    return call.service.plugins.types(register_connectors)


def check_added(hook: str, name: str, value: Any) -> None:
    """Look at a type that a plugin adds; raises for what does not fit."""
    if hook != register_connectors.__name__:
        return
    if len(name) > MAX_NAME:
        raise ValueError(f"{name}: the name must have at most {MAX_NAME} characters")
    if not (callable(value.check) and callable(value.open)):
        raise TypeError(f"{name}: must be a ConnectorType with the functions check and open, not {value!r:.60}")
    if not value.schemas.joinpath("definitions", f"connector-{name}.json").is_file():
        raise ValueError(f"{name}: schemas: there is no definitions/connector-{name}.json")

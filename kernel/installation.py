"""What a call sees of the installation it runs in: `call.service`. The kernel's `Service` is one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine import RowMapping

from snaglist.kernel.applications import Application, Applications
from snaglist.kernel.database import Database
from snaglist.kernel.origin import Network
from snaglist.kernel.plugin import Plugin
from snaglist.kernel.schemas import Schemas
from snaglist.kernel.settings import Settings

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")
Check = Callable[[Any], T] | None


class Secrets(Protocol):
    """Seals and opens the secrets of all applications; Unavailable when no key can be had, or none opens one."""

    def prepare(self) -> None:
        """Have the sealing key ready: deriving it takes a while, which no transaction should wait for."""

    def seal(self, application: str, field: str, text: str) -> bytes:
        """Seal a text for a field (such as `connectors.7.secrets`) of an application."""

    def open(self, application: str, field: str, sealed: bytes) -> str:
        """Return the text that was sealed for this application and field."""

    def reseal(self, application: str, field: str, sealed: bytes) -> bytes | None:
        """Return the value sealed with the first key; None when it is already, or cannot be: then the log says why."""


class Outbound(Protocol):
    """Requests to other hosts; `allowed` are the networks of `outbound.allow_private`."""

    allowed: Sequence[Network]

    def check_url(self, url: str, *, schemes: Sequence[str] = ...) -> Any:
        """Resolve the host of a URL; raises Refused, with what is wrong, when it may not be asked."""

    def request(self, method: str, url: str, **options: Any) -> Any:
        """Send a request and return status, headers and body; BadGateway when none came."""


class Jobs(Protocol):
    """Background work of all applications."""

    def enqueue(self, call: Any, kind: str, args: Mapping[str, Any], **options: Any) -> int:
        """Queue a job in the call's transaction; Conflict while an unfinished one has the same `dedupe`."""

    def unfinished(self, call: Any, *kinds: str) -> bool:
        """Tell whether a job (of these kinds, when given) that may run on this node is queued or running."""

    def find(self, call: Any, job_id: int) -> RowMapping:
        """Return the row of a job or raise NotFound."""

    def cancel(self, call: Any, job_id: int) -> None:
        """Cancel a queued job now, a running one at its next safe point."""

    def retry(self, call: Any, job_id: int) -> int:
        """Queue a new job like a failed or cancelled one."""

    def run_next(self, application: Application, worker: str = "", job_id: int | None = None) -> bool:
        """Take and run one due job of an application (this one, when given) here; False when there is none."""

    def run_queued(self, application: Application, worker: str = "") -> int:
        """Run due jobs here until none is left; returns how many."""

    def written(self, application: Application) -> None:
        """Take note that something was written in an application just now."""


class Plugins(Protocol):
    """The plugins of this process, and their hooks."""

    def all(self) -> list[Plugin]:
        """Every plugin found, failed ones included, in load order."""

    def loaded(self) -> list[Plugin]:
        """The plugins that work, in load order: core areas first."""

    def find(self, plugin_id: str) -> Plugin | None:
        """Return a plugin by id."""

    def added(self, hook: Callable[[], Sequence[T]]) -> list[tuple[Plugin, T]]:
        """Return what plugins added by a collect hook, each with its plugin."""

    def types(self, hook: Callable[[], Mapping[str, T]]) -> dict[str, T]:
        """Return what plugins added by name by a collect hook."""

    def calls(self, hook: Callable[P, R]) -> list[tuple[Plugin, Callable[P, R]]]:
        """Return the implementations of a hook in their order, each with its plugin, for whoever calls them itself."""

    def enabled(self, db: Connection, plugin_id: str) -> bool:
        """Tell whether a plugin works and is on in the application of the transaction."""

    def states(self, db: Connection) -> dict[str, dict[str, Any]]:
        """Return the stored state of every plugin: `enabled` and `last_error`."""

    def switch(self, call: Any, plugin: Plugin, on: bool) -> None:
        """Store the new state and tell the plugin."""

    def is_failing(self, db: Connection, plugin: Plugin, hook: str) -> bool:
        """Tell whether the last error of a plugin in the application of the transaction is that of this hook."""

    def note(self, call: Any, plugin: Plugin, hook: str, message: str | None) -> None:
        """Store what went wrong in an application as the plugin's `last_error`, None when it is well again."""

    def emit(self, hook: Callable[[Any, T], R], call: Any, value: T, check: Check[R]) -> dict[str, R]:
        """Call a robust hook; see `Call.emit`."""

    def chain(self, hook: Callable[[Any, T], T | None], call: Any, value: T, copy: Check[T], check: Check[T]) -> T:
        """Pass a value through a chain hook; see `Call.chain`."""


class Installation(Protocol):
    """One installation, as everything that runs in it may use it."""

    version: str
    settings: Settings
    database: Database
    applications: Applications
    schemas: Schemas
    jobs: Jobs
    secrets: Secrets
    outbound: Outbound
    assignable_users: Callable[[Mapping[str, Any], str], list[dict[str, str]]] | None
    login_url: Callable[[Mapping[str, Any]], str] | None

    @property
    def plugins(self) -> Plugins:
        """The plugins of this process."""

    def call(self, application: Application | None = None, actor: Any = None) -> Any:
        """Return a call for work outside a request; without an application it acts on the first."""

    def endpoints(self) -> Mapping[str, tuple[Any, Any]]:
        """All endpoints by name with the plugin they belong to."""

    @property
    def file_node(self) -> str:
        """The node that tells equal paths of several machines apart, empty where one machine has all files."""

    def require_schema(self, application: Application) -> None:
        """Raise Unusable when the application's database is not as the code needs it."""

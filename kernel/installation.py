"""What a call sees of the installation it runs in: `call.service`. The kernel's `Service` is one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy.engine import RowMapping

from snaglist.kernel.applications import Application, Applications
from snaglist.kernel.auth import Keys
from snaglist.kernel.database import Database
from snaglist.kernel.origin import Network
from snaglist.kernel.schemas import Schemas
from snaglist.kernel.settings import Settings


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A sealed value where an area keeps it. `label` is what people know it by; `replace` stores it sealed anew."""

    field: str
    label: str
    sealed: bytes
    replace: Callable[[bytes], object]


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

    kinds: dict[str, tuple[str, Any]]

    def add(self, owner: str, job: Any) -> None:
        """Take a kind in; `owner` is the plugin that registers it."""

    def forget(self, owner: str) -> None:
        """Drop the kinds of a plugin that was taken out."""

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


class Installation(Protocol):
    """One installation, as everything that runs in it may use it."""

    version: str
    settings: Settings
    database: Database
    applications: Applications
    schemas: Schemas
    keys: Keys
    plugins: Any
    jobs: Jobs
    secrets: Secrets
    outbound: Outbound
    assignable_users: Callable[[Mapping[str, Any], str], list[dict[str, str]]] | None
    login_url: Callable[[Mapping[str, Any]], str] | None

    def call(self, application: Application | None = None, actor: Any = None) -> Any:
        """Return a call for work outside a request; without an application it acts on the first."""

    def endpoints(self) -> Mapping[str, tuple[Any, Any]]:
        """All endpoints by name with the plugin they belong to."""

    @property
    def file_node(self) -> str:
        """The node that tells equal paths of several machines apart, empty where one machine has all files."""

    def require_schema(self, application: Application) -> None:
        """Raise Unusable when the application's database is not as the code needs it."""

"""What a handler, job or command gets: one application, one actor, one request, one unit of work."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection

from snaglist.kernel import bodies, times
from snaglist.kernel.applications import Application
from snaglist.kernel.work import Work

T = TypeVar("T")
V = TypeVar("V")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Actor:
    """Who acts. `label` is what history shows."""

    id: str
    label: str
    roles: tuple[str, ...]

    def may(self, ability: str) -> bool:
        """Tell whether any of the roles grants the ability."""
        return any(_grants(role, ability) for role in self.roles)


LOCAL = Actor("local", "Local", ("owner",))
_OWNERS_ONLY = ("plugins.", "settings.", "applications.")


def _grants(role: str, ability: str) -> bool:
    if role == "owner":
        return True
    if role == "editor":
        return ability.endswith(".read") or not ability.startswith(_OWNERS_ONLY)
    return role == "viewer" and ability.endswith(".read")


@dataclass(slots=True)
class Request:
    """What was asked. `query` and `body` have passed the schemas: trimmed, typed, defaults filled in."""

    method: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = field(default_factory=dict)
    environ: Mapping[str, Any] = field(default_factory=dict)
    base_url: str = ""
    address: str = ""
    body_limit: int = 0
    raw_body: bytes | None = None

    def read_body(self, *, unpacked: int = 0) -> bytes:
        """Return the body as it came, within the endpoint's limit; gzip is taken with `unpacked`, its limit in bytes.

        Raises TooLarge, UnsupportedMedia for another coding, and BadRequest.
        """
        if self.raw_body is None:
            self.raw_body = bodies.read_body(self.environ, self.body_limit)
        return bodies.decode(self.environ, self.raw_body, unpacked)


@dataclass(slots=True)
class Call(Work):
    """A unit of work on behalf of somebody, with what they asked.

    `actor_in` tells who acts in other applications: with a host, roles belong to an application.
    """

    actor: Actor | None = None
    request: Request = field(default_factory=Request)
    now: str = field(default_factory=times.now)
    actor_in: Callable[[str], Actor | None] | None = None

    @property
    def query(self) -> Mapping[str, Any]:
        """The query as its schema has it."""
        return self.request.query

    @property
    def body(self) -> Any:
        """The body as its schema has it."""
        return self.request.body

    @property
    def environ(self) -> Mapping[str, Any]:
        """The WSGI variables of the request."""
        return self.request.environ

    @property
    def base_url(self) -> str:
        """Where the service is, as the client knows it."""
        return self.request.base_url

    def read_body(self, *, unpacked: int = 0) -> bytes:
        """Return the body as it came; see `Request.read_body`."""
        return self.request.read_body(unpacked=unpacked)

    @property
    def label(self) -> str | None:
        """The actor's label for history, None in background work."""
        return self.actor.label if self.actor else None

    def setting(self, name: str) -> Any:
        """Return the value of a configuration key such as `server.port`."""
        return self.service.settings[name]

    def may(self, ability: str) -> bool:
        """Tell whether the actor has an ability; background work has all."""
        return self.actor is None or self.actor.may(ability)

    def may_in(self, application: Application, ability: str) -> bool:
        """Tell whether the actor has an ability in another application than the selected one."""
        if self.actor_in is None:
            return self.may(ability)
        actor = self.actor_in(application.id)
        return actor is not None and actor.may(ability)

    def assignable_users(self) -> list[dict[str, str]] | None:
        """Return the people (`id`, `label`) that the host offers for this application; None without a host.

        Asks the host's own code, so call it outside a transaction.
        """
        people = self.service.assignable_users
        return None if people is None else people(self.environ, self.application.id)

    def login_url(self) -> str:
        """Return where people of the host sign in; "" without a host, or when it does not say."""
        return self.service.login_url(self.environ) if self.service.login_url else ""

    def remembered(self, name: str, read: Callable[[Connection], T]) -> T:
        """Return what `read` found, in a transaction for reading of its own, at most a second ago.

        For what every request asks. Whoever changes it calls `forget`, so that it holds at once in this process.
        """
        # Applications are listed anew every second, and with each list what they remember begins anew.
        memory: dict[str, T] = self.application.memory
        if name not in memory:
            memory[name] = self.read(read)
        return memory[name]

    def forget(self) -> None:
        """Forget everything remembered of applications when the open transaction is committed."""
        self.after_commit.add(self.service.applications.refresh)

    def enabled(self, plugin: str) -> bool:
        """Tell whether a plugin is on in this application (needs an open transaction)."""
        return self.service.plugins.enabled(self.db, plugin)

    def enqueue(self, kind: str, args: Mapping[str, Any] | None = None, **options: Any) -> int:
        """Queue a job in the open transaction and return its id; see `Jobs.enqueue` for the options."""
        return self.service.jobs.enqueue(self, kind, args or {}, **options)

    def emit(self, hook: "Callable[[Call, V], R]", value: V, check: Callable[[Any], R] | None = None) -> dict[str, R]:
        """Call a robust hook for the enabled plugins; returns what they returned by plugin id.

        `check` returns a result as it is to be taken; when it raises, the plugin failed.
        """
        return self.service.plugins.emit(hook, self, value, check)

    def chain(
        self,
        hook: "Callable[[Call, T], T | None]",
        value: T,
        copy: Callable[[T], T] | None = None,
        check: Callable[[Any], T] | None = None,
    ) -> T:
        """Pass a value through a chain hook.

        `copy` makes what a plugin gets and may change; `check` returns a result as it is to be taken: when it raises,
        the plugin failed and the value stays as it was.
        """
        return self.service.plugins.chain(hook, self, value, copy, check)

"""What a handler, job or command gets: one application, one actor, one database."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from snaglist.kernel import bodies, times
from snaglist.kernel.faults import names_no_table
from snaglist.kernel.lending import lend

if TYPE_CHECKING:
    from snaglist.kernel.applications import Application
    from snaglist.kernel.service import Service

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
COMMAND_LINE = Actor("cli", "cli", ("owner",))
_OWNERS_ONLY = ("plugins.", "settings.", "applications.")


def _grants(role: str, ability: str) -> bool:
    if role == "owner":
        return True
    if role == "editor":
        return ability.endswith(".read") or not ability.startswith(_OWNERS_ONLY)
    return role == "viewer" and ability.endswith(".read")


@dataclass(slots=True)
class Call:
    """One unit of work. `query` and `body` have passed the schemas: trimmed, typed, defaults filled in.

    `actor_in` tells who acts in other applications: with a host, roles belong to an application.
    """

    service: "Service"
    selected: "Application | None" = None
    actor: Actor | None = None
    method: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    raw_body: bytes | None = None
    body_limit: int = 0
    environ: Mapping[str, Any] = field(default_factory=dict)
    base_url: str = ""
    address: str = ""
    now: str = field(default_factory=times.now)
    connection: Connection | None = None
    read_only: bool = False
    after_commit: set[Callable[[], object]] = field(default_factory=set)
    actor_in: "Callable[[str], Actor | None] | None" = None
    before_db: Callable[[], None] | None = None
    plugin_states: dict[str, dict[str, Any]] | None = None  # PERF: as the open transaction read them for its hooks

    @property
    def application(self) -> "Application":
        """The application acted on."""
        if self.selected is None:
            raise RuntimeError("this call selects no application")
        return self.selected

    @property
    def db(self) -> Connection:
        """The open transaction of the application's database."""
        if self.connection is None:
            raise RuntimeError("no transaction is open: use `with call.transaction():`")
        if self.before_db:
            self.before_db()
        return self.connection

    @property
    def label(self) -> str | None:
        """The actor's label for history, None in background work."""
        return self.actor.label if self.actor else None

    @contextmanager
    def transaction(self, *, write: bool = True, durable: bool = False) -> Iterator[Connection]:
        """Open a transaction of the application's database as `call.db`; commit, or roll back when it raises.

        What a `durable` one wrote survives a power cut; others may lose their last seconds then.
        """
        if self.connection is not None:
            raise RuntimeError("a transaction is open already")
        self.service.require_schema(self.application)
        try:
            with self.service.database.transaction(self.application, write=write, durable=durable) as connection:
                self.connection, self.read_only = lend(connection, reading=not write), not write
                try:
                    yield connection
                finally:
                    connection.__class__ = Connection
                    self.connection, self.read_only, self.plugin_states = None, False, None
        except DBAPIError as error:
            if names_no_table(error):  # a mistake of whoever asked, or the whole database is another one by now
                self.service.applications.forget_state(self.application)
                self.service.require_schema(self.application)
            raise
        if write:
            self.service.activity.note(self.application)
        while self.after_commit:
            self.after_commit.pop()()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block writes when it raises. PERF: made when the block first asks for `db`; many never do."""
        around = self.before_db
        with ExitStack() as opened:

            def begin() -> None:
                self.before_db = around
                opened.enter_context(self.db.begin_nested())

            self.before_db = begin
            try:
                yield
            finally:
                if self.before_db is begin:
                    self.before_db = around

    def read_body(self, *, unpacked: int = 0) -> bytes:
        """Return the body as it came, within the endpoint's limit; gzip is taken with `unpacked`, its limit in bytes.

        Raises TooLarge, UnsupportedMedia for another coding, and BadRequest.
        """
        if self.raw_body is None:
            self.raw_body = bodies.read_body(self.environ, self.body_limit)
        return bodies.decode(self.environ, self.raw_body, unpacked)

    def repeat(self, work: Callable[[], T]) -> T:
        """Run work that opens its own transactions again when the database ended one by a deadlock."""
        return self.service.database.repeat(work)

    def setting(self, name: str) -> Any:
        """Return the value of a configuration key such as `server.port`."""
        return self.service.settings[name]

    def may(self, ability: str) -> bool:
        """Tell whether the actor has an ability; background work has all."""
        return self.actor is None or self.actor.may(ability)

    def may_in(self, application: "Application", ability: str) -> bool:
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
            with self.transaction(write=False) as db:
                memory[name] = read(db)
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

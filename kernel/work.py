"""A unit of work: transactions of one application's database, and savepoints in them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from snaglist.kernel.applications import Application
from snaglist.kernel.engines import savepoint
from snaglist.kernel.faults import names_no_table
from snaglist.kernel.installation import Installation

T = TypeVar("T")


class _Shared:
    """A connection as handlers, hooks and jobs get it: its transaction is not theirs to end.

    Ending it would keep half of what others do in it. `begin_nested` makes savepoints.
    """

    __slots__ = ("_connection",)

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("the transaction of call.db is shared: who opened it ends it")

    commit = rollback = close = begin = get_transaction = _refuse


@dataclass(slots=True)
class Work:
    """What is done in one application, in one transaction after another."""

    service: Installation
    selected: Application | None = None
    connection: Connection | None = field(default=None, init=False)
    read_only: bool = field(default=False, init=False)
    after_commit: set[Callable[[], object]] = field(default_factory=set, init=False)
    before_db: Callable[[], None] | None = field(default=None, init=False)
    # PERF: as the open transaction read them for its hooks.
    plugin_states: dict[str, dict[str, Any]] | None = field(default=None, init=False)

    @property
    def application(self) -> Application:
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
                shared = cast(Connection, _Shared(connection))
                self.connection, self.read_only = shared, not write
                try:
                    yield shared
                finally:
                    self.connection, self.read_only, self.plugin_states = None, False, None
        except DBAPIError as error:
            if names_no_table(error):  # a mistake of whoever asked, or the whole database is another one by now
                self.service.applications.forget_state(self.application)
                self.service.require_schema(self.application)
            raise
        if write:
            self.service.jobs.written(self.application)
        while self.after_commit:
            self.after_commit.pop()()

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block writes when it raises. PERF: made when the block first asks for `db`; many never do."""
        around = self.before_db
        with ExitStack() as opened:

            def begin() -> None:
                self.before_db = around
                opened.enter_context(savepoint(self.db))

            self.before_db = begin
            try:
                yield
            finally:
                if self.before_db is begin:
                    self.before_db = around

    def read(self, work: Callable[[Connection], T]) -> T:
        """Return what `work(db)` returns in a transaction for reading; run again as `repeat` does."""
        return self._attempt(work, write=False)

    def write(self, work: Callable[[Connection], T], *, durable: bool = False) -> T:
        """Return what `work(db)` returns in a transaction for writing; run again as `repeat` does."""
        return self._attempt(work, durable=durable)

    def _attempt(self, work: Callable[[Connection], T], **options: bool) -> T:
        def attempt() -> T:
            with self.transaction(**options) as db:
                return work(db)

        return self.repeat(attempt)

    def repeat(self, work: Callable[[], T]) -> T:
        """Run work that opens its own transactions again when the database ended one by a deadlock."""
        return self.service.database.repeat(work)

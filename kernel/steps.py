"""Schema steps: forward-only changes of a database, each recorded in its ledger with its owner.

A ledger instead of version numbers, because plugins come and go: an uninstalled plugin's rows stay as
orphans and block nobody, and a reinstalled one goes on where it stopped.
"""

from collections.abc import Callable, Container, Iterable, Set
from dataclasses import dataclass, field

from sqlalchemy import Connection, Table, inspect, select

from snaglist.kernel import times
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.database import Database, insert_ignore
from snaglist.kernel.engines import ends_transaction
from snaglist.kernel.faults import FOREIGN, MISSING, Fault, Tenant

__all__ = ["CORE", "Step", "StepFailed"]

CORE = "core"


@dataclass(frozen=True, slots=True)
class Step:
    """One change; `run` gets the open transaction and must be repeatable. Its option `stepped` is the application."""

    owner: str
    name: str
    run: Callable[[Connection], None]

    @property
    def key(self) -> tuple[str, str]:
        """How the ledger names it."""
        return self.owner, self.name

    @property
    def label(self) -> str:
        """How people see it."""
        return f"{self.owner}:{self.name}"


class StepFailed(Exception):
    """A step raised; its transaction was rolled back. `applied` are those before it."""

    def __init__(self, step: Step, error: Exception) -> None:
        super().__init__(f"schema step {step.label} failed: {describe(error)}")
        self.step = step
        self.applied: list[Step] = []


@dataclass(slots=True)
class State:
    """How a database compares with the code: all lists hold (owner, name) in order."""

    pending: list[Step] = field(default_factory=list)
    newer: list[tuple[str, str]] = field(default_factory=list)
    orphans: list[tuple[str, str]] = field(default_factory=list)
    fault: Fault | None = None  # where it holds no ledger: MISSING, or FOREIGN with tables of somebody else

    @property
    def current(self) -> bool:
        """True when the code can work with the database."""
        return not (self.pending or self.newer or self.fault)


class Steps:
    """The ordered steps of one kind of database, and its ledger table."""

    def __init__(self, database: Database, ledger: Table, owners: Callable[[], Iterable[str]]) -> None:
        self._database = database
        self._ledger = ledger
        self._owners = owners
        self._steps: list[Step] = []

    def add(self, step: Step) -> None:
        """Append a step; a name that its owner used already is refused."""
        if step.key in {known.key for known in self._steps}:
            raise ValueError(f"step {step.label} is registered twice")
        self._steps.append(step)

    def forget(self, owner: str) -> None:
        """Drop the steps of a plugin that failed to load."""
        self._steps = [step for step in self._steps if step.owner != owner]

    def state(self, tenant: Tenant) -> State:
        """Compare one database with the code."""
        with self._database.transaction(tenant, write=False) as db:
            applied = self._applied(db)
            state = self.compare(applied)
            if not applied:
                state.fault = self._fault(db)
            return state

    def applied(self, tenant: Tenant) -> set[tuple[str, str]]:
        """Return the ledger of one database: owner and name of each step."""
        with self._database.transaction(tenant, write=False) as db:
            return self._applied(db)

    def compare(self, applied: Set[tuple[str, str]]) -> State:
        """Compare a ledger with the code."""
        known = {step.key for step in self._steps}
        owners = {CORE, *self._owners()}
        unknown = sorted(applied - known)
        return State(
            [step for step in self._steps if step.key not in applied],
            [row for row in unknown if row[0] in owners],
            [row for row in unknown if row[0] not in owners],
        )

    def upgrade(self, tenant: Tenant, *, only: Container[tuple[str, str]] | None = None) -> list[Step]:
        """Apply pending steps (of `only`) to a database that is there; returns what this call applied."""
        wanted = [step for step in self.state(tenant).pending if only is None or step.key in only]
        applied: list[Step] = []
        try:
            applied.extend(step for step in wanted if self._apply(tenant, step))
        except StepFailed as failure:
            failure.applied = applied
            raise
        return applied

    def _apply(self, tenant: Tenant, step: Step) -> bool:
        with self._database.exclusive(tenant) as db:
            if step.key in self._applied(db):
                return False
            try:
                contained(step.run, db.execution_options(stepped=tenant))
            except Exception as error:
                if ends_transaction(error):
                    raise
                raise StepFailed(step, error) from error
            self._ledger.create(db, checkfirst=True)
            insert_ignore(db, self._ledger, [{"owner": step.owner, "name": step.name, "applied_at": times.now()}])
            return True

    def _fault(self, db: Connection) -> Fault | None:
        schema = db.get_execution_options().get("tenant")
        tables = inspect(db).get_table_names(schema)
        if self._ledger.name in tables:
            return None
        return FOREIGN if tables else MISSING

    def _applied(self, db: Connection) -> set[tuple[str, str]]:
        schema = db.get_execution_options().get("tenant")
        if not inspect(db).has_table(self._ledger.name, schema=schema):
            return set()
        return {(row.owner, row.name) for row in db.execute(select(self._ledger.c.owner, self._ledger.c.name))}

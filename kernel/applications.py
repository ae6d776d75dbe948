"""Applications: the tenants of one installation, what the registry lists, and their folders."""

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select

from snaglist.kernel import store, times
from snaglist.kernel.database import Database
from snaglist.kernel.faults import MISSING, NEWER, Unusable, look
from snaglist.kernel.privacy import PRIVATE, make_folder, narrow
from snaglist.kernel.settings import Settings
from snaglist.kernel.steps import State, Step, Steps
from snaglist.kernel.text import slug

log = logging.getLogger("snaglist")

CACHE_SECONDS = 1.0
STATE_SECONDS = 10.0
MAX_TENANT = 63
FIRST = "default"


@dataclass(frozen=True, slots=True)
class Application:
    """One tenant; paths are absolute."""

    id: str
    name: str
    tenant: str
    created_at: str
    folder: Path
    file: Path = field(init=False, compare=False)  # its database on SQLite; PERF: asked with every transaction
    memory: dict[str, Any] = field(init=False, compare=False, repr=False, default_factory=dict)  # `Call.remembered`

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", self.folder / "service.sqlite")

    def row(self, position: int) -> dict[str, object]:
        """Return the registry's row of it."""
        stored = {name: getattr(self, name) for name in ("id", "name", "tenant", "created_at")}
        return stored | {"position": position}

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"database of the application {self.id}"

    @property
    def logs(self) -> Path:
        """Where files are dropped for import."""
        return self.folder / "logs"

    @property
    def processed(self) -> Path:
        """Where imported files go."""
        return self.folder / "processed"

    @property
    def sources(self) -> Path:
        """Where mirrors of remote files are kept."""
        return self.folder / "sources"


@dataclass(frozen=True, slots=True)
class Registry:
    """The database that lists the applications, as a tenant."""

    tenant: str
    file: Path
    id: str = ""
    label: str = "registry"


def tenant_name(prefix: str, application: str) -> str:
    """Return the name of an application's schema or database, at most 63 characters, never colliding.

    Ids hold no two dashes in a row, so the double underscore of a shortened name is never a plain one.
    """
    plain = prefix + application.replace("-", "_")
    if len(plain) <= MAX_TENANT:
        return plain
    return f"{plain[:45]}__{sha256(application.encode()).hexdigest()[:16]}"


class Applications:
    """The registry and what follows from it: databases and folders.

    `upgrade` makes the tables of an application, `take_out_older` takes out plugins older than theirs: True for any.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        steps: Steps,
        registry_steps: Steps,
        *,
        upgrade: Callable[[Application], list[Step]],
        take_out_older: Callable[[Iterable[tuple[str, str]]], bool],
    ) -> None:
        self._database, self._steps, self._registry_steps = database, steps, registry_steps
        self._upgrade, self._take_out_older = upgrade, take_out_older
        self._data = settings.data
        self._prefix = settings["database.prefix"]
        self._listed: tuple[float, list[Application]] = (0.0, [])
        self._states: dict[str, tuple[float, State]] = {}
        self.registry = Registry(f"{self._prefix}_registry", self._data / "registry.sqlite")

    def start(self) -> list[tuple[str | None, Step]]:
        """Make the registry and its first application, where none was made yet; returns whose steps were applied.

        What was made once and is not there now is never made anew in silence: Unusable for the registry.
        """
        if self.lost():
            fault = self._database.faults.of(self.registry) or self._registry_steps.state(self.registry).fault
            fault = fault or MISSING
            self._database.faults.note(self.registry, fault)
            raise Unusable(self.registry, fault)
        applied: list[tuple[str | None, Step]] = [(None, step) for step in self.make_registry()]
        if not self.refresh():
            applied += [(FIRST, step) for step in self._make_first()]
        return applied

    def make_registry(self) -> list[Step]:
        """Make the registry where it is missing, and apply its pending steps."""
        self._database.create(self.registry)
        applied = self._registry_steps.upgrade(self.registry)
        if self._registry_steps.state(self.registry).newer:
            raise Unusable(self.registry, NEWER)
        return applied

    def lost(self) -> bool:
        """Tell whether the registry is missing although applications were made."""
        # In this order: who makes the first application has made the registry before.
        return bool(self.unregistered()) and not (
            self._database.exists(self.registry) and self._registry_steps.applied(self.registry)
        )

    def unregistered(self) -> list[Application]:
        """Applications as their databases are found, the first one first, for a registry that is missing.

        On a server only the first is looked for: other names there may belong to another installation's prefix.
        """
        if self._database.engine_name == "sqlite":
            # Not a glob of the files: it ends at the first folder that this user may not look into.
            folders = sorted(self._data.glob("applications/*"), key=lambda folder: (folder.name != FIRST, folder))
            ids = [folder.name for folder in folders if look(folder / "service.sqlite") is not MISSING]
        else:
            first = self.make(FIRST, FIRST, times.now())
            ids = [FIRST] if self._database.exists(first) else []
        return [self.make(one, one, times.now()) for one in ids if slug(one) == one]

    def _make_first(self) -> list[Step]:
        """Make the first application, whole before it is listed."""
        first = self.make(FIRST, "Primary application", times.now())
        self._database.create(first)
        applied = self._upgrade(first)
        with self._database.exclusive(self.registry) as db:
            if not db.execute(select(func.count()).select_from(store.applications)).scalar_one():
                db.execute(insert(store.applications), first.row(1))
        self.refresh()
        return applied

    def forget_state(self, application: Application) -> None:
        """Look at the schema of an application anew next time."""
        self._states.pop(application.id, None)

    def all(self, max_age: float = CACHE_SECONDS) -> list[Application]:
        """All applications in registration order, as they were at most `max_age` seconds ago."""
        read_at, listed = self._listed
        return listed if time.monotonic() - read_at < max_age else self.refresh()

    def refresh(self) -> list[Application]:
        """Read the registry anew."""
        with self._database.transaction(self.registry, write=False) as db:
            rows = db.execute(select(store.applications).order_by(store.applications.c.position)).all()
        folder = self._data / "applications"
        listed = [Application(r.id, r.name, r.tenant, r.created_at, folder / r.id) for r in rows]
        # Applications that another node added have no folders here yet.
        known = {application.id for application in self._listed[1]}
        for application in listed:
            if known and application.id not in known:
                self.try_folders(application)
        self._listed = (time.monotonic(), listed)
        return listed

    def find(self, application_id: str) -> Application | None:
        """Return one application; an unknown id is looked up anew before the answer is None."""
        candidates = (application for listed in (self.all, self.refresh) for application in listed())
        return next((application for application in candidates if application.id == application_id), None)

    def state(self, application: Application) -> State:
        """How its database compares with the code; at most 10 seconds old when it was current."""
        read_at, state = self._states.get(application.id, (0.0, None))
        if state is None or time.monotonic() - read_at > STATE_SECONDS:
            state = self._steps.state(application)
            if self._take_out_older(state.newer):
                state = self._steps.state(application)
            if state.current:  # what is pending may be applied at any moment, by a creation or by an upgrade
                self._states[application.id] = (time.monotonic(), state)
        return state

    def make(self, application_id: str, name: str, created_at: str) -> Application:
        """Return what an application of this id is, registered or not."""
        folder = self._data / "applications" / application_id
        return Application(application_id, name, tenant_name(self._prefix, application_id), created_at, folder)

    def make_folders(self, application: Application) -> None:
        """Make the folders of an application; others get no further than to where they drop files."""
        make_folder(application.folder)
        make_folder(application.logs, 0o777)  # where others drop files: as open as the umask says
        for folder in (application.processed, application.sources):
            make_folder(folder, PRIVATE)
            narrow(folder)

    def try_folders(self, application: Application) -> None:
        """Make its folders; what hinders that hinders no other application, and its own database tells."""
        try:
            self.make_folders(application)
        except OSError as error:
            log.error("application %s: %s: %s", application.id, error.filename, error.strerror)

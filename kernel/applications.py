"""Applications: the tenants of one installation, their registry and their folders."""

import re
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import store, times
from snaglist.kernel.errors import Conflict, Invalid, NotFound
from snaglist.kernel.steps import State

if TYPE_CHECKING:
    from snaglist.kernel.service import Service

CACHE_SECONDS = 1.0
STATE_SECONDS = 10.0
MAX_TENANT = 63
FOLDERS = ("logs", "processed", "sources")
_SEPARATORS = re.compile(r"[^a-z0-9]+")


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


def slug(text: str) -> str:
    """Return the slug of a name: lower case, every run of other characters than a-z and 0-9 one dash."""
    return _SEPARATORS.sub("-", text.lower()).strip("-")


def tenant_name(prefix: str, application: str) -> str:
    """Return the name of an application's schema or database, at most 63 characters, never colliding.

    Ids hold no two dashes in a row, so the double underscore of a shortened name is never a plain one.
    """
    plain = prefix + application.replace("-", "_")
    if len(plain) <= MAX_TENANT:
        return plain
    return f"{plain[:45]}__{sha256(application.encode()).hexdigest()[:16]}"


class Applications:
    """The registry and what follows from it: databases and folders."""

    def __init__(self, service: "Service") -> None:
        self._service = service
        self._database = service.database
        self._data = service.settings.data
        self._prefix = service.settings["database.prefix"]
        self._listed: tuple[float, list[Application]] = (0.0, [])
        self._states: dict[str, tuple[float, State]] = {}
        self._lock = threading.Lock()
        self.registry = Registry(f"{self._prefix}_registry", self._data / "registry.sqlite")

    def start(self, *, upgrade: bool) -> None:
        """Make the registry and its first application, whole; with `upgrade` apply all pending steps."""
        self._service.registry_steps.upgrade(self.registry)
        new = not self.refresh()  # nothing of it can be behind
        for application in self.ensure_first():
            if upgrade or new:
                self._service.upgrade_application(application)

    def ensure_first(self) -> list[Application]:
        """Register the first application when there is none; returns all, their folders made."""
        with self._database.exclusive(self.registry) as db:
            if not db.execute(select(func.count()).select_from(store.applications)).scalar_one():
                first = self.make("default", "Primary application", times.now())
                db.execute(insert(store.applications), _row(first, 1))
        for application in self.refresh():
            self._make_folders(application)
        return self.all()

    def forget_state(self, application: Application) -> None:
        """Look at the schema of an application anew next time."""
        self._states.pop(application.id, None)

    def all(self) -> list[Application]:
        """All applications in registration order; at most a second old."""
        read_at, listed = self._listed
        return listed if time.monotonic() - read_at < CACHE_SECONDS else self.refresh()

    def refresh(self) -> list[Application]:
        """Read the registry anew."""
        with self._database.transaction(self.registry, write=False) as db:
            rows = db.execute(select(store.applications).order_by(store.applications.c.position)).all()
        listed = [Application(r.id, r.name, r.tenant, r.created_at, self._data / "applications" / r.id) for r in rows]
        # Applications that another node added have no folders here yet.
        known = {application.id for application in self._listed[1]}
        for application in listed:
            if known and application.id not in known:
                self._make_folders(application)
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
            state = self._service.steps.state(application)
            if self._service.take_out_older(state.newer):
                state = self._service.steps.state(application)
            if state.current:  # what is pending may be applied at any moment, by a creation or by an upgrade
                self._states[application.id] = (time.monotonic(), state)
        return state

    def add(self, name: str, application_id: str | None, created: Callable[[Application], None]) -> Application:
        """Make the database of an application, register it with its folders, then tell `created`."""
        wanted = slug(application_id if application_id is not None else name)
        if not 1 <= len(wanted) <= 64:
            raise Invalid("id: must have 1-64 characters of a-z, 0-9 and dashes")
        if wanted == "default" or self.find(wanted):
            raise Invalid("id: default is reserved" if wanted == "default" else "id: exists already")
        with self._lock:
            application = self.make(wanted, name, times.now())
            try:
                self._service.upgrade_application(application)  # first: whoever finds it registered may use it
                self.register(application)
                created(application)
            except BaseException as error:
                if not isinstance(error, Invalid):  # else another process was faster, and the database is its own
                    self._forget(application)
                raise
        return application

    def make(self, application_id: str, name: str, created_at: str) -> Application:
        """Return what an application of this id is, registered or not."""
        folder = self._data / "applications" / application_id
        return Application(application_id, name, tenant_name(self._prefix, application_id), created_at, folder)

    def register(self, application: Application) -> None:
        """Enter an application in the registry, at its end, and make its folders."""
        try:
            with self._database.exclusive(self.registry) as db:
                last = db.execute(select(func.max(store.applications.c.position))).scalar_one()
                db.execute(insert(store.applications), _row(application, (last or 0) + 1))
        except IntegrityError as error:
            raise Invalid("id: exists already") from error
        self.refresh()
        self._make_folders(application)

    def rename(self, application_id: str, name: str) -> Application:
        """Give an application another name."""
        with self._database.transaction(self.registry, write=True) as db:
            db.execute(update(store.applications).where(store.applications.c.id == application_id).values(name=name))
        self.refresh()
        found = self.find(application_id)
        if found is None:
            raise NotFound("Unknown application.")
        return found

    def remove(self, application: Application) -> None:
        """Remove an application with its database and folders."""
        with self._lock:
            if len(self.refresh()) == 1:
                raise Conflict("The only application cannot be deleted.")
            self._forget(application)

    def _forget(self, application: Application) -> None:
        if self.find(application.id):  # else the registry need not be written, which may be what failed
            with self._database.transaction(self.registry, write=True) as db:
                db.execute(delete(store.applications).where(store.applications.c.id == application.id))
        self.refresh()
        self._states.pop(application.id, None)
        self._database.drop(application)
        shutil.rmtree(application.folder, ignore_errors=True)

    def _make_folders(self, application: Application) -> None:
        for folder in FOLDERS:
            (application.folder / folder).mkdir(parents=True, exist_ok=True)


def _row(application: Application, position: int) -> dict[str, object]:
    stored = {name: getattr(application, name) for name in ("id", "name", "tenant", "created_at")}
    return stored | {"position": position}

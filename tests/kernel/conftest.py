"""A kernel of its own for each test: no areas but `system`, and the plugins that the test makes up."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select, update

from snaglist.kernel import Description, Option, hookimpl, plugins
from snaglist.kernel.service import Service
from snaglist.plugins import connectors, issues, logs, system
from snaglist.plugins.system import Job, jobs_table
from snaglist.testing import Client, running_service


@dataclass(frozen=True)
class Distribution:
    """What a plugin was installed from."""

    name: str
    version: str = "1.0"


@dataclass
class Point:
    """An entry point: a name, and a module or the failure to import it."""

    name: str
    module: Any
    dist: Distribution | None = None

    def load(self) -> Any:
        """Import it."""
        if isinstance(self.module, BaseException):
            raise self.module
        return self.module


def make_plugin(
    name: str, *, core: bool = False, after: tuple[str, ...] = (), **hooks: Callable[..., Any]
) -> ModuleType:
    """Return a plugin module with these hook implementations."""
    module = ModuleType(f"plugin_{name}")

    def describe() -> Description:
        return Description(name, name.title(), "made by a test", "Tests", "1.0", core=core, after=after)

    for hook, function in {"describe": describe, **hooks}.items():
        setattr(module, hook, hookimpl(function))
    return module


def _specified(module: Any) -> dict[str, Any]:
    return {name: found for name, found in vars(module).items() if hasattr(found, "snaglist_spec")}


def make_system() -> ModuleType:
    """Return the area `system`, and with it the hooks of areas that are not there."""
    module = ModuleType("system")
    vars(module).update(vars(system))
    specified = SimpleNamespace(
        **{
            name: found
            for area in (system, issues, logs, connectors)
            for name, found in _specified(getattr(area, "hookspecs", None) or area.contract).items()
        }
    )
    vars(module)["register_hookspecs"] = lambda: specified
    return module


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Point]:
    """Install a plugin: `install("a", events_stored=function)`; of the built-in areas only `system` is there."""
    points = [Point("system", make_system(), Distribution("snaglist"))]
    monkeypatch.setattr(plugins, "entry_points", lambda group: list(points) if group == plugins.GROUP else [])

    def add(name: str, module: Any = None, *, source: str = "", **hooks: Any) -> Point:
        point = Point(name, module or make_plugin(name, **hooks), Distribution(source) if source else None)
        points.append(point)
        return point

    return add


Kernel = Callable[..., AbstractContextManager[Client]]


@pytest.fixture
def kernel(tmp_path: Path, install: Callable[..., Point]) -> Kernel:
    """Start the kernel with the installed plugins: `with kernel(plugins__enabled=["a"]) as client`."""

    @contextmanager
    def start(*, jobs: bool = False, schedules: bool = False, folder: str = "data", **config: Any) -> Iterator[Client]:
        with running_service(tmp_path / folder, jobs=jobs, schedules=schedules, **config) as service:
            yield Client(service)

    return start


class JobKit:
    """A kernel whose plugin `worker` registers jobs, and short ways to them."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.service = client.service
        self.jobs: Any = client.service.jobs
        self.application = client.service.applications.all()[0]

    def enqueue(self, kind: str, args: dict[str, Any] | None = None, **options: Any) -> int:
        """Queue a job."""
        call = self.service.call(self.application)
        with call.transaction():
            return call.enqueue(kind, args, **options)

    def change(self, job_id: int, **values: Any) -> None:
        """Write columns of a job."""
        with self.service.database.transaction(self.application, write=True) as db:
            db.execute(update(jobs_table).where(jobs_table.c.id == job_id).values(**values))

    def add(self, kind: str = "count", **values: Any) -> int:
        """Queue a job that looks like this."""
        job_id = self.enqueue(kind)
        if values:
            self.change(job_id, **values)
        return job_id

    def runs(self, **values: Any) -> bool:
        """Tell whether a job that looks like this is taken by a worker."""
        return bool(self.jobs.run_next(self.application, job_id=self.add(**values)))

    def run(self) -> int:
        """Run what is queued; returns how many jobs that was."""
        return int(self.jobs.run_queued(self.application))

    def read(self, function: Callable[[Any], Any]) -> Any:
        """Return what a function of a call gives in a transaction for reading."""
        call = self.service.call(self.application)
        with call.transaction(write=False):
            return function(call)

    def row(self, job_id: int) -> Any:
        """Return the row of a job, None when it is forgotten."""
        return self.read(lambda call: call.db.execute(select(jobs_table).where(jobs_table.c.id == job_id)).first())

    def job(self, job_id: int) -> dict[str, Any]:
        """Return a job as the API shows it."""
        found: dict[str, Any] = self.client.get("jobs", id=job_id).json["data"]
        return found

    def act(self, job_id: int, action: str) -> Any:
        """Cancel or retry a job."""
        return self.client.post("jobs", {"id": job_id, "action": action})


@pytest.fixture
def job_kernel(install: Callable[..., Point], kernel: Kernel) -> Callable[..., AbstractContextManager[JobKit]]:
    """Start a kernel, on SQLite unless the configuration says otherwise: `with job_kernel(Job(…)) as kit`."""

    @contextmanager
    def start(*listed: Job, options: tuple[Option, ...] = (), **config: Any) -> Iterator[JobKit]:
        install("worker", register_jobs=lambda: listed, register_settings=lambda: options)
        with kernel(plugins__enabled=["worker"], **config) as client:
            yield JobKit(client)

    return start


@pytest.fixture
def bare(tmp_path: Path, install: Callable[..., Point], own_database_config: dict[str, str]) -> Iterator[Service]:
    """A kernel without plugins and worker, on each database, in a database of its own."""
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        yield service


@pytest.fixture
def schemas(tmp_path: Path) -> Callable[[str, Mapping[str, Any]], Path]:
    """Write schema files of an endpoint; a method's response takes any object unless given."""

    def write(api: str, files: Mapping[str, Any]) -> Path:
        folder = tmp_path / "schemas" / api
        folder.mkdir(parents=True, exist_ok=True)
        for name, contents in files.items():
            (folder / f"{name}.json").write_text(json.dumps(contents), encoding="utf-8")
        return folder.parent

    return write

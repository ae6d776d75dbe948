"""A kernel of its own for each test: no areas but `system`, and the plugins that the test makes up."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from snaglist.kernel import Description, hookimpl, plugins
from snaglist.kernel.service import Service
from snaglist.plugins import connectors, issues, logs, system
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

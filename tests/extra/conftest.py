"""The plugins of `plugins-extra/`, built as wheels and installed into a folder that only these tests see."""

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from snaglist.kernel import plugins
from snaglist.testing import Client, running_service

ROOT = Path(__file__).parents[2]
EXTRA = ROOT / "plugins-extra"
NAMES = ("sentry", "otlp", "prometheus")
Config = dict[str, str]


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server answers."""

    url: str

    def get(self, api: str, **query: Any) -> Any:
        """Return the JSON of an endpoint."""
        with urllib.request.urlopen(f"{self.url}?{urlencode({'api': api, **query})}", timeout=20) as answer:
            return json.load(answer)

    def wait_for_issues(self, number: int) -> list[dict[str, Any]]:
        """Return the issues when there are so many; fails after 20 seconds."""
        until = time.monotonic() + 20
        while len(found := self.get("errors", include_context="true")["data"]) < number:
            assert time.monotonic() < until, found
            time.sleep(0.1)
        return list(found)


@pytest.fixture(scope="session")
def site(made_once: Callable[[str, Callable[[Path], None]], Path]) -> Path:
    """A folder in which the wheels are installed, without what they depend on: the test extra brings that."""

    def install(base: Path) -> None:
        ignored = shutil.ignore_patterns("*.egg-info", "build")
        for name in NAMES:
            shutil.copytree(EXTRA / f"snaglist-{name}", base / name, ignore=ignored)
        _pip("wheel", "-w", str(base / "dist"), *(str(base / name) for name in NAMES))
        _pip("install", "--target", str(base / "site"), *map(str, (base / "dist").glob("*.whl")))

    return made_once("extra", install) / "site"


def _pip(command: str, *arguments: str) -> None:
    whole = [sys.executable, "-m", "pip", command, "-q", "--no-deps", *arguments]
    done = subprocess.run(whole, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def installed(site: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let this process find the wheels, whatever it was told to be installed before."""
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.setattr(plugins, "entry_points", entry_points)
    return site


@pytest.fixture
def serving(tmp_path: Path, installed: Path, database_on: Callable[[str], Config]) -> Iterator[Callable[..., Client]]:
    """Give a client of a service with the plugins on: `serving("mariadb", sentry__rate_max_events=10)`."""
    with ExitStack() as stack:

        def make(engine: str = "sqlite", **config: Any) -> Client:
            given: dict[str, Any] = {"plugins__enabled": list(NAMES), **database_on(engine), **config}
            service = stack.enter_context(running_service(tmp_path / f"data-{engine}", **given))
            failed = {plugin.id: plugin.error for plugin in service.plugins.all() if plugin.error}
            assert failed == {}
            return Client(service)

        yield make


@pytest.fixture
def server(tmp_path: Path, site: Path) -> Iterator[Server]:
    """A real server with the plugins on."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    environ |= {"PYTHONPATH": str(site), "SERVICE_DATA": str(tmp_path / "data")}
    environ["SERVICE_PLUGINS_ENABLED"] = ",".join(NAMES)
    snaglist = Path(sys.executable).parent / "snaglist"
    process = subprocess.Popen(
        [snaglist, "serve", "--port", "0"], env=environ, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield Server(process.stdout.readline().split(" on ")[1].split()[0])
    finally:
        process.terminate()
        assert process.wait(timeout=20) == 0
        if process.stdout:
            process.stdout.close()

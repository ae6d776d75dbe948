"""What the tests of the connectors area share: folders of logs, and a client that makes and syncs connectors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel.service import Service
from snaglist.plugins.system.jobs import job as job_answers
from snaglist.testing import Client, running_service


@dataclass
class Site:
    """A client, and a folder of logs below an allowed root."""

    client: Client
    folder: Path

    @property
    def service(self) -> Service:
        return self.client.service

    def write(self, name: str, *messages: str, mode: str = "a") -> Path:
        """Add a line for each message to a file of the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode) as stream:
            stream.writelines(line(message) for message in messages)
        return path

    def make(self, name: str = "web-1", type: str = "local", **config: Any) -> dict[str, Any]:
        """Create a connector; without `config` of the folder."""
        body = {"name": name, "type": type, "config": config or {"directory": str(self.folder)}}
        answer = self.client.post("connectors", body)
        assert answer.status == 201, answer.text
        made: dict[str, Any] = answer.json
        return made

    def preview(self, connector_id: int) -> dict[str, Any]:
        answer = self.client.post("connectors-preview", {"id": connector_id})
        assert answer.status == 200, answer.text
        plan: dict[str, Any] = answer.json
        return plan

    def actions(self, connector_id: int) -> dict[str, str]:
        """The planned action of each file, by base name."""
        return {Path(file["path"]).name: file["action"] for file in self.preview(connector_id)["files"]}

    def sync(self, connector_id: int) -> dict[str, Any]:
        """Sync and return the run, which must succeed."""
        answer = self.client.post("connectors-sync", {"id": connector_id}, wait=True)
        assert answer.status == 200, answer.text
        run: dict[str, Any] = answer.json["runs"][0]
        assert run["status"] == "success", run
        return run

    def fail(self, connector_id: int, status: int = 502) -> str:
        """Sync and return with what message it failed."""
        answer = self.client.post("connectors-sync", {"id": connector_id}, wait=True)
        assert answer.status == status, answer.text
        return answer.error

    def titles(self) -> dict[str, int]:
        """How often each issue was seen."""
        rows = self.client.get("errors", limit=200).json["data"]
        return {row["title"]: row["count"] for row in rows}

    def rows(self, table: Any) -> list[Any]:
        with self.service.call().transaction(write=False) as db:
            return list(db.execute(select(table).order_by(*table.primary_key.columns)).all())


def line(message: str, level: str = "ERROR") -> str:
    """A line of a framework log."""
    at = datetime.now(UTC) - timedelta(minutes=10)
    return f"[{at:%Y-%m-%d %H:%M:%S}] production.{level}: {message}\n"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold requests with `wait` longer than for a client: on a busy machine a sync takes more than 30 seconds."""
    monkeypatch.setattr(job_answers, "WAIT_SECONDS", 120.0)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder below the only allowed root."""
    made = tmp_path / "site" / "logs"
    made.mkdir(parents=True)
    return made.resolve()


def site_of(service: Service, folder: Path) -> Site:
    service.settings._values["ingestion.allowed_roots"] = [str(folder.parent)]
    return Site(Client(service), folder)


@pytest.fixture
def site(service: Service, folder: Path) -> Site:
    """The site on each of the three databases."""
    return site_of(service, folder)


@pytest.fixture
def sqlite_site(sqlite_service: Service, folder: Path) -> Site:
    """The site on SQLite only."""
    return site_of(sqlite_service, folder)


@pytest.fixture
def own_site(fresh_data: Path, folder: Path) -> Iterator[Site]:
    """A site on SQLite that loads the plugins anew, with what the test put in their place."""
    with running_service(fresh_data) as started:
        yield site_of(started, folder)


@pytest.fixture
def make_line() -> Callable[..., str]:
    """Make a line of a framework log."""
    return line

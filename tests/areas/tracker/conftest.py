"""What the tests of the tracker share: doubles of the trackers, and a client with the area on."""

import base64
import hashlib
import hmac
import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import select, update

from snaglist.kernel import times
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.service import Service
from snaglist.plugins.issues import Event, EventSource, store_events
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system import jobs_table
from snaglist.testing import Answer, Client, running_service


def _doubles() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tracker_doubles", Path(__file__).with_name("doubles.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tracker_doubles"] = module
    spec.loader.exec_module(module)
    return module


doubles = _doubles()
LOOPBACK = "127.0.0.0/8"
SECRET = "s3cr3t-key"
KEY = doubles.KEY
VENDORS = ["linear", "github", "gitlab", "jira"]


def settings_of(provider: str, double: Any) -> dict[str, Any]:
    """Settings with which everything of the double's project is pulled."""
    given: dict[str, Any] = {"provider": provider, "endpoint_url": double.url, "enabled": True}
    given |= {"webhook_secret": SECRET}
    if provider != "generic":
        given["api_key"] = KEY
    if provider == "linear":
        given["team_key"] = "ENG"
    elif provider != "generic":
        given["project"] = double.project
    return given | ({"account": double.account} if provider == "jira" else {})


def sign(provider: str, body: bytes, secret: str = SECRET) -> dict[str, str]:
    """The headers with which a vendor sends a webhook."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256)
    if provider == "linear":
        return {"Linear-Signature": digest.hexdigest()}
    if provider == "github":
        return {"X-Hub-Signature-256": f"sha256={digest.hexdigest()}", "X-GitHub-Event": "issues"}
    if provider == "jira":
        return {"X-Hub-Signature": f"sha256={digest.hexdigest()}"}
    if provider == "gitlab":
        stamp = str(int(time.time()))
        signed = hmac.digest(secret.encode(), f"msg-1.{stamp}.".encode() + body, "sha256")
        signature = f"v1,{base64.b64encode(signed).decode()}"
        return {"webhook-id": "msg-1", "webhook-timestamp": stamp, "webhook-signature": signature}
    return {"X-Service-Signature": f"sha256={digest.hexdigest()}"}


@dataclass
class Site:
    """A service with the area on, whose jobs run when a test says so."""

    client: Client
    provider: str
    double: Any
    _bytes: int = 0

    @property
    def service(self) -> Service:
        return self.client.service

    def settings(self, **fields: Any) -> dict[str, Any]:
        answer = self.client.put("tracker-settings", settings_of(self.provider, self.double) | fields)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def run_jobs(self) -> None:
        """Run what is queued, retries as if their time had come."""
        call = self.service.call(actor=None)
        for _ in range(50):
            if not self.service.jobs.run_next(call.application, "test"):
                return
        raise AssertionError("jobs queue jobs")

    def retry_now(self) -> None:
        """Let what waits for its next attempt be due."""
        with self.service.call().transaction() as db:
            db.execute(update(jobs_table).where(jobs_table.c.status == "queued").values(run_at="2026-01-01 00:00:00"))
        self.run_jobs()

    def job(self, job_id: int) -> dict[str, Any]:
        return dict(self.client.get("jobs", id=job_id).json["data"])

    def sync(self, action: str = "pull", **body: Any) -> dict[str, Any]:
        """Do a sync here and return the result of its job, which must succeed."""
        job = self.job(self.queue(action, **body))
        assert job["status"] == "succeeded", job["error"]
        return dict(job["result"])

    def queue(self, action: str = "pull", **body: Any) -> int:
        answer = self.client.post("tracker-sync", {"action": action, **body})
        assert answer.status == 202, answer.text
        self.run_jobs()
        return int(answer.json["job_id"])

    def webhook(
        self, document: Any, headers: dict[str, str] | None = None, app: str = "default", secret: str = SECRET
    ) -> Answer:
        """Send a webhook as the vendor does; `document` is sent as it is when it is bytes."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        sent = sign(self.provider, body, secret) if headers is None else headers
        return self.client.request("POST", f"/?api=tracker-webhook&app={app}", body, sent)

    def store(self, message: str, **fields: Any) -> int:
        """Store an event; returns the id of its issue."""
        self._bytes += 10
        event = Event(message, occurred_at=fields.pop("at", times.now()), byte_start=self._bytes, **fields)
        call = self.service.call(actor=None)
        with call.transaction() as db:
            source_id = db.execute(select(log_tables.sources.c.id)).scalar() or make_source(db)
            batch = store_events(call, EventSource(source_id, None, "x/app.log"), [event])
        return batch.stored[0].issue_id

    def issue(self, issue_id: int) -> dict[str, Any]:
        return dict(self.client.get("error", id=issue_id).json)

    def issues(self, **query: Any) -> list[dict[str, Any]]:
        return list(self.client.get("errors", sort="oldest", **query).json["data"])

    def status(self, issue_id: int) -> str:
        return str(self.issue(issue_id)["data"]["status"])

    def set_status(self, issue_id: int, status: str, **body: Any) -> dict[str, Any]:
        answer = self.client.post("issue-status", {"id": issue_id, "status": status, **body})
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def history(self, issue_id: int, event: str = "tracker") -> list[dict[str, Any]]:
        return [row for row in self.issue(issue_id)["status_history"] if row["event"] == event]

    def rows(self, table: Any) -> list[Any]:
        with self.service.call().transaction(write=False) as db:
            return list(db.execute(select(table).order_by(*table.primary_key.columns)).all())


def make_source(db: Any) -> int:
    now, path = times.now(), "x/app.log"
    row = {
        "path": path, "path_hash": path, "generation": 1, "node": "", "size": 0, "offset": 0, "prefix_hash": "",
        "prefix_length": 0, "block_hash": "", "content_hash": path, "log_type": "console", "channel": "app.log",
        "family": "app", "encoding": "utf-8", "timezone": "UTC", "parser_version": 1, "status": "ok",
        "occurrence_count": 0, "imported_at": now, "created_at": now,
    }  # fmt: skip
    return int(db.execute(log_tables.sources.insert().values(row)).inserted_primary_key[0])


def site_of(service: Service, provider: str, double: Any) -> Site:
    client = Client(service)
    assert client.post("plugins", {"id": "tracker", "enabled": True}).status == 200
    return Site(client, provider, double)


@pytest.fixture
def double_of() -> Iterator[Callable[[str], Any]]:
    """Start the double of a provider: `double_of("github")`."""
    with ExitStack() as stack:
        yield lambda provider: stack.enter_context(doubles.serving(doubles.DOUBLES[provider]()))


@pytest.fixture
def site_with(fresh_data: Path, double_of: Callable[[str], Any], installed: Plugins) -> Iterator[Callable[..., Site]]:
    """Make a site on SQLite: `site_with("github", tracker__page_size=2)`."""
    with ExitStack() as stack:

        def make(provider: str = "github", *, jobs: bool = False, settings: bool = True, **config: Any) -> Site:
            config.setdefault("outbound__allow_private", [LOOPBACK])
            service = stack.enter_context(running_service(fresh_data, jobs=jobs, plugins=installed, **config))
            made = site_of(service, provider, double_of(provider))
            if settings:
                made.settings()
            return made

        yield make


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest, site_with: Callable[..., Site]) -> Site:
    """A site on SQLite with each of the vendors that can be read from."""
    return site_with(request.param, tracker__page_size=2)


@pytest.fixture
def site_on(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    database_config: dict[str, str],
    double_of: Callable[[str], Any],
    installed: Plugins,
) -> Iterator[Callable[[str], Site]]:
    """Make a site on each of the three databases: `site_on("github")`."""
    data = tmp_path / "data" if database_config else request.getfixturevalue("fresh_data")
    config = {"outbound__allow_private": [LOOPBACK], **database_config}
    with running_service(data, jobs=False, plugins=installed, **config) as service:

        def make(provider: str) -> Site:
            made = site_of(service, provider, double_of(provider))
            made.settings()
            return made

        yield make


@pytest.fixture
def site(site_on: Callable[[str], Site]) -> Site:
    """A site with GitHub on each of the three databases."""
    return site_on("github")


@pytest.fixture
def generic_site(site_on: Callable[[str], Site]) -> Site:
    """A site with the generic tracker on each of the three databases."""
    return site_on("generic")

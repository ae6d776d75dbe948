"""What the tests of access analytics share: a service that counts, log lines, and the reports."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.service import Service
from snaglist.plugins.access_analytics.tally import Tally
from snaglist.plugins.logs import FileResult, Ingestion, Reading, import_file
from snaglist.plugins.logs.identify.search import in_place
from snaglist.testing import Client

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def request_line(
    path: str = "/",
    status: int = 200,
    *,
    method: str = "GET",
    size: int = 100,
    agent: str = FIREFOX,
    address: str = "192.0.2.7",
    referrer: str = "-",
    rest: str = "",
    when: datetime | None = None,
) -> str:
    """A line of the combined format."""
    moment = (when or datetime.now(UTC)).strftime("%d/%b/%Y:%H:%M:%S %z")
    return f'{address} - - [{moment}] "{method} {path} HTTP/1.1" {status} {size} "{referrer}" "{agent}"{rest}\n'


def ago(**distance: float) -> datetime:
    """A moment before now."""
    return datetime.now(UTC) - timedelta(**distance)


class Analytics:
    """An application that counts requests."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.switch(True)

    def switch(self, on: bool) -> None:
        answer = self.client.post("plugins", {"id": "access_analytics", "enabled": on})
        assert answer.status == 200, answer.text

    def read(self, path: Path, **options: Any) -> FileResult:
        """Read a file like the command line does."""
        call = self.client.service.call()
        with call.transaction():
            rules = Ingestion.load(call).rules
        result = import_file(call, path.resolve(), Reading(rules, "UTC", **options), search=in_place(call))
        assert result.error is None, result.error
        plugins = self.client.get("plugins").json["data"]
        assert [plugin["last_error"] for plugin in plugins if plugin["id"] == "access_analytics"] == [None]
        return result

    def reindex(self) -> None:
        answer = self.client.post("reindex", {}, wait=True)
        assert answer.status == 200, answer.text

    def report(self, **query: Any) -> dict[str, Any]:
        answer = self.client.get("access-analytics", **query)
        assert answer.status == 200, answer.text
        return dict(answer.json)


@pytest.fixture(scope="session", autouse=True)
def _loaded_libraries() -> None:
    """The first request that a process counts loads libraries, and on a busy machine that makes the hook a slow one."""
    tally = Tally(lambda address, forwarded: address)
    tally.add("", "GET", "/", 200, 0, "-", FIREFOX, "192.0.2.7", "", None)


@pytest.fixture
def analytics(client: Client) -> Analytics:
    """An application that counts, on each of the three databases."""
    return Analytics(client)


@pytest.fixture
def sqlite_analytics(sqlite_client: Client) -> Analytics:
    """An application that counts, on SQLite."""
    return Analytics(sqlite_client)


@pytest.fixture
def line() -> Callable[..., str]:
    """Make a line of the combined format."""
    return request_line


@pytest.fixture
def before() -> Callable[..., datetime]:
    """Make a moment before now."""
    return ago


@pytest.fixture
def analytics_of() -> Callable[[Service], Analytics]:
    """Make the application of a service count."""
    return lambda service: Analytics(Client(service))

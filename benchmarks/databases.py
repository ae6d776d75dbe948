"""What the three databases cost: tenancy per request, and the speed of an import beside SQLite's.

python benchmarks/databases.py [--lines 30000] [--json]

Servers are found as the tests find them (`TEST_POSTGRESQL_URL`, `TEST_MYSQL_URL`); one that is not there is left
out. All engines are measured in one run, in turns: trust the ratios, not the absolute numbers.
"""

import argparse
import json
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import samples
import servers
from sqlalchemy import Connection, create_engine
from sqlalchemy.engine import make_url

from snaglist.kernel.database import Database
from snaglist.kernel.faults import Tenant
from snaglist.kernel.service import Service
from snaglist.plugins.issues import SEVERITIES
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.parsing import Reading
from snaglist.plugins.logs.read.portions import Rules
from snaglist.testing import Client, running_service

GOALS = {"postgresql": 0.6, "mariadb": 0.3}
TENANCY_GOAL = 1.10
ROUNDS = 3
REQUESTS = 600
WARMING = 50
WORDS = ("alpha", "bravo", "carbon", "delta", "ember", "forest", "garden", "harbor", "island", "jungle")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lines", type=int, default=30_000, help="lines of the imported files")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = options.parse_args()
    engines = [name for name in ("sqlite", *servers.SERVERS) if servers.answers(name)]
    with tempfile.TemporaryDirectory() as folder:
        figures = {
            "import": _imports(Path(folder), engines, chosen.lines),
            "tenancy": {name: _tenancy(Path(folder), name) for name in engines if name != "sqlite"},
        }
    if chosen.json:
        print(json.dumps(figures, indent=2))
    else:
        _show(figures)


def _imports(folder: Path, engines: list[str], lines: int) -> dict[str, dict[str, dict[str, float]]]:
    """Import a file with few and one with many different messages into each database, the engines in turns."""
    few, many = folder / "few.log", folder / "many.log"
    samples.write_monolog(few, lines, error_share=1.0)
    _write_varied(many, lines)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for title, log in (("few messages", few), ("many messages", many)):
        times: dict[str, list[float]] = {name: [] for name in engines}
        for _ in range(ROUNDS):
            for name in engines:
                with running_on(folder, name) as service:
                    times[name].append(_import(service, log))
        best = {name: min(values) for name, values in times.items()}
        found[title] = {
            name: {"lines_per_s": lines / seconds, "ratio_to_sqlite": best["sqlite"] / seconds}
            for name, seconds in best.items()
        }
    return found


def _import(service: Service, log: Path) -> float:
    call = service.call()
    begun = time.perf_counter()
    result = import_file(call, log, Reading(Rules(frozenset(SEVERITIES), 500), "UTC", final=True))
    assert result.state == "read", result.error
    return time.perf_counter() - begun


def _write_varied(path: Path, lines: int) -> None:
    """Write a log whose lines fall into some four hundred groups: nearly every one is in every batch."""
    chance = random.Random(3)
    start = datetime(2026, 1, 1)
    with path.open("w", encoding="utf-8") as out:
        for number in range(lines):
            stamp = (start + timedelta(seconds=number * 3)).strftime("%Y-%m-%d %H:%M:%S")
            first, second, third = chance.choice(WORDS), chance.choice(WORDS), chance.choice(WORDS[:4])
            out.write(f"[{stamp}] app.ERROR: Order {number} failed in {first} {second} {third} stage\n")


def _tenancy(folder: Path, name: str) -> dict[str, dict[str, float]]:
    """Send each request to the API as it is, and then with connections that know one application only."""
    with running_on(folder, name) as service:
        client = Client(service)
        made = [client.post("issues", {"title": f"issue {number}"}).json["data"]["id"] for number in range(20)]
        client.post("tags", {"name": "Issue", "match_word": "issue"})
        tenants, single = service.database, OneTenant(service)
        found: dict[str, dict[str, float]] = {}
        for query in ("api=tags", "api=errors&limit=20", f"api=error&id={made[0]}", "api=summary"):
            times: dict[Database, list[float]] = {tenants: [], single: []}
            for turn in range(-WARMING, REQUESTS):
                for service.database in (tenants, single):
                    begun = time.perf_counter()
                    answer = client.request("GET", f"/?{query}")
                    assert answer.status == 200, answer.text
                    if turn >= 0:
                        times[service.database].append(time.perf_counter() - begun)
            service.database = tenants
            ours, peer = (statistics.median(times[each]) * 1000 for each in (tenants, single))
            found[query.partition("&")[0][4:]] = {"ms": ours, "single_tenant_ms": peer, "ratio": ours / peer}
        single.dispose()
        return found


class OneTenant(Database):
    """The peer: connections whose default schema or database is the application's, and no name is translated."""

    def __init__(self, service: Service) -> None:
        super().__init__(service.settings)
        self._application = service.applications.all()[0]
        url = make_url(service.settings["database.url"])
        tenant = self._application.tenant
        if url.get_backend_name() == "postgresql":
            options: dict[str, Any] = {"connect_args": {"options": f"-c search_path={tenant} -c timezone=UTC"}}
        else:
            url = url.set(database=tenant, query={"charset": "utf8mb4"})
            options = {"isolation_level": "READ COMMITTED"}
        self._pinned = create_engine(url, pool_pre_ping=True, hide_parameters=True, **options)

    @contextmanager
    def transaction(
        self, tenant: Tenant, *, write: bool, snapshot: bool = False, durable: bool = False
    ) -> Iterator[Connection]:
        """Open a transaction, of the one application without its name."""
        if tenant.tenant != self._application.tenant:
            with super().transaction(tenant, write=write, snapshot=snapshot, durable=durable) as db:
                yield db
            return
        with self._pinned.connect() as db, db.begin():
            yield db

    def dispose(self) -> None:
        """Close all connections."""
        self._pinned.dispose()
        super().dispose()


@contextmanager
def running_on(folder: Path, name: str) -> Iterator[Service]:
    """Start a service on a database of its own, which is removed afterwards."""
    prefix = f"bench_{uuid.uuid4().hex[:8]}_"
    config: dict[str, Any] = (
        {} if name == "sqlite" else {"database__url": servers.SERVERS[name], "database__prefix": prefix}
    )
    try:
        with running_service(folder / prefix, jobs=False, **config) as service:
            yield service
    finally:
        if name != "sqlite":
            servers.drop(name, prefix)


def _show(figures: dict[str, Any]) -> None:
    for title, rows in figures["import"].items():
        print(f"{'import, ' + title:30}{'lines/s':>12}{'to SQLite':>12}{'goal':>8}")
        for name, row in rows.items():
            goal = f"{GOALS[name]:8.2f}" if name in GOALS else ""
            print(f"  {name:28}{row['lines_per_s']:12,.0f}{row['ratio_to_sqlite']:12.2f}{goal}")
    for name, rows in figures["tenancy"].items():
        print(f"{'request, ' + name:30}{'ms':>12}{'one tenant':>12}{'ratio':>8}{'goal':>8}")
        for api, row in rows.items():
            shown = f"{row['ms']:12.2f}{row['single_tenant_ms']:12.2f}{row['ratio']:8.2f}{TENANCY_GOAL:8.2f}"
            print(f"  {api:28}{shown}")


if __name__ == "__main__":
    main()

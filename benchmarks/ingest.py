"""Pushed events end to end: single-event requests and batches, on the three databases, beside a Bugsink on request.

python benchmarks/ingest.py [--seconds 10] [--engines sqlite,postgresql,mariadb] [--bugsink FOLDER] [--json]

Exception events of 12 KB that belong to 50 issues, sent by 4 clients with connections kept alive. Servers are found
as the tests find them (`TEST_POSTGRESQL_URL`, `TEST_MYSQL_URL`); one that is not there is left out. With `--bugsink`
the same events go to a Bugsink that is installed from its package into that folder. Trust the ratios.
"""

import argparse
import contextlib
import json
import os
import re
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import senders
import servers
from sqlalchemy import create_engine, text

CLIENTS = 4
ISSUES = 50
BATCH = 100
PREPARED = 4_000  # events made before the clock runs
SEARCHABLE_SECONDS = 2.0
GOALS = {"single_per_s": 440, "batch_per_s": 2_000, "bytes_per_event": 2_048, "to_digested": 20}
Request = tuple[str, str, Mapping[str, str]]
Make = Callable[[senders.Sender, int], bytes]


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=10.0, help="of each measurement")
    options.add_argument("--engines", default="sqlite,postgresql,mariadb", help="which databases")
    options.add_argument("--bugsink", type=Path, help="measure a Bugsink too; made in this folder when it is missing")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = options.parse_args()
    figures: dict[str, Any] = {}
    for engine in chosen.engines.split(","):
        if servers.answers(engine):
            with tempfile.TemporaryDirectory() as folder:
                figures[engine] = _snaglist(Path(folder) / "data", engine, chosen.seconds)
    if chosen.bugsink:
        import bugsink_peer

        with tempfile.TemporaryDirectory() as folder:
            load = partial(_load, count=1, seconds=chosen.seconds)
            figures["bugsink"] = bugsink_peer.measure(Path(folder), chosen.bugsink.resolve(), chosen.seconds, load)
    print(json.dumps(figures, indent=2)) if chosen.json else _show(figures)


def _snaglist(data: Path, engine: str, seconds: float) -> dict[str, float]:
    variables = {"SERVICE_PLUGINS": "ingest", "SERVICE_INGEST_RATE_MAX_EVENTS": str(10**9)}
    prefix = f"b{uuid.uuid4().hex[:10]}_"
    if engine != "sqlite":
        variables |= {"SERVICE_DATABASE_URL": servers.SERVERS[engine], "SERVICE_DATABASE_PREFIX": prefix}
    try:
        with _serving(data, variables) as (process, port):
            settings = _get(port, "ingest-settings")
            headers = {"Content-Type": "application/json", settings["key_header"]: settings["key"]}
            request = ("POST", "/?api=ingest", headers)
            idle = _resident(process.pid)
            before = _stored_bytes(data, engine, prefix)
            begun = _processor_ms(process.pid)
            single = _load(port, request, seconds=seconds)
            used = _processor_ms(process.pid)
            between = _stored_bytes(data, engine, prefix)
            batch = _load(port, request, count=BATCH, seconds=seconds)
            used_by_batches = _processor_ms(process.pid) - used
            sent = int(single["events"] + batch["events"])
            found = _searchable(port, sent)
            return {
                "single_per_s": single["per_s"],
                "single_p50_ms": single["p50_ms"],
                "single_p95_ms": single["p95_ms"],
                "single_cpu_ms": (used - begun) / single["events"],
                "batch_per_s": batch["per_s"],
                "batch_p50_ms": batch["p50_ms"],
                "batch_p95_ms": batch["p95_ms"],
                "batch_cpu_ms": used_by_batches / batch["events"],
                "bytes_per_event": (_stored_bytes(data, engine, prefix) - before) / sent,
                "bytes_per_single_event": (between - before) / single["events"],
                "searchable_after_s": found,
                "idle_mb": idle,
                "loaded_mb": _resident(process.pid),
            }
    finally:
        if engine != "sqlite":
            servers.drop(engine, prefix)


def _load(
    port: int, request: Request, make: Make | None = None, *, count: int = 1, seconds: float = 1.0
) -> dict[str, float]:
    """Send requests of so many events from 4 clients; returns events per second and the requests' times."""
    seed = uuid.uuid4().int % 10**9  # ids may come once only
    made: list[list[bytes]] = []
    for client in range(CLIENTS):
        sender = senders.Sender(ISSUES, seed + client)
        numbers = range(0, max(count, PREPARED // CLIENTS), count)
        made.append([make(sender, n) if make else sender.body(n, count) for n in numbers])
    times: list[list[float]] = [[] for _ in range(CLIENTS)]
    begun = time.perf_counter()
    threads = [
        threading.Thread(target=_client, args=(port, request, made[n], begun + seconds, times[n]))
        for n in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.perf_counter() - begun
    flat = sorted(one for part in times for one in part)
    cuts = statistics.quantiles(flat, n=20)
    events = len(flat) * count
    return {"events": events, "per_s": events / spent, "p50_ms": cuts[9] * 1000, "p95_ms": cuts[18] * 1000}


def _client(port: int, request: Request, bodies: list[bytes], until: float, times: list[float]) -> None:
    """Send prepared bodies round and round, each round with other ids."""
    method, address, headers = request
    turn = 0
    with contextlib.closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        while time.perf_counter() < until:
            lap, at = divmod(turn, len(bodies))
            body = bodies[at] if not lap else _with_other_ids(bodies[at], lap)
            begun = time.perf_counter()
            connection.request(method, address, body, dict(headers))
            answer = connection.getresponse()
            content = answer.read()
            times.append(time.perf_counter() - begun)
            if answer.status >= 300 or (b'"duplicates"' in content and b'"duplicates":0' not in content):
                sys.exit(f"answered {answer.status} {content[:200]!r}")
            turn += 1


def _with_other_ids(body: bytes, lap: int) -> bytes:
    return re.sub(rb'("event_id": ")[0-9a-f]{8}', rb"\g<1>%08x" % (lap * 7919), body)


def _searchable(port: int, sent: int) -> float:
    """Return how long it took until a search counted all events."""
    begun = time.perf_counter()
    while time.perf_counter() - begun < 60:
        listed = _get(port, "errors", limit="200")["data"]
        if sum(issue["count_total"] for issue in listed) == sent:
            return time.perf_counter() - begun
        time.sleep(0.05)
    sys.exit("not all events can be found")


@contextlib.contextmanager
def _serving(data: Path, variables: Mapping[str, str]) -> "Iterator[tuple[subprocess.Popen[str], int]]":
    command = [str(Path(sys.executable).parent / "snaglist"), "--data", str(data), "serve", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **variables})
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield process, int(line.split("http://127.0.0.1:")[1].split("/")[0])
    finally:
        process.terminate()
        process.wait(timeout=30)


def _get(port: int, api: str, **query: str) -> Any:
    more = "".join(f"&{name}={value}" for name, value in query.items())
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/?api={api}{more}", timeout=60) as answer:
        return json.load(answer)


def _stored_bytes(data: Path, engine: str, prefix: str) -> int:
    """Return the size of the application's database: tables and indexes."""
    if engine == "sqlite":
        with contextlib.closing(sqlite3.connect(data / "applications/default/service.sqlite")) as db:
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
            pages, free, size = (
                db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
            )
            return int((pages - free) * size)
    if engine == "postgresql":
        statement = (
            "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = :tenant AND c.relkind = 'r'"
        )
    else:
        statement = (
            "SELECT sum(stat_value) * @@innodb_page_size FROM mysql.innodb_index_stats "
            "WHERE database_name = :tenant AND stat_name = 'size'"
        )
    return int(_ask(engine, statement, tenant=f"{prefix}default"))


def _ask(engine: str, statement: str, **values: str) -> Any:
    made = create_engine(servers.SERVERS[engine], isolation_level="AUTOCOMMIT")
    try:
        with made.connect() as connection:
            return connection.execute(text(statement), values).scalar()
    finally:
        made.dispose()


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _processor_ms(pid: int) -> float:
    """Return the processor time that the server has used, which other work on the machine changes little."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) * 1000 / os.sysconf("SC_CLK_TCK")


def _show(figures: Mapping[str, Mapping[str, float]]) -> None:
    rows: list[tuple[str, str, Callable[[float], str]]] = [
        ("single_per_s", "single-event requests, events/s", lambda value: f"{value:,.0f}"),
        ("single_p50_ms", "  p50 ms", lambda value: f"{value:.1f}"),
        ("single_p95_ms", "  p95 ms", lambda value: f"{value:.1f}"),
        ("single_cpu_ms", "  processor ms per event", lambda value: f"{value:.2f}"),
        ("digested_per_s", "  digested events/s", lambda value: f"{value:,.0f}"),
        ("batch_per_s", f"batches of {BATCH}, events/s", lambda value: f"{value:,.0f}"),
        ("batch_p50_ms", "  p50 ms", lambda value: f"{value:.1f}"),
        ("batch_p95_ms", "  p95 ms", lambda value: f"{value:.1f}"),
        ("batch_cpu_ms", "  processor ms per event", lambda value: f"{value:.2f}"),
        ("bytes_per_event", "bytes stored per event", lambda value: f"{value:,.0f}"),
        ("bytes_per_single_event", "  of single-event requests", lambda value: f"{value:,.0f}"),
        ("searchable_after_s", "all found after s", lambda value: f"{value:.2f}"),
        ("idle_mb", "resident MB idle", lambda value: f"{value:.0f}"),
        ("loaded_mb", "resident MB loaded", lambda value: f"{value:.0f}"),
    ]
    print(f"{'':34}" + "".join(f"{name:>14}" for name in figures))
    for key, label, form in rows:
        if any(key in row for row in figures.values()):
            shown = (form(row[key]) if key in row else "-" for row in figures.values())
            print(f"{label:34}" + "".join(f"{one:>14}" for one in shown))
    peer = figures.get("bugsink")
    if peer:
        for name, row in figures.items():
            if name != "bugsink":
                print(f"{name}: {row['single_per_s'] / peer['digested_per_s']:.1f} x what Bugsink digests")


if __name__ == "__main__":
    main()

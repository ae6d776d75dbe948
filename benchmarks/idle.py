"""What a worker costs where many applications have nothing to do, and how soon it takes a job of another process.

python benchmarks/idle.py [--applications 1000] [--engines sqlite ...] [--against CHECKOUT] [--json]

`snaglist jobs work` runs on many applications that were never used. `first look` is the processor time of its first
round of all of them; `idle` is the share of one core in the time after that: 960 seconds, so that one of the slow
rounds of all, every 15 minutes, is part of it. `pick-up` is the time from the commit of a job, by
this process, to its start, in an application at random. `requests` are answers of `errors` a second, one after
another, over one application and over 500 in turn (of SQLite at most 256 files stay open). --against names another
checkout, such as a worktree of an earlier version: it is measured beside in the same run, on data of its own.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import servers

from snaglist.kernel.service import Service
from snaglist.plugins.system import worker_alive
from snaglist.plugins.system.registering import add_application, register_application
from snaglist.testing import Client, running_service

ROOT = Path(__file__).resolve().parents[1]
PREFIX = "bench_idle_"
JOBS = 20
REQUESTS = 1_000
IN_TURN = 500
TICKS = os.sysconf("SC_CLK_TCK")
# What must hold: percent of a core, and seconds.
GOALS = {"idle %": 2.0, "pick-up s, worst": 2.0}


def main() -> int:
    """Measure each engine with each checkout and print; exit code 1 when a goal is missed by this one."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--applications", type=int, default=1_000)
    options.add_argument(
        "--engines", nargs="+", default=["sqlite", *servers.SERVERS], choices=["sqlite", *servers.SERVERS]
    )
    options.add_argument("--seconds", type=float, default=960, help="how long the idle worker is watched")
    options.add_argument("--against", type=Path, help="another checkout to measure beside")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    options.add_argument("--one", help=argparse.SUPPRESS)  # measures one engine, with the code that is importable
    chosen = options.parse_args()
    if chosen.one:
        print(json.dumps(_measure(chosen.one, chosen.applications, chosen.seconds)))
        return 0
    figures: dict[str, dict[str, float]] = {}
    checkouts = {"": ROOT, **({" (other)": chosen.against.resolve()} if chosen.against else {})}
    for engine in filter(servers.answers, chosen.engines):
        for name, checkout in checkouts.items():
            figures[engine + name] = _with(checkout, engine, chosen)
    missed = [
        f"{engine}: {name}"
        for engine, found in figures.items()
        for name, goal in GOALS.items()
        if "(" not in engine and found[name] > goal
    ]
    if chosen.json:
        print(json.dumps({"applications": chosen.applications, "figures": figures, "missed": missed}, indent=1))
    else:
        _show(figures, missed)
    return 1 if missed else 0


def _with(checkout: Path, engine: str, chosen: Any) -> dict[str, float]:
    """Measure an engine with the code of a checkout, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "snaglist")
        package.mkdir()
        for part in ("kernel", "plugins", "schemas"):
            (package / part).symlink_to(checkout / part)
        sizes = ["--applications", str(chosen.applications), "--seconds", str(chosen.seconds)]
        done = subprocess.run(
            [sys.executable, __file__, "--one", engine, *sizes],
            env={**os.environ, "PYTHONPATH": folder},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return dict(json.loads(done.stdout))


def _measure(engine: str, applications: int, seconds: float) -> dict[str, float]:
    config: dict[str, Any] = {}
    if engine != "sqlite":
        config = {"database__url": servers.SERVERS[engine], "database__prefix": PREFIX}
        servers.drop(engine, PREFIX)
    try:
        with tempfile.TemporaryDirectory() as folder, running_service(Path(folder), jobs=False, **config) as service:
            _fill(service, applications)
            requests = {
                f"requests/s over {number}": _requests(service, number) for number in (1, min(IN_TURN, applications))
            }
            environment = {**os.environ, "SERVICE_DATA": folder, "SERVICE_LOG_LEVEL": "error"}
            environment |= {f"SERVICE_{name.replace('__', '_').upper()}": value for name, value in config.items()}
            command = [
                sys.executable,
                "-c",
                "from snaglist.plugins.start import main; main()",
                "jobs",
                "work",
                "--quiet",
            ]
            with subprocess.Popen(command, env=environment) as worker:
                try:
                    return _watch(service, worker.pid, seconds) | requests
                finally:
                    worker.terminate()
    finally:
        if engine != "sqlite":
            servers.drop(engine, PREFIX)


def _fill(service: Service, applications: int) -> None:
    """Make applications that were never used; a copy of a SQLite file costs a fraction of making its tables."""
    begun = time.perf_counter()
    first = service.applications.all()[0]
    service.database.dispose()
    for number in range(1, applications):
        name = f"app-{number:04}"
        if service.database.engine_name == "sqlite":
            made = service.applications.make(name, name, first.created_at)
            made.folder.mkdir(parents=True)
            shutil.copy(first.file, made.file)
            register_application(service, made)
        else:
            add_application(service, name)
    print(f"{applications:,} applications: made in {time.perf_counter() - begun:.0f} s", file=sys.stderr)


def _requests(service: Service, applications: int) -> float:
    """Return how many requests a second are answered, over so many applications in turn."""
    client = Client(service, checked=False)
    ids = [application.id for application in service.applications.all()[:applications]]
    for application_id in ids:  # what is looked at once only
        client.get("errors", app=application_id)
    begun = time.perf_counter()
    for application_id in islice(cycle(ids), REQUESTS):
        assert client.get("errors", app=application_id).status == 200
    return REQUESTS / (time.perf_counter() - begun)


def _watch(service: Service, pid: int, seconds: float) -> dict[str, float]:
    """Return what the worker of a process costs and how soon it takes jobs."""
    limit = time.monotonic() + 600
    while not worker_alive(service) and time.monotonic() < limit:
        time.sleep(0.2)
    quiet = 0
    while quiet < 4 and time.monotonic() < limit:  # seconds in a row with next to no work, on a busy machine too
        before = _processor_seconds(pid)
        time.sleep(1)
        quiet = quiet + 1 if _processor_seconds(pid) - before < 0.04 else 0
    first = _processor_seconds(pid)
    time.sleep(seconds)
    idle = (_processor_seconds(pid) - first) / seconds
    waits = [_pick_up(service) for _ in range(JOBS)]
    return {
        "first look CPU s": first,
        "idle %": 100 * idle,
        "pick-up s, median": statistics.median(waits),
        "pick-up s, worst": max(waits),
    }


def _pick_up(service: Service) -> float:
    """Queue a job in an application at random and wait until it is taken; returns seconds."""
    call = service.call(random.choice(service.applications.all()), None)
    with call.transaction():
        job_id = call.enqueue("import")
    begun = time.monotonic()
    while True:
        with call.transaction(write=False):
            if service.jobs.find(call, job_id)["status"] != "queued":
                return time.monotonic() - begun
        if time.monotonic() - begun > 120:
            sys.exit("the worker takes no job")
        time.sleep(0.02)


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _show(figures: dict[str, dict[str, float]], missed: list[str]) -> None:
    names = list(next(iter(figures.values())))
    print(f"{'':24}" + "".join(f"{engine:>22}" for engine in figures))
    for name in names:
        goal = f"  (at most {GOALS[name]:g})" if name in GOALS else ""
        print(f"{name:24}" + "".join(f"{found.get(name, 0):22,.2f}" for found in figures.values()) + goal)
    for each in missed:
        print(f"MISSED {each}")


if __name__ == "__main__":
    sys.exit(main())

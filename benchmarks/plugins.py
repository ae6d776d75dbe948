"""What third-party plugins cost that do nothing: at import, and at start.

python benchmarks/plugins.py [--lines 60000] [--rounds 7] [--json]

The same file is imported without and with six enabled plugins that implement every event hook and return at once, in
turns in one process, so that what else the machine does hits both alike. Two ratios: of the processor time of whole
imports (noisy: it differs by some percent between equal runs), and one plus what the calls of hooks take more in the
same runs, which is the same figure without the noise of the rest. The start is measured in processes of their own,
without plugins and with ten that have an endpoint with schemas, a table with its step, a job and a panel each. Trust
the ratios, not the absolute numbers.
"""

import argparse
import functools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import samples

from snaglist.kernel.plugins import Plugins
from snaglist.plugins.issues import SEVERITIES
from snaglist.plugins.logs import Reading, Rules, import_file
from snaglist.testing import running_service

IDLE, INSTALLED = 6, 10
EVERYTHING = Rules(frozenset(SEVERITIES), 100)

DESCRIPTION = """
from importlib.resources import files
from snaglist.kernel import Assets, Description, Endpoint, columns, hookimpl, read
from snaglist.plugins.system import Job

@hookimpl
def describe():
    return Description("{name}", "{name}", "for measuring", "Tests", "1.0")
"""
HOOKS = """
@hookimpl
def lines_read(call, batch): ...

@hookimpl
def events_storing(call, events): ...

@hookimpl
def events_stored(call, batch): ...

@hookimpl
def issue_changed(call, change): ...
"""
PARTS = """
from snaglist.plugins.system import Job
from sqlalchemy import Table

table = Table("{name}_rows", columns.metadata, columns.id_column(), columns.text("word", 80))

@hookimpl
def register_tables():
    return [table]

@hookimpl
def register_steps():
    return [("s001", lambda db: table.create(db, checkfirst=True))]

@hookimpl
def register_endpoints():
    show = read(lambda call: {{"data": []}}, "{name}.read")
    return [Endpoint("{api}", get=show, schemas=files(__name__) / "schemas")]

@hookimpl
def register_jobs():
    return [Job("{name}", lambda call: None)]

@hookimpl
def dashboard_assets():
    return [Assets("{name}", files(__name__) / "ui", "main.js")]
"""
SCHEMA = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["data"]}
BOOT = """
import sys, time
begun = time.perf_counter()
sys.path.insert(0, sys.argv[1])
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.kernel.app import create_app
service = Service(Settings({"server.data": sys.argv[2]}, environ={}))
service.start()
create_app(service)
failed = [plugin.error for plugin in service.plugins.all() if plugin.error]
assert not failed, failed
foreign = sum(plugin.distribution != "snaglist" for plugin in service.plugins.all())
print(time.perf_counter() - begun, time.process_time(), foreign)
"""


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--lines", type=int, default=60_000, help="lines of the imported file, all of them stored")
    options.add_argument("--rounds", type=int, default=7, help="runs of each measurement")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        figures = {"import": _imports(base, chosen.lines, chosen.rounds), "start": _starts(base, chosen.rounds)}
    if chosen.json:
        print(json.dumps(figures, indent=2))
        return
    imported, started = figures["import"], figures["start"]
    print(f"import with {IDLE} idle plugins  {imported['ratio']:.4f} of the processor time without (goal 1.01)")
    core, idle = imported["hooks_of_core_areas_ms"], imported["hooks_ms"]
    print(f"  in calls of hooks         {core:.1f} ms without, {idle:.1f} ms with")
    print(f"  whole imports, fastest    {imported['whole_ratio']:.4f}")
    print(f"start without plugins     {started['bare_s']:.3f} s ({started['bare_cpu_s']:.3f} s processor time)")
    print(f"start with {INSTALLED} plugins     {started['ten_s']:.3f} s ({started['ten_cpu_s']:.3f} s; goal 1 s)")


def install(folder: Path, name: str, source: str) -> None:
    """Lay out an installed distribution with one plugin."""
    package = folder / f"snaglist_{name}"
    api = name.replace("_", "-")
    (package / "schemas" / api).mkdir(parents=True)
    (package / "schemas" / api / "get-response.json").write_text(json.dumps(SCHEMA))
    (package / "ui").mkdir()
    (package / "ui" / "main.js").write_text("export default () => {};")
    (package / "__init__.py").write_text((DESCRIPTION + source).format(name=name, api=api))
    metadata = folder / f"snaglist_{name}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: snaglist-{name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[snaglist.plugins]\n{name} = snaglist_{name}\n")


def _imports(base: Path, lines: int, rounds: int) -> dict[str, Any]:
    """Import one file in turns: without plugins, with six that are idle."""
    site = base / "idle"
    names = [f"idle_{number}" for number in range(IDLE)]
    for name in names:
        install(site, name, HOOKS)
    log = base / "app.log"
    samples.write_monolog(log, lines, error_share=1.0)
    _import(base / "warm", log, [])
    sys.path.insert(0, str(site))
    found: dict[str, list[list[float]]] = {"bare": [], "idle": []}
    for number in range(rounds):
        for kind in ("bare", "idle") if number % 2 else ("idle", "bare"):
            found[kind].append(_import(base / f"{kind}{number}", log, names if kind == "idle" else []))
    sys.path.remove(str(site))
    whole, _, hooks = [statistics.median(column) for column in zip(*found["bare"], strict=True)]
    idle = [statistics.median(column) for column in zip(*found["idle"], strict=True)]
    return {
        "ratio": 1 + (idle[2] - hooks) / whole,
        "whole_ratio": min(run[0] for run in found["idle"]) / min(run[0] for run in found["bare"]),
        "hooks_ms": 1000 * idle[2],
        "hooks_of_core_areas_ms": 1000 * hooks,
    }


def _import(data: Path, log: Path, enabled: list[str]) -> list[float]:
    """Return the processor and wall seconds of one import into a new instance, and those that hooks took of them."""
    with running_service(data, jobs=False, plugins__enabled=enabled) as service, _watched_hooks() as hooks:
        call = service.call()
        begun = time.process_time(), time.perf_counter()
        result = import_file(call, log, Reading(EVERYTHING, "UTC", final=True))
        took = [time.process_time() - begun[0], time.perf_counter() - begun[1], sum(hooks)]
        assert result.state == "read", result.error
        with call.transaction(write=False) as db:
            assert all(not state.get("last_error") for state in service.plugins.states(db).values())
        return took


@contextmanager
def _watched_hooks() -> Iterator[list[float]]:
    """Give a list that gets the processor seconds of each fan-out of a hook."""
    seconds: list[float] = []
    plain = {name: getattr(Plugins, name) for name in ("emit", "chain")}

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*arguments: Any, **named: Any) -> Any:
            begun = time.thread_time()
            try:
                return function(*arguments, **named)
            finally:
                seconds.append(time.thread_time() - begun)

        return run

    for name, function in plain.items():
        setattr(Plugins, name, watched(function))
    try:
        yield seconds
    finally:
        for name, function in plain.items():
            setattr(Plugins, name, function)


def _starts(base: Path, rounds: int) -> dict[str, float]:
    """Start on existing data without plugins and with ten, each in a process of its own."""
    (base / "none").mkdir()
    for number in range(INSTALLED):
        install(base / "ten", f"part_{number}", HOOKS + PARTS)
    found: dict[str, list[list[float]]] = {"none": [], "ten": []}
    for _ in range(rounds + 1):
        for kind in found:
            command = [sys.executable, "-c", BOOT, str(base / kind), str(base / f"data-{kind}")]
            shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
            found[kind].append([float(shown[0]), float(shown[1])])
            assert int(shown[2]) == (INSTALLED if kind == "ten" else 0)
    bare, ten = ([min(column) for column in zip(*runs[1:], strict=True)] for runs in found.values())
    return {"bare_s": bare[0], "bare_cpu_s": bare[1], "ten_s": ten[0], "ten_cpu_s": ten[1]}


if __name__ == "__main__":
    main()

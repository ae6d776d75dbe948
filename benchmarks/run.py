"""Every figure of snaglist in one run, each beside a named peer: trust the ratios, not the absolute numbers.

python benchmarks/run.py [--lines 200000] [--json]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import load
import samples

BINARIES = Path(sys.executable).parent


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lines", type=int, default=200_000, help="lines of the imported file")
    options.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = options.parse_args()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        figures["import"] = {
            name: _import(base / name, base / f"{name}.log", chosen.lines, share)
            for name, share in (("stored", 1.0), ("filtered", 0.0))
        }
        figures["serve"], figures["requests"] = _requests(base / "stored")
    if chosen.json:
        print(json.dumps(figures, indent=2))
    else:
        _show(figures)


def _import(data: Path, log: Path, lines: int, share: float) -> dict[str, float]:
    """Import a file end to end, and parse the same file without storing."""
    samples.write_monolog(log, lines, error_share=share)
    bare = _timed(lambda: samples.parse(log))
    whole = _timed(lambda: _run("--data", str(data), "--quiet", "--json", "import", str(log)))
    idle = _timed(lambda: _run("key"))
    return {
        "lines_per_s": lines / (whole - idle),
        "bare_parse_lines_per_s": lines / bare,
        "ratio_to_bare_parse": bare / (whole - idle),
        "stored_share": share,
    }


def _requests(data: Path) -> tuple[dict[str, float], dict[str, Any]]:
    """Start the server on the imported data and ask it, beside a hello endpoint."""
    for name in ("Payments", "Database", "Mail"):
        _tag(data, name)
    begun = time.perf_counter()
    server, port = _start([str(BINARIES / "snaglist"), "--data", str(data), "serve", "--port", "0"])
    serve = {"ready_s": time.perf_counter() - begun}
    peer, peer_port = _start([sys.executable, str(Path(__file__).with_name("hello.py"))])
    try:
        time.sleep(2)
        serve["idle_mb"] = _resident(server.pid)
        found = {"hello": load.measure(peer_port, "/")}
        for name in ("tags", "errors", "summary"):
            found[name] = load.measure(port, f"/?api={name}")
        for name in ("tags", "errors", "summary"):
            found[name]["ratio_to_hello"] = found[name]["requests_per_s"] / found["hello"]["requests_per_s"]
        serve["loaded_mb"] = _resident(server.pid)
    finally:
        for process in (server, peer):
            process.terminate()
            process.wait(timeout=20)
    return serve, found


def _tag(data: Path, name: str) -> None:
    from snaglist.testing import Client, running_service

    with running_service(data, jobs=False) as service:
        Client(service).post("tags", {"name": name})


def _start(command: list[str]) -> tuple[subprocess.Popen[str], int]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    line = process.stdout.readline()
    return process, int(line.split("http://127.0.0.1:")[1].split("/")[0])


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _run(*arguments: str) -> None:
    subprocess.run([str(BINARIES / "snaglist"), *arguments], check=True, stdout=subprocess.DEVNULL)


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _show(figures: dict[str, Any]) -> None:
    print(f"{'import, monolog file':28}{'lines/s':>12}{'bare parse':>12}{'ratio':>8}")
    for name, row in figures["import"].items():
        speeds = f"{row['lines_per_s']:12,.0f}{row['bare_parse_lines_per_s']:12,.0f}"
        print(f"  {name:26}{speeds}{row['ratio_to_bare_parse']:8.2f}")
    print(f"\n{'requests, 4 connections':28}{'requests/s':>12}{'p50 ms':>12}{'p95 ms':>12}{'to hello':>10}")
    for name, row in figures["requests"].items():
        ratio = row.get("ratio_to_hello", 1.0)
        print(f"  {name:26}{row['requests_per_s']:12,.0f}{row['p50_ms']:12.1f}{row['p95_ms']:12.1f}{ratio:10.2f}")
    serve = figures["serve"]
    memory = f"{serve['idle_mb']:.0f} MB idle, {serve['loaded_mb']:.0f} MB after the load"
    print(f"\nserve: ready in {serve['ready_s']:.2f} s, {memory}")


if __name__ == "__main__":
    main()

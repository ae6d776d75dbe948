"""Measure access analytics beside GoAccess on the same file in the same run, and compare their totals.

python benchmarks/access.py [--lines 1000000] [--json]

Figures are lines per second of CPU time, start included. GoAccess runs as Debian ships it, one thread: `default` with
all its panels, `lean` without query strings and with the panels of visitors, requests, not-found and statuses only. It
keeps every client and request exactly, so that its memory grows with them; snaglist keeps sketches and templates of
paths. Its totals are taken from a run of its own that lists every request (`--max-items`), because its methods stand
at requests only: those of pages, static files and not-found ones together (it tells requests apart by hashes of 32
bits, so with hundreds of thousands of distinct ones a few are taken for others). The import stores a tenth of the lines
into the hourly sums of an application on SQLite; errors among them become issues. Trust the ratios.
"""

import argparse
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BINARIES = Path(sys.executable).parent
AGENTS = (
    "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5"
    " Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "curl/8.5.0",
)
PAGES = ("/", "/cart", "/login", "/static/app.js", "/orders/{n}", "/products/{n}/reviews?page={n}", "/search?q=w{n}")
LEAN = ("HOSTS", "OS", "BROWSERS", "REQUESTS_STATIC", "VISIT_TIMES", "REFERRERS", "REFERRING_SITES", "KEYPHRASES")
STATUSES = (200,) * 14 + (304, 302, 404, 404, 500, 503)
METHODS = ("GET",) * 8 + ("POST", "HEAD")


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lines", type=int, default=1_000_000)
    options.add_argument("--json", action="store_true", help="print one JSON document")
    chosen = options.parse_args()
    if shutil.which("goaccess") is None:
        sys.exit("goaccess is missing: install the package of that name")
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        log = base / "access.log"
        write(log, chosen.lines)
        small = base / "small.log"
        write(small, chosen.lines // 10)
        figures = measure(base, log, small, chosen.lines)
    if chosen.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:32} {value:,.2f}" if isinstance(value, float) else f"{name:32} {value}")
    if figures["differences"]:
        sys.exit("the totals differ")


def write(log: Path, lines: int) -> None:
    """Write a log of the combined format: three days, 50,000 clients, some 6,000 distinct targets."""
    chance = random.Random(7)
    start = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
    step = timedelta(days=2, hours=23) / lines
    with log.open("w") as target:
        for number in range(lines):
            stamp = (start + step * number).strftime("%d/%b/%Y:%H:%M:%S +0000")
            client = chance.randrange(50_000)
            path = chance.choice(PAGES).replace("{n}", str(chance.randrange(2_000)))
            target.write(
                f"10.{client >> 12}.{client >> 6 & 63}.{client & 63} - - [{stamp}]"
                f' "{chance.choice(METHODS)} {path} HTTP/1.1" {chance.choice(STATUSES)} {chance.randrange(50_000)}'
                f' "-" "{AGENTS[client % len(AGENTS)]}"\n'
            )


def measure(base: Path, log: Path, small: Path, lines: int) -> dict[str, Any]:
    """Run both on the file, and the import."""
    report = base / "goaccess.json"
    goaccess = ["goaccess", str(log), "--log-format=COMBINED", "--no-progress", "--no-global-config", "-o", str(report)]
    peer_s, peer_mb, _ = run(goaccess)
    lean_s, lean_mb, _ = run([*goaccess, "--no-query-string", *(f"--ignore-panel={panel}" for panel in LEAN)])
    run([*goaccess, f"--max-items={lines}"])
    snaglist = [str(BINARIES / "snaglist"), "--data", str(base / "none"), "--json", "access"]
    own_s, own_mb, output = run([*snaglist, str(log)])
    _, small_mb, _ = run([*snaglist, str(small)])
    data = base / "data"
    command = [str(BINARIES / "snaglist"), "--data", str(data), "--quiet"]
    run([*command, "plugins", "enable", "access_analytics"])
    import_s, import_mb, _ = run([*command, "--json", "import", str(small)])
    own, peer = totals_of(json.loads(output)), totals_of_goaccess(json.loads(report.read_text()))
    return {
        "lines": lines,
        "goaccess_default_lines_per_s": lines / peer_s,
        "goaccess_lean_lines_per_s": lines / lean_s,
        "snaglist_access_lines_per_s": lines / own_s,
        "ratio_to_default": peer_s / own_s,
        "ratio_to_lean": lean_s / own_s,
        "goaccess_default_mb": peer_mb,
        "goaccess_lean_mb": lean_mb,
        "snaglist_access_mb": own_mb,
        "snaglist_access_mb_tenth": small_mb,
        "import_lines_per_s": lines // 10 / import_s,
        "import_mb": import_mb,
        "differences": {name: (own[name], peer.get(name)) for name in own if own[name] != peer.get(name)},
    }


def run(command: Sequence[str]) -> tuple[float, float, bytes]:
    """Run a command; returns seconds of CPU time, megabytes of memory at most, and what it printed."""
    program = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],check=True);" + (
        "u=resource.getrusage(resource.RUSAGE_CHILDREN);print(u.ru_utime+u.ru_stime,u.ru_maxrss,file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr.decode()[-500:]}")
    seconds, kilobytes = done.stderr.split()[-2:]
    return float(seconds), int(kilobytes) / 1024, done.stdout


def totals_of(report: dict[str, Any]) -> dict[str, Any]:
    """Return what both must agree on, from the report of snaglist."""
    return {
        "hits": report["total"],
        "bytes": report["bytes"],
        "statuses": {str(row["status"]): row["count"] for row in report["statuses"]},
        "classes": {row["class"]: row["count"] for row in report["status_classes"] if row["count"]},
        "methods": {row["method"]: row["count"] for row in report["methods"]},
    }


def totals_of_goaccess(report: dict[str, Any]) -> dict[str, Any]:
    """Return the same from the report of GoAccess; its methods stand at each request."""
    panels = report["status_codes"]["data"]
    methods: Counter[str] = Counter()
    for panel in ("requests", "static_requests", "not_found"):
        for row in report.get(panel, {}).get("data", ()):
            methods[row["method"]] += row["hits"]["count"]
    return {
        "hits": report["general"]["valid_requests"],
        "bytes": report["general"]["bandwidth"],
        "statuses": {item["data"][:3]: item["hits"]["count"] for panel in panels for item in panel["items"]},
        "classes": {panel["data"][:3]: panel["hits"]["count"] for panel in panels},
        "methods": dict(methods),
    }


if __name__ == "__main__":
    main()

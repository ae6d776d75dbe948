"""Sample logs of a small web shop, in five formats, with times of the last day."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

Clock = Callable[[float], datetime]

_JAVA_TRACE = """java.lang.IllegalStateException: Report {number} has no rows
\tat shop.reports.Renderer.render(Renderer.java:88)
\tat shop.reports.Nightly.run(Nightly.java:41)
\tat java.base/java.lang.Thread.run(Thread.java:1583)
Caused by: java.sql.SQLTransientConnectionException: database pool is exhausted after {wait} ms
\tat shop.storage.Pool.take(Pool.java:130)
\tat shop.reports.Renderer.load(Renderer.java:61)
\t... 2 more
"""
_PYTHON_TRACE = """Traceback (most recent call last):
  File "/srv/shop/workers/mailer.py", line 57, in deliver
    connection.send(message)
  File "/srv/shop/workers/smtp.py", line 23, in send
    raise SmtpRefused(reply)
workers.smtp.SmtpRefused: 451 try again later
"""


def write_samples(folder: Path, now: datetime | None = None) -> None:
    """Write the sample logs into a folder."""
    end = (now or datetime.now(UTC)).replace(microsecond=0)

    def before(minutes: float) -> datetime:
        return end - timedelta(minutes=minutes)

    samples: dict[str, Callable[[Clock], Iterator[tuple[datetime, str]]]] = {
        "shop.log": _framework,
        "queue.jsonl": _queue,
        "access.log": _access,
        "reports.log": _reports,
        "syslog": _system,
    }
    for name, make in samples.items():
        entries = sorted(make(before), key=lambda entry: entry[0])
        (folder / name).write_text("".join(text for _, text in entries), encoding="utf-8")


def _framework(before: Clock) -> Iterator[tuple[datetime, str]]:
    """A PHP framework log with context."""
    for n in range(24):
        at = before(1400 - n * 55)
        yield at, f'[{at:%Y-%m-%d %H:%M:%S}] production.INFO: Order {4700 + n} placed {{"user":{n % 7}}}\n'
    for n in range(9):
        at = before(1200 - n * 120)
        context = json.dumps({"order": 4711 + n, "gateway": "cards"})
        message = f"Payment of order {4711 + n} failed: gateway timeout after {3000 + n * 7} ms"
        yield at, f"[{at:%Y-%m-%d %H:%M:%S}] production.ERROR: {message} {context}\n"
    for n in range(4):
        at = before(800 - n * 190)
        yield at, f"[{at:%Y-%m-%d %H:%M:%S}] production.WARNING: Cart {900 + n} kept {40 + n} items for over a day []\n"
    at = before(35)
    yield at, f"[{at:%Y-%m-%d %H:%M:%S}] production.CRITICAL: Stock of article 118 is negative (-3) []\n"


def _queue(before: Clock) -> Iterator[tuple[datetime, str]]:
    """A queue worker that writes JSON."""
    for n in range(14):
        at = before(1300 - n * 90)
        failed = n % 3 == 0
        record = {
            "timestamp": at.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "level": "error" if failed else "info",
            "logger": "mailer",
            "message": f"Mail {8800 + n} could not be delivered" if failed else f"Mail {8800 + n} delivered",
        }
        if failed:
            record["exception"] = _PYTHON_TRACE
        yield at, json.dumps(record) + "\n"


def _access(before: Clock) -> Iterator[tuple[datetime, str]]:
    """A web server's access log; the paths that fail are few."""
    agent = "Mozilla/5.0 (X11; Linux x86_64)"
    for n in range(160):
        at = before(1430 - n * 8.5)
        path, status = f"/articles/{n % 23}", 200
        if n % 31 == 7:
            path, status = f"/orders/{5000 + n}/pay", 502
        elif n % 47 == 11:
            path, status = "/search?q=blue+lamp", 500
        elif n % 13 == 5:
            path, status = f"/old/{n}", 404
        client, stamp = f"203.0.113.{n % 40}", at.strftime("%d/%b/%Y:%H:%M:%S +0000")
        yield at, f'{client} - - [{stamp}] "GET {path} HTTP/1.1" {status} 512 "-" "{agent}"\n'


def _reports(before: Clock) -> Iterator[tuple[datetime, str]]:
    """A Java service that writes to the console, with stack traces."""
    for n in range(6):
        at = before(1350 - n * 230)
        yield at, f"{at:%Y-%m-%d %H:%M:%S} INFO  [nightly] Report {60 + n} started\n"
        at += timedelta(seconds=40)
        trace = _JAVA_TRACE.format(number=60 + n, wait=30_000 + n)
        yield at, f"{at:%Y-%m-%d %H:%M:%S} ERROR [nightly] Report {60 + n} failed\n{trace}"


def _system(before: Clock) -> Iterator[tuple[datetime, str]]:
    """The system log of a host."""
    for n in range(12):
        at = before(1380 - n * 110)
        yield at, f"<30>1 {at:%Y-%m-%dT%H:%M:%SZ} web-1 cron {900 + n} - - (root) CMD (run-parts /etc/cron.hourly)\n"
    for n in range(5):
        at = before(1000 - n * 210)
        text = f"postgres {700 + n} - - database checkpoint failed: no space left"
        yield at, f"<11>1 {at:%Y-%m-%dT%H:%M:%SZ} web-1 {text}\n"
    for n in range(3):
        at = before(600 - n * 150)
        yield at, f"<12>1 {at:%Y-%m-%dT%H:%M:%SZ} web-1 kernel - - - core {n}: temperature above threshold\n"

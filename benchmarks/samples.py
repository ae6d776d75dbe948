"""Log files to measure with, the same in every run."""

import random
from datetime import datetime, timedelta
from pathlib import Path

from snaglist.plugins.logs.parsers import Reader

_CAUSES = ("gateway timeout", "connection refused", "disk full", "invalid signature", "record locked", "quota used up")
_DONE = ("Order {} paid", "Mail {} sent", "User {} signed in", "Cache key {} renewed", "Job {} finished")


def write_monolog(path: Path, lines: int, *, error_share: float) -> None:
    """Write a Monolog file with a share of error lines; the rest is INFO."""
    chance = random.Random(7)
    start = datetime(2026, 1, 1)
    with path.open("w", encoding="utf-8") as out:
        for number in range(lines):
            stamp = (start + timedelta(seconds=number * 3)).strftime("%Y-%m-%d %H:%M:%S")
            if chance.random() < error_share:
                text = f"Order {chance.randrange(10**6)} failed in step {number % 40}x: {chance.choice(_CAUSES)}"
                out.write(f'[{stamp}] production.ERROR: {text} {{"order":{number}}}\n')
            else:
                out.write(f"[{stamp}] production.INFO: {chance.choice(_DONE).format(number)} []\n")


def parse(path: Path) -> int:
    """Parse a file and throw the events away: what an import cannot be faster than. Returns their number."""
    content = path.open("rb")
    with content:
        first = content.read(65536)
        reader = Reader(first, modified_at="2026-02-01 00:00:00", now="2026-02-01 00:00:00", channel=path.name)
        count = len(reader.feed(first))
        while chunk := content.read(1 << 20):
            count += len(reader.feed(chunk))
        return count + len(reader.close())

"""What applications send: exception events of about 12 KB that belong to a given number of issues."""

import json
import random
import uuid
from datetime import UTC, datetime
from typing import Any

BYTES = 12_000
FRAMES = 24
_WORDS = ("alpha", "bravo", "carbon", "delta", "ember", "forest", "garden", "harbor", "island", "jungle", "kettle")


class Sender:
    """Makes events; each differs from the others of its issue in ids, values and local variables."""

    def __init__(self, issues: int = 50, seed: int = 7) -> None:
        self._issues = issues
        self._random = random.Random(seed)

    def event(self, number: int) -> dict[str, Any]:
        """Return the event of a number."""
        chance = self._random
        issue = number % self._issues
        kind = f"{_WORDS[issue % len(_WORDS)].title()}{chr(65 + issue // len(_WORDS))}Error"
        lines = ["Traceback (most recent call last):"]
        for frame in range(FRAMES):
            own = frame % 3 == 0
            path = f"/srv/shop/{_WORDS[(issue + frame) % 11]}/module_{issue}_{frame}.py"
            path = path if own else f"/usr/lib/python3.12/site-packages/{_WORDS[frame % 11]}/core_{frame}.py"
            lines.append(f'  File "{path}", line {100 + frame * 7 + issue}, in step_{issue}_{frame}')
            lines.append(f"    result = self.{_WORDS[frame % 11]}(request, order, retry={frame}, timeout=30.0)")
        lines.append(f"{kind}: order {chance.randrange(10**6)} failed after {chance.randrange(9000)} ms")
        variables = {
            f"frame_{frame}": {
                "self": f"<shop.{_WORDS[frame % 11]}.Handler object at 0x7f{chance.randrange(16**10):010x}>",
                "order": chance.randrange(10**6),
                "amount": f"{chance.randrange(10**5) / 100:.2f}",
                "state": chance.choice(_WORDS),
                "items": [f"sku-{chance.randrange(500)}" for _ in range(4)],
            }
            for frame in range(FRAMES)
        }
        event: dict[str, Any] = {
            "event_id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
            "timestamp": datetime.now(UTC).isoformat(),
            "level": "error",
            "message": f"Order {chance.randrange(10**6)} failed",
            "exception_class": kind,
            "stack": "\n".join(lines),
            "environment": "production",
            "release": f"v2.{number % 5}.0",
            "server_name": f"web-{number % 4}",
            "request": {
                "method": "POST",
                "url": f"https://shop.example.com/orders/{chance.randrange(10**6)}",
                "headers": {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64)", "Accept": "application/json"},
            },
            "user": {"id": chance.randrange(10**5)},
            "context": {"variables": variables},
        }
        missing = BYTES - len(json.dumps(event))
        pieces: list[str] = []
        while missing > 0:  # the same module list that every event of an application carries
            at = len(pieces)
            piece = f"{_WORDS[at % 11]}-{_WORDS[(at // 11) % 11]}=={at % 7}.{at % 10}.0"
            pieces.append(piece)
            missing -= len(piece) + 4
        event["context"]["modules"] = pieces
        return event

    def body(self, number: int, count: int = 1) -> bytes:
        """Return the body of a request of so many events."""
        events = [self.event(number + more) for more in range(count)]
        return json.dumps({"events": events} if count > 1 else events[0]).encode()

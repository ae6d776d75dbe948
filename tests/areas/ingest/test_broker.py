"""A broker between senders and storage: a real NATS server, on every database (api.md §32, `ingest.broker`)."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.testing import Client, running_service


@pytest.fixture
def sender_by(request: pytest.FixtureRequest, tmp_path: Path, broker: Any) -> Iterator[Callable[..., Any]]:
    """Make a sender of a service with this broker: `sender_by(jobs=False, database__url=…)`."""
    from conftest import Sender  # type: ignore[import-not-found]

    with ExitStack() as stack:

        def make(**config: Any) -> Any:
            given = {"ingest__broker": broker.url, **config}
            return Sender(Client(stack.enter_context(running_service(tmp_path / "data", **given))))

        yield make


def eventually(found: Callable[[], Any], wanted: Any, seconds: float = 10) -> None:
    until = time.monotonic() + seconds
    while (seen := found()) != wanted and time.monotonic() < until:
        time.sleep(0.02)
    assert seen == wanted


def test_first(sender_by: Any, broker: Any) -> None:
    s = sender_by()
    t=time.time()
    print(s.accepted([{"message": "one"}, {"message": "two", "event_id": "a"}, {"message": ""}]))
    print(time.time()-t)
    eventually(lambda: s.count("occurrences"), 2)
    print(time.time()-t, broker.waiting())

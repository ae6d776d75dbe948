"""What requests remember holds for a second at most, and not at all in the process that changed it."""

import time
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.logs.pushing.context import Pruner, redacted_names
from snaglist.testing import Client, running_service

EVENT = b'{"message": "boom"}'
REDACTED = redacted_names(["password", "set-cookie"])
NAMES = st.sampled_from(["a", "b", "password", "Set_Cookie", "é", "nul\0", "x" * 201])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3), max_leaves=20
)


def until(answered: Any, status: int) -> None:
    ends = time.monotonic() + 10
    while answered().status != status:
        assert time.monotonic() < ends
        time.sleep(0.05)


def push(client: Client, key: str) -> Any:
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    return client.request("POST", "/?api=ingest", EVENT, headers)


def test_a_new_key_holds_at_once_here_and_soon_elsewhere(sqlite_sender: Any, fresh_data: Path) -> None:
    with running_service(fresh_data, jobs=False) as other:
        old, there = sqlite_sender.key, Client(other)
        until(lambda: push(there, old), 202)
        new = sqlite_sender.client.post("ingest-settings", {"action": "regenerate"}).json["key"]
        assert push(sqlite_sender.client, old).status == 401
        assert push(sqlite_sender.client, new).status == 202
        until(lambda: push(there, old), 401)
        assert push(there, new).status == 202


def test_a_switch_holds_at_once_here_and_soon_elsewhere(sqlite_sender: Any, fresh_data: Path) -> None:
    with running_service(fresh_data, jobs=False) as other:
        key, there = sqlite_sender.key, Client(other)
        until(lambda: push(there, key), 202)
        sqlite_sender.client.post("plugins", {"id": "ingest", "enabled": False})
        assert push(sqlite_sender.client, key).status == 404
        until(lambda: push(there, key), 404)
        sqlite_sender.client.post("plugins", {"id": "ingest", "enabled": True})
        assert push(sqlite_sender.client, key).status == 202
        until(lambda: push(there, key), 202)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_a_context_that_is_not_copied_is_what_its_copy_is(values: dict[str, Any]) -> None:
    """Once the names are known to be usual, the short way gives the same text, or is not taken."""
    first, second = Pruner(REDACTED), Pruner(REDACTED)
    slow = first.text(values)
    assert second.text(values) == slow and first.cut == second.cut

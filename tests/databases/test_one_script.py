"""One fixed script of requests has the same answers on every database."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snaglist.testing import Client, running_service

FEWEST = 200


def test_check_39(database_on: Callable[[str], dict[str, str]], tmp_path: Path, script: Any) -> None:
    """Request by request: status and body, ids and times masked."""
    transcripts = {}
    for engine in ("sqlite", "postgresql", "mariadb"):
        with running_service(tmp_path / engine, **database_on(engine)) as service:
            transcripts[engine] = script(Client(service), "default").run()
    expected = transcripts.pop("sqlite")
    assert len(expected) >= FEWEST
    for engine, transcript in transcripts.items():
        for ours, theirs in zip(expected, transcript, strict=True):
            assert json.dumps(theirs) == json.dumps(ours), engine

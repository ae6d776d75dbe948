"""Where reading is cut into transactions."""

from types import SimpleNamespace
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.read import portions


def event(start: int, end: int) -> Event:
    made = Event("x", severity="ERROR")
    made.byte_start, made.byte_end = start, end
    return made


RULES: Any = SimpleNamespace(keep=lambda event: True, filters=lambda event: False)


@pytest.mark.parametrize("before", [1, 3])
def test_a_checkpoint_never_lies_within_an_entry_that_began_earlier(monkeypatch: Any, before: int) -> None:
    """An interrupted import goes on at a checkpoint: the header of the next entry may not be in front of it."""
    monkeypatch.setattr(portions, "MAX_STORED", before + 1)
    plain = [event(n * 10, n * 10 + 9) for n in range(before)]
    start = before * 10
    woven = [event(start, start + 50), event(start + 10, start + 60), event(start + 20, start + 30)]
    behind = [event(start + 60, start + 69), event(start + 70, start + 79)]
    cut = list(portions.portions([[*plain, *woven], behind], RULES))
    assert [len(portion.read) for portion in cut[:1]] == [before + 3]
    assert cut[0].end == start + 60
    assert sum(len(portion.read) for portion in cut) == before + 5

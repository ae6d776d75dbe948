"""Families of messages of real applications: which words are values and which say what happened.

A false merge hides an issue, so the families whose words say what happened are the longer list.
"""

import json
import random
from pathlib import Path

import pytest

from snaglist.plugins.issues.grouping import template
from snaglist.plugins.issues.learning import Model

# By pattern: `{}` takes the words, `{v}` numbers.
FAMILIES = json.loads(Path(__file__).parents[2].joinpath("cases", "messages", "families.json").read_text("utf-8"))
SAID: dict[str, str] = FAMILIES["said"]
NAMED: dict[str, str] = FAMILIES["named"]


def groups(pattern: str, words: list[str]) -> dict[str, set[str]]:
    """Return the words by group, each word six times with other numbers."""
    rng = random.Random(3)
    rows = [
        (word, template(pattern.replace("{v}", str(rng.randint(2, 99_999))).replace("{}", word)))
        for word in words
        for _ in range(6)
    ]
    model = Model()
    model.add(("-|text||", text) for _, text in rows)
    found: dict[str, set[str]] = {}
    for word, text in rows:
        found.setdefault(model.group("-|text||", text), set()).add(word)
    return found


@pytest.mark.parametrize(("pattern", "words"), SAID.items())
def test_words_that_say_what_happened_are_kept_apart(pattern: str, words: str) -> None:
    """Verbs, outcomes, reasons, states, codes and parts of a thing are never merged, each is one issue."""
    listed = words.split(", ")
    assert sorted(map(sorted, groups(pattern, listed).values())) == sorted([word] for word in listed)


@pytest.mark.parametrize(("pattern", "words"), NAMED.items())
def test_names_are_one_issue(pattern: str, words: str) -> None:
    """Users, hosts, tenants, queues, currencies and services are values."""
    assert len(groups(pattern, words.split(", "))) == 1

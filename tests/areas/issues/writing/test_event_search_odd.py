"""Events with odd texts in them are found as others are: alike on the three databases."""

import csv
import io
import json
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.testing import Client

pytestmark = pytest.mark.servers

LONG = ("недействительнаяпоследовательность", "日本語の文章がここにありますから見つかる", "größer-" * 7 + "ende")
ODD = {"half": "a\ud800b", "zero": "c\0d", "flag": True, "no": False}


@pytest.fixture
def odd(desk: Any) -> Client:
    """A client of a database with words in other letters, and with a context that no text can hold."""
    texts = [f"Key {n} refused: {word}" for n, word in enumerate(LONG)]
    desk.store(
        *(
            Event(text, occurred_at=f"2026-01-03 10:00:0{n}", template="Key {n} refused: {word}")
            for n, text in enumerate(texts)
        ),
        Event(
            "Key 7 refused: x",
            context=json.dumps(ODD),
            occurred_at="2026-01-03 10:00:09",
            template="Key {n} refused: {word}",
        ),
    )
    return Client(desk.service)


@pytest.mark.parametrize("word", LONG)
def test_long_words_in_any_letters_are_found(odd: Client, word: str) -> None:
    for text in (word, f'value:"{word}"', f"{word[:20]}*", f'"refused: {word}"'):
        (event,) = odd.get("events", id=1, q=text).json["data"]
        assert word in event["message"], text
        assert [issue["matching"] for issue in odd.get("errors", q=text).json["data"]] == [
            {"events": 1, "exact": True}
        ], text
    assert odd.get("events", id=1, q=word[:-1]).json["data"] == []


def test_what_a_context_holds_is_shown_counted_found_and_exported(odd: Client) -> None:
    (event,) = odd.get("events", id=1, q="7").json["data"]
    assert event["fields"] == {"half": "a\ufffdb", "zero": "c\ufffdd", "flag": "true", "no": "false"}
    for name, value in event["fields"].items():
        assert len(odd.get("events", id=1, value=f"{name}={value}").json["data"]) == 1, name
        assert odd.get("event-values", id=1, value=f"{name}={value}").json["meta"]["events"] == 1, name
    lines = odd.get("events", id=1, format="ndjson").text.splitlines()
    assert json.loads(lines[0])["fields"] == event["fields"] and len(lines) == 4
    rows = list(csv.DictReader(io.StringIO(odd.get("events", id=1, format="csv").text)))
    assert rows[0]["value: half"] == "a\ufffdb"

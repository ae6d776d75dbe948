"""Who a pushed event happened to: an id, else a name, else an address, and never what is redacted."""

from typing import Any

import pytest

SAID: list[tuple[Any, str | None]] = [
    ({"email": "jo@example.com", "username": "jo", "id": 7}, "7"),
    ({"email": "jo@example.com", "name": "Jo"}, "Jo"),
    ({"ip_address": "10.0.0.7", "email": "jo@example.com"}, "jo@example.com"),
    ({"ip_address": "10.0.0.7"}, "10.0.0.7"),
    (" jo ", "jo"),
    (8, "8"),
    ({"id": " ", "plan": "free"}, None),
    (True, None),
    (["jo"], None),
    ("", None),
]


def users(sender: Any) -> list[str | None]:
    """Return who each event happened to, as the list of events shows it, in the order of sending."""
    (issue,) = sender.issues()
    found = sender.client.get("events", id=issue["id"], limit=100).json["data"]
    return [event["user"] for event in sorted(found, key=lambda event: event["id"])]


def test_the_surest_name_is_taken(sqlite_sender: Any) -> None:
    sender = sqlite_sender
    sender.accepted([{"message": "boom", "user": given} for given, _ in SAID])
    assert users(sender) == [known_as for _, known_as in SAID]
    (issue,) = sender.issues()
    assert issue["users"] == len({known_as for _, known_as in SAID if known_as})
    assert [found["id"] for found in sender.issues(user="jo@example.com")] == [issue["id"]]
    assert sender.issues(user="jo") and not sender.issues(user="Jo Doe")


def test_a_long_context_hides_nobody(sqlite_sender: Any) -> None:
    sender = sqlite_sender
    sender.accepted({"message": "boom", "user": {"id": 7}, "context": {"text": "x" * 50_000}})
    assert users(sender) == ["7"]


@pytest.mark.parametrize(
    ("settings", "known_as"),
    [
        ({"redact_keys": ["email"]}, None),
        ({"redact_keys": ["user"]}, None),
        ({"redact_patterns": ["email"]}, "[redacted]"),
        ({"user_keys": []}, None),
        ({"user_keys": ["customer"]}, "c-1"),
    ],
    ids=str,
)
def test_privacy_says_what_is_known(sender_with: Any, settings: dict[str, Any], known_as: str | None) -> None:
    sender = sender_with(**{f"privacy__{name}": value for name, value in settings.items()})
    sender.accepted({"message": "boom", "user": {"email": "jo@example.com"}, "context": {"customer": "c-1"}})
    assert users(sender) == [known_as]

"""Filters of `events` that other answers lead to: by the names and values that they show."""

import json

import pytest

from snaglist.testing import Client

pytestmark = pytest.mark.servers
LINE = "[2026-01-03 10:00:{:02}] production.ERROR: Order {} failed {} []\n"


def ids(client: Client, **query: object) -> list[int]:
    answer = client.get("events", id=1, **query)
    assert answer.status == 200, answer.text
    return [event["id"] for event in answer.json["data"]]


@pytest.fixture
def fed(client: Client) -> Client:
    """Three events of one issue, the newest last in the log."""
    contexts = (
        {"orderId": "A-1", "price": "1,50"},
        {"orderId": "A-2", "price": "1,50"},
        {"orderId": "A-2", "price": "2"},
    )
    client.feed("".join(LINE.format(at, 100 + at, json.dumps(context)) for at, context in enumerate(contexts)))
    return client


def test_a_name_is_taken_as_event_values_writes_it(fed: Client) -> None:
    names = [shown["name"] for shown in fed.get("event-values", id=1).json["data"]]
    assert "orderId" in names
    assert len(ids(fed, value="orderId=A-2")) == 2
    assert len(ids(fed, value="orderid=a-2")) == 2


def test_a_comma_that_belongs_to_a_value_has_a_backslash(fed: Client) -> None:
    assert len(ids(fed, value=r"price=1\,50")) == 2
    assert len(ids(fed, value=r"price=1\,50,orderId=A-1")) == 1
    assert (
        fed.get("events", id=1, value="price=1,50").error == "value: must be like order=52045: a name, =, and the value"
    )


def test_one_event_alone(fed: Client) -> None:
    newest, *_ = ids(fed)
    assert ids(fed, occurrence=newest) == [newest]
    assert ids(fed, occurrence=newest, value="orderId=A-1") == []

"""Whatever a test asks, a successful answer is held against the response schema of its endpoint."""

import json
from typing import Any

import pytest

from snaglist.testing import Answer, Client, Contract

JSON = {"content-type": "application/json; charset=utf-8"}


def answer(body: Any, status: int = 200) -> Answer:
    return Answer(status, JSON, json.dumps(body).encode())


@pytest.mark.parametrize(
    "wrong",
    [
        answer({"data": 5}),
        answer({"data": [{"id": 1}]}),
        answer({"error": "x"}),
        answer({"data": []}, 203),
    ],
)
def test_a_wrong_answer_is_seen(sqlite_client: Client, wrong: Answer) -> None:
    with pytest.raises(AssertionError):
        Contract(sqlite_client.service).check("GET", "/?api=tags", wrong)


def test_what_has_no_schema_passes(sqlite_client: Client) -> None:
    contract = Contract(sqlite_client.service)
    contract.check("GET", "/?api=tags", answer({"error": "x"}, 404))
    contract.check("GET", "/", answer("page"))
    contract.check("GET", "/?api=errors&format=csv", Answer(200, {"content-type": "text/csv"}, b"id\r\n"))
    contract.check("HEAD", "/?api=tags", Answer(200, JSON, b""))
    contract.check("POST", "/?api=reindex", answer({"job_id": 1, "status": "queued"}, 202))


def test_every_way_to_ask_is_checked(sqlite_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The convenient methods and the raw request alike."""
    seen: list[str] = []
    monkeypatch.setattr(Contract, "check", lambda self, method, url, found: seen.append(f"{method} {url}"))
    sqlite_client.get("tags")
    sqlite_client.post("tags", {"name": "x"})
    sqlite_client.request("GET", "/?api=tags&app=default")
    assert seen == ["GET /?api=tags", "POST /?api=tags", "GET /?api=tags&app=default"]

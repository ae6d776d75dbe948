"""Forgetting people: all of their events go and nothing of them is left in any table, on all three databases."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from sqlalchemy import select

from snaglist.kernel.columns import metadata
from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.maintain import forgetting
from snaglist.plugins.logs.pushing.packing import unpack
from snaglist.plugins.system import JobCall
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

JO, ANA = "jo@example.com", "ana@example.com"
SECRETS = ("jo@example.com", "471104711", "Elm Street 7", "jo-was-here")
WORDS = (b"1104711",)  # as the index of SQLite has them: a beginning that two words share stands there once
CONFIRMATION = "FORGET USER"
TRACE = """Traceback (most recent call last):
  File "/srv/app/pay.py", line 3, in charge
    gateway.send(order)
GatewayError: no account jo-was-here

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/shop.py", line 9, in buy
    charge(order)
PayError: declined"""


def event(number: int, user: str, order: str, **more: Any) -> dict[str, Any]:
    address = "Elm Street 7" if user == JO else f"Oak Street {number}"
    moment = f"2026-01-03 10:00:{number:02}"
    sent = {
        "message": f"Order {order} failed",
        "occurred_at": moment,
        "event_id": f"e-{number}",
        "user": {"email": user},
    }
    return {**sent, "context": {"address": address, "text": "of some length " * 20}, **more}


def line(number: int, user: str, order: str) -> str:
    context = json.dumps({"user_id": user, "address": "Elm Street 7" if user == JO else "Oak Street 1"})
    return f"[2026-01-03 11:00:{number:02}] production.ERROR: Parcel {order} is lost {context}\n"


def fill(client: Client, store: Any, folder: Path) -> Path:
    """Store events of two people, by turns, pushed and of a file; one issue only one of them has."""
    client.enable("ingest")
    key = client.get("ingest-settings").json["key"]
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    turns = [(ANA, "52"), (JO, "471104711")]
    for number in range(12):  # the fourth, one of Jo's, becomes the dictionary
        body = json.dumps([event(number, *turns[number % 2])]).encode()
        assert client.request("POST", "/?api=ingest&app=default", body, headers).status == 202
    only = [
        event(20, JO, "471104711", message=f"No parcel for {JO} today"),
        event(21, JO, "x", stack=TRACE, channel="py"),
    ]
    assert client.request("POST", "/?api=ingest&app=default", json.dumps(only).encode(), headers).status == 202
    log = folder / "app.log"
    log.write_text("".join(line(number, *turns[number % 2]) for number in range(8)))
    assert store.scan(log) == 8
    return log


def said(service: Any) -> str:
    """Return all that the tables of the application hold, with what is compressed."""
    found: list[str] = []
    with service.call().transaction(write=False) as db:
        for table in metadata.sorted_tables:
            for row in db.execute(select(table)).mappings():
                for value in row.values():
                    found.append(value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value))
        for row in db.execute(select(log_tables.payload_dictionaries.c.body)):
            found.append(zstandard.ZstdDecompressor().decompress(row.body).decode() if row.body else "")
        for occurrence_id in db.execute(select(log_tables.payloads.c.occurrence_id)).scalars():
            found.append((unpack(db, occurrence_id) or b"").decode())
    return "\n".join(found)


def indexed(service: Any) -> bytes:
    """Return what the indexes of SQLite hold; those of the other databases cannot be looked into."""
    with service.call().transaction(write=False) as db:
        if db.dialect.name != "sqlite":
            return b""
        parts = [f"SELECT block FROM {name}_index_data" for name in ("occurrences", "grouping_texts")]
        return b"".join(db.exec_driver_sql(" UNION ALL ".join(parts)).scalars())


def users(client: Client) -> list[str | None]:
    issues = client.get("errors", limit=200).json["data"]
    return sorted(one["user"] for issue in issues for one in client.get("events", id=issue["id"]).json["data"])


def check_forgotten(client: Client) -> None:
    text = said(client.service)
    for secret in SECRETS:
        assert secret not in text, text[max(0, text.index(secret) - 300) : text.index(secret) + 100]
    for word in WORDS:
        assert word not in indexed(client.service)
    assert users(client) == [ANA] * 10
    for secret in SECRETS[:2]:
        assert client.get("errors", q=f'"{secret}"').json["data"] == []
    assert client.get("errors", user=JO).json["data"] == []
    assert client.get("user-events-preview", user=JO).json["events"] == 0
    issues = client.get("errors", include_context=True, limit=200).json["data"]
    assert sorted((issue["count"], issue["stored_occurrences"], issue["users"]) for issue in issues) == [
        (1, 0, 0), (1, 0, 0), (8, 4, 1), (12, 6, 1),
    ]  # fmt: skip
    for issue in issues:
        if issue["stored_occurrences"]:
            assert ANA in issue["sample_context"] and " 52 " in issue["title"]
            for one in client.get("events", id=issue["id"]).json["data"]:
                assert " 52 " in one["message"]
                assert ANA in client.get("source", occurrence=one["id"]).json["content"]


def test_all_of_somebody_goes(client: Client, store: Any, tmp_path: Path) -> None:
    log = fill(client, store, tmp_path)
    shown = client.get("user-events-preview", user=JO).json
    assert (shown["events"], shown["issues"], shown["issues_left_out"]) == (12, 4, 0)
    assert (shown["first_seen"], shown["last_seen"]) == ("2026-01-03 10:00:01", "2026-01-03 11:00:07")
    assert [issue["events"] for issue in shown["by_issue"]] == [6, 4, 1, 1]
    assert [(file["path"], file["events"]) for file in shown["files"]] == [(str(log), 4)]
    assert all(secret in said(client.service) for secret in SECRETS)  # or the test could not fail
    words = indexed(client.service)
    assert all(word in words for word in WORDS) or not words
    answer = client.post("forget-user", {"user": JO, "confirmation": CONFIRMATION}, wait="1")
    assert answer.status == 200, answer.text
    assert answer.json["deleted"] == {"occurrences": 12, "empty_issue_groups": 2}
    assert [(file["path"], file["events"]) for file in answer.json["files"]] == [(str(log), 4)]
    check_forgotten(client)
    assert [(row.scope, row.actor, row.occurrences) for row in store.rows(log_tables.log_deletions)] == [
        ("user", "Local", 12)
    ]
    assert JO in log.read_text()


def test_nobody_brings_it_back(client: Client, store: Any, tmp_path: Path) -> None:
    """Neither the file read again, nor a copy of it, nor the sender; what comes later is stored like anything else."""
    log = fill(client, store, tmp_path)
    client.post("forget-user", {"user": JO, "confirmation": CONFIRMATION}, wait="1")
    found = client.post("reindex", wait="1").json
    assert (found["events"], found["deleted"]) == (0, 4)
    key = client.get("ingest-settings").json["key"]
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    body = json.dumps([event(1, JO, "471104711")]).encode()
    assert client.request("POST", "/?api=ingest&app=default", body, headers).json["duplicates"] == 1
    check_forgotten(client)
    (tmp_path / "copy.log").write_bytes(log.read_bytes())
    copied = store.read(tmp_path / "copy.log")
    assert (copied.events, copied.deleted, users(client).count(JO)) == (4, 4, 0)
    with log.open("a") as stream:
        stream.write(line(30, JO, "new"))
    assert store.scan(log) == 1
    assert users(client).count(JO) == 1


class Killed(BaseException):
    """The process ends."""


@pytest.mark.parametrize("steps", range(0, 12, 2))
def test_a_job_that_is_killed_goes_on(
    steps: int,
    database_config: dict[str, str],
    tmp_path: Path,
    make_store: Callable[[Any], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Wherever it ended: between two of its transactions, or within one."""
    monkeypatch.setattr(forgetting, "BATCH", 5)
    monkeypatch.setattr(forgetting, "ISSUES", 2)
    monkeypatch.setattr(JobCall, "check_cancelled", lambda self: None)
    with running_service(tmp_path / "data", jobs=False, **database_config) as service:
        client = Client(service)
        fill(client, make_store(service), tmp_path)
        assert client.post("forget-user", {"user": JO, "confirmation": CONFIRMATION}).status == 202
        job = JobCall(service, service.applications.all()[0], args={"deletion_id": 1})
        left = steps
        step = forgetting._step

        def counted(call: Any, work: Callable[[], Any]) -> Any:
            nonlocal left
            left -= 1
            if left < 0:
                step(call, lambda: (work(), _kill()))
            return step(call, work)

        with monkeypatch.context() as patch, pytest.raises(Killed):
            patch.setattr(forgetting, "_step", counted)
            forgetting.run(job)
        forgetting.run(job)
        assert forgetting.run(job)["deleted"]["occurrences"] == 12  # once more changes nothing
        check_forgotten(client)


def _kill() -> None:
    raise Killed


def test_only_the_phrase_and_whole_names(sqlite_client: Client, sqlite_store: Any, tmp_path: Path) -> None:
    fill(sqlite_client, sqlite_store, tmp_path)
    for wrong in ("forget user", "DELETE LOGS", None):
        assert sqlite_client.post("forget-user", {"user": JO, "confirmation": wrong}).status == 422
    assert sqlite_client.post("forget-user", {"user": "", "confirmation": CONFIRMATION}).status == 422
    for other in ("jo", JO.upper(), "%"):
        assert sqlite_client.get("user-events-preview", user=other).json["events"] == 0
    assert sqlite_store.count(tables.occurrences) == 22


def test_the_index_keeps_no_word(sqlite_client: Client, sqlite_store: Any, tmp_path: Path) -> None:
    """SQLite only notes that a word is gone, until parts of its index are written anew."""
    log = tmp_path / "app.log"
    lines = [line(number % 60, ANA, str(100_000_007 + number * 104_729)) for number in range(900)]
    log.write_text("".join([*lines[:450], line(30, JO, "471104711"), *lines[450:]]))
    assert sqlite_store.scan(log) == 901
    assert WORDS[0] in indexed(sqlite_client.service)
    sqlite_client.post("forget-user", {"user": JO, "confirmation": CONFIRMATION}, wait="1")
    assert WORDS[0] not in indexed(sqlite_client.service)
    assert len(sqlite_client.get("errors", q=lines[700].split()[4]).json["data"]) == 1

"""Group commit: requests that share a transaction neither wait for nor suffer from each other more than they must."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel import Invalid, Unavailable, times
from snaglist.kernel.call import Call
from snaglist.kernel.plugins import Plugins
from snaglist.plugins.ingest.checking import check_event
from snaglist.plugins.ingest.options import RATES
from snaglist.plugins.logs import Delivery, Intake
from snaglist.plugins.logs.pushing import committing
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

NOW = "2026-01-03 10:00:00"


def delivery(*messages: str) -> Delivery:
    events = [check_event({"message": message}, NOW, frozenset()) for message in messages]
    return Delivery(list(enumerate(events)), 0, "127.0.0.1")


@contextmanager
def held(intake: Intake, call: Call) -> Iterator[None]:
    """Hold the turn of an application, so that deliveries gather."""
    intake.deliver(call, delivery("first"))
    ((line,),) = (lines.values() for lines in intake._lines.values())
    with line.turn:
        yield


def deliver_all(service: Any, intake: Intake, deliveries: list[Delivery]) -> list[Any]:
    """Deliver from a thread each while the turn is held; returns outcomes and failures in order."""
    results: list[Any] = [None] * len(deliveries)
    waiting = threading.Barrier(len(deliveries) + 1)

    def run(number: int) -> None:
        waiting.wait()
        try:
            results[number] = intake.deliver(service.call(actor=None), deliveries[number])
        except Exception as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(deliveries))]
    with held(intake, service.call(actor=None)):
        for thread in threads:
            thread.start()
        waiting.wait()
        ((line,),) = (lines.values() for lines in intake._lines.values())
        while len(line.waiting) < len(deliveries):
            pass
    for thread in threads:
        thread.join()
    return results


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of requests that were stored together."""
    sizes: list[int] = []
    store = committing.store_deliveries

    def counted(call: Any, rates: Any, packer: Any, deliveries: Any) -> None:
        sizes.append(len(deliveries))
        if any(pushed.event.message == "poison" for one in deliveries for _, pushed in one.events):
            raise ValueError("poison")
        store(call, rates, packer, deliveries)

    monkeypatch.setattr(committing, "store_deliveries", counted)
    return sizes


def test_requests_that_wait_share_a_transaction(sender: Any, groups: list[int]) -> None:
    results = deliver_all(sender.client.service, Intake(RATES), [delivery(f"m{n}", "same") for n in range(6)])
    assert groups == [1, 6]
    assert [outcome.accepted for outcome in results] == [2] * 6
    assert sender.count("occurrences") == 13


def test_a_bad_one_fails_alone(sender: Any, groups: list[int]) -> None:
    results = deliver_all(sender.client.service, Intake(RATES), [delivery("a"), delivery("poison"), delivery("b")])
    assert [type(result).__name__ for result in results] == ["Outcome", "ValueError", "Outcome"]
    assert groups == [1, 3, 1, 1, 1]
    assert sender.count("occurrences") == 3


def test_an_outage_is_everybodys(sqlite_sender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    intake = Intake(RATES)
    service = sqlite_sender.client.service

    def fail(*_: Any) -> None:
        raise Unavailable("The database is busy; try again.")

    with held(intake, service.call(actor=None)):
        monkeypatch.setattr(committing, "store_deliveries", fail)
    for _ in range(2):
        with pytest.raises(Unavailable):
            intake.deliver(service.call(actor=None), delivery("a"))


def test_a_transaction_takes_a_thousand_events(sqlite_sender: Any, groups: list[int]) -> None:
    full = [delivery(*[f"m{n}"] * 400) for n in range(3)]
    results = deliver_all(sqlite_sender.client.service, Intake(RATES), full)
    assert groups == [1, 2, 1] and [outcome.accepted for outcome in results] == [400] * 3


def test_a_failed_transaction_leaves_no_dictionary_behind(sqlite_sender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids of dictionaries come back after a rollback: what was remembered of them must go."""
    intake = Intake(RATES)
    service = sqlite_sender.client.service
    counted = committing.store_deliveries

    def fails_late(call: Any, rates: Any, packer: Any, deliveries: Any) -> None:
        counted(call, rates, packer, deliveries)
        raise ValueError("late")

    monkeypatch.setattr(committing, "store_deliveries", fails_late)
    with pytest.raises(ValueError, match="late"):
        intake.deliver(service.call(actor=None), delivery(*["one thing happened"] * 20))
    monkeypatch.setattr(committing, "store_deliveries", counted)
    intake.deliver(service.call(actor=None), delivery(*["quite another event"] * 20))
    assert sqlite_sender.count("payload_dictionaries") == 1
    texts = {sqlite_sender.text(row["id"])["content"] for row in sqlite_sender.occurrences()}
    assert texts == {"quite another event"}


def test_services_of_one_process_keep_their_dictionaries_apart(
    fresh_data: Path, tmp_path: Path, installed: Plugins
) -> None:
    """Of an installation and its copy, which number theirs alike, in the same second."""
    other = Path(shutil.copytree(fresh_data, tmp_path / "other"))
    intake = Intake(RATES)
    for data, text in ((fresh_data, "one thing happened"), (other, "quite another event")):
        with running_service(data, plugins=installed) as service:
            client, call = Client(service), service.call(actor=None)
            call.now = NOW
            intake.deliver(call, delivery(*[text] * 20))
            (issue,) = client.get("errors").json["data"]
            rows = client.get("error", id=issue["id"]).json["occurrences"]
            assert {client.get("source", occurrence=row["id"]).json["content"] for row in rows} == {text}


def test_pushed_events_are_flushed_to_disk(sqlite_sender: Any) -> None:
    """202 means durable; other transactions need no flush each."""
    call = sqlite_sender.client.service.call()
    for durable, level in ((True, 2), (False, 1), (True, 2)):
        with call.transaction(durable=durable) as db:
            assert db.exec_driver_sql("PRAGMA synchronous").scalar() == level


def test_an_odd_event_does_not_keep_those_beside_it(sender: Any, groups: list[int]) -> None:
    """Nor the other requests; what is told of it is its position."""
    mixed = delivery("a", "poison", "b", "c", "poison")
    results = deliver_all(sender.client.service, Intake(RATES), [delivery("d"), mixed, delivery("poison")])
    assert isinstance(results[2], ValueError)
    assert (results[0].accepted, results[1].accepted) == (1, 3)
    assert sorted(results[1].failed) == [1, 4]
    assert sender.count("occurrences") == 5
    with sender.client.service.call().transaction(write=False) as db:
        assert RATES.last_day(db, times.now())["invalid"] == 2


def test_the_sender_is_told_which_events_are_not_stored(sender: Any, groups: list[int]) -> None:
    answer = sender.send([{"message": "a"}, {"message": ""}, {"message": "poison"}, {"message": "b"}])
    assert answer.status == 202
    shown = answer.json
    assert (shown["accepted"], shown["received"], shown["dropped"]) == (2, 4, 2)
    assert [error["index"] for error in shown["errors"]] == [1, 2]
    assert shown["errors"][1]["error"].startswith("Internal error (reference ")


def test_a_refused_event_does_not_fail_other_requests(sender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    store = committing.store_deliveries

    def refusing(call: Any, rates: Any, packer: Any, deliveries: Any) -> None:
        if any(pushed.event.message == "poison" for one in deliveries for _, pushed in one.events):
            raise Invalid("module: too many")
        store(call, rates, packer, deliveries)

    monkeypatch.setattr(committing, "store_deliveries", refusing)
    results = deliver_all(sender.client.service, Intake(RATES), [delivery("a"), delivery("poison"), delivery("b")])
    assert (results[0].accepted, results[2].accepted) == (1, 1)
    assert isinstance(results[1], Invalid)
    assert sender.count("occurrences") == 3

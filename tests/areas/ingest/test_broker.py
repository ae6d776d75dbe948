"""A broker between senders and storage: a real NATS server, on every database (`ingest.broker`)."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import zstandard
from nats.errors import TimeoutError as NoAnswer
from nats.js.client import JetStreamContext

from snaglist.kernel.errors import Unavailable
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.service import Service
from snaglist.kernel.settings import ConfigurationError
from snaglist.plugins.ingest import broker as rules
from snaglist.plugins.ingest import wire
from snaglist.plugins.logs.pushing import storing
from snaglist.plugins.system import Worker
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.whole

RUN = "from snaglist.plugins.start import main; main()"
MANY = [
    {"message": f"Order {n} failed", "event_id": f"id-{n}", "context": {"note": os.urandom(400).hex()}}
    for n in range(60)
]


@contextmanager
def working(service: Service) -> Iterator[None]:
    worker = Worker(service, "test", schedules=False)
    worker.start()
    try:
        yield
    finally:
        worker.stop()


def eventually(found: Callable[[], Any], wanted: Any, seconds: float = 15) -> None:
    until = time.monotonic() + seconds
    while (seen := found()) != wanted and time.monotonic() < until:
        time.sleep(0.02)
    assert seen == wanted


def ids(sender: Any) -> list[str]:
    return sorted(row["event_id"] for row in sender.occurrences())


def broker_stream(sender: Any) -> str:
    return rules.stream_of(sender.client.service.applications.all()[0])


# -- the usual way


def test_accepted_then_stored(sender_by: Any, broker: Any, database_config: dict[str, str]) -> None:
    """All that an event says arrives; what must not be stored is not in the broker either."""
    sender = sender_by(jobs=False, **database_config)
    event = {"message": "Order 4711 failed", "level": "fatal", "timestamp": "2026-01-03T11:00:00+01:00",
             "channel": "Shop", "exception": "PayError", "stack": "PayError: declined\n    at charge (pay.js:3:7)",
             "release": "v2", "server_name": "web-1", "environment": "staging",
             "context": {"order": 1, "password": "hunter2"}, "tags": ["Payments"],
             "module": "Billing", "event_id": "one", "fingerprint": ["a", "b"]}  # fmt: skip
    answer = sender.accepted([event, {"message": "no id"}, {"message": " "}, {**event, "message": "again"}])
    assert answer == {
        "accepted": 2, "received": 4, "dropped": 1, "duplicates": 1,
        "errors": [{"index": 2, "error": "message: must not be blank"}],
    }  # fmt: skip
    assert sender.count("occurrences") == 0
    (message,) = broker.messages()["batch"]
    assert b"hunter2" not in zstandard.decompress(message.data) and b"[redacted]" in zstandard.decompress(message.data)
    with working(sender.client.service):
        eventually(lambda: sender.count("occurrences"), 2)
        eventually(broker.waiting, {})
    issue = next(issue for issue in sender.issues() if issue["severity"] == "CRITICAL")
    names = ("title", "environment", "channel", "exception_class", "source_frame", "origin")
    assert {name: issue[name] for name in names} == {
        "title": "PayError: Order 4711 failed", "environment": "staging", "channel": "shop",
        "exception_class": "PayError", "source_frame": "pay.js:3", "origin": "ingested",
    }  # fmt: skip
    assert (issue["module_name"], [tag["name"] for tag in issue["tags"]]) == ("Billing", ["Payments"])
    assert issue["sample_context"] == '{"order":1,"password":"[redacted]"}'
    first, second = sorted(sender.occurrences(), key=lambda row: row["occurred_at"])
    assert (first["event_id"], first["occurred_at"], first["release"]) == ("one", "2026-01-03 10:00:00", "v2")
    assert len(second["event_id"]) == 32
    assert sender.settings()["last_24h"] == {"accepted": 2, "duplicate": 1, "invalid": 1, "rate_limited": 0}


def test_a_request_that_is_repeated_counts_once(sender_by: Any, broker: Any, database_config: dict[str, str]) -> None:
    sender = sender_by(jobs=False, ingest__rate_max_events=5, **database_config)
    events = [{"message": "a", "event_id": "1"}, {"message": "b", "event_id": "2"}]
    assert sender.accepted(events)["accepted"] == 2
    again = sender.accepted(events)
    assert (again["accepted"], again["duplicates"]) == (0, 2)
    assert broker.waiting() == {"batch": 1}
    assert sender.accepted(events[:1])["accepted"] == 1  # another request: nobody knows yet
    with working(sender.client.service):
        eventually(broker.waiting, {})
    assert ids(sender) == ["1", "2"]
    assert sender.accepted(events)["duplicates"] == 2
    # 3 of 5 are used: what the stream had was given back.
    assert sender.accepted([{"message": "c"}] * 3) == {
        "accepted": 2, "received": 3, "dropped": 1, "duplicates": 0, "errors": [{"index": 2, "error": "rate limited"}],
    }  # fmt: skip
    refused = sender.send({"message": "d"})
    assert (refused.status, "retry-after" in refused.headers) == (429, True)


def test_who_waits_finds_it_at_once(sender_by: Any, broker: Any) -> None:
    sender = sender_by(jobs=False)
    assert sender.raw(b'{"message": "now"}', query="&wait=1").status == 202
    assert (sender.count("occurrences"), broker.streams()) == (1, [])


def small_messages(broker: Any) -> None:
    broker.stop()
    broker.start("max_payload: 8KB")


def test_a_batch_larger_than_a_message(sender_by: Any, broker: Any) -> None:
    """It becomes several, and a repeated one is known."""
    small_messages(broker)
    sender = sender_by(jobs=False)
    assert sender.accepted(MANY)["accepted"] == len(MANY)
    waiting = broker.waiting()
    assert waiting["batch"] > 3
    assert sender.accepted(MANY)["duplicates"] == len(MANY)
    assert broker.waiting() == waiting
    with working(sender.client.service):
        eventually(broker.waiting, {})
    assert ids(sender) == sorted(event["event_id"] for event in MANY)


def test_a_request_of_which_the_half_arrived(sender_by: Any, broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, uses no limit up, and is stored once when it is repeated."""
    small_messages(broker)
    sender = sender_by(jobs=False, ingest__rate_max_events=len(MANY))
    publish = JetStreamContext.publish
    sent: list[str] = []

    async def failing(self: Any, subject: str, *given: Any, **named: Any) -> Any:
        sent.append(subject)
        if len(sent) > 3:
            raise OSError
        return await publish(self, subject, *given, **named)

    with monkeypatch.context() as broken:
        broken.setattr(JetStreamContext, "publish", failing)
        assert sender.send(MANY).status == 503
    half = broker.waiting()["batch"]
    assert 0 < half < 4
    answer = sender.accepted(MANY)
    assert answer["accepted"] + answer["duplicates"] == len(MANY) and 0 < answer["duplicates"] < len(MANY)
    with working(sender.client.service):
        eventually(broker.waiting, {})
    assert ids(sender) == sorted(event["event_id"] for event in MANY)


def test_an_event_larger_than_a_message(sender_by: Any, broker: Any) -> None:
    small_messages(broker)
    sender = sender_by(jobs=False)
    large = {"message": "boom", "context": {"note": os.urandom(16_000).hex()}}
    for events in ([large], [{"message": "small"}, large]):
        answer = sender.send(events)
        assert (answer.status, answer.json) == (413, {"error": "An event is larger than the broker takes."})
    assert broker.waiting() == {}


@pytest.mark.parametrize("lost", [False, True], ids=["whole", "a part is gone"])
def test_what_0_1_left_in_parts_is_stored(sender_by: Any, broker: Any, lost: bool) -> None:
    sender = sender_by(jobs=False)
    sender.accepted(MANY)
    (message,) = broker.messages()["batch"]
    stream = broker_stream(sender)

    async def as_before(client: Any) -> None:
        await client.purge_stream(stream)
        cut = [message.data[at : at + 8_000] for at in range(0, len(message.data), 8_000)]
        parts = [(await client.publish(f"{stream}.part", part)).seq for part in cut]
        await client.publish(f"{stream}.batch", str(parts).encode(), headers={"Snaglist-Parts": str(len(parts))})
        if lost:
            await client.delete_msg(stream, parts[1])

    broker._asked(as_before)
    assert broker.waiting()["part"] > 2
    with working(sender.client.service):
        eventually(broker.waiting, {"failed": 1} if lost else {})
    assert sender.count("occurrences") == (0 if lost else len(MANY))


@pytest.mark.parametrize("events", [MANY, [{"message": "small"}]], ids=["several", "one"])
def test_an_answer_of_the_broker_that_is_lost(
    sender_by: Any, broker: Any, monkeypatch: pytest.MonkeyPatch, events: Any
) -> None:
    """It is asked again, and knows the batch: that is no duplicate."""
    publish = JetStreamContext.publish
    lost = []

    async def losing(self: Any, subject: str, *given: Any, **named: Any) -> Any:
        answer = await publish(self, subject, *given, **named)
        if subject.endswith(".batch") and not lost:
            lost.append(subject)
            raise NoAnswer
        return answer

    small_messages(broker)
    sender = sender_by(jobs=False)
    monkeypatch.setattr(JetStreamContext, "publish", losing)
    answer = sender.accepted(events)
    assert (len(lost), answer["accepted"], answer["duplicates"]) == (1, len(events), 0)
    with working(sender.client.service):
        eventually(lambda: sender.count("occurrences"), len(events))
        eventually(broker.waiting, {})


def test_an_application_that_goes_takes_its_stream_along(sender_by: Any, broker: Any) -> None:
    sender = sender_by(jobs=False)
    client = sender.client
    made = client.post("applications", {"name": "Shop"}).json
    other = type(sender)(client, made["id"])
    other.accepted({"message": "boom"})
    sender.accepted({"message": "boom"})
    assert len(broker.streams()) == 2
    removed = client.delete("applications", {"id": made["id"], "confirmation": f"DELETE APPLICATION {made['id']}"})
    assert removed.status == 200, removed.text
    assert broker.streams() == [broker_stream(sender)]


# -- what is away


def test_a_broker_that_is_away(sender_by: Any, broker: Any) -> None:
    sender = sender_by(ingest__rate_max_events=3)
    broker.stop()
    for _ in range(3):
        refused = sender.send([{"message": "a"}, {"message": "b"}])
        assert (refused.status, refused.headers["retry-after"]) == (503, "5")
    assert sender.count("occurrences") == 0
    broker.start()
    assert sender.accepted([{"message": "a"}, {"message": "b"}])["accepted"] == 2  # and no limit is used up
    eventually(lambda: sender.count("occurrences"), 2)
    broker.stop()  # with a connection open
    assert sender.send({"message": "c"}).status == 503
    broker.start()
    assert sender.accepted({"message": "c"})["accepted"] == 1
    eventually(lambda: sender.count("occurrences"), 3)


def test_a_database_that_is_away(sender_by: Any, broker: Any) -> None:
    sender = sender_by(jobs=False, database__busy_timeout_ms=50)
    sender.accepted(MANY)
    file = sender.client.service.applications.all()[0].file
    with closing(sqlite3.connect(file, isolation_level=None)) as other, working(sender.client.service):
        other.execute("BEGIN IMMEDIATE")
        time.sleep(1)
        assert broker.waiting() == {"batch": 1}
        other.execute("ROLLBACK")
        eventually(lambda: sender.count("occurrences"), len(MANY))
    assert broker.waiting() == {}


def test_an_area_that_is_off_leaves_events_where_they_are(sender_by: Any, broker: Any) -> None:
    sender = sender_by(jobs=False)
    sender.accepted({"message": "boom"})
    sender.client.enable("ingest", False)
    with working(sender.client.service):
        time.sleep(0.3)
        assert (sender.count("occurrences"), broker.waiting()) == (0, {"batch": 1})
        sender.client.enable("ingest")
        eventually(lambda: sender.count("occurrences"), 1)


# -- what cannot be stored


def test_an_event_that_cannot_be_stored(sender_by: Any, broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is kept with its reason, counted and logged; those beside it and behind it are stored."""
    kept = storing._document

    def document(event: Any, pushed: Any) -> bytes:
        if "bad" in event.message:
            raise RuntimeError("no way to store it")
        return kept(event, pushed)

    monkeypatch.setattr(storing, "_document", document)
    monkeypatch.setattr(rules, "AGAIN_SECONDS", 0.1)
    monkeypatch.setattr(rules, "ATTEMPTS", 2)
    sender = sender_by(jobs=False)
    sender.accepted([{"message": f"{name} event", "event_id": name} for name in ("good", "bad", "fine")])
    sender.accepted({"message": "later", "event_id": "later"})
    with working(sender.client.service):
        eventually(broker.waiting, {"failed": 1})
    assert ids(sender) == ["fine", "good", "later"]
    (aside,) = broker.messages()["failed"]
    (pushed,) = rules.unpack(aside.data)
    assert (pushed.event.event_id, aside.headers[wire.REASON][:14]) == ("bad", "Internal error")
    assert sender.settings()["last_24h"]["invalid"] == 1


def test_a_message_that_is_no_batch(sender_by: Any, broker: Any, caplog: pytest.LogCaptureFixture) -> None:
    sender = sender_by(jobs=False)
    sender.accepted({"message": "before"})
    subject = f"{broker.streams()[0]}.batch"
    for body in (b"\x00", zstandard.compress(b'[{"message": "half"}]'), zstandard.compress(b"7")):
        broker.publish(subject, body)
    sender.accepted({"message": "behind"})
    with working(sender.client.service):
        eventually(broker.waiting, {"failed": 3})
    assert sender.count("occurrences") == 2
    assert {message.headers[wire.REASON] for message in broker.messages()["failed"]} == {"this is no batch of events"}
    assert sender.settings()["last_24h"]["invalid"] == 3
    assert "this is no batch of events" in caplog.text


# -- workers


def command(data: Path, url: str, code: str, *arguments: str, **config: str) -> "subprocess.Popen[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    config = {f"SERVICE_{name.upper().replace('__', '_')}": value for name, value in config.items()}
    variables = kept | {"SERVICE_INGEST_BROKER": url, "SERVICE_DATA": str(data)} | config
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


KILLS = {
    "taken": "Wire.body = die",
    "stored": "Wire.finish = die",
    "acknowledged": "finish = Wire.finish\nWire.finish = lambda *given: (finish(*given), die())",
}


@pytest.mark.parametrize("moment", KILLS)
def test_a_worker_that_is_killed(
    sender_by: Any, broker: Any, monkeypatch: pytest.MonkeyPatch, database_config: dict[str, str], moment: str
) -> None:
    monkeypatch.setattr(wire, "ACK_SECONDS", 1)
    small_messages(broker)
    sender = sender_by(jobs=False, **database_config)
    sender.accepted(MANY)
    sender.accepted({"message": "small"})
    dying = "import os\nfrom snaglist.plugins.ingest.wire import Wire\ndie = lambda *_: os.kill(os.getpid(), 9)\n"
    data = sender.client.service.settings.data
    killed = command(data, broker.url, f"{dying}{KILLS[moment]}\n{RUN}", "jobs", "work", **database_config)
    killed.communicate(timeout=30)
    assert killed.returncode == -signal.SIGKILL
    assert sender.count("occurrences") == (0 if moment == "taken" else len(MANY) + 1)
    with working(sender.client.service):
        eventually(lambda: broker.waiting().get("batch", 0), 0)
    stored = [row["event_id"] for row in sender.occurrences()]
    assert len(stored) == len(set(stored)) == len(MANY) + 1


def test_several_workers_share_and_end_when_asked(sender_by: Any, broker: Any, database_config: dict[str, str]) -> None:
    config = database_config
    sender = sender_by(jobs=False, **config)
    data = sender.client.service.settings.data
    workers = [command(data, broker.url, RUN, "--json", "jobs", "work", **config) for _ in range(2)]
    for worker in workers:
        assert worker.stdout is not None and worker.stdout.readline()
    for first in range(0, 40):
        sender.accepted([{"message": f"boom {first}", "event_id": f"{first}-{n}"} for n in range(3)])
    eventually(lambda: sender.count("occurrences"), 120)
    eventually(broker.waiting, {})
    for worker in workers:
        worker.send_signal(signal.SIGTERM)
    for worker in workers:
        _, told = worker.communicate(timeout=15)
        assert (worker.returncode, "Traceback" in told) == (0, False), told
    assert len(ids(sender)) == len(set(ids(sender))) == 120


def test_a_stream_that_somebody_deleted_is_made_again(sender_by: Any, broker: Any, monkeypatch: Any) -> None:
    """By whoever needs it first: a worker that finds none, or a sender."""
    monkeypatch.setattr(wire, "ANSWER_SECONDS", 0.5)
    sender = sender_by()
    eventually(lambda: len(broker.streams()), 1)
    broker._asked(lambda client: client.delete_stream(broker_stream(sender)))
    sender.accepted({"message": "boom"})
    eventually(lambda: sender.count("occurrences"), 1)


# -- configuration and health


@pytest.mark.parametrize("value", ["http://broker:4222", "broker:4222", "nats://:1", "nats://a:x", "nats://a,http://b"])
def test_a_broker_that_is_no_url(tmp_path: Path, value: str) -> None:
    with (
        pytest.raises(ConfigurationError, match=r"ingest\.broker: must be a URL like nats://") as caught,
        running_service(tmp_path / "data", jobs=False, ingest__broker=value),
    ):
        pass
    assert value not in str(caught.value)


def test_a_broker_without_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "find_spec", lambda name: None)
    with (
        pytest.raises(ConfigurationError, match=r"ingest\.broker: must be used with an extra: .*snaglist\[broker\]"),
        running_service(tmp_path / "data", jobs=False, ingest__broker="nats://127.0.0.1:4222"),
    ):
        pass


def test_the_library_is_imported_by_who_uses_it() -> None:
    code = "import sys, snaglist.plugins.ingest; sys.exit('nats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_health_says_whether_it_answers(sender_by: Any, broker: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "REACH_SECONDS", -1)
    client = sender_by(jobs=False).client
    assert client.get("health").json["checks"]["broker"] is True
    broker.stop()
    answer = client.get("health")
    assert (answer.status, answer.json["status"], answer.json["checks"]["broker"]) == (200, "degraded", False)
    told = command(client.service.settings.data, broker.url, RUN, "doctor")
    out, _ = told.communicate(timeout=60)
    assert (told.returncode, "FAIL  broker: see that a NATS server with JetStream runs" in out) == (1, True)


def test_services_of_one_process_have_a_broker_each(sender_by: Any, broker: Any, installed: Plugins) -> None:
    for url, answers, status in ((broker.url, True, 202), ("nats://127.0.0.1:9", False, 503)):
        sender = sender_by(jobs=False, plugins=installed, ingest__broker=url)
        assert sender.client.get("health").json["checks"]["broker"] is answers
        assert sender.send({"message": "a"}).status == status


def test_without_a_broker_nothing_is_asked(sqlite_client: Client) -> None:
    assert "broker" not in sqlite_client.get("health").json["checks"]


def test_no_secret_of_the_url_is_logged(
    sender_by: Any, broker: Any, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also not where the server refuses who asks."""
    broker.stop()
    broker.start("authorization: {user: ann, password: right}")
    address = broker.url.removeprefix("nats://")
    sender = sender_by(ingest__broker=f"nats://ann:s3cret@{address}")
    caplog.set_level("DEBUG")
    assert sender.send({"message": "boom"}).status == 503
    broker.stop()
    refused = sender.send({"message": "boom"})
    assert (refused.status, "s3cret" in refused.text, "s3cret" in caplog.text) == (503, False, False)
    assert "broker unavailable" in caplog.text


def test_who_may_use_the_broker(sender_by: Any, broker: Any) -> None:
    """Of several servers the first that answers."""
    broker.stop()
    broker.start("authorization: {user: ann, password: right}")
    address = broker.url.removeprefix("nats://")
    sender = sender_by(ingest__broker=f"nats://127.0.0.1:1, nats://ann:right@{address}")
    sender.accepted({"message": "boom"})
    eventually(lambda: sender.count("occurrences"), 1)


def test_a_store_that_is_full_refuses(broker: Any, tmp_path: Path) -> None:
    """Nothing that was accepted makes room for what comes."""
    line = wire.Wire(broker.url)
    try:
        assert line.publish("snaglist_full", b"1", "a")

        async def limit(client: Any) -> None:
            config = (await client.stream_info("snaglist_full")).config
            config.max_msgs = 1
            await client.update_stream(config)

        broker._asked(limit)
        with pytest.raises(Unavailable):
            line.publish("snaglist_full", b"2", "b")
    finally:
        line.close()
    assert [message.data for message in broker.messages()["batch"]] == [b"1"]

"""Rate limits, exact and sliding, and what the settings show of them."""

import threading
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.ingest.options import RATES
from snaglist.plugins.logs.pushing import storing
from snaglist.plugins.system.upgrading import upgrade
from snaglist.testing import Client, running_service

pytestmark = pytest.mark.servers

START = 1_800_000_000.0  # the start of a window of 60 s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    now = {"now": START}
    monkeypatch.setattr(storing.time, "time", lambda: now["now"])
    return now


def events(count: int, start: int = 0) -> list[dict[str, Any]]:
    return [{"message": "boom", "event_id": f"e{start + n}"} for n in range(count)]


def test_a_full_window(sender_with: Any, clock: dict[str, float]) -> None:
    sender = sender_with(ingest__rate_max_events=1000)
    for n in range(2):
        assert sender.accepted(events(500, 500 * n))["accepted"] == 500
    clock["now"] += 13.5
    refused = sender.send({"message": "one more"})
    assert (refused.status, refused.headers["retry-after"]) == (429, "47")
    assert refused.error and refused.headers["access-control-allow-origin"] == "*"
    assert sender.accepted(events(10))["duplicates"] == 10  # what is known counts no more
    assert sender.send([{"message": " "}]).status == 422
    day = sender.settings()["last_24h"]
    assert day == {"accepted": 1000, "duplicate": 10, "invalid": 1, "rate_limited": 1}


def test_the_end_of_a_batch_is_dropped(sender_with: Any, clock: dict[str, float]) -> None:
    sender = sender_with(ingest__rate_max_events=1000)
    sender.accepted(events(490))
    sender.accepted(events(500, 490))
    body = sender.accepted(events(20, 990))
    assert (body["accepted"], body["dropped"]) == (10, 10)
    assert body["errors"] == [{"index": n, "error": "rate limited"} for n in range(10, 20)]
    assert sender.count("occurrences") == 1000


def test_an_id_that_comes_twice_beyond_the_limit_is_no_duplicate(sender_with: Any, clock: dict[str, float]) -> None:
    sender = sender_with(ingest__rate_max_events=2)
    body = sender.accepted([*events(3), *events(3)])
    assert (body["accepted"], body["duplicates"], body["dropped"]) == (2, 2, 2)
    assert [problem["index"] for problem in body["errors"]] == [2, 5]


def test_the_window_slides(sender_with: Any, clock: dict[str, float]) -> None:
    sender = sender_with(ingest__rate_max_events=100)
    sender.accepted(events(100))
    clock["now"] += 60 + 15  # three quarters of the window before still count
    assert sender.accepted(events(50, 100))["accepted"] == 25
    clock["now"] += 60 * 2
    assert sender.accepted(events(100, 200))["accepted"] == 100
    call = sender.client.service.call()
    with call.transaction(write=False) as db:
        assert len(db.execute(RATES.windows.select()).all()) == 1  # earlier windows are gone


def test_a_limit_for_each_address(sender_with: Any, clock: dict[str, float]) -> None:
    sender = sender_with(ingest__rate_max_events=100, ingest__rate_max_events_per_ip=10)
    assert sender.accepted(events(20))["accepted"] == 10
    assert sender.send({"message": "m"}).status == 429
    headers = {"X-Service-Ingest-Key": sender.key, "Content-Type": "application/json"}
    other = sender.client.request("POST", "/?api=ingest", b'{"message":"m"}', headers, REMOTE_ADDR="2001:db8::1")
    assert other.status == 202


def test_parallel_requests_are_counted_exactly(client: Client, sender: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = client.service.settings
    monkeypatch.setattr(type(settings), "__getitem__", _with(settings, {"ingest.rate_max_events": 100}))
    monkeypatch.setattr(storing.time, "time", lambda: START)
    accepted: list[int] = []

    def send(number: int) -> None:
        for turn in range(5):
            answer = sender.send(events(6, 1000 * number + 6 * turn))
            accepted.append(answer.json["accepted"] if answer.status == 202 else 0)

    threads = [threading.Thread(target=send, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == 30 and sum(accepted) == 100
    assert sender.count("occurrences") == 100


def _with(settings: Any, changed: dict[str, Any]) -> Any:
    before = type(settings).__getitem__
    return lambda self, name: changed[name] if name in changed else before(self, name)


# -- settings and the key


def test_settings(sender: Any) -> None:
    shown = sender.settings()
    assert shown["ingest_url"] == "http://testserver/?api=ingest&app=default"
    assert shown["key"].startswith("svk_") and len(shown["key"]) == 52
    assert shown["key_hint"] == f"svk_…{shown['key'][-4:]}"
    assert (shown["previous_key_until"], shown["allow_query_key"]) == (None, True)
    assert shown["rate_limit"] == {"max_events": 60000, "window_seconds": 60, "max_events_per_ip": 0}
    for body in ({}, {"action": "x"}, {"action": "configure"}, {"action": "regenerate", "grace_minutes": 1441},
                 {"action": "regenerate", "extra": 1}, {"action": "configure", "allow_query_key": 1}):  # fmt: skip
        assert sender.client.post("ingest-settings", body).status == 422, body
    assert sender.client.post("ingest-settings", {}).error == "action: is required"


@pytest.mark.parametrize(
    "body",
    [
        {"action": "regenerate", "allow_query_key": False},
        {"action": "configure", "allow_query_key": False, "grace_minutes": 5},
    ],
)
def test_a_field_of_the_other_action_is_not_passed_over(sqlite_sender: Any, body: dict[str, Any]) -> None:
    before = sqlite_sender.settings()
    answer = sqlite_sender.client.post("ingest-settings", body)
    assert answer.status == 422 and answer.error.endswith(f": does not belong to the action {body['action']}")
    assert sqlite_sender.settings() == before


def test_a_new_key(sender: Any) -> None:
    old = sender.key
    renewed = sender.client.post("ingest-settings", {"action": "regenerate"}).json
    assert renewed["key"] != old and renewed["previous_key_until"] is None
    assert sender.send({"message": "a"}).status == 401
    assert sender.send({"message": "a"}, X_Service_Ingest_Key=renewed["key"]).status == 202


def test_a_time_of_grace(sqlite_sender: Any) -> None:
    client, old = sqlite_sender.client, sqlite_sender.key
    renewed = client.post("ingest-settings", {"action": "regenerate", "grace_minutes": 5}).json
    assert renewed["previous_key_until"] is not None
    for key in (old, renewed["key"]):
        assert sqlite_sender.send({"message": "a"}, X_Service_Ingest_Key=key).status == 202
    newest = client.post("ingest-settings", {"action": "regenerate"}).json
    for key, status in ((old, 401), (renewed["key"], 401), (newest["key"], 202)):
        assert sqlite_sender.send({"message": "a"}, X_Service_Ingest_Key=key).status == status


def test_a_viewer_sees_the_hint_only(sqlite_sender: Any) -> None:
    from snaglist.kernel.call import Actor

    client = Client(sqlite_sender.client.service, lambda environ, application: Actor("v", "V", ("viewer",)))
    shown = client.get("ingest-settings")
    assert (shown.status, shown.json["key"], shown.json["key_hint"][:5]) == (200, None, "svk_…")
    assert client.post("ingest-settings", {"action": "regenerate"}).status == 403


def test_the_key_is_nowhere_in_plain_text(sqlite_sender: Any, fresh_data: Any) -> None:
    sqlite_sender.send({"message": "a"})
    stored = b"".join(file.read_bytes() for file in fresh_data.rglob("*") if file.is_file())
    assert sqlite_sender.key.encode() not in stored and b"svk_" in stored


def test_reading_makes_no_key(sqlite_client: Client) -> None:
    """A key comes with the first enabling, and stays."""
    service = sqlite_client.service
    from snaglist.kernel.store import get_setting

    def kept() -> Any:
        call = service.call()
        with call.transaction(write=False) as db:
            return get_setting(db, "ingest.key")

    sqlite_client.request("POST", "/?api=ingest", b"")
    assert kept() is None
    sqlite_client.post("plugins", {"id": "ingest", "enabled": True})
    made = kept()
    for enabled in (False, True):
        sqlite_client.post("plugins", {"id": "ingest", "enabled": enabled})
    assert made is not None and kept() == made


def test_an_application_created_with_the_area_has_a_key(sender_with: Any) -> None:
    sender = sender_with(plugins__enabled=["ingest"])
    assert sender.client.post("applications", {"name": "Shop"}).status == 201
    assert sender.client.get("ingest-settings", app="shop").json["key"].startswith("svk_")


def _key(client: Client, app: str) -> Any:
    client.post("plugins", {"id": "ingest", "enabled": True}, app=app)
    return client.get("ingest-settings", app=app).json["key"]


def test_a_lost_secret_does_not_stop_an_upgrade(fresh_data: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A key that nothing opens is told of; steps and the secrets of other applications go on."""
    with running_service(fresh_data, jobs=False, security__secret="lost") as service:
        _key(Client(service), "default")
    with running_service(fresh_data, jobs=False, security__secret="old") as service:
        Client(service).post("applications", {"name": "Other"})
        key = _key(Client(service), "other")
    with running_service(fresh_data, jobs=False, security__secret="new,old") as service:
        upgrade(service)
    assert "ingest.key of application default: A stored secret cannot be opened" in caplog.text
    with running_service(fresh_data, jobs=False, security__secret="new") as service:
        assert Client(service).get("ingest-settings", app="other").json["key"] == key
        assert Client(service).get("ingest-settings", app="default").status == 503


def test_an_address_for_senders_that_is_none_is_a_warning(sender_with: Any) -> None:
    sender = sender_with(ingest__url="logs.example.com")
    assert sender.settings()["ingest_url"] == "http://testserver/?api=ingest&app=default"
    assert [one.split(":")[0] for one in sender.client.service.settings.warnings()] == ["ingest.url"]

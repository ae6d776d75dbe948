"""`tracker-settings`, `tracker-test` and what keeps the secrets."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.store import get_setting, put_setting
from snaglist.testing import running_service

DEFAULTS = {
    "enabled": False, "provider": "linear", "endpoint_url": "", "project": "", "team_key": "", "account": "",
    "labels": [], "assigned_to_me": False, "assignees": [], "status_writeback": False, "status_writeback_comment": True,
    "status_pull": True, "api_key_configured": False, "api_key_source": "none", "webhook_configured": False,
    "webhook_secret_source": "none", "webhook_secret_previous_until": None,
    "webhook_url": "http://testserver/?api=tracker-webhook&app=default",
    "env_key_locked": False, "at_rest_encrypted": True, "updated_at": None,
    "sync": {"backfill_complete": False, "synced_through": None, "in_progress": False, "last_error": None},
}  # fmt: skip
KEY = "key-of-the-tracker-0123456789"


@pytest.fixture
def client(site_with: Callable[..., Any]) -> Any:
    return site_with("github", settings=False).client


def test_the_defaults(client: Any) -> None:
    assert {**client.get("tracker-settings").json, "types": []} == {**DEFAULTS, "types": []}


def test_put_replaces_patch_keeps(client: Any) -> None:
    given = {"provider": "github", "project": "octo/shop", "labels": [" Ops "], "assignees": ["Ana@Example.com", "ANA"]}
    answer = client.put("tracker-settings", given | {"api_key": KEY, "enabled": True})
    assert answer.status == 200, answer.text
    shown = answer.json
    assert (shown["labels"], shown["assignees"]) == (["Ops"], ["ana@example.com", "ANA"])
    assert shown["enabled"] and shown["api_key_source"] == "stored" and KEY not in answer.text
    assert client.patch("tracker-settings", {"status_writeback": True}).json["labels"] == ["Ops"]
    replaced = client.put("tracker-settings", {"provider": "github", "project": "octo/shop"}).json
    assert replaced["labels"] == [] and not replaced["status_writeback"] and not replaced["enabled"]
    assert replaced["api_key_configured"]
    assert not client.patch("tracker-settings", {"api_key": ""}).json["api_key_configured"]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"enabled": True}, "api_key"),
        ({"provider": "trello"}, "provider"),
        ({"provider": "github", "project": "shop"}, "project"),
        ({"provider": "jira", "project": "a b"}, "project"),
        ({"provider": "github", "api_key": KEY, "enabled": True}, "project"),
        ({"provider": "jira", "project": "SHOP", "api_key": KEY, "enabled": True}, "endpoint_url"),
        ({"provider": "generic", "webhook_secret": "s3cr3t-key", "enabled": True}, "endpoint_url"),
        ({"provider": "generic", "endpoint_url": "https://93.184.216.34/t", "enabled": True}, "webhook_secret"),
        ({"endpoint_url": "http://93.184.216.34/"}, "endpoint_url"),
        ({"endpoint_url": "https://10.0.0.1/"}, "endpoint_url"),
        ({"endpoint_url": "https://u:p@93.184.216.34/"}, "endpoint_url"),
        ({"endpoint_url": "https://169.254.169.254/"}, "endpoint_url"),
        ({"account": "ana"}, "account"),
        ({"account": "ana@example.com\nx"}, "account"),
        ({"team_key": "EN-G"}, "team_key"),
        ({"team_key": "E" * 21}, "team_key"),
        ({"labels": ["Ops", "OPS"]}, "labels"),
        ({"labels": ["x" * 81]}, "labels"),
        ({"labels": [""]}, "labels"),
        ({"labels": [str(number) for number in range(51)]}, "labels"),
        ({"assignees": ["x" * 201]}, "assignees"),
        ({"status_pull": "true"}, "status_pull"),
        ({"api_key": "   "}, "api_key"),
        ({"webhook_secret": " \t"}, "webhook_secret"),
        ({"apikey": KEY}, "apikey"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(client: Any, fields: dict[str, Any], named: str) -> None:
    for send in (client.put, client.patch):
        answer = send("tracker-settings", fields)
        assert answer.status == 422 and named in answer.error, answer.text
    assert {**client.get("tracker-settings").json, "types": []} == {**DEFAULTS, "types": []}


def test_another_provider_forgets_secrets_and_position(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    site.double.add("One")
    site.sync()
    assert site.client.get("tracker-settings").json["sync"]["backfill_complete"]
    shown = site.client.put("tracker-settings", {"provider": "linear"}).json
    assert shown["api_key_source"] == shown["webhook_secret_source"] == "none"
    assert not shown["sync"]["backfill_complete"]
    shown = site.settings()
    assert not shown["sync"]["backfill_complete"]
    assert site.sync()["phase"] == "backfill" and len(site.issues()) == 1


def test_a_key_is_not_sent_to_another_host(client: Any) -> None:
    kept = {"provider": "gitlab", "project": "7", "api_key": KEY, "webhook_secret": "s3cr3t-key", "enabled": True}
    there, elsewhere = ({"endpoint_url": f"https://93.184.216.{number}/api/v4"} for number in (34, 35))
    assert client.put("tracker-settings", kept | there).status == 200
    assert client.patch("tracker-settings", {"endpoint_url": "https://93.184.216.34/x"}).json["api_key_configured"]
    for other in (elsewhere, {"endpoint_url": "https://93.184.216.34:8443/"}, {"endpoint_url": ""}):
        answer = client.patch("tracker-settings", other)
        assert answer.status == 422 and "api_key: is required again" in answer.error, answer.text
    same = {"endpoint_url": "https://93.184.216.34:443/api/v4"}
    assert client.patch("tracker-settings", same).json["api_key_configured"]
    shown = client.patch("tracker-settings", elsewhere | {"enabled": False}).json
    assert (shown["api_key_source"], shown["webhook_secret_source"]) == ("none", "stored")
    shown = client.patch("tracker-settings", there | {"api_key": KEY, "enabled": True}).json
    assert shown["enabled"] and shown["api_key_source"] == "stored"


@pytest.mark.parametrize("provider", ["jira", "generic"])
def test_a_provider_without_a_public_place_needs_an_endpoint(client: Any, provider: str) -> None:
    """Enabled or not, unlike a project."""
    for send in (client.put, client.patch):
        answer = send("tracker-settings", {"provider": provider})
        assert (answer.status, answer.error) == (422, f"endpoint_url: is required for {provider}")
    whole = {"provider": provider, "endpoint_url": "https://93.184.216.34"}
    assert client.put("tracker-settings", whole).status == 200
    assert client.patch("tracker-settings", {"endpoint_url": ""}).error == f"endpoint_url: is required for {provider}"


def test_what_is_pulled_resets_the_position_other_fields_do_not(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    site.double.add("One")
    site.sync()
    assert site.settings(status_writeback=True)["sync"]["backfill_complete"]
    for fields in ({"labels": ["Ops"]}, {"assignees": ["ana"]}, {"assigned_to_me": True}):
        site.settings()
        site.sync()
        assert not site.settings(**fields)["sync"]["backfill_complete"], fields


def test_the_environment_wins(fresh_data: Path) -> None:
    config = {"tracker__api_key": KEY, "tracker__webhook_secret": "from-the-environment"}
    with running_service(fresh_data, jobs=False, **config) as service:
        from snaglist.testing import Client

        client = Client(service)
        client.post("plugins", {"id": "tracker", "enabled": True})
        shown = client.put("tracker-settings", {"team_key": " eng ", "enabled": True}).json
        assert shown["api_key_source"] == shown["webhook_secret_source"] == "env"
        assert shown["env_key_locked"] and shown["team_key"] == "ENG" and shown["enabled"]
        for name in ("api_key", "webhook_secret"):
            answer = client.put("tracker-settings", {name: "mine"})
            assert answer.status == 422 and name in answer.error
        assert KEY not in (fresh_data / "applications/default/service.sqlite").read_bytes().decode("latin-1")


GITLAB = {"provider": "gitlab", "project": "7", "enabled": True}


@pytest.mark.parametrize(
    ("hosts", "address", "goes"),
    [
        ([], "", True), ([], "https://93.184.216.34", True), ([], "http://10.0.0.1", True),
        (["gitlab.com"], "https://GITLAB.com.:443/api/v4", True), (["gitlab.com"], "https://gitlab.com:8443", False),
        (["93.184.216.34"], "https://93.184.216.34/api/v4", True), (["93.184.216.34"], "", False),
        (["93.184.216.34"], "https://93.184.216.35", False), (["10.0.0.1"], "http://10.0.0.1", False),
        (["10.0.0.1:80", "gitlab.com"], "http://10.0.0.1", True), (["10.0.0.1:80", "gitlab.com"], "", True),
    ],
)  # fmt: skip
def test_a_key_of_the_environment_goes_where_the_operator_says(
    site_with: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, hosts: list[str], address: str, goes: bool
) -> None:
    """Whoever may change the settings of an application chooses the host, and must not get the key by it."""
    found = socket.getaddrinfo
    monkeypatch.setattr(
        "socket.getaddrinfo",
        lambda name, *given, **named: found(name if name[0].isdigit() else "93.184.216.34", *given, **named),
    )
    client = site_with(
        settings=False, tracker__api_key=KEY, tracker__api_key_hosts=hosts, outbound__allow_private=["10.0.0.0/8"]
    ).client
    given = GITLAB | {"endpoint_url": address}
    answer = client.put("tracker-settings", given)
    if goes:
        assert (answer.status, answer.json["api_key_source"], answer.json["env_key_locked"]) == (200, "env", True)
        assert client.patch("tracker-settings", {"api_key": "mine"}).status == 422
        return
    assert answer.status == 422 and "tracker.api_key_hosts" in answer.error
    own = client.put("tracker-settings", given | {"api_key": "mine"})  # it has a key of its own, as without the other
    assert (own.status, own.json["api_key_source"], own.json["env_key_locked"]) == (200, "stored", False)


def test_settings_from_before_do_not_send_the_key(site_with: Callable[..., Any]) -> None:
    """As after an upgrade, or when the operator takes a host away."""
    site = site_with("github", tracker__api_key="key-of-the-environment", tracker__api_key_hosts=["api.github.com"])
    with site.service.call().transaction() as db:
        put_setting(db, "tracker", {**get_setting(db, "tracker"), "sealed": {}})
    refused = site.client.post("tracker-test")
    assert refused.status == 422 and "tracker.api_key_hosts" in refused.error
    job = site.job(site.queue())
    assert job["status"] == "failed" and "tracker.api_key_hosts" in job["error"]
    assert site.double.got == []


def test_secrets_are_sealed(site_with: Callable[..., Any], fresh_data: Path) -> None:
    site = site_with("github")
    content = b"".join(path.read_bytes() for path in fresh_data.rglob("*.sqlite*"))
    assert KEY.encode() not in content and b"s3cr3t-key" not in content
    assert KEY not in json.dumps(site.client.get("tracker-settings").json)
    assert KEY not in site.client.get("jobs").text


def test_a_test_needs_a_key_and_tells_what_the_tracker_says(site_with: Callable[..., Any]) -> None:
    site = site_with("github", settings=False)
    answer = site.client.post("tracker-test")
    assert answer.status == 422 and "api_key" in answer.error
    site.settings()
    assert site.client.post("tracker-test").json["message"] == "Connected."
    doubles = __import__("tracker_doubles")
    for planned, text in (
        (doubles.Answer(500), "The tracker answered 500."),
        (doubles.Answer(403, {"message": "Forbidden"}), "lacks the rights"),
        (doubles.Answer(200, b"<html>"), "did not answer with JSON"),
        (doubles.Answer(302, headers={"Location": "https://10.0.0.1/"}), "redirects"),
        (doubles.Answer(429, headers={"Retry-After": "30"}), "asks to wait for 30 s"),
        (doubles.Answer(400, {"message": f"bad {KEY}"}), "bad …"),
        (doubles.Answer(200, [1, 2]), "something else than expected"),
        (doubles.Answer(200, {"login": "ana"}), "something else than expected"),
    ):
        site.double.fail = [planned]
        answer = site.client.post("tracker-test").json
        assert not answer["ok"] and answer["viewer"] is None and text in answer["message"], answer


def test_an_address_without_a_path_means_the_usual_one(site_with: Callable[..., Any]) -> None:
    site = site_with("gitlab")
    bare = site.double.url.removesuffix("/api/v4")
    site.settings(endpoint_url=bare + "/")
    assert site.client.post("tracker-test").json["ok"]
    assert site.double.got[-1].path == "/api/v4/user"


def test_a_key_is_one_line(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    for key in ("abc\r\nX-Evil: 1", "a\tb", "schlüssel€"):
        refused = site.client.patch("tracker-settings", {"api_key": key})
        assert refused.status == 422 and refused.error == "api_key: must be one line of ASCII characters"
    assert site.client.patch("tracker-settings", {"api_key": f" {KEY}\n"}).status == 200
    assert site.client.post("tracker-test").json["ok"]


def test_a_key_of_the_environment_is_one_line(site_with: Callable[..., Any]) -> None:
    site = site_with("github", settings=False, tracker__api_key="abc\nX-Evil: 1")
    site.client.patch("tracker-settings", {"provider": "github", "endpoint_url": site.double.url})
    told = site.client.post("tracker-test").json
    assert told["message"] == "The API key holds characters that no key has: set it anew." and site.double.got == []


@pytest.mark.parametrize("ending", ["?token=1", "/#f", "/x?"])
def test_paths_can_be_added_to_an_address(site_with: Callable[..., Any], ending: str) -> None:
    site = site_with("github")
    refused = site.client.patch("tracker-settings", {"endpoint_url": site.double.url + ending})
    assert refused.status == 422 and refused.error == "endpoint_url: must not have a query or fragment"


def test_what_a_tracker_says_of_its_user_is_clipped(site_with: Callable[..., Any]) -> None:
    site = site_with("github")
    site.double.fail = [__import__("tracker_doubles").Answer(200, {"login": "a\ud800", "name": "x" * 900_000, "id": 1})]
    viewer = site.client.post("tracker-test").json["viewer"]
    assert len(viewer["name"]) == 200 and viewer["id"] == "1"

"""Channels: fields, what may not be asked, and what is never told."""

import json
from typing import Any

import pytest

from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.alerting import tables as own
from snaglist.plugins.system.sealed import reseal

TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"
PLACE = "https://93.184.216.34/services/T000/very-secret"


@pytest.mark.servers
def test_making_changing_and_deleting(site: Any) -> None:
    client = site.client
    made = site.channel("zebra", "slack", url=PLACE)
    assert made["target_hint"] == "93.184.216.34" and made["signed"] is False and made["enabled"] is True
    assert made["last_status"] is None and "url" not in made and "secret" not in made
    site.channel("Äpfel", "slack", url=PLACE)
    site.channel("apple", "slack", url=PLACE)
    assert [c["name"] for c in client.get("alert-channels").json["data"]] == ["apple", "zebra", "Äpfel"]
    body = {"id": made["id"], "name": "Other", "type": "slack"}
    for required in ("name", "type"):
        cut = {name: value for name, value in body.items() if name != required}
        assert client.put("alert-channels", cut).error == f"{required}: is required"
    assert client.put("alert-channels", {**body, "enabled": False}).json["enabled"] is False
    assert client.put("alert-channels", body).json["enabled"] is True
    changed = client.patch("alert-channels", {"id": made["id"], "url": "https://1.1.1.1/x"}).json
    assert (changed["name"], changed["target_hint"]) == ("Other", "1.1.1.1")
    rule = site.rule(channel=made["id"])
    assert client.delete("alert-channels", None, id=made["id"]).json == {"id": made["id"], "deleted": True}
    assert rule["id"] not in [r["id"] for r in client.get("alert-rules").json["data"]]
    for answer in (client.delete("alert-channels", {"id": made["id"]}), client.put("alert-channels", body)):
        assert answer.status == 404 and answer.error


REFUSED = [
    {"type": "slack", "url": PLACE},
    {"name": " ", "type": "slack", "url": PLACE},
    {"name": "x" * 121, "type": "slack", "url": PLACE},
    {"name": "x", "type": "pigeon", "url": PLACE},
    {"name": "x", "type": "slack"},
    {"name": "x", "type": "webhook", "url": ""},
    {"name": "x", "type": "slack", "url": PLACE + "x" * 2000},
    {"name": "x", "type": "slack", "url": "https://user:pass@1.1.1.1/"},
    {"name": "x", "type": "slack", "url": "ftp://1.1.1.1/"},
    {"name": "x", "type": "webhook", "url": PLACE, "secret": "short"},
    {"name": "x", "type": "webhook", "url": PLACE, "secret": " " * 8},
    {"name": "x", "type": "webhook", "url": PLACE, "secret": "whsec_  "},
    {"name": "x", "type": "webhook", "url": PLACE, "secret": "x" * 201},
    {"name": "x", "type": "slack", "url": PLACE, "enabled": 1},
    {"name": "x", "type": "telegram", "bot_token": TOKEN},
    {"name": "x", "type": "telegram", "bot_token": "12:short", "chat_id": "1"},
    {"name": "x", "type": "telegram", "bot_token": TOKEN, "chat_id": "here"},
    {"name": "x", "type": "telegram", "bot_token": TOKEN, "chat_id": "1 2"},
    {"name": "x", "type": "email", "recipients": []},
    {"name": "x", "type": "email", "recipients": ["a@example.com"] * 21},
    {"name": "x", "type": "email", "recipients": ["no address"]},
    {"name": "x", "type": "email", "recipients": ["a@example.com\nBcc: b@example.com"]},
    {"name": "x", "type": "email", "recipients": ["a@example.com"]},  # there is no mail server
]


def test_what_is_refused(sqlite_site: Any) -> None:
    for body in REFUSED:
        answer = sqlite_site.client.post("alert-channels", body)
        assert answer.status == 422, (body, answer.text)
        assert answer.error
    assert sqlite_site.client.get("alert-channels").json["data"] == []


NOT_PUBLIC = [
        "http://93.184.216.34/x", "https://127.0.0.1", "https://10.0.0.1", "https://[::1]", "https://169.254.169.254",
        "https://0x7f000001", "https://2130706433", "https://0177.0.0.1", "https://[::ffff:10.0.0.1]",
        "https://[64:ff9b::a00:1]", "https://100.64.0.1", "https://localhost/x", "https://nowhere.invalid/x",
    ]  # fmt: skip


def test_hosts_that_are_not_public(site_with: Any) -> None:
    site = site_with(outbound__allow_private=[])
    for type_ in ("webhook", "slack", "discord", "teams"):
        made = site.channel("x", type_, url=PLACE)
        for url in NOT_PUBLIC if type_ == "webhook" else NOT_PUBLIC[:3]:
            answer = site.client.post("alert-channels", {"name": "x", "type": type_, "url": url})
            assert answer.status == 422 and answer.error.startswith("url: "), url
            assert site.client.patch("alert-channels", {"id": made["id"], "url": url}).status == 422


def test_a_type_cannot_change(sqlite_site: Any) -> None:
    made = sqlite_site.channel("x", "slack", url=PLACE)
    body = {"id": made["id"], "name": "x", "type": "discord"}
    for answer in (sqlite_site.client.put("alert-channels", body), sqlite_site.client.patch("alert-channels", body)):
        assert answer.status == 422 and answer.error == "type: cannot change"


def test_a_signing_key_is_shown_once_and_only_when_it_was_made_here(sqlite_site: Any) -> None:
    client = sqlite_site.client
    made = sqlite_site.channel("made", url=PLACE)
    assert len(made["secret"]) >= 32 and made["signed"] is True
    given = sqlite_site.channel("given", url=PLACE, secret="my-own-key")
    assert "secret" not in given and given["signed"] is True
    assert made["secret"] not in client.get("alert-channels").text
    kept = client.put("alert-channels", {"id": made["id"], "name": "made", "type": "webhook"}).json
    assert kept["signed"] is True
    cleared = client.patch("alert-channels", {"id": made["id"], "secret": ""}).json
    assert cleared["signed"] is False
    assert client.patch("alert-channels", {"id": made["id"], "secret": "short"}).status == 422


def test_targets_are_nowhere_in_plain_text(site: Any) -> None:
    site.channel("chat", "slack", url=PLACE)
    site.channel("bot", "telegram", bot_token=TOKEN, chat_id="@operations")
    site.channel("hook", url=PLACE, secret="a-signing-key-of-mine")
    shown = site.client.get("alert-channels").text
    stored = "".join(str(row) for row in site.rows(own.channels))
    for secret in ("very-secret", "ABC-DEF1234", "@operations", "a-signing-key-of-mine"):
        assert secret not in shown and secret not in stored
    files = [path for path in site.service.settings.data.rglob("*") if path.is_file()]
    for path in files:
        for secret in (b"very-secret", b"ABC-DEF1234", b"a-signing-key-of-mine"):
            assert secret not in path.read_bytes(), path
    assert {c["target_hint"] for c in json.loads(shown)["data"]} == {"93.184.216.34", "api.telegram.org"}


def test_a_mail_channel_shows_a_letter_and_the_domain(site_with: Any) -> None:
    site = site_with(smtp__host="mail.example.com", smtp__from="snaglist@example.com")
    made = site.channel("mail", "email", recipients=["olga@example.com", "pat@example.com"])
    assert made["target_hint"] == "o…@example.com"
    assert "pat" not in site.client.get("alert-channels").text


def test_another_sealing_key_is_a_clear_failure_and_can_be_repaired(site_with: Any, fresh_data: Any) -> None:
    site = site_with()
    made = site.channel("hook", "slack", url=site.receiver.url)
    site.service.secrets = type(site.service.secrets)(_other_secret(site.service))
    answer = site.client.post("alert-test", {"id": made["id"]})
    assert answer.json["ok"] is False and "cannot be opened" in answer.json["detail"]
    assert site.client.patch("alert-channels", {"id": made["id"], "url": site.receiver.url}).status == 200
    assert site.client.post("alert-test", {"id": made["id"]}).json == {"ok": True, "detail": "delivered"}


def _other_secret(service: Service) -> Any:
    class Other:
        settings = Settings({"server.data": str(service.settings.data / "elsewhere"), "security.secret": "another"})
        applications, database = service.applications, service.database

    return Other()


def test_secrets_are_sealed_anew_with_the_first_key(site_with: Any) -> None:
    site = site_with(security__secret="first")
    site.channel("hook", url=site.receiver.url, secret="my-own-key")
    before = site.rows(own.channels)[0]
    other = _other_secret(site.service)
    other.settings = Settings({"server.data": str(site.service.settings.data), "security.secret": "second,first"})
    site.service.secrets = type(site.service.secrets)(other)
    reseal(site.service, site.service.applications.all()[0])
    after = site.rows(own.channels)[0]
    assert before.target != after.target and before.signing != after.signing
    made = site.client.post("alert-test", {"id": after.id})
    assert made.json["ok"] is True


def test_the_area_is_off_at_first(sqlite_client: Any) -> None:
    for api in ("alert-channels", "alert-rules", "alert-events"):
        assert sqlite_client.get(api).status == 404
    assert sqlite_client.post("alert-test", {"id": 1}).status == 404


def test_the_area_in_openapi(sqlite_site: Any) -> None:
    paths = sqlite_site.client.get("openapi").json["paths"]
    assert paths["/?api=alert-rules"]["get"]["x-plugin"] == "alerting"
    assert paths["/?api=alert-rules"]["post"]["x-ability"] == "settings.write"
    assert paths["/?api=alert-events"]["get"]["x-ability"] == "alerts.read"


def test_what_is_deleted_leaves_the_rest(site: Any) -> None:
    """A deleted module or tag leaves the rule, a deleted rule its messages."""
    module = site.client.post("modules", {"name": "Billing"}).json["id"]
    tag = site.client.post("tags", {"name": "Money"}).json["id"]
    rule = site.rule(module_id=module, tag_id=tag)
    assert site.client.delete("tags", {"id": tag}).status == 200
    assert site.client.delete("modules", {"id": module}).status == 200
    [shown] = site.client.get("alert-rules").json["data"]
    assert (shown["module_id"], shown["tag_id"]) == (None, None)
    site.store("Trouble")
    assert site.client.delete("alert-rules", {"id": rule["id"]}).status == 200
    [event] = site.events()
    assert (event["rule_id"], event["rule_name"], event["channel_name"]) == (None, None, "Ops")

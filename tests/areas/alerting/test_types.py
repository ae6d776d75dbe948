"""Channel types: the form in which each service gets a message."""

import json
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from snaglist.plugins.alerting import ChannelType, Message, NotDelivered
from snaglist.plugins.alerting import tables as own
from snaglist.plugins.alerting.types import chat
from snaglist.plugins.alerting.types import email as email_type
from snaglist.testing import Client, running_service

TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"
HOSTILE = "<!channel> @everyone *bold* [x](http://evil.test) & more"


def send_one(site: Any, type_: str, **fields: Any) -> Any:
    site.rule(channel=site.channel("chat", type_, **fields)["id"])
    site.store(HOSTILE, "Disk is full")
    assert site.deliver() == {"sent": 1}
    return site.receiver.got[-1]


def test_slack(site_with: Any) -> None:
    site = site_with(server__url="https://logs.example.com")
    got = send_one(site, "slack", url=site.receiver.url)
    text = got.json["text"]
    assert text.splitlines()[0] == "2 new issues"
    assert "&lt;!channel&gt;" in text and "<" not in text and "ERROR  Disk is full  (1×)" in text
    assert text.splitlines()[-1] == "https://logs.example.com"


def test_discord(sqlite_site: Any) -> None:
    got = send_one(sqlite_site, "discord", url=sqlite_site.receiver.url)
    assert got.json["allowed_mentions"] == {"parse": []}
    assert got.json["content"].startswith("2 new issues\n") and len(got.json["content"]) <= 2000


def test_teams(site_with: Any) -> None:
    site = site_with(server__url="https://logs.example.com")
    got = send_one(site, "teams", url=site.receiver.url)
    card = got.json["attachments"][0]["content"]
    runs = [block["inlines"][0]["text"] for block in card["body"]]
    assert runs[0] == "2 new issues" and HOSTILE in runs[1]
    assert card["actions"][0]["url"] == "https://logs.example.com"


def test_telegram(sqlite_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat, "TELEGRAM", sqlite_site.receiver.url.removesuffix("/hook/s3cret-path"))
    got = send_one(sqlite_site, "telegram", bot_token=TOKEN, chat_id="@operations")
    assert got.path == f"/bot{TOKEN}/sendMessage"
    assert got.json["chat_id"] == "@operations" and "parse_mode" not in got.json
    sqlite_site.receiver.answers = [401]
    answer = sqlite_site.client.post("alert-test", {"id": 1}).json
    assert answer == {"ok": False, "detail": "HTTP 401"}


class MailServer:
    """Speaks enough SMTP to take a mail."""

    def __init__(self) -> None:
        self.mails: list[str] = []
        self.recipients: list[str] = []
        self.refuse = ""
        self.silent = False


@contextmanager
def mail_server() -> Iterator[tuple[MailServer, int]]:
    state = MailServer()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            if state.silent:
                time.sleep(2)
                return
            self.say("220 mail.test")
            while line := self.rfile.readline().decode().rstrip("\r\n"):
                verb = line.upper()
                if verb.startswith("RCPT"):
                    state.recipients.append(line)
                    self.say(state.refuse or "250 ok")
                elif verb == "DATA":
                    self.say("354 go on")
                    lines = []
                    while (part := self.rfile.readline().decode()) != ".\r\n":
                        lines.append(part)
                    state.mails.append("".join(lines))
                    self.say("250 taken")
                elif verb == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

        def say(self, text: str) -> None:
            self.wfile.write(text.encode() + b"\r\n")

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield state, server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_email(site_with: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with mail_server() as (server, port):
        site = site_with(
            smtp__host="127.0.0.1", smtp__port=port, smtp__tls="none", smtp__from="Snags <snaglist@example.com>"
        )
        site.rule(channel=site.channel("mail", "email", recipients=["olga@example.com", "pat@example.com"])["id"])
        site.store("Zähler ist voll\nSubject: forged")
        server.refuse = "550 unknown"
        assert site.deliver() == {"retrying": 1}
        assert site.events()[0]["detail"] == "The mail server refused all recipients: check them."
        server.refuse = ""
        site.change(own.outbox, next_attempt_at="")
        assert site.deliver() == {"sent": 1}
        [mail] = server.mails
        head, _, body = mail.partition("\r\n\r\n")
        assert "Subject: [default] 1 new issue" in head and "From: Snags <snaglist@example.com>" in head
        delivery = site.rows(own.outbox)[0].delivery_id
        assert f"Message-ID: <{delivery}@example.com>" in head
        assert head.count("Subject:") == 1 and body
        monkeypatch.setattr(email_type, "TOTAL_SECONDS", 0.3)
        server.silent = True
        started = time.monotonic()
        answer = site.client.post("alert-test", {"id": 1}).json
        assert answer["ok"] is False and time.monotonic() - started < 2
    assert site.client.post("alert-test", {"id": 1}).json["detail"].startswith("The mail server did not answer")


def test_a_mail_server_that_does_not_speak_tls_gets_no_mail(site_with: Any) -> None:
    with mail_server() as (server, port):
        site = site_with(smtp__host="127.0.0.1", smtp__port=port, smtp__from="snaglist@example.com")
        made = site.channel("mail", "email", recipients=["olga@example.com"])
        assert site.client.post("alert-test", {"id": made["id"]}).json["ok"] is False
        assert server.mails == []


def test_a_secret_in_a_failure_is_not_shown(sqlite_site: Any) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/T0/very-secret"
    made = sqlite_site.channel("x", "slack", url=url)
    answer = sqlite_site.client.post("alert-test", {"id": made["id"]}).json
    assert answer["ok"] is False and "very-secret" not in answer["detail"]


def test_a_plugin_adds_a_type(fresh_data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the hook `register_channel_types`."""
    from contextlib import contextmanager as manager

    sent: list[Message] = []

    @manager
    def open_(opening: Any) -> Iterator[Any]:
        def send(message: Message) -> None:
            if opening.target["number"] == "0":
                raise NotDelivered("pager 0 is off", answered=True)
            sent.append(message)

        yield send

    pager = ChannelType(("number",), lambda call, target: "pager", open_)
    with running_service(fresh_data, jobs=False) as service:
        added = service.plugins.find("alerting").added["register_channel_types"]  # type: ignore[union-attr]
        added.append(("pager", pager))
        client = Client(service)
        client.post("plugins", {"id": "alerting", "enabled": True})
        made = client.post("alert-channels", {"name": "x", "type": "pager", "number": "17"})
        assert made.status == 201, made.text
        assert client.post("alert-test", {"id": 1}).json == {"ok": True, "detail": "delivered"}
        assert json.loads(json.dumps(sent[0].document))["trigger"] == "test"
        client.patch("alert-channels", {"id": 1, "number": "0"})
        # What a secret of a target is, is left out of failures; this one is too short to be told apart.
        assert client.post("alert-test", {"id": 1}).json == {"ok": False, "detail": "pager 0 is off"}
        added.pop()
        answer = client.post("alert-test", {"id": 1}).json
        assert answer == {"ok": False, "detail": "the channel type pager is not installed"}

"""The type `apprise`: what it takes, and that none of its requests gets out of the guard."""

import os
import warnings
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.alerting.types.apprise import LOCAL

pytestmark = pytest.mark.whole

pytest.importorskip("apprise")

NAMES = """
import socket
_original, _asked = socket.getaddrinfo, []

def getaddrinfo(host, *rest, **named):
    if host == "hooks.test":
        _asked.append(host)
        host = "127.0.0.1" if len(_asked) <= {first} else "127.0.0.2"
    return _original(host, *rest, **named)

socket.getaddrinfo = getaddrinfo
"""


def place(receiver: Any, host: str = "", query: str = "") -> str:
    return f"json://{host or receiver.host}:{receiver.port}/s3cret-path{query}"


def test_a_message_through_apprise(sqlite_site: Any) -> None:
    made = sqlite_site.channel("any", "apprise", url=place(sqlite_site.receiver))
    assert made["target_hint"] == "json://"
    sqlite_site.rule(channel=made["id"])
    sqlite_site.store("Disk is full \\n :smile: <b>")
    assert sqlite_site.deliver() == {"sent": 1}
    [got] = sqlite_site.receiver.got
    assert got.json["title"] == "1 new issue" and "Disk is full \\n :smile: <b>" in got.json["message"]


@pytest.mark.parametrize(
    "url",
    ["no url", "json://", "nothing://x", "https://93.184.216.34/x", *(f"{scheme}://x" for scheme in sorted(LOCAL))],
)
def test_what_is_refused(site_with: Any, url: str) -> None:
    answer = site_with().client.post("alert-channels", {"name": "x", "type": "apprise", "url": url})
    assert answer.status == 422 and answer.error.startswith("url: "), answer.text


def test_no_scheme_of_this_machine_is_left_out() -> None:
    """Whatever else Apprise learns to show here has to be looked at."""
    import apprise.manager_plugins

    local = ("dbus", "syslog", "windows", "macosx", "gnome", "glib", "blink1")
    manager = apprise.manager_plugins.NotificationManager()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what it imports
        manager.load_modules()
    schemes = {scheme for scheme in manager.schemas() if manager[scheme].__module__.rpartition(".")[2] in local}
    assert schemes <= LOCAL


@pytest.mark.parametrize("query", ["", "?redirect=yes"])
def test_a_redirect_leads_nowhere(site_with: Any, receivers: Any, query: str) -> None:
    site = site_with(outbound__allow_private=["127.0.0.1/32"])
    forbidden, allowed = receivers("127.0.0.2"), receivers("127.0.0.1")
    made = site.channel("any", "apprise", url=place(site.receiver, query=query))
    for elsewhere in (forbidden, allowed):

        def redirect(handler: BaseHTTPRequestHandler, url: str = elsewhere.url) -> None:
            handler.send_response(307)
            handler.send_header("Location", url)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        site.receiver.answers = [redirect]
        answer = site.client.post("alert-test", {"id": made["id"]}).json
        assert answer["ok"] is False and "s3cret-path" not in answer["detail"], answer
    assert forbidden.got == allowed.got == []
    assert len(site.receiver.got) == 2


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_name_that_means_another_address_later(
    site_with: Any, receivers: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """The child's resolver gives the allowed address `first` times, then one that is not allowed."""
    site = site_with(outbound__allow_private=["127.0.0.1/32"])
    (tmp_path / "names").mkdir()
    (tmp_path / "names" / "sitecustomize.py").write_text(NAMES.format(first=first))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "names"), os.environ.get("PYTHONPATH", "")]))
    forbidden = receivers("127.0.0.2")
    url = f"json://hooks.test:{site.receiver.port}/x"
    made = site.client.post("alert-channels", {"name": "any", "type": "apprise", "url": url})
    assert made.status == (201 if first else 422), made.text  # asked when it is saved, and in the child of each send
    if first:
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "later"), os.environ.get("PYTHONPATH", "")]))
        (tmp_path / "later").mkdir()
        (tmp_path / "later" / "sitecustomize.py").write_text(NAMES.format(first=first - 1))
        answer = site.client.post("alert-test", {"id": made.json["id"]}).json
        assert answer["ok"] is (first == 2), answer
    assert len(site.receiver.got) == (first == 2)
    assert forbidden.got == []


@pytest.mark.parametrize("host", ["127.0.0.2", "2130706434", "0x7f000002", "localhost", "[::1]"])
def test_no_spelling_of_a_private_address_is_saved(site_with: Any, host: str) -> None:
    """Refused, for hosts in URLs of Apprise."""
    site = site_with(outbound__allow_private=[])
    body = {"name": "x", "type": "apprise", "url": f"json://{host}:{site.receiver.port}/x"}
    answer = site.client.post("alert-channels", body)
    assert answer.status == 422 and answer.error.startswith("url: the host is not on the public internet"), answer.text


def test_a_token_in_the_place_of_a_host_is_no_host(sqlite_site: Any) -> None:
    """As an address it would be 0.1.226.64; and a name that leads nowhere may be a mail domain."""
    token = "tgram://123456:abcdefghijklmnopqrstuvwxyzabcdefghi/1"
    for url in (token, "json://nothing.invalid/x"):
        body = {"name": "x", "type": "apprise", "url": url}
        assert sqlite_site.client.post("alert-channels", body).status == 201


def test_mail_through_apprise_is_guarded_too(site_with: Any) -> None:
    """Its plugins that do not speak HTTP open sockets themselves."""
    allowed = site_with(outbound__allow_private=["127.0.0.0/8"])
    urls = (
        f"mailto://a:b@example.com?smtp=127.0.0.1&port={allowed.receiver.port}&mode=insecure",
        f"rsyslog://127.0.0.1:{allowed.receiver.port}",
    )
    made = [allowed.channel(url[:4], "apprise", url=url)["id"] for url in urls]
    for url in urls:
        body = {"name": "x", "type": "apprise", "url": url}
        assert site_with(outbound__allow_private=[]).client.post("alert-channels", body).status == 422
    allowed.client.service.outbound.allowed = ()  # as after a change of the configuration
    assert [allowed.client.post("alert-test", {"id": each}).json["ok"] for each in made] == [False, False]
    assert allowed.receiver.got == []


def test_one_that_hangs_is_given_up(sqlite_site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    from snaglist.plugins.alerting.types import apprise as type_

    monkeypatch.setattr(type_, "TOTAL_SECONDS", 0.5)
    sqlite_site.receiver.answers = [lambda handler: time.sleep(2)]
    made = sqlite_site.channel("any", "apprise", url=place(sqlite_site.receiver))
    assert sqlite_site.client.post("alert-test", {"id": made["id"]}).json == {
        "ok": False, "detail": "No answer in time.",
    }  # fmt: skip

"""Names: what people type is one line (422 else), what senders give is made one; what is stored is read as ever."""

import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import update

from snaglist.hosting import _person
from snaglist.kernel.endpoints import METHODS
from snaglist.kernel.service import Service
from snaglist.kernel.text import harmless, one_line, visible
from snaglist.plugins.issues import tables
from snaglist.plugins.system import command_line
from snaglist.plugins.system.command_line import Lines
from snaglist.testing import Client

pytestmark = pytest.mark.servers

CONTROLS = ("\n", "\r\n", "\t", "\x1b[31m", "\x7f", "\x85", "\x9b", "\u2028", "\u2029")
WORDS = "must be one line without control characters"
TURNING = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# Short texts of requests that are no names: secrets, zones and patterns have rules of their own, a word is looked for
# in texts of several lines, an id is looked up, as is the user that events name, whatever a sender called them, and the
# title of an issue may be a message of several lines.
OTHERS = {"user", "title", "secret", "timezone", "pattern", "match_word", "debug_id"}


def texts(service: Service) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Give the fields of all bodies that hold a short free text: endpoint, method, field and its schema."""
    for name, (endpoint, _) in sorted(service.endpoints().items()):
        for method in METHODS:
            found = service.schemas.find(endpoint.schemas, name, method, "body") if endpoint.operation(method) else None
            for field, inner in found.contents.get("properties", {}).items() if found else ():
                node, resolver = found._resolve(inner, found._root)
                if "items" in node:
                    node, _ = found._resolve(node["items"], resolver)
                kinds = node.get("type", ())
                free = not {"enum", "const", "pattern", "format"} & node.keys()
                if "string" in kinds and free and node.get("maxLength", 10_000) <= 500:
                    yield name, method, field, node


def test_every_name_of_a_request_is_one_line(sqlite_service: Service) -> None:
    found = list(texts(sqlite_service))
    named = {(name, field) for name, _, field, node in found if node.get("x-line")}
    assert {(name, field) for name, _, field, _ in found if field not in OTHERS} == named
    assert named >= {
        ("applications", "name"), ("modules", "name"), ("tags", "name"), ("connectors", "name"),
        ("alert-rules", "name"), ("alert-channels", "name"), ("deploys", "version"),
        ("deploys", "environment"), ("source-maps", "release"),
        ("issues", "environment"), ("issue-status", "release"), ("tracker-settings", "labels"),
    }  # fmt: skip


CREATED: dict[str, dict[str, Any]] = {
    "applications": {},
    "modules": {},
    "tags": {},
    "connectors": {"type": "local", "config": {"directory": "/tmp"}},
    "alert-channels": {"type": "webhook", "url": "https://example.com/"},
    "alert-rules": {"channel_id": 1, "trigger_type": "new_error"},
}


@pytest.mark.parametrize("api", CREATED)
def test_a_name_with_a_line_break_is_refused(sqlite_client: Client, api: str) -> None:
    sqlite_client.enable("alerting")
    for control in CONTROLS:
        answer = sqlite_client.post(api, {"name": f"a{control}Set-Cookie: x=1", **CREATED[api]})
        assert (answer.status, answer.error) == (422, f"name: {WORDS}")
    assert not any("Set-Cookie" in str(row) for row in sqlite_client.get(api).json["data"])


def test_other_names_with_line_breaks(sqlite_client: Client) -> None:
    sqlite_client.enable("releases")
    for api, body in (
        ("deploys", {"version": "1\n2"}), ("deploys", {"version": "1", "environment": "a\nb"}),
        ("issues", {"title": "a", "environment": "a\nb"}),
        ("deploys", {"version": "1", "ref": "a\x00b"}),
    ):  # fmt: skip
        assert sqlite_client.post(api, body).status == 422
    assert sqlite_client.post("deploys", {"version": "1", "notes": "a\nb"}).status == 201, "notes have lines"
    assert sqlite_client.post("issues", {"title": "a", "description": "a\nb"}).status == 201


def test_names_of_every_script_are_taken_as_they_are(client: Client) -> None:
    names = ["שלום עולם", "مرحبا 5", "a\u202eb\u202c", "Ünïcödé ½", "👩\u200d🚀", "می\u200cخواهم", "a\u00a0b"]
    for name in names:
        assert client.post("tags", {"name": f" {name}\n"}).json["name"] == name
        assert client.post("tags", {"name": name}).status == 422, f"{name!a} is there"
    every = " ".join(names)
    assert client.post("applications", {"name": every, "id": "other"}).json["name"] == every
    assert {one["name"] for one in client.get("applications").json["data"]} > {every}
    assert client.delete("applications", {"id": "other", "confirmation": "DELETE APPLICATION other"}).status == 200


def test_a_stored_name_with_a_line_break_is_read_and_can_be_mended(client: Client) -> None:
    """Versions before took it."""
    made = client.post("modules", {"name": "Billing"}).json["id"]
    call = client.service.call()
    with call.transaction() as db:
        db.execute(update(tables.modules).values(name="Bil\nling", name_key="bil\nling"))
    assert client.get("modules").json["data"][0]["name"] == "Bil\nling"
    assert client.patch("modules", {"id": made, "color": "#112233"}).json["name"] == "Bil\nling"
    assert client.patch("modules", {"id": made, "name": "Billing"}).json["name"] == "Billing"


def test_names_that_senders_give_become_one_line(sqlite_client: Client) -> None:
    sqlite_client.enable("ingest")
    key = sqlite_client.post("ingest-settings", {"action": "regenerate"}).json["key"]
    event = {"message": "Broken", "tags": ["a\r\nb", "c\x1b[31m"], "module": "Bil\nling"}
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    assert sqlite_client.request("POST", "/?api=ingest", json.dumps(event).encode(), headers).json["accepted"] == 1
    assert {tag["name"] for tag in sqlite_client.get("tags").json["data"]} == {"a b", "c [31m"}
    assert [module["name"] for module in sqlite_client.get("modules").json["data"]] == ["Bil ling"]


def test_a_person_has_a_label_of_one_line() -> None:
    assert _person({"id": "7", "label": "Ana\nOWNER"}, "identity").label == "Ana OWNER"
    assert _person({"id": "7", "label": "\n"}, "identity").label == "7"


@given(st.text())
def test_what_a_terminal_is_given(text: str) -> None:
    shown = harmless(text)
    assert not re.search(f"[{TURNING}\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)
    assert shown.count("\n") == text.count("\n")
    shown.encode()
    assert "\n" not in command_line.table(["A"], [[text.replace("\n", "x\n")]]).removeprefix("A\n")
    assert not re.search("[\n\r\t\x00\u2028]", one_line(text))


def test_what_turns_a_text_is_visible_and_letters_stay() -> None:
    assert visible("invoice\u202efdp.exe") == r"invoice\u202efdp.exe"
    assert visible(TURNING) == "".join(f"\\u{ord(character):04x}" for character in TURNING)
    for text in ("שלום", "مرحبا", "plain \\u202e", "👩\u200d🚀", "می\u200cخواهم"):
        assert visible(text) == text


def test_the_services_own_log_does_not_steer_the_terminal_either() -> None:
    record = logging.LogRecord("snaglist", logging.ERROR, "", 0, "no room for %s", ("a\u202eb\x1b[31m",), None)
    assert Lines("%(message)s").format(record) == "no room for a\\u202eb\N{REPLACEMENT CHARACTER}[31m"

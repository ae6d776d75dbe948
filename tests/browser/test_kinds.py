"""Types of channels and connectors from a wheel: their forms are what their schemas declare."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

PLUGIN = """
from contextlib import contextmanager
from importlib.resources import files
from snaglist.kernel import Description, Invalid, hookimpl
from snaglist.plugins.alerting import ChannelType
from snaglist.plugins.connectors import ConnectorType

SCHEMAS = files("snaglist_pager") / "schemas"

@hookimpl
def describe():
    return Description("pager", "Pager", "Pages people", "Test", "1")

def check(call, target):
    if target["team"] == "nobody":
        raise Invalid("team: there is no such team")
    return f"{target['team']} ({target.get('urgency', 'low')})"

@contextmanager
def open_(opening):
    yield lambda message: None

@hookimpl(optionalhook=True)
def register_channel_types():
    fields = ("team", "urgency", "token", "people", "repeat", "loud")
    return {"pager": ChannelType(fields, check, open_, schemas=SCHEMAS)}

@hookimpl
def register_connectors():
    kinds = {"tape": ("code",), "vault": ()}
    return {
        name: ConnectorType(lambda call, config, secrets: config, open_, secret, schemas=SCHEMAS)
        for name, secret in kinds.items()
    }
"""
CHANNEL = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Pager of the ops room",
    "type": "object",
    "required": ["team", "token"],
    "properties": {
        "team": {"title": "Team", "description": "As the duty roster names it.", "type": "string", "maxLength": 40},
        "urgency": {
            "title": "Urgency",
            "oneOf": [{"const": "low", "title": "Can wait"}, {"const": "high", "title": "Wakes people"}],
            "default": "high",
        },
        "token": {"title": "Token", "type": "string", "format": "password", "writeOnly": True},
        "people": {"title": "People besides", "type": "array", "items": {"type": "string"}},
        "repeat": {"title": "Repeat", "type": "integer", "minimum": 1, "maximum": 9, "default": 2},
        "loud": {"title": "With sound", "type": "boolean"},
    },
}
CONNECTOR = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Tape library",
    "type": "object",
    "required": ["shelf"],
    "properties": {
        "shelf": {"title": "Shelf", "type": "string", "examples": ["A7"]},
        "card": {"title": "Card", "type": "string", "default": "", "x-either": "Opens with"},
        "code": {"title": "Door code", "type": "string", "writeOnly": True, "x-either": "Opens with"},
        "extra": {"title": "Extra", "type": "object", "default": {}},
        "port": {"title": "Port", "type": "integer", "default": 22},
        "speed": {"title": "Speed", "enum": [1, 2, 4]},
        "racks": {"title": "Racks", "type": "array", "items": {"type": "string"}, "default": []},
    },
}
# The same names and the same choice as the tape library has, with other values.
VAULT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Vault",
    "type": "object",
    "properties": {
        "card": {"title": "Card", "type": "string", "default": "", "x-either": "Opens with"},
        "badge": {"title": "Badge", "type": "string", "default": "", "x-either": "Opens with"},
        "port": {"title": "Port", "type": "integer", "default": 5432},
        "speed": {"title": "Speed", "enum": [8, 16], "default": 16},
    },
}


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory, servers: Any) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("kinds")
    package = folder / "site" / "snaglist_pager"
    definitions = package / "schemas" / "definitions"
    definitions.mkdir(parents=True)
    (package / "__init__.py").write_text(PLUGIN)
    (definitions / "channel-pager.json").write_text(json.dumps(CHANNEL))
    (definitions / "connector-tape.json").write_text(json.dumps(CONNECTOR))
    (definitions / "connector-vault.json").write_text(json.dumps(VAULT))
    metadata = folder / "site" / "snaglist_pager-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: snaglist-pager\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[snaglist.plugins]\npager = snaglist_pager\n")
    with servers.served(folder / "data", python_path=folder / "site") as url:
        for plugin in ("alerting", "pager"):
            body = json.dumps({"id": plugin, "enabled": True}).encode()
            urlopen(Request(f"{url}?api=plugins", body, {"Content-Type": "application/json"})).close()
        yield url


def stored(url: str, api: str) -> Any:
    with urlopen(f"{url}?api={api}", timeout=30) as answer:
        return json.load(answer)["data"][-1]


def test_a_channel_type_of_a_wheel_has_its_form(site: str, open_page: Any, watch: Any) -> None:
    watch.expect("422")
    page = open_page(f"{site}?view=alerts", bypass_csp=True)  # for axe
    page.get_by_role("button", name="New channel").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("Ops")
    form.get_by_label("Type").select_option(label="Pager of the ops room")
    expect(form.get_by_text("As the duty roster names it.")).to_be_visible()
    expect(form.get_by_label("Webhook address")).to_have_count(0)
    expect(form.get_by_label("Signing key")).to_have_count(0)
    expect(form.get_by_label("Urgency").locator("option")).to_have_text(["Can wait", "Wakes people"])
    expect(form.get_by_label("Urgency")).to_have_value("high")
    expect(form.get_by_label("Token")).to_have_attribute("type", "password")
    expect(form.get_by_label("Repeat")).to_have_value("2")
    expect(form.get_by_label("Repeat")).to_have_attribute("max", "9")
    form.get_by_label("Team").fill("nobody")
    form.get_by_label("Token").fill("t0ken")
    form.get_by_label("People besides, one per line").fill("Ana\nBo")
    form.get_by_label("With sound").check()
    assert Axe().run(page).response["violations"] == []
    form.get_by_role("button", name="Add").click()
    expect(form.get_by_role("alert")).to_have_text("There is no such team")
    expect(form.get_by_label("Team")).to_be_focused()
    form.get_by_label("Team").fill("night")
    form.get_by_role("button", name="Add").click()
    row = page.get_by_role("table", name="Channels").get_by_role("row", name="Ops")
    expect(row).to_contain_text("Pager of the ops room")
    expect(row).to_contain_text("night (high)")
    page.get_by_role("button", name="Test Ops").click()
    expect(page.get_by_text("The test message was delivered.")).to_be_visible()
    expect(row).to_contain_text("sent")


def test_what_does_not_fit_its_schema_is_refused_beside_the_field(site: str, open_page: Any, watch: Any) -> None:
    watch.expect("422")
    page = open_page(f"{site}?view=alerts")
    page.get_by_role("button", name="New channel").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("Ops 2")
    form.get_by_label("Type").select_option(label="Pager of the ops room")
    form.get_by_label("Team").fill("day")
    form.get_by_label("Token").fill("t")
    form.locator("form").evaluate("(element) => { element.noValidate = true; }")
    form.get_by_label("Repeat").fill("12")
    form.get_by_role("button", name="Add").click()
    expect(form.get_by_role("alert")).to_have_text("Must be from 1 to 9")
    expect(form.get_by_label("Repeat")).to_have_attribute("aria-invalid", "true")


def test_a_connector_type_of_a_wheel_has_its_form(site: str, open_page: Any) -> None:
    page = open_page(f"{site}?view=connectors")
    page.get_by_role("button", name="New connector").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("Old tapes")
    form.get_by_label("Where the logs are").select_option(label="Tape library")
    expect(form.get_by_label("Shelf")).to_have_attribute("placeholder", "A7")
    form.get_by_label("Shelf").fill("B2")
    expect(form.get_by_label("Card")).to_be_visible()
    expect(form.get_by_label("Door code")).to_have_count(0)
    form.get_by_label("Opens with").select_option("Door code")
    expect(form.get_by_label("Card")).to_have_count(0)
    form.get_by_label("Door code").fill("1234")
    form.get_by_label("Extra").fill('{"robot": 2}')
    form.get_by_label("Racks, one per line").fill("north, upper\nsouth")
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Old tapes")
    made = stored(site, "connectors")
    racks = ["north, upper", "south"]
    assert made["config"] == {"shelf": "B2", "card": "", "extra": {"robot": 2}, "port": 22, "speed": 1, "racks": racks}
    assert made["secrets"] == {"code": True}
    page.get_by_role("button", name="Actions of Old tapes").click()
    page.get_by_role("button", name="Edit …").click()
    expect(form.get_by_label("Opens with")).to_have_value("code")
    expect(form.get_by_label("Door code")).to_have_attribute("placeholder", "stored; leave empty to keep it")
    expect(form.get_by_label("Extra")).to_have_value('{"robot":2}')
    form.get_by_label("Opens with").select_option("Card")
    form.get_by_label("Card").fill("7")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    made = stored(site, "connectors")
    assert (made["config"]["card"], made["secrets"]) == ("7", {"code": False})


def test_types_with_the_same_names_do_not_disturb_each_other(site: str, open_page: Any) -> None:
    page = open_page(f"{site}?view=connectors")
    page.get_by_role("button", name="New connector").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("Vault")
    kind = form.get_by_label("Where the logs are")
    kind.select_option(label="Tape library")
    expect(form.get_by_label("Port")).to_have_value("22")
    expect(form.get_by_label("Speed")).to_have_value("1")
    form.get_by_label("Opens with").select_option("Door code")
    kind.select_option(label="Vault")
    expect(form.get_by_label("Port")).to_have_value("5432")
    expect(form.get_by_label("Speed")).to_have_value("16")
    expect(form.get_by_label("Opens with")).to_have_value("card")
    expect(form.get_by_label("Card")).to_be_visible()
    kind.select_option(label="Tape library")
    expect(form.get_by_label("Port")).to_have_value("22")
    expect(form.get_by_label("Door code")).to_be_visible()
    form.get_by_label("Port").fill("23")
    kind.select_option(label="Vault")
    expect(form.get_by_label("Port")).to_have_value("23")  # as typed
    form.get_by_label("Speed").select_option("8")
    form.get_by_label("Card").fill("7")
    form.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Vault")
    assert stored(site, "connectors")["config"] == {"card": "7", "badge": "", "port": 23, "speed": 8}

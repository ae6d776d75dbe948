"""The page "Alerts": a channel, a rule, a dry run and a test message, by hand."""

import json
import re
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[Any]]]:
    got: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook", got
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def alerting(servers: Any, browser: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a server whose application alerts."""
    variables = {"SERVICE_PLUGINS": "alerting,ingest", "SERVICE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8"}
    with servers.served(tmp_path / "data", **variables) as url:
        yield url


def push(url: str, message: str) -> None:
    with urllib.request.urlopen(f"{url}?api=ingest-settings", timeout=30) as answer:
        settings = json.load(answer)
    headers = {settings["key_header"]: settings["key"], "Content-Type": "application/json"}
    sent = urllib.request.Request(settings["ingest_url"], json.dumps({"message": message}).encode(), headers)
    urllib.request.urlopen(sent, timeout=30).close()


def post(url: str, api: str, body: dict[str, Any]) -> None:
    sent = urllib.request.Request(f"{url}?api={api}", json.dumps(body).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(sent, timeout=30).close()


def menu(page: Any, name: str, item: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("button", name=item).click()


def test_a_channel_and_a_rule(alerting: str, receiver: tuple[str, list[Any]], open_page: Any) -> None:
    place, got = receiver
    push(alerting, "Long known")
    page = open_page(f"{alerting}?view=alerts")
    expect(page.get_by_role("heading", level=1)).to_have_text("Alerts")
    expect(page.get_by_text("Add a channel first.")).to_be_visible()
    page.get_by_role("button", name="New channel").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("Ops")
    form.get_by_label("Webhook address").fill(place)
    form.get_by_role("button", name="Add").click()
    expect(page.get_by_text("Copy it now; it won't be shown again")).to_be_visible()
    page.get_by_role("button", name="Test Ops").click()
    expect(page.get_by_text("The test message was delivered.")).to_be_visible()
    assert got[0]["trigger"] == "test"
    page.get_by_role("button", name="New rule").click()
    form.get_by_label("Name", exact=True).fill("News")
    form.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Dry run of News").click()
    expect(page.get_by_text("Dry run of News: 1 alert in the last 7 days")).to_be_visible()
    expect(page.get_by_role("link", name="Long known")).to_be_visible()
    push(alerting, "<b>Disk</b> is full")
    for _ in range(200):
        if len(got) == 2:
            break
        threading.Event().wait(0.05)
    assert got[1]["items"][0]["title"] == "<b>Disk</b> is full"
    page.reload()
    expect(page.get_by_role("cell", name="1 issue")).to_be_visible()
    menu(page, "Actions of Ops", "Delete …")
    form.get_by_role("button", name="Delete the channel").click()
    expect(page.get_by_text("Add a channel first.")).to_be_visible()
    expect(page.get_by_role("button", name="Dry run of News")).to_have_count(0)


def test_a_message_that_waits_is_shown_as_one(alerting: str, open_page: Any) -> None:
    """It is tried again: nobody listens at the address of the channel."""
    post(alerting, "alert-channels", {"name": "Ops", "type": "webhook", "url": "http://127.0.0.1:9/hook"})
    post(alerting, "alert-rules", {"name": "News", "channel_id": 1, "trigger_type": "new_error"})
    push(alerting, "Disk is full")
    for _ in range(200):
        with urllib.request.urlopen(f"{alerting}?api=alert-events", timeout=30) as answer:
            if "retrying" in [event["status"] for event in json.load(answer)["data"]]:
                break
        threading.Event().wait(0.05)
    page = open_page(f"{alerting}?view=alerts")
    expect(page.locator(".state", has_text="retrying")).to_have_attribute("data-state", "busy")


def test_a_rule_filters_by_level_module_and_tag(alerting: str, receiver: tuple[str, list[Any]], open_page: Any) -> None:
    post(alerting, "modules", {"name": "Billing"})
    post(alerting, "tags", {"name": "Payments"})
    post(alerting, "alert-channels", {"name": "Ops", "type": "webhook", "url": receiver[0]})
    page = open_page(f"{alerting}?view=alerts")
    page.get_by_role("button", name="New rule").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name", exact=True).fill("Bills")
    form.get_by_label("When there is").select_option("a new issue")
    form.get_by_label("Error").check()
    form.get_by_label("Critical").check()
    form.get_by_label("Only in module").select_option("Billing")
    form.get_by_label("Only with tag").select_option("Payments")
    form.get_by_role("button", name="Add").click()
    row = page.get_by_role("table", name="Rules").get_by_role("row", name=re.compile("Bills"))
    expect(row).to_contain_text("a new issue · Critical, Error · Billing · Payments")
    menu(page, "Actions of the rule Bills", "Edit …")
    expect(form.get_by_label("Critical")).to_be_checked()
    expect(form.get_by_label("Only with tag").locator("option:checked")).to_have_text("Payments")
    form.get_by_label("When there is").select_option("no events for a period")
    expect(form.get_by_label("Only from source")).to_be_visible()
    form.get_by_label("Critical").uncheck()
    form.get_by_label("Only in module").select_option("Any")
    form.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("no events for a period · Error · Payments")


def test_each_type_asks_for_what_it_needs(alerting: str, open_page: Any, watch: Any) -> None:
    watch.expect("422")
    page = open_page(f"{alerting}?view=alerts")
    page.get_by_role("button", name="New channel").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Type").select_option("telegram")
    expect(form.get_by_label("Bot token")).to_be_visible()
    expect(form.get_by_label("Webhook address")).to_have_count(0)
    expect(form.get_by_label("Type").locator("option", has_text="E-mail")).to_have_text("E-mail (needs smtp.host)")
    form.get_by_label("Type").select_option("email")
    form.get_by_label("Name", exact=True).fill("Mail")
    form.get_by_label("Recipients").fill("olga@example.com")
    form.get_by_role("button", name="Add").click()
    expect(form.get_by_role("alert")).to_have_text("E-mail needs a mail server: set smtp.host in the configuration.")
    expect(form.get_by_label("Type")).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_label("Recipients")).to_have_value("olga@example.com")

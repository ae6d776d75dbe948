"""The dashboard says whether it is live, on every page, and comes back by itself when the service does."""

import re
import socket
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

REFUSED = r"net::ERR_|status of 50[0-9]"


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def state(page: Page) -> Any:
    return page.locator(".connection")


def test_a_server_that_ends_is_said_and_one_that_returns_is_found(
    servers: Any, open_page: Any, watch: Any, tmp_path: Path, port: int
) -> None:
    watch.expect(REFUSED)
    servers.fill(tmp_path / "data")
    with servers.served(tmp_path / "data", port=port) as url:
        page = open_page(f"{url}?view=tags")
        page.locator(".table").wait_for()
        expect(state(page)).to_have_text("Live")
    page.get_by_role("link", name="Issues", exact=True).click()
    expect(page.locator("main")).to_contain_text("snaglist does not answer. This page loads by itself", timeout=20_000)
    expect(state(page)).to_have_text("Reconnecting …", timeout=20_000)
    expect(page.locator(".outage")).to_contain_text(re.compile(r"Reconnecting since \d\d:\d\d\."))
    with servers.served(tmp_path / "data", port=port):
        # Nobody does anything: the page that failed comes, and says that it is live.
        expect(page.locator(".row").first).to_be_visible(timeout=30_000)
        expect(state(page)).to_have_text("Live")
        expect(page.locator(".outage")).to_have_count(0)


def test_a_page_that_asks_for_nothing_finds_out_too(page: Page, watch: Any) -> None:
    watch.expect(REFUSED)
    page.clock.install()
    page.goto(page.url.split("?")[0] + "?view=tags")
    page.locator(".table").wait_for()
    page.route("**/*", lambda route: route.abort())
    page.clock.run_for(16_000)
    expect(state(page)).to_have_text("Reconnecting …", timeout=20_000)
    page.unroute("**/*")
    page.locator(".outage").get_by_role("button", name="Try now").click()
    expect(state(page)).to_have_text("Live")


def test_one_answer_that_is_missed_is_chance(page: Page, watch: Any) -> None:
    watch.expect(REFUSED)
    missed: list[str] = []

    def once(route: Route) -> None:
        missed.append(route.request.url)
        if len(missed) > 1:
            route.fallback()
        else:
            route.abort()

    page.route("**/?api=summary*", once)
    page.locator(".connection", has_text="Live").wait_for()
    page.wait_for_event("response", lambda answer: "api=summary" in answer.url and bool(missed), timeout=30_000)
    expect(page.locator(".outage")).to_have_count(0)


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_proxy_without_the_service_behind_it_is_no_service(page: Page, watch: Any, status: int) -> None:
    watch.expect(REFUSED)
    page.route(
        "**/*", lambda route: route.fulfill(status=status, content_type="text/html", body="<h1>Bad gateway</h1>")
    )
    page.get_by_role("link", name="Tags").click()
    expect(state(page)).to_have_text("Reconnecting …", timeout=20_000)


def test_an_error_of_the_service_is_an_answer(page: Page, watch: Any) -> None:
    watch.expect(REFUSED)
    busy = '{"error": "The database is busy."}'
    page.route("**/?api=tags*", lambda route: route.fulfill(status=503, content_type="application/json", body=busy))
    page.get_by_role("link", name="Tags").click()
    expect(page.locator("main")).to_contain_text("The database is busy.")
    expect(state(page)).to_have_text("Live")
    expect(page.locator(".outage")).to_have_count(0)


def test_what_is_readable_stays_without_an_answer(page: Page, watch: Any) -> None:
    """No click throws away what is on the screen, or what was typed; the status that was refused is not shown."""
    watch.expect(REFUSED)
    page.locator(".row-title", has_text="Order 4711").click()
    page.locator("#comment").fill("Called the customer")
    address = page.url
    page.route("**/?*api=*", lambda route: route.abort())
    page.get_by_role("link", name="Show raw lines").click()
    expect(page.locator(".toast-error").first).to_contain_text("snaglist does not answer.")
    expect(page.locator("h1")).to_contain_text("Order 4711")
    assert page.url == address
    page.get_by_role("button", name="In progress").click()
    expect(page.locator(".toast-error").last).to_contain_text("It is not known whether this was done")
    expect(page.get_by_role("button", name="In progress")).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#comment")).to_have_value("Called the customer")
    page.unroute("**/?*api=*")
    expect(state(page)).to_have_text("Live", timeout=20_000)
    expect(page.locator("#comment")).to_have_value("Called the customer")


def test_a_device_without_network_is_offline(page: Page, watch: Any) -> None:
    watch.expect(REFUSED)
    page.context.set_offline(True)
    expect(state(page)).to_have_text("Offline", timeout=20_000)
    expect(page.locator(".outage")).to_contain_text("This device has no network.")
    page.context.set_offline(False)
    expect(state(page)).to_have_text("Live", timeout=20_000)


def test_a_slow_page_says_at_once_that_it_is_coming(page: Page) -> None:
    held: list[Route] = []
    page.route("**/?api=tags*", lambda route: held.append(route))
    page.get_by_role("link", name="Tags").click()
    expect(state(page)).to_have_text("Loading Tags …")
    expect(page.get_by_role("link", name="Tags")).to_have_attribute("aria-current", "page")
    expect(page.locator("#app")).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    expect(page.locator("h1")).to_have_text("Tags")
    expect(state(page)).to_have_text("Live")

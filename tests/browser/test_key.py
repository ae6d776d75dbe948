"""The sign-in page: asks for the key, keeps it where the user wants, shows nothing before."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

KEY = "test-key-0123456789abcdef"


@pytest.fixture(scope="module")
def locked(browser: Browser, tmp_path_factory: pytest.TempPathFactory, servers: Any) -> Iterator[str]:
    """A server that needs a key."""
    data: Path = tmp_path_factory.mktemp("locked") / "data"
    servers.fill(data)
    with servers.served(data, SERVICE_TOKEN=KEY) as url:
        yield url


@pytest.fixture
def gate(open_page: Any, watch: Any, locked: str) -> Page:
    watch.expect("status of 401")
    page: Page = open_page(locked)
    expect(page.get_by_label("Access key")).to_be_focused()
    return page


def enter(page: Page, key: str) -> None:
    page.get_by_label("Access key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_no_data_before_the_key(gate: Page) -> None:
    assert gate.locator(".row").count() == 0
    assert "Order 4711" not in gate.content()
    assert gate.context.cookies() == []


def test_a_wrong_key_is_refused_and_not_kept(gate: Page) -> None:
    enter(gate, "wrong")
    expect(gate.get_by_role("alert")).to_have_text("This key is not accepted. Check that it was copied whole.")
    assert gate.evaluate("[sessionStorage.length, localStorage.length]") == [0, 0]


def test_the_right_key_opens_for_this_tab(gate: Page, locked: str) -> None:
    enter(gate, KEY)
    expect(gate.locator(".row").first).to_be_visible()
    assert gate.evaluate("Object.values(sessionStorage)") == [KEY]
    assert gate.evaluate("localStorage.length") == 0
    assert KEY not in gate.url
    gate.reload()
    expect(gate.locator(".row").first).to_be_visible()
    other = gate.context.new_page()
    other.goto(locked)
    expect(other.get_by_label("Access key")).to_be_visible()


def test_remember_keeps_it_for_the_browser(gate: Page, locked: str) -> None:
    gate.get_by_label("Remember").check()
    enter(gate, KEY)
    expect(gate.locator(".row").first).to_be_visible()
    other = gate.context.new_page()
    other.goto(locked)
    expect(other.locator(".row").first).to_be_visible()


def test_sign_out_forgets_the_key(gate: Page) -> None:
    gate.get_by_label("Remember").check()
    enter(gate, KEY)
    gate.get_by_role("button", name="Sign out").click()
    expect(gate.get_by_label("Access key")).to_be_visible()
    assert gate.evaluate("[sessionStorage.length, localStorage.length]") == [0, 0]
    assert "Order 4711" not in gate.content()


def test_a_key_that_was_changed_leads_back_to_the_gate(gate: Page) -> None:
    enter(gate, KEY)
    expect(gate.locator(".row").first).to_be_visible()
    gate.evaluate("sessionStorage.setItem(Object.keys(sessionStorage)[0], 'old-key')")
    gate.reload()
    expect(gate.get_by_role("alert")).to_have_text("This key is not accepted. Check that it was copied whole.")


def test_the_address_is_kept_through_the_gate(open_page: Any, watch: Any, locked: str) -> None:
    watch.expect("status of 401")
    page = open_page(f"{locked}?severity=CRITICAL")
    enter(page, KEY)
    expect(page.locator(".row .badge").first).to_have_text("Critical")


def test_has_no_accessibility_violations(browser: Browser, locked: str) -> None:
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(locked)
    page.get_by_label("Access key").wait_for()
    found = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()

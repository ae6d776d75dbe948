"""The tab of the browser counts what came up while nobody looked, and the palette finds issues."""

import json
import re
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Page, expect

HIDDEN = """(hidden) => {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def add(url: str, title: str) -> None:
    body = json.dumps({"title": title}).encode()
    with urlopen(Request(f"{url}?api=issues", body, {"Content-Type": "application/json"})):
        pass


def test_new_issues_are_counted_in_the_tab_while_it_is_hidden(page: Page, deployment: Any) -> None:
    icon = page.locator("link[rel=icon]")
    plain = icon.get_attribute("href") or ""
    page.clock.install()
    with page.expect_response(re.compile("api=summary")):
        page.evaluate(HIDDEN, True)
    add(deployment.url, "The first of two that came up at night")
    add(deployment.url, "The second of two that came up at night")
    page.clock.run_for(61_000)
    expect(page).to_have_title("(2) Issues · snaglist")
    expect(icon).to_have_attribute("href", re.compile("^data:image/png"))
    page.evaluate(HIDDEN, False)
    expect(page).to_have_title("Issues · snaglist")
    expect(icon).to_have_attribute("href", re.compile(f"{re.escape(plain)}$"))


def test_the_palette_finds_issues_by_their_words(page: Page) -> None:
    page.keyboard.press("Control+k")
    page.get_by_label("Command", exact=True).fill("gateway timeout")
    found = page.get_by_role("option", name=re.compile("Order 4711 failed: gateway timeout"))
    expect(found).to_be_visible()
    found.click()
    page.wait_for_url(re.compile(r"view=issue&id=\d+"))
    expect(page.locator("h1")).to_contain_text("Order 4711 failed")


def test_enter_after_the_palette_is_for_the_page(page: Page) -> None:
    """Not for the link that had the focus before."""
    page.get_by_role("link", name="Tags").focus()
    page.keyboard.press("Control+k")
    page.get_by_label("Command", exact=True).fill("gateway")
    page.get_by_role("option", name="Search issues for").click()
    page.wait_for_url(re.compile("q="))
    assert page.evaluate("document.activeElement.closest('.rail') === null")


def test_a_search_for_issues_that_fails_leaves_the_palette_usable(page: Page, watch: Any) -> None:
    watch.expect("status of 500")
    broken = '{"error": "The disk is full."}'
    page.route(
        "**/?*api=errors*", lambda route: route.fulfill(status=500, content_type="application/json", body=broken)
    )
    page.keyboard.press("Control+k")
    with page.expect_response(re.compile("api=errors")):
        page.get_by_label("Command", exact=True).fill("tags")
    page.get_by_role("option", name="Go to Tags").click()
    expect(page.locator("h1")).to_have_text("Tags")

"""Searching in the raw lines: from an order number to its line in the log, and from hit to hit within a log."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

LINES = 900


def written(first: int) -> str:
    lines = []
    for number in range(first, first + LINES):
        stamp = f"2026-01-03 {number // 60 % 24:02d}:{number % 60:02d}:00"
        level, end = ("ERROR", "failed: <b>gateway</b> 😀 timeout") if number % 100 == 0 else ("INFO", "paid")
        lines.append(f"[{stamp}] shop.{level}: Order {number} {end}\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def url(servers: Any, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that read two logs; the orders of the second one are 5000 to 5899."""
    folder: Path = tmp_path_factory.mktemp("searched")
    for name, first in (("till.log", 1000), ("shop.log", 5000)):
        (folder / name).write_text(written(first))
        servers.run("import", str(folder / name), data=folder / "data")
    with servers.served(folder / "data") as served:
        yield served


@pytest.fixture
def page(open_page: Any, url: str) -> Page:
    shown: Page = open_page(url)
    shown.locator(".row").first.wait_for()
    return shown


def test_what_no_issue_has_is_looked_for_in_the_logs(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("Order 5042 paid\n")
    page.get_by_role("link", name="Look for “Order 5042 paid” in the raw logs").click()
    expect(page.locator("h1")).to_have_text("Search logs")
    hits = page.locator(".found-log .line")
    expect(hits).to_have_count(1)
    expect(hits.locator("mark")).to_have_text("Order 5042 paid")
    expect(page.get_by_role("status").filter(has_text="1 hit")).to_contain_text("in 2 logs")
    hits.get_by_role("link", name="43").click()
    expect(page.locator("h1")).to_contain_text("shop.log")
    marked = page.locator('.log .line[aria-current="true"]')
    expect(marked.locator(".line-number")).to_have_text("43")
    expect(marked.locator("mark")).to_have_text("Order 5042 paid")
    expect(marked).to_be_in_viewport()
    page.go_back()
    expect(hits).to_have_count(1)


def test_a_search_of_all_logs_is_narrowed_to_any_time(page: Page, url: str) -> None:
    # Order 5000 is of minute 5000 of the day, 11:20.
    page.goto(f"{url}?view=log-search&q=Order+50&from=2026-01-03+11:20:00&to=2026-01-03+11:30:00")
    hits = page.locator(".found-log .line")
    expect(hits).to_have_count(10)
    time = page.locator("select[name=hours]")
    asked = re.compile("^3 Jan( 2026)? 11:20 to 3 Jan( 2026)? 11:30$")
    expect(time.locator("option:checked")).to_have_text(asked)
    time.select_option("From … to …")
    page.get_by_label("to, time of day").fill("11:25")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(hits).to_have_count(5)
    page.get_by_label("Text to find").fill("Order 500")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(hits).to_have_count(5)  # the time stays
    time.select_option("any time")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(hits).to_have_count(10)
    # A search that comes while times are typed is the one that they are for.
    time.select_option("From … to …")
    page.get_by_label("Text to find").fill("Order 510")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(hits.first).to_contain_text("Order 510")
    page.get_by_label("From", exact=True).fill("2026-01-03")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator(".dates")).to_have_count(0)
    assert "Order+510" in page.url or "Order%20510" in page.url


def test_a_search_of_all_logs_is_narrowed_by_level_and_shows_the_issue(page: Page, url: str) -> None:
    page.goto(f"{url}?view=log-search")
    page.get_by_label("Text to find").fill("ORDER \\d+00 ")
    page.get_by_label("Ignore case").check()
    page.get_by_label("Regular expression").check()
    page.get_by_label("Level").select_option("ERROR")
    page.get_by_label("Log", exact=True).fill("till")
    page.get_by_role("button", name="Search", exact=True).click()
    hits = page.locator(".found-log .line")
    expect(hits).to_have_count(9)
    page.get_by_role("link", name="Show the issue of this line").first.click()
    expect(page.locator("h1")).to_contain_text("gateway")
    assert "occurrence=" in page.url


def test_a_bad_pattern_is_said(page: Page, url: str, watch: Any) -> None:
    watch.expect("status of 422")
    page.goto(f"{url}?view=log-search&q=a(&regex=true")
    expect(page.get_by_role("alert")).to_contain_text("pattern: missing )")


def test_from_hit_to_hit_and_from_error_to_error(page: Page, url: str) -> None:
    page.goto(f"{url}?view=sources")
    page.get_by_role("link", name="shop.log", exact=True).click()
    expect(page.locator(".log .line").last.locator(".line-number")).to_have_text("900")
    page.get_by_label("Find", exact=True).fill("😀 timeout")
    page.keyboard.press("Enter")
    found = page.get_by_role("list", name="Hits").locator(".line")
    expect(found).to_have_count(9)
    expect(found.first.locator("mark")).to_have_text("😀 timeout")
    found.first.get_by_role("link").click()
    number = page.locator('.log .line[aria-current="true"] .line-number')
    expect(number).to_have_text("1")
    page.get_by_role("button", name="Next hit").click()
    expect(number).to_have_text("101")
    page.get_by_role("button", name="Previous hit").click()
    expect(number).to_have_text("1")
    page.get_by_role("button", name="Previous hit").click()
    expect(page.get_by_text("No earlier hit.")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("]")
    expect(number).to_have_text("101")
    page.keyboard.press("[")
    expect(number).to_have_text("1")
    page.get_by_role("link", name="Clear").click()
    expect(page.get_by_role("list", name="Hits")).to_have_count(0)


def test_levels_and_long_lines(page: Page, url: str) -> None:
    page.goto(f"{url}?view=source&id=1&at=30000")
    first = page.locator(".log .line").first
    expect(first).to_have_attribute("data-level", "INFO")
    number = first.locator(".line-number").inner_text()
    expect(first).to_contain_text(f"Order {1000 + int(number) - 1} ")
    page.get_by_label("Level").select_option("ERROR")
    lines = page.locator(".log .line")
    expect(lines).to_have_count(2)
    expect(lines.first).to_have_attribute("data-level", "ERROR")
    wrap = page.get_by_role("button", name="Wrap")
    expect(wrap).to_have_attribute("aria-pressed", "true")
    wrap.click()
    assert lines.first.locator(".line-text").evaluate("(one) => getComputedStyle(one).whiteSpace") == "pre"
    page.reload()
    expect(wrap).to_have_attribute("aria-pressed", "false")


def test_a_search_can_be_stopped(page: Page, url: str) -> None:
    """A step that never ends is left; the search goes on where it was when it is asked to."""
    page.route("**/*api=source-search*", lambda route: None)
    page.goto(f"{url}?view=log-search&q=Order 1005")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    page.unroute("**/*api=source-search*")
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.locator(".found-log .line")).to_have_count(1)

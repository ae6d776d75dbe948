"""The page of an issue: head, status with note and undo, stack, events, history, facets, tags, grouping, raw lines."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect


@pytest.fixture
def issue(page: Page) -> Page:
    """The page of the exception issue."""
    page.locator(".row-title", has_text="Order 4711").click()
    expect(page.locator("h1")).to_contain_text("Order 4711")
    return page


def test_head_says_what_and_where(issue: Page) -> None:
    expect(issue.locator("h1")).to_have_text(re.compile(r"GatewayTimeout\s+Order 4711 failed: gateway timeout"))
    expect(issue.locator(".issue-head .mark-level")).to_have_text("Error")
    assert issue.title() == "Order 4711 failed: gateway timeout · snaglist"
    assert issue.evaluate("document.activeElement.tagName") == "H1"
    expect(issue.get_by_role("navigation", name="Pages", exact=True).locator("[aria-current=page]")).to_have_text(
        re.compile("Issues")
    )


def test_stack_shows_the_last_raised_first_and_folds_libraries(issue: Page) -> None:
    names = issue.locator(".exception h3")
    expect(names).to_have_text([re.compile(r"^\s*GatewayTimeout"), re.compile("caused by TimeoutError")])
    first = issue.locator(".exception").first
    expect(first.locator(".frame-raising")).to_contain_text("charge")
    expect(first.locator("summary")).to_have_text("2 library frames")
    expect(first.get_by_text("retry")).to_be_hidden()
    first.locator("summary").click()
    expect(first.get_by_text("retry")).to_be_visible()
    expect(issue.locator(".exception").nth(1).locator("summary")).to_have_count(0)


def test_a_frame_has_an_address_that_opens_its_fold(issue: Page) -> None:
    issue.locator(".exception").first.locator("summary").click()
    issue.locator(".frame-line", has_text="retry").get_by_label("Link to this frame").click()
    issue.reload()
    expect(issue.locator(".frame-target")).to_contain_text("retry")
    expect(issue.locator(".frame-target")).to_be_visible()


def test_status_with_note_shows_in_history_and_can_be_undone(issue: Page) -> None:
    statuses = issue.get_by_role("group", name="Status").get_by_role("button")
    expect(statuses).to_have_text(["Open", "In progress", "Fixed", "Won't fix"])
    issue.get_by_label("Note").fill("looking at the gateway\nwith the bank")
    statuses.nth(1).click()
    entry = issue.locator(".history li").first
    expect(entry).to_contain_text("Local set it to In progress (was Open)")
    expect(entry.locator(".note")).to_have_text("looking at the gateway\nwith the bank", use_inner_text=True)
    expect(issue.get_by_label("Note")).to_have_value("")
    expect(statuses.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(issue.locator(".latest")).to_contain_text("Local set it to In progress (was Open)")
    issue.get_by_role("button", name="Undo").click()
    expect(issue.locator(".history li").first).to_contain_text("set it to Open (was In progress)")
    expect(issue.locator(".mark-status")).to_have_text("Open")


def test_a_done_issue_is_reopened(issue: Page) -> None:
    statuses = issue.get_by_role("group", name="Status")
    statuses.get_by_role("button", name="Won't fix").click()
    expect(issue.locator(".history li").first).to_contain_text("set it to Won't fix")
    statuses.get_by_role("button", name="Reopen").click()
    expect(issue.locator(".history li").first).to_contain_text("set it to Open (was Won't fix)")
    expect(statuses.get_by_role("button", name="Reopen")).to_have_count(0)


def test_e_fixes(issue: Page) -> None:
    issue.keyboard.press("e")
    expect(issue.locator(".history li").first).to_contain_text("set it to Fixed")
    expect(issue.locator(".side dt", has_text=re.compile("^Fixed$"))).to_have_count(1)
    issue.get_by_role("button", name="Undo").click()
    expect(issue.locator(".mark-status")).to_have_text("Open")


def test_tags_are_added_made_and_removed(issue: Page) -> None:
    chips = issue.locator(".side .chip")
    expect(chips).to_have_text([re.compile("Payments")])
    issue.keyboard.press("t")
    issue.keyboard.type("noise <B>")
    issue.keyboard.press("Enter")
    expect(chips).to_have_text([re.compile("Payments"), re.compile("Noise <b>")])
    issue.locator("#new-tag").fill("Brand new")
    issue.keyboard.press("Enter")
    expect(chips).to_have_count(3)
    issue.reload()
    expect(chips).to_have_count(3)
    for name in ("Brand new", "Noise <b>"):
        issue.get_by_role("button", name=f"Remove tag {name}").click()
        expect(issue.get_by_role("button", name=f"Remove tag {name}")).to_have_count(0)
    issue.reload()
    expect(chips).to_have_count(1)


def test_removing_a_tag_can_be_undone(issue: Page) -> None:
    issue.get_by_role("button", name="Remove tag Payments").click()
    expect(issue.locator(".side .chip")).to_have_count(0)
    issue.get_by_role("button", name="Undo").click()
    expect(issue.locator(".side .chip")).to_have_text([re.compile("Payments")])


def test_events_are_listed_and_walked(issue: Page) -> None:
    rows = issue.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.nth(0)).to_have_attribute("aria-current", "true")
    issue.get_by_role("button", name="Older").click()
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    expect(issue.locator("#event-title")).to_contain_text(re.compile(r"Event of \d\d? \w{3} \d{4}, \d\d:\d\d:\d\d UTC"))
    issue.keyboard.press("j")
    expect(rows.nth(2)).to_have_attribute("aria-current", "true")
    issue.keyboard.press("k")
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    assert "occurrence" in parse_qs(urlsplit(issue.url).query)


def test_summary_facets_and_reason(issue: Page) -> None:
    side = issue.locator(".side")
    expect(issue.locator(".issue-figures > div", has_text="Events").locator("dd")).to_have_text("3")
    expect(side.locator(".panel", has_text="Releases")).to_contain_text("v2.4.0")
    reason = side.locator(".panel", has_text="Why grouped")
    expect(reason).to_contain_text("Same exceptions, raised through the same functions of the application")
    expect(reason).to_contain_text("Only events without a module are grouped here.")
    expect(reason).to_contain_text("GatewayTimeout")


def test_how_the_level_was_found_is_said(issue: Page) -> None:
    expect(issue.get_by_text("Level: error, because the line holds an exception or a stack")).to_be_visible()


def test_context_is_shown_as_text(issue: Page) -> None:
    expect(issue.get_by_label("Context", exact=True)).to_have_text(re.compile(r'"order": 4711'))


def test_raw_lines_come_from_the_source(open_page: Any, servers: Any, tmp_path: Path) -> None:
    """From a file that was really imported: the event's own lines are marked, hostile lines stay text."""
    log = tmp_path / "shop.log"
    log.write_text(
        "[2026-01-03 10:00:00] production.INFO: started [] []\n"
        "[2026-01-03 10:00:01] production.ERROR: <script>alert(1)</script> broke [] []\n"
        "[2026-01-03 10:00:02] production.INFO: stopped [] []\n"
    )
    servers.run("import", str(log), data=tmp_path / "data")
    with servers.served(tmp_path / "data") as url:
        page = open_page(url)
        page.locator(".row-title").click()
        page.get_by_role("link", name="Show raw lines").click()
        raw = page.get_by_label("Raw lines", exact=True)
        expect(raw.locator("mark")).to_have_text(re.compile(r"ERROR: <script>alert\(1\)</script> broke"))
        expect(raw).to_have_text(re.compile("started.*broke.*stopped", re.DOTALL))
        assert parse_qs(urlsplit(page.url).query)["raw"] == ["1"]
        page.reload()
        expect(raw.locator("mark")).to_be_in_viewport()


def test_a_source_that_is_gone_is_said(issue: Page, watch: Any) -> None:
    watch.expect("404")
    gone = {"error": "Raw source is no longer available."}
    issue.route("**/*api=source*", lambda route: route.fulfill(status=404, json=gone))
    issue.get_by_role("link", name="Show raw lines").click()
    expect(issue.locator("#raw")).to_have_text("Raw source is no longer available.")


def test_copy_works_with_and_without_the_clipboard(page: Page, deployment: Any, open_page: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".row-title", has_text="Order 4711").click()
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("button", name="Copied").first).to_be_visible()


def test_older_and_newer_go_over_the_edge_of_a_page(page: Page, deployment: Any) -> None:
    """72 events are three pages of the list: the way from one event to the next does not end at the first."""
    page.goto(f"{deployment.url}?q=cache took too long")
    page.locator(".row-title").first.click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(25)
    rows.last.get_by_title("Show this event").click()
    expect(rows.last).to_have_attribute("aria-current", "true")
    last = rows.last.get_by_title("Show this event").inner_text()
    page.get_by_role("button", name="Older", exact=True).click()
    expect(rows.first).to_have_attribute("aria-current", "true")
    assert rows.first.get_by_title("Show this event").inner_text() < last
    page.keyboard.press("k")
    expect(rows.last).to_have_attribute("aria-current", "true")
    expect(rows).to_have_count(25)
    pages = page.get_by_role("navigation", name="Pages of events")
    pages.get_by_role("link", name="Older events").click()
    expect(page.locator("tbody tr[aria-current]")).to_have_count(0)
    pages.get_by_role("link", name="Older events").click()
    expect(rows).to_have_count(22)
    rows.last.get_by_title("Show this event").click()
    expect(page.locator(".button-off", has_text=re.compile("^Older$"))).to_be_visible()
    pages.get_by_role("link", name="Newer events").click()
    expect(rows).to_have_count(25)
    pages.get_by_role("link", name="Newest").click()
    assert not {"cursor", "older_than", "newer_than"} & set(parse_qs(urlsplit(page.url).query))


def test_a_value_leads_to_the_issues_that_have_it(issue: Page) -> None:
    issue.locator(".panel", has_text="Channels").get_by_role("link", name="app.log").click()
    expect(issue.get_by_label("Active filters").get_by_role("listitem").first).to_have_text("Source: app.log")


def test_markdown_is_ready_for_a_ticket(issue: Page) -> None:
    issue.context.grant_permissions(["clipboard-read", "clipboard-write"])
    issue.get_by_role("button", name="Copy as Markdown").click()
    expect(issue.get_by_role("button", name="Copied")).to_be_visible()
    text = issue.evaluate("navigator.clipboard.readText()")
    lines = text.split("\n")
    assert lines[0] == "### GatewayTimeout: Order 4711 failed: gateway timeout"
    assert lines[2].startswith("ERROR · Open · 3 events · 20")
    assert lines[3] == "production · app.log · app/orders.py:42 · Payments"
    assert lines[4] == issue.url
    assert lines[5:] == ["", "```", "app/orders.py:42 in charge", "site-packages/http.py:12 in retry", "```"]


def test_markdown_of_hostile_texts_stays_text(page: Page, deployment: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".row-title", has_text=deployment.hostile).click()
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    first = page.evaluate("navigator.clipboard.readText()").split("\n")[0]
    assert first == "### Rendering \\<img src=x onerror=alert(1)\\> failed"


def test_an_event_has_an_address(issue: Page) -> None:
    issue.context.grant_permissions(["clipboard-read", "clipboard-write"])
    issue.locator("tbody tr").nth(1).get_by_title("Show this event").click()
    expect(issue.locator("#event-title")).to_contain_text(re.compile(r"Event of \d\d? \w{3} \d{4}, \d\d:\d\d:\d\d UTC"))
    issue.get_by_role("button", name="Copy event link").click()
    expect(issue.get_by_role("button", name="Copied")).to_be_visible()
    copied = issue.evaluate("navigator.clipboard.readText()")
    issue.goto(copied)
    expect(issue.locator("tbody tr").nth(1)).to_have_attribute("aria-current", "true")


def test_a_long_value_leaves_its_count_in_one_line(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=cache took too long")
    page.locator(".row-title").first.click()
    count = page.locator(".side .shares .count").first
    expect(count).to_have_text("72")
    before = count.evaluate("(element) => element.offsetWidth")
    page.locator(".side .shares .mono").first.evaluate(
        "(value) => { value.textContent = '/var/log/a-long-name'.repeat(5) }"
    )
    assert count.evaluate("(element) => element.offsetWidth") == before

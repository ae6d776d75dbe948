"""Comments, and an issue page that stays open while others work on the issue and events come in."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

POLLED = 15_000  # what the page hears of by asking now and then
LOG = "[2026-01-03 10:00:{:02}] production.ERROR: Order {} failed: gateway timeout [] []\n"


@pytest.fixture
def issue(page: Page) -> Page:
    """The page of the exception issue."""
    page.locator(".row-title", has_text="Order 4711").click()
    expect(page.locator("h1")).to_contain_text("Order 4711")
    return page


def send(page: Page, api: str, body: dict[str, Any]) -> int:
    """Somebody else's request to the service of a page."""
    answer = page.request.post(f"{page.url.split('?')[0]}?api={api}", data=body)
    assert answer.ok, answer.text()
    return answer.status


def issue_id(page: Page) -> int:
    found = re.search(r"id=(\d+)", page.url)
    assert found
    return int(found[1])


def test_a_comment_has_lines_and_an_author_and_changes_no_status(issue: Page) -> None:
    field = issue.get_by_role("textbox", name="Comment")
    issue.keyboard.press("c")
    expect(field).to_be_focused()
    issue.keyboard.type("The bank answers again.\nOrder <b>4711</b> is still open.")
    issue.keyboard.press("Control+Enter")
    entry = issue.locator(".history li").first
    expect(entry).to_contain_text("Local commented")
    expect(entry.locator(".note")).to_have_text(
        "The bank answers again.\nOrder <b>4711</b> is still open.", use_inner_text=True
    )
    expect(entry.locator("time")).to_have_attribute("title", re.compile(r"\d\d:\d\d:\d\d UTC"))
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    expect(issue.locator(".mark-status")).to_have_text("Open")
    expect(issue.locator(".latest")).to_contain_text("Local commented")
    issue.reload()
    expect(issue.locator(".history li").first).to_contain_text("Local commented")
    issue.get_by_role("button", name="Go to the comments").click()
    expect(field).to_be_in_viewport()


def test_an_empty_comment_is_not_sent(issue: Page) -> None:
    before = issue.locator(".history li").count()
    issue.get_by_role("button", name="Comment", exact=True).click()
    expect(issue.get_by_role("textbox", name="Comment")).to_be_focused()
    assert issue.locator(".history li").count() == before


def test_a_refused_comment_stays_in_the_field(issue: Page, watch: Any) -> None:
    watch.expect("status of 403")
    issue.route("**/*api=issue-comments*", lambda route: route.fulfill(status=403, body='{"error": "Not allowed."}'))
    issue.get_by_role("textbox", name="Comment").fill("Kept")
    issue.keyboard.press("Control+Enter")
    expect(issue.locator(".toast-error")).to_contain_text("The comment was not kept: Not allowed.")
    expect(issue.get_by_role("textbox", name="Comment")).to_have_value("Kept")


def test_a_comment_whose_answer_was_lost_may_be_there(issue: Page, watch: Any) -> None:
    """Nobody knows until there is an answer again: then the page shows it, and what was typed is still there."""
    watch.expect("net::ERR_")

    def lost(route: Route) -> None:
        route.fetch()
        route.abort()

    issue.route("**/*api=issue-comments*", lost)
    issue.get_by_role("textbox", name="Comment").fill("Sent once")
    issue.keyboard.press("Control+Enter")
    told = "It is not known whether this was done: snaglist does not answer."
    expect(issue.locator(".toast-error")).to_contain_text(told)
    expect(issue.locator(".history")).to_contain_text("Sent once")
    expect(issue.get_by_role("textbox", name="Comment")).to_have_value("Sent once")


def test_a_long_history_is_folded(issue: Page) -> None:
    for number in range(8):
        send(issue, "issue-comments", {"id": issue_id(issue), "text": f"Comment {number}"})
    issue.reload()
    expect(issue.locator(".history li").first).to_contain_text("Comment 7")
    expect(issue.locator(".history li")).to_have_count(6)
    issue.get_by_role("button", name=re.compile(r"^Show \d+ older entr")).click()
    expect(issue.locator(".history .note", has_text="Comment 0")).to_be_visible()


def test_what_others_do_shows_and_nothing_typed_is_lost(issue: Page) -> None:
    issue.get_by_label("Note").fill("half a note")
    issue.get_by_role("textbox", name="Comment").fill("half a comment")
    send(issue, "issue-status", {"id": issue_id(issue), "status": "in_progress", "note": "On it"})
    expect(issue.locator(".latest")).to_contain_text("Local set it to In progress (was Open)", timeout=POLLED)
    expect(issue.locator(".mark-status")).to_have_text("In progress")
    expect(issue.locator(".history li").first).to_contain_text("On it")
    expect(issue.get_by_label("Note")).to_have_value("half a note")
    expect(issue.get_by_role("textbox", name="Comment")).to_have_value("half a comment")
    send(issue, "issue-status", {"id": issue_id(issue), "status": "open"})


def test_a_status_that_somebody_set_meanwhile_is_not_overwritten(issue: Page, watch: Any) -> None:
    """The page says who was first, shows the status that there is, and keeps the note."""
    watch.expect("status of 409")
    issue.route("**/*api=issue-state*", lambda route: route.abort())  # the page has not heard of it yet
    watch.expect("net::ERR_FAILED")
    send(issue, "issue-status", {"id": issue_id(issue), "status": "wont_fix", "note": "A known limit"})
    issue.get_by_label("Note").fill("fixed by the retry")
    issue.get_by_role("group", name="Status").get_by_role("button", name="Fixed").click()
    expect(issue.locator(".toast-error")).to_contain_text(
        re.compile(r"Local set the status to won't fix at .* UTC. Nothing was changed.")
    )
    expect(issue.locator(".mark-status")).to_have_text("Won't fix")
    expect(issue.locator(".history li").first).to_contain_text("A known limit")
    expect(issue.get_by_label("Note")).to_have_value("fixed by the retry")
    issue.get_by_role("group", name="Status").get_by_role("button", name="Fixed").click()
    expect(issue.locator(".history li").first).to_contain_text("set it to Fixed (was Won't fix)")
    send(issue, "issue-status", {"id": issue_id(issue), "status": "open"})


def test_an_issue_that_somebody_deleted_says_so(growing: tuple[Page, Callable[[str], None]], watch: Any) -> None:
    """What is shown and typed stays."""
    page, _ = growing
    watch.expect("status of 404")
    page.get_by_role("textbox", name="Comment").fill("half a comment")
    send(page, "bulk-issues", {"action": "delete", "ids": [issue_id(page)], "confirmation": "DELETE ISSUES"})
    expect(page.locator(".toast-error")).to_contain_text("This issue was deleted meanwhile.", timeout=POLLED)
    expect(page.get_by_role("textbox", name="Comment")).to_have_value("half a comment")


def test_what_was_joined_and_parted_is_told_in_sentences(
    growing: tuple[Page, Callable[[str], None]],
) -> None:
    """The sentences are made of the notes that the service writes."""
    page, add = growing
    add("[2026-01-03 11:00:00] production.ERROR: Mail to billing bounced [] []\n")
    base = page.url.split("?")[0]
    mail = page.request.get(f"{base}?api=errors&q=bounced").json()["data"][0]["id"]
    send(page, "bulk-issues", {"action": "merge", "ids": [mail], "target_id": issue_id(page)})
    page.reload()
    entry = page.locator(".history li").first
    expect(entry.locator("p").first).to_contain_text(f"Local merged issue {mail} into it")
    expect(entry.locator(".note")).to_have_count(0)
    groupings = page.request.get(f"{base}?api=error&id={issue_id(page)}").json()["groupings"]
    parted = next(row["id"] for row in groupings if row["count"] == 1)
    answer = page.request.post(
        f"{base}?api=bulk-issues", data={"action": "unmerge", "id": issue_id(page), "grouping_id": parted}
    ).json()
    page.reload()
    expect(entry.locator("p").first).to_contain_text(f"Local took issue {answer['new_id']} out of it")
    page.goto(f"{base}?view=issue&id={answer['new_id']}")
    expect(entry.locator("p").first).to_contain_text(f"Local took it out of issue {answer['id']}")


@pytest.fixture
def growing(open_page: Any, servers: Any, tmp_path: Path) -> Iterator[tuple[Page, Callable[[str], None]]]:
    """The page of an issue, and what adds lines to its log."""
    data, log = tmp_path / "data", tmp_path / "shop.log"
    log.write_text("".join(LOG.format(second, 100 + second) for second in range(3)))
    servers.run("import", str(log), data=data)

    def add(lines: str) -> None:
        with log.open("a") as file:
            file.write(lines)
        servers.run("import", str(log), data=data)

    with servers.served(data) as url:
        page = open_page(url)
        page.locator(".row-title").click()
        expect(page.locator("h1")).to_contain_text("Order 102")
        yield page, add


def test_new_events_are_offered_and_the_shown_one_stays(growing: Any) -> None:
    page, add = growing
    expect(page.get_by_role("heading", name="Latest event")).to_be_visible()
    add(LOG.format(10, 201) + LOG.format(11, 202))
    offer = page.get_by_role("button", name="2 new events: show the newest")
    expect(offer).to_be_visible(timeout=POLLED)
    expect(page.locator(".issue-figures")).to_contain_text("5")
    expect(page.locator(".message").first).to_contain_text("Order 102")
    # What the person does meanwhile leaves the event where it is, too.
    page.get_by_role("group", name="Status").get_by_role("button", name="In progress").click()
    expect(page.locator(".history li").first).to_contain_text("set it to In progress")
    expect(page.locator(".message").first).to_contain_text("Order 102")
    expect(page.get_by_role("heading", name=re.compile("^Event of"))).to_be_visible()
    offer.click()
    expect(page.locator(".message").first).to_contain_text("Order 202")
    expect(page.get_by_role("heading", name="Latest event")).to_be_visible()
    expect(offer).to_have_count(0)
    expect(page.locator("tbody tr").first).to_contain_text("Order 202")


def test_who_comes_back_sees_the_latest_event(growing: Any) -> None:
    page, add = growing
    page.keyboard.press("u")
    expect(page.locator(".row")).to_have_count(1)
    add(LOG.format(20, 301))
    page.locator(".row-title").click()
    expect(page.locator(".message").first).to_contain_text("Order 301")
    expect(page.locator(".fresh button")).to_have_count(0)

"""The bar over selected issues: one action on all of them, asked for where it is much, and the way back."""

import json
import re
from typing import Any
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

MANY = 230  # more than one request does


def post(url: str, api: str, body: dict[str, object]) -> Any:
    data = json.dumps(body).encode()
    with urlopen(Request(f"{url}?api={api}", data, {"Content-Type": "application/json"})) as answer:
        return json.load(answer)


def select_all(page: Page, total: int) -> None:
    page.get_by_label("Select all issues of this page").click()
    page.get_by_role("button", name=f"Select all {total} that match").click()
    expect(page.locator(".bulk b")).to_have_text(f"{total} selected")


@pytest.fixture
def many(empty_deployment: Any, open_page: Any) -> Page:
    """The list of more issues than one request changes."""
    for number in range(MANY):
        post(empty_deployment.url, "issues", {"title": f"Invoice {number} is missing"})
    page: Page = open_page(empty_deployment.url)
    page.locator(".row").first.wait_for()
    return page


def test_what_is_done_to_very_many_is_asked_for_and_undone(many: Page, empty_deployment: Any) -> None:
    """Except where somebody has set another status since."""
    page = many
    select_all(page, MANY)
    page.locator(".bulk").get_by_role("button", name="Fixed").click()
    question = page.get_by_role("dialog", name=f"Set {MANY} issues to Fixed?")
    expect(question).to_contain_text("not only those on this page")
    question.get_by_role("button", name="Cancel").click()
    expect(page.locator(".tab").first).to_contain_text(str(MANY))
    expect(page.locator(".bulk b")).to_have_text(f"{MANY} selected")
    page.locator(".bulk").get_by_role("button", name="Fixed").click()
    question.get_by_role("button", name="Set to Fixed").click()
    expect(page.locator(".strip-job")).to_contain_text(f"Setting {MANY} issues to fixed")
    expect(page.locator(".toast", has_text=f"{MANY} issues set to fixed")).to_be_visible(timeout=15_000)
    expect(page.locator("h2", has_text="Nothing is unresolved")).to_be_visible()
    post(empty_deployment.url, "issue-status", {"id": 7, "status": "in_progress"})
    page.locator(".strip-job").get_by_role("button", name=re.compile("^Undo")).click()
    expect(page.locator(".toast", has_text=f"{MANY - 1} issues set back")).to_be_visible(timeout=15_000)
    expect(page.locator(".tab", has_text="Open")).to_contain_text(str(MANY - 1))
    expect(page.locator(".tab", has_text="In progress")).to_contain_text("1")


def test_the_way_back_from_a_job_is_offered_once(many: Page) -> None:
    """Where the job stands, longer than a message stays."""
    select_all(many, MANY)
    many.locator(".bulk").get_by_role("button", name="Won't fix").click()
    many.get_by_role("dialog").get_by_role("button", name="Set to Won't fix").click()
    done = many.locator(".toast", has_text=f"{MANY} issues set to won't fix")
    expect(done).to_be_visible(timeout=15_000)
    expect(done.get_by_role("button", name="Undo")).to_have_count(0)
    many.locator(".strip-job").get_by_role("button", name=re.compile("^Undo")).click()
    expect(many.locator(".toast", has_text=f"{MANY} issues set back")).to_be_visible(timeout=15_000)
    expect(many.locator(".row")).to_have_count(50)


def test_a_way_back_that_failed_is_offered_again(many: Page, watch: Any) -> None:
    select_all(many, MANY)
    many.locator(".bulk").get_by_role("button", name="Won't fix").click()
    many.get_by_role("dialog").get_by_role("button", name="Set to Won't fix").click()
    undo = many.locator(".strip-job").get_by_role("button", name=re.compile("^Undo"))
    undo.wait_for()
    watch.expect("net::ERR_")
    many.route("**/*api=bulk-issues*", lambda route: route.abort())
    undo.click()
    expect(many.locator(".toast-error")).to_contain_text("snaglist does not answer.")
    many.unroute("**/*api=bulk-issues*")
    undo.click()
    expect(many.locator(".toast", has_text=f"{MANY} issues set back")).to_be_visible(timeout=15_000)


def test_a_job_that_never_began_has_no_way_back(many: Page) -> None:
    def never_begun(route: Route) -> None:
        response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        job = response.json()
        job["data"] |= {"status": "cancelled", "started_at": None}
        route.fulfill(response=response, json=job)

    many.route(re.compile(r"api=jobs&id=|id=\d+&api=jobs"), never_begun)
    select_all(many, MANY)
    many.locator(".bulk").get_by_role("button", name="Won't fix").click()
    many.get_by_role("dialog").get_by_role("button", name="Set to Won't fix").click()
    expect(many.locator(".strip-job")).to_contain_text("cancelled", timeout=15_000)
    expect(many.locator(".strip-job").get_by_role("button")).to_have_count(0)


def test_what_a_cancelled_job_did_by_then_can_be_taken_back(many: Page) -> None:
    def cancelled(route: Route) -> None:
        response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
        job = response.json()
        if job["data"]["status"] == "succeeded":  # as if it had been cancelled behind the last of its batches
            job["data"]["status"] = "cancelled"
        route.fulfill(response=response, json=job)

    many.route(re.compile(r"api=jobs&id=|id=\d+&api=jobs"), cancelled)
    select_all(many, MANY)
    many.locator(".bulk").get_by_role("button", name="Won't fix").click()
    many.get_by_role("dialog").get_by_role("button", name="Set to Won't fix").click()
    expect(many.locator(".strip-job", has_text="Setting")).to_contain_text("cancelled", timeout=15_000)
    many.locator(".strip-job").get_by_role("button", name=re.compile("^Undo")).click()
    expect(many.locator(".row")).to_have_count(50)


def test_a_page_of_issues_is_not_asked_for(page: Page, deployment: Any) -> None:
    """What can be seen and undone needs no question."""
    page.goto(f"{deployment.url}?q=cache")
    expect(page.locator(".row")).to_have_count(9)
    page.get_by_label("Select all issues of this page").click()
    page.locator(".bulk").get_by_role("button", name="In progress").click()
    expect(page.locator(".toast")).to_contain_text("9 issues set to in progress")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".row-status", has_text="Open")).to_have_count(9)


def test_no_key_acts_before_a_button_is_pressed(page: Page, deployment: Any) -> None:
    """Arrows and letters on a control of the bar change nothing."""
    page.goto(f"{deployment.url}?q=cache")
    page.locator(".row-choice input").first.click()
    page.locator(".bulk").get_by_role("button", name="Fixed").focus()
    for key in ("ArrowDown", "ArrowRight", "f"):
        page.keyboard.press(key)
    expect(page.locator(".bulk b")).to_have_text("1 selected")
    expect(page.locator(".toast")).to_have_count(0)
    expect(page.locator(".row-status", has_text="Open")).to_have_count(9)


def test_snooze_by_keyboard(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=search index")
    expect(page.locator(".row").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("s")
    expect(page.get_by_role("button", name="For 1 hour")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Alerts of 1 issue snoozed for 1 day")
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".row-facts", has_text="Snoozed")).to_have_count(0)


def test_a_tag_is_found_by_typing_and_escape_leaves(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=search index")
    page.locator(".row-choice input").first.click()
    page.locator(".bulk").wait_for()
    page.keyboard.press("t")
    field = page.get_by_label("Tag for the selected issues")
    expect(field).to_be_focused()
    options = page.get_by_role("listbox", name="Tag").get_by_role("option")
    field.press_sequentially("pay")
    expect(options).to_have_text(["Payments", "New tag “pay”"])
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.locator(".bulk b")).to_have_text("1 selected")


def test_t_without_an_issue_says_what_to_do(page: Page) -> None:
    page.keyboard.press("t")
    expect(page.locator(".toast")).to_contain_text("Move to an issue with j and k first")


def test_deleting_reads_well_for_one_and_for_many(page: Page) -> None:
    for rows, text in ((1, ": its events, tags and history are"), (2, "Their events, tags and history are")):
        page.locator(".row-choice input").nth(rows - 1).click()
        page.get_by_role("button", name="More actions on the selected issues").click()
        page.get_by_role("button", name="Delete …").click()
        question = page.get_by_role("dialog", name=re.compile(f"^Delete {rows} issue"))
        expect(question).to_contain_text(text)
        question.get_by_role("button", name="Cancel").click()


def test_the_bar_is_one_line_and_its_lists_stay_in_the_window(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_label("Select all issues of this page").click()
    bar = page.locator(".bulk")
    expect(bar).to_be_in_viewport(ratio=1)
    box = bar.bounding_box()
    assert box and box["height"] < 60
    for button in ("Tag", "Snooze alerts of the selected issues", "More actions on the selected issues"):
        bar.get_by_role("button", name=button, exact=True).click()
        expect(page.locator(".menu-list:popover-open")).to_be_in_viewport(ratio=1)
        page.keyboard.press("Escape")


@pytest.mark.parametrize(
    "name", ["Saved searches", "What to search for", "Tag", "Snooze alerts of the selected issues"]
)
def test_a_button_that_opened_a_box_closes_it(page: Page, name: str) -> None:
    page.locator(".row-choice input").first.click()
    button = page.get_by_role("button", name=name, exact=True)
    box = page.locator(".menu-list:popover-open")
    expect(button).to_have_attribute("aria-expanded", "false")
    for _ in range(2):
        button.click()
        expect(box).to_be_in_viewport(ratio=1)
        expect(page.locator(".menu-list:is(:focus, :focus-within)")).to_have_count(1)
        expect(button).to_have_attribute("aria-expanded", "true")
        button.click()
        expect(box).to_have_count(0)
        expect(button).to_have_attribute("aria-expanded", "false")
    button.press("Enter")
    expect(box).to_have_count(1)
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "opened", ["Tag", "Snooze alerts of the selected issues", "Fixed", "Saved searches", "What to search for"]
)
def test_has_no_accessibility_violations(browser: Any, deployment: Any, opened: str, scheme: str) -> None:
    # axe is injected as a script, which the policy would refuse.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{deployment.url}?status=all&severity=ERROR,WARNING,CRITICAL,NOTICE&range=30d")
    page.locator(".row").first.wait_for()
    page.get_by_label("Select all issues of this page").click()
    page.get_by_role("button", name=re.compile("^Select all .* that match")).click()
    page.get_by_role("button", name=opened, exact=True).first.click()
    expect(page.locator("dialog[open], .menu-list:popover-open")).to_be_visible()
    found = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()

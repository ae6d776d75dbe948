"""Everything an operator does with issues in the dashboard, and the way back."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect


def choose(page: Page, *rows: int) -> None:
    for at in rows:
        page.locator(".row-choice input").nth(at).click()


def toast(page: Page, text: str) -> None:
    expect(page.locator(".toast").last).to_contain_text(text)


def tag(page: Page, text: str) -> None:
    page.locator(".bulk").get_by_role("button", name="Tag", exact=True).click()
    page.get_by_label("Tag for the selected issues").fill(text)
    page.keyboard.press("Enter")


def undo(page: Page, text: str) -> None:
    """Take back what a message tells of; what shows at once, before the answer, has no message yet."""
    page.locator(".toast", has_text=text).last.get_by_role("button", name="Undo").click()


@pytest.fixture
def found(page: Page, deployment: Any) -> Any:
    """Open the list with a search that finds a known number of rows."""

    def search(query: str, rows: int) -> Page:
        page.goto(f"{deployment.url}?{query}")
        expect(page.locator(".row")).to_have_count(rows)
        return page

    return search


def test_all_that_match_are_more_than_the_page(found: Any) -> None:
    page = found("status=open", 50)
    tabs = page.locator(".tab", has_text=re.compile("^(Open|In progress)"))
    before = tabs.all_inner_texts()
    count = int(before[0].split()[-1])
    page.get_by_label("Select all issues of this page").click()
    expect(page.locator(".bulk b")).to_have_text("50 selected")
    page.get_by_role("button", name=f"Select all {count} that match").click()
    expect(page.locator(".bulk b")).to_have_text(f"{count} selected")
    page.locator(".bulk").get_by_role("button", name="In progress").click()
    question = page.get_by_role("dialog", name=f"Set {count} issues to In progress?")
    question.get_by_role("button", name="Set to In progress").click()
    toast(page, f"{count} issues set to in progress")
    page.get_by_role("button", name="Undo").click()
    expect(tabs).to_have_text(before)


def test_one_row_less_is_no_longer_all(found: Any) -> None:
    page = found("status=open", 50)
    page.get_by_label("Select all issues of this page").click()
    page.get_by_role("button", name=re.compile("^Select all .* that match")).click()
    choose(page, 0)
    expect(page.locator(".bulk b")).to_have_text("49 selected")
    page.locator(".bulk").get_by_role("button", name="Clear").click()
    expect(page.locator(".bulk")).to_have_count(0)


def test_a_tag_is_added_and_removed(found: Any) -> None:
    page = found("q=mailer gave up waiting in the second", 1)
    choose(page, 0)
    tag(page, "payments")
    expect(page.locator(".row .chip")).to_have_text("Payments")
    expect(page.locator(".bulk")).to_have_count(0)
    choose(page, 0)
    tag(page, "Remove Payments")
    expect(page.locator(".row .chip")).to_have_count(0)
    undo(page, "Tag Payments removed from 1 issue")
    expect(page.locator(".row .chip")).to_have_text("Payments")
    choose(page, 0)
    tag(page, "Remove Payments")
    expect(page.locator(".row .chip")).to_have_count(0)


def test_undoing_a_tag_leaves_those_that_had_it(found: Any) -> None:
    page = found("q=search index lost", 2)
    choose(page, 0)
    tag(page, "Slow")
    expect(page.locator(".row .chip")).to_have_text(["Slow"])
    expect(page.get_by_text("1 issue tagged Slow")).to_be_visible()  # the chip shows before it is stored
    page = found("q=search index", 10)
    page.get_by_label("Select all issues of this page").click()
    tag(page, "Slow")
    expect(page.locator(".row .chip")).to_have_count(10)
    undo(page, "10 issues tagged Slow")
    expect(page.locator(".row .chip")).to_have_count(1)


def test_a_refused_tag_is_taken_off_again(found: Any, watch: Any) -> None:
    watch.expect("status of 403")
    page = found("q=mailer gave up waiting in the second", 1)
    page.route("**/*api=bulk-issues*", lambda route: route.fulfill(status=403, body='{"error": "Not allowed."}'))
    choose(page, 0)
    tag(page, "Payments")
    expect(page.locator(".toast-error")).to_contain_text("Nothing changed: Not allowed.")
    expect(page.locator(".row .chip")).to_have_count(0)


def test_snoozed_from_the_list_and_woken_on_the_page(found: Any) -> None:
    page = found("q=mailer sent nothing after", 1)
    choose(page, 0)
    page.get_by_role("button", name="Snooze alerts of the selected issues").click()
    page.get_by_role("button", name="For 10 more events").click()
    toast(page, "Alerts of 1 issue snoozed for 10 more events")
    expect(page.locator(".row-facts")).to_contain_text("Snoozed for 10 more events")
    page.locator(".row-title").click()
    expect(page.get_by_text("Alerts are silent for 10 more events.")).to_be_visible()
    page.get_by_role("button", name="End the snooze").click()
    page.get_by_label("Snooze alerts").select_option(label="for 1 day")
    page.get_by_role("button", name="Snooze", exact=True).click()
    expect(page.get_by_text(re.compile(r"Alerts are silent until \d\d? \w{3} .*\d\d:\d\d UTC"))).to_be_visible()
    expect(page.locator(".history li")).to_contain_text(
        [
            re.compile(r"Local snoozed its alerts until \d\d? \w{3} "),
            "Local ended the snooze of its alerts",
            "Local snoozed its alerts for 10 more events",
        ]
    )
    undo(page, "snoozed for 1 day")
    expect(page.get_by_label("Snooze alerts")).to_be_visible()


def test_merged_in_the_list_and_taken_apart_on_the_page(found: Any) -> None:
    """Merge and take apart, as a person does it."""
    page = found("q=queue took too long", 1)
    target = page.locator(".row").get_attribute("data-id")
    page = found("q=queue", 10)
    page.locator(f'.row[data-id="{target}"] .row-choice input').click()
    other = next(at for at in range(10) if page.locator(".row").nth(at).get_attribute("data-id") != target)
    merged = page.locator(".row").nth(other).get_attribute("data-id")
    choose(page, other)
    page.get_by_role("button", name="More actions on the selected issues").click()
    page.get_by_role("button", name="Merge …").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("queue took too long")).click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text(f"Merge 1 issue into issue {target}?")
    goes, stays = question.locator(".merge-side").all()
    expect(goes).to_contain_text(re.compile(r"Moves into issue.*The queue .*72 events", re.DOTALL))
    expect(stays).to_contain_text(re.compile(rf"Stays.*The queue took too long.*Issue {target}", re.DOTALL))
    expect(question).to_contain_text("There is no undo")
    question.get_by_role("button", name="Merge").click()
    toast(page, f"1 issue merged into {target}")
    expect(page.locator(".row")).to_have_count(9)
    page.locator(f'.row[data-id="{target}"] .row-title').click()
    expect(page.locator(".issue-figures").get_by_text("144", exact=True)).to_be_visible()
    kinds = page.locator(".grouping")
    expect(kinds).to_have_count(2)
    expect(kinds.nth(0)).to_contain_text("72 events")
    assert kinds.nth(0).locator("pre").first.inner_text() != kinds.nth(1).locator("pre").first.inner_text()
    page.get_by_role("button", name="Take 72 events out").last.click()
    expect(question).to_contain_text(f"Take 72 events out of issue {target}?")
    question.get_by_role("button", name="Take out").click()
    toast(page, "Taken out as issue")
    expect(page.get_by_role("button", name="Take 72 events out")).to_have_count(0)
    taken = re.search(r"\d+", page.locator(".toast").last.inner_text())
    assert taken
    page.goto(page.url.replace(f"id={target}", f"id={merged}"))
    expect(page.locator(".crumbs")).to_contain_text(f"Issues / {taken[0]} · issue {merged} is a part of this one")
    page.go_back()
    page.get_by_label("Number of the issue to merge into this one").fill(taken[0])
    page.get_by_role("button", name="Merge …", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.get_by_role("button", name="Take 72 events out")).to_have_count(2)


def test_what_was_taken_out_is_put_back(found: Any) -> None:
    page = found("q=tax table is read only", 2)
    target, other = (page.locator(".row").nth(at).get_attribute("data-id") for at in (0, 1))
    page.goto(f"{page.url.split('?')[0]}?view=issue&id={target}")
    page.get_by_label("Number of the issue to merge into this one").fill(other)
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    page.get_by_role("button", name=re.compile("^Take .* out")).first.click()
    page.get_by_role("dialog").get_by_role("button", name="Take out").click()
    undo(page, "Taken out as issue")
    expect(page.locator(".grouping")).to_have_count(2)


def test_only_another_issue_that_there_is_can_be_merged(found: Any, watch: Any) -> None:
    watch.expect("status of 404")
    page = found("q=login form", 10)
    target = page.locator(".row").first.get_attribute("data-id")
    page.locator(".row-title").first.click()
    for number, said in (("987654", "There is no issue with this number"), (target, f"This is issue {target} itself")):
        page.get_by_label("Number of the issue to merge into this one").fill(number)
        page.keyboard.press("Enter")
        toast(page, said)
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_deletion_wants_the_words(found: Any) -> None:
    """In capitals or not; until they are typed nothing can be pressed. The question names the issue."""
    page = found("q=tax table lost its lock at noon", 1)
    choose(page, 0)
    page.get_by_role("button", name="More actions on the selected issues").click()
    page.get_by_role("button", name="Delete …").click()
    question = page.get_by_role("dialog", name="Delete 1 issue?")
    expect(question).to_contain_text("tax table lost its lock at noon")
    expect(question).to_contain_text("its events, tags and history are permanently deleted.")
    expect(question.locator("input")).to_be_focused()
    delete = question.get_by_role("button", name="Delete", exact=True)
    expect(delete).to_be_disabled()
    question.locator("input").fill("delete issue")
    page.keyboard.press("Enter")
    expect(delete).to_be_disabled()
    expect(page.locator(".row")).to_have_count(1)
    question.locator("input").fill("delete issues")
    question.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No issue matches")).to_be_visible()
    toast(page, "1 issue deleted")


def test_an_issue_is_deleted_from_its_page(found: Any) -> None:
    """What is used seldom is in a menu; afterwards the list shows what is left."""
    page = found("q=mailer has no owner for want", 1)
    page.locator(".row-title").click()
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Delete …").click()
    question = page.get_by_role("dialog", name="Delete 1 issue?")
    question.locator("input").fill("DELETE ISSUES")
    question.get_by_role("button", name="Delete", exact=True).click()
    toast(page, "1 issue deleted")
    expect(page.get_by_text("No issue matches")).to_be_visible()


def test_the_release_with_the_fix(found: Any) -> None:
    page = found("q=login form has no owner", 1)
    page.locator(".row-title").click()
    page.get_by_label("Release with the fix").fill("v3.1")
    page.get_by_role("group", name="Status").get_by_role("button", name="Fixed").click()
    expect(page.locator(".panel", has_text="Details")).to_contain_text("v3.1")


@pytest.mark.parametrize("name", ["CSV", "NDJSON"])
def test_an_export_is_what_the_filters_find(found: Any, tmp_path: Path, name: str) -> None:
    page = found("q=the&sort=oldest", 50)
    expected = int(page.locator(".over .check").inner_text().split()[0])
    with page.expect_download() as downloading:
        page.get_by_role("button", name=name, exact=True).click()
    file = tmp_path / "export"
    downloading.value.save_as(file)
    assert re.fullmatch(rf"issues-default-\d{{8}}\.{name.lower()}", downloading.value.suggested_filename)
    text = file.read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines())) if name == "CSV" else text.splitlines()
    assert len(rows) == expected > 50


def test_what_is_refused_is_told_and_changes_nothing(found: Any, watch: Any) -> None:
    watch.expect("status of 422")
    page = found("q=cache", 9)
    choose(page, 0, 1)
    page.route(
        "**/*api=bulk-issues*", lambda route: route.fulfill(status=422, body='{"error": "ids: unknown issue 1"}')
    )
    page.locator(".bulk").get_by_role("button", name="Fixed").click()
    expect(page.locator(".toast-error")).to_contain_text("Nothing changed: ids: unknown issue 1")
    expect(page.locator(".row-status", has_text="Fixed")).to_have_count(0)
    expect(page.locator(".bulk b")).to_have_text("2 selected")


def test_rows_show_what_was_done_though_the_answer_was_lost(found: Any, watch: Any) -> None:
    watch.expect("net::ERR_")
    page = found("q=cache", 9)

    def lost(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/*api=bulk-issues*", lost)
    page.get_by_label("Select all issues of this page").click()
    page.locator(".bulk").get_by_role("button", name="In progress").click()
    expect(page.locator(".toast-error")).to_contain_text("It is not known whether this was done")
    rows = page.locator(".row").count()
    expect(page.locator(".row-status", has_text="In progress")).to_have_count(rows)


def test_long_work_goes_on_as_a_job(found: Any, watch: Any) -> None:
    page = found("q=cache", 9)
    watch.expect("status of 404")  # the job that the answer names is not there
    choose(page, 0)
    answer = '{"job_id": 41, "status": "running"}'
    page.route("**/*api=bulk-issues*", lambda route: route.fulfill(status=202, body=answer))
    page.locator(".bulk").get_by_role("button", name="Fixed").click()
    toast(page, "This takes a moment and goes on in the background.")


def test_the_bar_sets_every_status_that_people_set(found: Any) -> None:
    page = found("q=cache", 9)
    choose(page, 0)
    buttons = page.get_by_role("group", name="Set status").get_by_role("button")
    expect(buttons).to_have_text(["Reopen", "In progress", "Fixed", "Won't fix"])


def test_the_triage_loop_by_keyboard_alone(page: Page, deployment: Any) -> None:
    """Find, open, tag, silence, fix, next, back, choose several, tag them: no pointer."""
    press = page.keyboard.press
    press("/")
    page.keyboard.type("invoice run")
    press("Enter")
    expect(page.locator(".row")).to_have_count(10)
    press("Escape")  # out of the field
    press("j")
    press("Enter")
    expect(page.locator(".issue-head")).to_be_visible()
    title = page.locator("h1").inner_text()
    press("t")
    page.keyboard.type("By hand")
    press("Enter")
    expect(page.locator(".side .chip")).to_have_text(re.compile("By hand"))
    press("Escape")
    press("s")
    expect(page.get_by_label("Snooze alerts")).to_be_focused()
    press("ArrowDown")
    press("Tab")
    press("Enter")
    expect(page.get_by_text(re.compile("Alerts are silent until"))).to_be_visible()
    page.locator("h1").focus()
    press("c")
    page.keyboard.type("By hand, too")
    press("Control+Enter")
    expect(page.locator(".history li").first).to_contain_text("Local commented")
    press("Escape")
    press("e")
    expect(page.locator(".history li").first).to_contain_text("set it to Fixed")
    press("Shift+J")
    expect(page.locator("h1")).not_to_have_text(title)
    press("u")
    expect(page.locator(".row")).to_have_count(9)  # what is fixed is no longer unresolved
    for key in ("j", "x", "j", "j", "j", "Shift+X", "t"):
        press(key)
    expect(page.get_by_label("Tag for the selected issues")).to_be_focused()
    page.keyboard.type("By hand")
    press("Enter")
    expect(page.locator(".row .chip")).to_have_count(4)
    press("Escape")
    press("g")
    press("i")
    expect(page.locator("#search")).to_have_value("")


def test_chosen_issues_are_copied_for_the_team(found: Any) -> None:
    page = found("q=login form&status=all", 10)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    choose(page, 0, 1)
    page.get_by_role("button", name="More actions on the selected issues").click()
    page.get_by_role("button", name="Copy as Markdown").click()
    toast(page, "2 issues copied as Markdown")
    lines = page.evaluate("navigator.clipboard.readText()").split("\n")
    assert len(lines) == 2
    address = page.url.split("?")[0]
    form = rf"- \[The login form .*\]\({re.escape(address)}\?view=issue&id=\d+\) .* events, last seen .* UTC"
    assert all(re.fullmatch(form, line) for line in lines)


def test_chosen_issues_are_copied_without_https(found: Any) -> None:
    page = found("q=login form&status=all", 10)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    choose(page, 0)
    page.get_by_role("button", name="More actions on the selected issues").click()
    page.get_by_role("button", name="Copy as Markdown").click()
    toast(page, "1 issue copied as Markdown")
    page.locator("#search").fill("")
    page.locator("#search").press("Control+v")
    expect(page.locator("#search")).to_have_value(re.compile(r"^- \[The login form"))
    page.evaluate("document.execCommand = () => false")
    page.get_by_role("button", name="More actions on the selected issues").click()
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.locator(".toast-error")).to_contain_text("Not copied: the browser refused")

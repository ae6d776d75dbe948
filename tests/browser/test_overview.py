"""The overview: what is unresolved, what is new, what happens most; every figure leads to what it counts."""

import json
import re
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, Route, expect


@pytest.fixture
def overview(open_page: Any, deployment: Any) -> Page:
    opened: Page = open_page(f"{deployment.url}?view=overview")
    expect(opened.get_by_role("heading", name="Overview")).to_be_visible()
    return opened


def card(page: Page, heading: str) -> Any:
    return page.locator("section.card", has=page.get_by_role("heading", name=re.compile(f"^{heading}")))


def test_what_is_unresolved_comes_first(overview: Page) -> None:
    figures = overview.locator(".figures > div")
    expect(figures.locator("dt")).to_have_text(
        ["Unresolved", "New in 24 hours", "Events in 24 hours", "Last event", "All issues", "All events"]
    )
    expect(figures.first.locator("a")).to_have_text("71")
    figures.first.locator("a").click()
    expect(overview.get_by_role("heading", name="Issues")).to_be_visible()


def test_issues_name_their_level_and_a_status_other_than_open(overview: Page, deployment: Any) -> None:
    rows = card(overview, "Most events, unresolved").locator(".brief")
    expect(rows).to_have_count(8)
    expect(rows.first.locator(".badge")).to_have_text(re.compile("^(Warning|Error|Critical|Notice)$"))
    expect(rows.locator(".mark-status")).to_have_count(0)
    number = re.search(r"id=(\d+)", rows.first.locator("a").get_attribute("href") or "")
    assert number
    post = overview.request.post
    post(f"{deployment.url}?api=issue-status", data={"id": int(number[1]), "status": "in_progress"})
    overview.reload()
    expect(rows.locator(".mark-status")).to_have_text(["In progress"])
    post(f"{deployment.url}?api=issue-status", data={"id": int(number[1]), "status": "open"})


def test_counts_of_all_issues_lead_to_all_of_them(overview: Page) -> None:
    """Levels and sources are counted over every status, and so are the lists that they lead to."""
    for heading, part in (("By level", "severity=ERROR"), ("Latest sources", "source=app.log")):
        for link in card(overview, heading).locator("a").all():
            assert "status=all" in (link.get_attribute("href") or "")
        assert part in " ".join(one.get_attribute("href") or "" for one in card(overview, heading).locator("a").all())
    expect(card(overview, "By status").locator("a")).to_have_text(["Open"])


def test_nothing_new_is_said(overview: Page, deployment: Any) -> None:
    overview.goto(f"{deployment.url}?view=overview&since=2099-01-01 00:00:00")
    new = card(overview, "New since")
    expect(new).to_contain_text(re.compile(r"New since 1 Jan 2099 00:00 UTC"))
    expect(new).to_contain_text("Nothing new since then.")
    expect(new.get_by_role("link", name="Issues with events since then")).to_be_visible()


def test_what_is_new_comes_newest_first(overview: Page, deployment: Any) -> None:
    overview.goto(f"{deployment.url}?view=overview&since=2000-01-01 00:00:00")
    with urlopen(f"{deployment.url}?api=errors&sort=first_seen&limit=100") as answer:
        issues = [issue["id"] for issue in json.load(answer)["data"]]
    links = card(overview, "New since").locator(".brief a")
    expect(links).to_have_count(len(issues))
    assert [link.get_attribute("href") for link in links.all()] == [f"?view=issue&id={number}" for number in issues]


@pytest.mark.parametrize(("pages", "said"), [(1, "(2)"), (2, "(over 2)")])
def test_more_new_issues_than_one_answer_holds_are_said(open_page: Any, deployment: Any, pages: int, said: str) -> None:
    """One page of 100 is asked for: are all of it new and there are more, so may those be."""

    def answered(route: Route) -> None:
        response = route.fetch()
        answer = response.json()
        answer["data"] = answer["data"][:2]
        answer["meta"]["pages"] = pages
        route.fulfill(response=response, json=answer)

    page = open_page("about:blank")
    page.route("**/*sort=first_seen*", answered)
    page.goto(f"{deployment.url}?view=overview&since=2000-01-01 00:00:00")
    expect(card(page, "New since").get_by_role("heading")).to_contain_text(said)

"""What narrows the list of issues, and how the tabs, the counts and the chart follow."""

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, Route, expect

from snaglist.kernel import times


def address(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def asked(url: str, api: str, **query: str) -> Any:
    parameters = "".join(f"&{name}={value.replace(' ', '+')}" for name, value in query.items())
    with urlopen(Request(f"{url}?api={api}{parameters}")) as answer:
        return json.load(answer)


def counts(page: Page) -> list[str]:
    return [text.replace("\n", " ") for text in page.locator(".tab").all_inner_texts()]


def chips(page: Page) -> list[str]:
    return [text.strip() for text in page.locator(".chips .chip").all_inner_texts()]


# -- home


def test_home_is_what_is_unresolved(page: Page, deployment: Any) -> None:
    """An address without a status; all and each status are a click away, and an address says which."""
    page.goto(f"{deployment.url}?q=login form is read only")
    expect(page.locator(".tab[aria-current]")).to_contain_text("Unresolved")
    title = page.locator(".row-title").first.inner_text()
    rows = page.locator(".row").count()
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".toast")).to_contain_text("1 issue set to fixed")
    page.reload()
    expect(page.locator(".tab[aria-current]")).to_contain_text(f"Unresolved {rows - 1}")
    page.locator(".tab", has_text="All").click()
    expect(page.locator(".row")).to_have_count(rows)
    assert address(page)["status"] == "all"
    expect(page.locator(".row", has_text=title).locator(".row-status")).to_have_text("Fixed")
    page.goto(f"{deployment.url}?status=fixed")
    expect(page.locator(".tab[aria-current]")).to_contain_text("Fixed 1")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".row-choice input").click()
    page.locator(".bulk").get_by_role("button", name="Reopen").click()
    expect(page.locator(".row-status")).to_have_text("Open")


def test_an_empty_home_says_that_nothing_is_left(empty_deployment: Any, open_page: Any) -> None:
    body = json.dumps({"title": "First"}).encode()
    with urlopen(Request(f"{empty_deployment.url}?api=issues", body, {"Content-Type": "application/json"})):
        pass
    page = open_page(empty_deployment.url)
    page.locator(".row").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".toast")).to_be_visible()
    page.reload()
    expect(page.locator("h2", has_text="Nothing is unresolved")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".row")).to_have_count(1)


def test_links_that_count_every_status_lead_to_all_of_them(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?view=overview")
    page.get_by_role("link", name="Critical").first.click()
    expect(page.locator(".tab[aria-current]")).to_contain_text("All")


# -- what follows


def test_tabs_chart_and_heading_follow_the_filters(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=queue&severity=ERROR&range=7d")
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator(".chart-label")).to_be_visible()
    rows = page.locator(".row").count()
    assert counts(page)[:3] == [f"Unresolved {rows}", f"All {rows}", f"Open {rows}"]
    found = asked(
        deployment.url, "issue-activity", q="queue", severity="ERROR", **{"from": times.add(times.now(), days=-7)}
    )
    events = sum(sum(row["counts"]) for row in found["series"])
    assert found["counted"] == "matching"
    expect(page.locator(".chart-label")).to_have_text(f"Matching events, last 7 days · {events} events")
    page.goto(f"{deployment.url}?severity=ERROR&range=7d")
    expect(page.locator(".chart-label")).to_have_text(re.compile(r"^Error events, last 7 days · [\d,]+ events$"))
    expect(page.locator(".spark-head")).to_have_text("Last 24 h")


def test_the_chart_of_other_filters_goes_with_them(page: Page, watch: Any) -> None:
    """Numbers of what was shown before never stand around what is shown now; one that fails says so."""
    expect(page.locator(".chart-label")).to_be_visible()
    held: list[Route] = []
    page.route("**/*api=issue-activity*", lambda route: held.append(route))
    page.get_by_label("Level", exact=True).select_option("CRITICAL")
    expect(page.locator(".row").first).to_have_attribute("data-level", "CRITICAL")
    expect(page.locator(".chart-label")).to_have_count(0)
    assert counts(page)[:2] == ["Unresolved", "All"]
    watch.expect("status of 500")
    held[0].fulfill(status=500, content_type="application/json", body='{"error": "It broke."}')
    expect(page.locator(".activity")).to_have_text("The chart is missing: It broke.")
    assert counts(page)[:2] == ["Unresolved", "All"]
    page.get_by_label("Sort", exact=True).select_option("oldest")
    expect(page.locator(".age-head")).to_have_text("First seen")
    assert counts(page)[:2] == ["Unresolved", "All"]


def test_the_chart_stays_while_only_the_order_changes(page: Page) -> None:
    expect(page.locator(".chart-label")).to_be_visible()
    page.route("**/*api=issue-activity*", lambda route: None)
    page.get_by_label("Sort", exact=True).select_option("oldest")
    expect(page.locator(".age-head")).to_have_text("First seen")
    expect(page.locator(".chart-label")).to_be_visible()


def test_a_chart_outlasts_a_failure_that_passes(page: Page, watch: Any) -> None:
    expect(page.locator(".chart-label")).to_be_visible()
    watch.expect("status of 503")
    busy = '{"error": "The database is busy."}'
    page.route(
        "**/*api=issue-activity*", lambda route: route.fulfill(status=503, content_type="application/json", body=busy)
    )
    with page.expect_response("**/*api=issue-activity*"):
        page.get_by_label("Sort", exact=True).select_option("oldest")
    expect(page.locator(".age-head")).to_have_text("First seen")
    expect(page.locator(".chart-label")).to_be_visible()


def test_any_other_filter_is_another_chart(page: Page) -> None:
    """Such as a user, which has no control of its own."""
    expect(page.locator(".chart-label")).to_be_visible()
    page.route("**/*api=issue-activity*", lambda route: None)
    page.evaluate("history.pushState(null, '', '?user=somebody')")
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    expect(page.locator(".chart-label")).to_have_count(0)


def test_a_search_that_finds_nothing_offers_its_numbers_alone(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=“never said” %234711 jo@nowhere.test&status=all")
    none = page.locator(".notice")
    expect(none.get_by_role("heading", name="No issue matches")).to_be_visible()
    expect(none).to_contain_text("Search only for 4711, jo@nowhere.test")
    expect(none.get_by_role("link", name="Look for “never said 4711 jo@nowhere.test” in the raw logs")).to_be_visible()
    assert chips(page) == ["“never said” #4711 jo@nowhere.test"]
    none.get_by_role("link", name="4711", exact=True).click()
    expect(page.locator(".row").first).to_be_visible()
    assert address(page) == {"q": "4711", "status": "all"}


def test_curly_quotation_marks_are_typed_as_straight_ones(page: Page) -> None:
    page.locator("#search").fill("“gateway timeout”")
    page.keyboard.press("Enter")
    expect(page.locator(".chips .chip")).to_have_text('"gateway timeout"')
    expect(page.locator(".row").first).to_be_visible()


def test_rows_of_a_short_time_say_since_when_they_count(page: Page, deployment: Any) -> None:
    """By full hours, while the chart has the ends that were asked for."""
    start = times.add(times.hour(times.now()), seconds=-5 * 3600 + 60)
    page.goto(f"{deployment.url}?status=all&from={start}")
    expect(page.locator(".over .check")).to_have_text(re.compile(r"^\s*\d+ issues? since \d\d:00\s*$"))
    # However long ago the time is; both ends, where both are not on the hour.
    first = asked(deployment.url, "errors", sort="oldest", limit="1")["data"][0]["first_seen"]
    hour = times.hour(first)
    for seconds, said in ((1, r" from (\d+ \w+( \d+)? )?\d\d:00 to \d\d:00"), (0, "")):
        start, end = times.add(hour, seconds=seconds), times.add(hour, seconds=3600 - seconds)
        page.goto(f"{deployment.url}?status=all&from={start}&to={end}")
        expect(page.locator(".over .check")).to_have_text(re.compile(rf"^\s*\d+ issues?{said}\s*$"))
    page.goto(f"{deployment.url}?status=all&range=7d")
    expect(page.locator(".over .check")).to_have_text(re.compile(r"^\s*\d+ issues?\s*$"))


def test_the_time_goes_along_to_the_issue(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?range=30d")
    page.locator(".row-title").first.click()
    expect(page.get_by_role("combobox", name="Time")).to_have_value("30d")
    assert address(page)["range"] == "30d"


def test_a_range_chosen_on_the_chart_narrows_the_list(page: Page) -> None:
    """By keyboard; what was chosen stands as a chip and is taken off there."""
    chart = page.get_by_role("slider", name=re.compile("^Events, last 24 hours"))
    chart.focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator(".chips .chip")).to_have_text(re.compile(r" to "))
    assert set(address(page)) == {"from", "to"}
    page.get_by_role("link", name=re.compile("^Remove the filter")).click()
    expect(page.locator(".chips")).to_have_count(0)
    assert address(page) == {}


def test_a_range_is_dragged(page: Page) -> None:
    plot = page.locator(".chart-plot")
    box = plot.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 40, steps=4)
    page.mouse.up()
    expect(page.locator(".chips .chip")).to_have_text(re.compile(r" to "))
    assert set(address(page)) == {"from", "to"}


def test_a_last_event_long_ago_is_said_and_shown(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?from=2001-02-03 04:00:00&to=2001-02-04 04:00:00&status=all")
    expect(page.locator(".quiet")).to_contain_text("No events in this period. Last event")
    expect(page.locator("ui-chart")).to_have_count(0)
    page.get_by_role("link", name="Show that day").click()
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator("ui-chart")).to_be_visible()
    assert set(address(page)) == {"date", "status"}


def test_the_counts_of_the_tabs_follow_new_events(open_page: Any, deployment: Any) -> None:
    page = open_page("about:blank")
    page.clock.install()
    page.goto(f"{deployment.url}?severity=CRITICAL")
    expect(page.locator(".row").first).to_be_visible()
    before = counts(page)
    page.route("**/*api=issue-activity*", more_critical)
    page.route("**/*api=summary*", more_events)
    page.clock.run_for(6000)
    expect(page.locator(".tab").first).not_to_have_text(before[0])


def more_events(route: Any) -> None:
    response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
    summary = response.json()
    summary["total"]["occurrences"] += 5
    route.fulfill(response=response, json=summary)


def more_critical(route: Any) -> None:
    response = route.fetch()
    found = response.json()
    found["statuses"][0]["groups_count"] += 1
    route.fulfill(response=response, json=found)


# -- chips


def test_each_filter_is_a_chip_that_takes_it_off(page: Page, deployment: Any) -> None:
    tag = next(tag for tag in asked(deployment.url, "tags")["data"] if tag["name"] == "Payments")
    page.goto(f"{deployment.url}?q=gateway&severity=ERROR&tag={tag['id']}&range=30d&has_stack=true")
    expect(page.locator(".row")).to_have_count(1)
    assert chips(page) == ["“gateway”", "Level: Error", f"Tag: {tag['name']}", "Stack: yes", "Last 30 days"]
    page.get_by_role("link", name="Remove the filter Level: Error").click()
    expect(page.get_by_label("Level", exact=True)).to_have_value("")
    expect(page.locator("#search")).to_have_value("gateway")
    page.get_by_role("link", name="Clear filters").click()
    expect(page.locator(".row")).to_have_count(50)
    assert address(page) == {}
    expect(page.locator(".chips")).to_have_count(0)


def test_filters_that_are_typed_come_to_those_that_are_there(page: Page) -> None:
    page.get_by_label("Level", exact=True).select_option("EMERGENCY,ALERT,CRITICAL,ERROR")
    expect(page.locator(".chips")).to_contain_text("Level: Error and worse")
    page.locator("#search").fill("env:production cache")
    page.keyboard.press("Enter")
    expect(page.locator("#search")).to_have_value("cache")
    expect(page.locator(".chips .chip")).to_have_count(3)
    assert address(page) == {"severity": "EMERGENCY,ALERT,CRITICAL,ERROR", "environment": "production", "q": "cache"}


def test_nothing_matches_here_but_elsewhere(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=queue&status=fixed")
    expect(page.locator(".notice")).to_contain_text("10 issues with another status match")
    page.get_by_role("link", name="Show all statuses").click()
    expect(page.locator(".row")).to_have_count(10)


# -- the search field


def test_a_pause_while_typing_searches_and_leaves_one_step_back(page: Page) -> None:
    field = page.locator("#search")
    field.press_sequentially("queue")
    expect(page.locator(".row")).to_have_count(10)
    expect(field).to_be_focused()
    field.press_sequentially(" took")
    expect(page.locator(".row")).to_have_count(1)
    expect(field).to_have_value("queue took")
    page.go_back()
    expect(page.locator(".row")).to_have_count(50)
    assert address(page) == {}


def test_enter_is_hinted_while_typing(page: Page) -> None:
    expect(page.locator(".search-hint")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.locator(".search-hint")).to_be_visible()


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("snoozed=yes", "There is no snoozed:yes. Use snoozed:true or snoozed:false."),
        ("severity=LOUD", "There is no level:loud. Use level:emergency, level:alert"),
        ("from=soon", "This time range cannot be shown. Choose another one."),
    ],
)
def test_a_mistyped_filter_is_explained_at_the_field(
    open_page: Any, deployment: Any, watch: Any, query: str, sentence: str
) -> None:
    """The list stays."""
    watch.expect("status of 422")
    page = open_page(f"{deployment.url}?{query}")
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    expect(page.locator("#search")).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".row")).to_have_count(50)
    page.get_by_role("link", name="Clear filters").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_filter_that_is_mistyped_in_the_field_keeps_what_is_shown(page: Page, deployment: Any, watch: Any) -> None:
    watch.expect("status of 422")
    page.goto(f"{deployment.url}?q=queue")
    expect(page.locator(".row")).to_have_count(10)
    page.locator("#search").fill("queue snoozed:yes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("There is no snoozed:yes. Use snoozed:true or snoozed:false.")
    expect(page.locator(".row")).to_have_count(10)
    page.get_by_role("link", name="Remove the filter Snoozed: yes").click()
    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.locator(".row")).to_have_count(10)


# -- saved searches


def test_a_search_is_saved_by_name_found_again_and_forgotten(page: Page, deployment: Any) -> None:
    page.get_by_label("Level", exact=True).select_option("CRITICAL")
    page.locator(".tab", has_text="Open").click()
    expect(page.locator(".tab", has_text="Open")).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Saved searches").click()
    page.get_by_label("Name of this search").fill("On call")
    page.keyboard.press("Enter")
    expect(page.locator(".toast")).to_contain_text("Saved as “On call”")
    page.goto(deployment.url)
    page.locator(".row").first.wait_for()
    page.get_by_role("button", name="Saved searches").click()
    page.get_by_role("link", name="On call").click()
    expect(page.get_by_label("Level", exact=True)).to_have_value("CRITICAL")
    assert address(page) == {"severity": "CRITICAL", "status": "open"}
    page.get_by_role("button", name="Saved searches").click()
    expect(page.locator(".saved-search")).to_have_attribute("aria-current", "true")
    page.get_by_role("button", name="Forget the search On call").click()
    expect(page.locator(".saved-search")).to_have_count(0)


def test_searches_that_an_earlier_version_kept_are_there(page: Page) -> None:
    saved = json.dumps([{"status": "toString,open", "sort": "constructor"}])
    page.evaluate("(saved) => localStorage.setItem(`snaglist.issues:${location.pathname}::saved`, saved)", saved)
    page.reload()
    page.locator(".row").first.wait_for()
    page.get_by_role("button", name="Saved searches").click()
    expect(page.locator(".saved-search")).to_have_text("toString or Open, by constructor")

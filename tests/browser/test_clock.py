"""Times are shown in the clock of the browser or in UTC, by one switch, and always say which it is."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

SETUP = """
const at = document.querySelector('script[type=module]').src.replace('app.js', 'clock.js');
const { ago, clock, fromClock, stamp, switchClock, toClock, zone } = await import(at);
const now = new Date('2026-11-28T12:00:00Z');
"""


@pytest.fixture
def abroad(open_page: Any, deployment: Any) -> Any:
    """Open the list in the time zone of a place."""

    def opened(place: str) -> Page:
        page = open_page(deployment.url, timezone_id=place)
        page.locator(".row").first.wait_for()
        return page

    return opened


def run(page: Page, code: str) -> Any:
    return page.evaluate(f"async () => {{ {SETUP} {code} }}")


def test_the_switch_changes_every_time_and_is_remembered(abroad: Any) -> None:
    page = abroad("Asia/Tokyo")
    time = page.locator(".row time").first
    expect(time).to_have_attribute("title", re.compile(r", \d\d:\d\d:\d\d UTC\+9$"))
    local = time.get_attribute("title") or ""
    page.get_by_role("button", name="Times are in UTC+9").click()
    expect(time).to_have_attribute("title", re.compile(r", \d\d:\d\d:\d\d UTC$"))
    assert time.get_attribute("title") != local.replace("UTC+9", "UTC")
    page.reload()
    expect(time).to_have_attribute("title", re.compile(r" UTC$"))
    page.get_by_role("button", name="Times are in UTC").click()
    expect(time).to_have_attribute("title", local)


@pytest.mark.parametrize(
    ("place", "form", "shown"),
    [
        ("Europe/Berlin", "minute", "28 Nov 08:00"),
        ("Europe/Berlin", "exact", "28 Nov 2026, 08:00:12 UTC+1"),
        ("America/St_Johns", "exact", "28 Nov 2026, 03:30:12 UTC-3:30"),
        ("America/Los_Angeles", "day", "27 Nov"),
        ("UTC", "time", "07:00"),
    ],
)
def test_a_time_reads_as_the_clock_of_the_place_shows_it(abroad: Any, place: str, form: str, shown: str) -> None:
    assert run(abroad(place), f"return clock('2026-11-28 07:00:12', '{form}', now)") == shown


def test_another_year_is_named(abroad: Any) -> None:
    page = abroad("UTC")
    assert run(
        page, "return [clock('2024-09-03 10:00:00', 'minute', now), clock('2024-09-03 10:00:00', 'day', now)]"
    ) == [
        "3 Sep 2024 10:00",
        "3 Sep 2024",
    ]
    # The clock of the place decides which year it is.
    assert run(abroad("Asia/Tokyo"), "return clock('2025-12-31 20:00:00', 'day', now)") == "1 Jan"


def test_summer_time_holds_at_the_time_that_is_shown(abroad: Any) -> None:
    page = abroad("Europe/Berlin")
    assert run(page, "return clock('2026-07-01 10:00:00', 'exact', now)") == "1 Jul 2026, 12:00:00 UTC+2"
    assert run(page, "return fromClock('2026-07-01', '12:00')") == "2026-07-01 10:00:00"
    assert run(page, "return fromClock('2026-11-28')") == "2026-11-27 23:00:00"
    assert run(page, "return toClock('2026-11-27 23:30:00')") == {"date": "2026-11-28", "time": "00:30"}


def test_a_range_is_typed_with_24_hours_whatever_the_language_is(open_page: Any, deployment: Any) -> None:
    page = open_page(deployment.url, timezone_id="Europe/Berlin", locale="en-US")
    page.get_by_label("Time", exact=True).select_option("dates")
    page.get_by_label("From", exact=True).fill("2026-01-15")
    page.get_by_label("From, time of day").fill("17:00")
    page.get_by_label("to", exact=True).fill("2026-01-16")
    page.get_by_role("button", name="Show", exact=True).click()
    page.wait_for_url(re.compile("from="))
    query = page.evaluate("Object.fromEntries(new URLSearchParams(location.search))")
    # The end of the day, as no time of day was typed for it.
    assert (query["from"], query["to"]) == ("2026-01-15 16:00:00", "2026-01-16 23:00:00")


def test_a_form_that_is_open_follows_the_clock(open_page: Any, deployment: Any) -> None:
    page = open_page(f"{deployment.url}?from=2026-01-15 16:00:00&to=2026-01-16 16:00:00", timezone_id="Europe/Berlin")
    page.get_by_label("Time", exact=True).select_option("dates")
    field = page.get_by_label("From, time of day")
    expect(field).to_have_value("17:00")
    page.get_by_role("button", name=re.compile(r"^Times are in UTC\+")).click()
    expect(field).to_have_value("16:00")
    expect(page.get_by_role("form", name="Time range, UTC")).to_be_visible()


def test_an_end_before_the_start_is_refused_at_its_field(page: Page) -> None:
    page.get_by_label("Time", exact=True).select_option("dates")
    page.get_by_label("From", exact=True).fill("2026-01-15")
    page.get_by_label("to", exact=True).fill("2026-01-14")
    page.get_by_role("button", name="Show", exact=True).click()
    message = page.get_by_label("to", exact=True).evaluate("(field) => field.validationMessage")
    assert message == "Choose an end that is later than the start."
    assert "from=" not in page.url

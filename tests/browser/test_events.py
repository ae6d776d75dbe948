"""The events of an issue: found by what they hold, listed with their values, filtered, counted, exported, walked."""

import csv
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page, expect

ORDERS = 300  # events of the log, one for each order
SENT = 60  # events that an application sends
NEWEST = datetime.now(UTC).replace(microsecond=0)


def log_lines() -> str:
    """Orders that could not be paid, on two machines, and lines of what went well between them."""
    lines = []
    for at in range(ORDERS):
        stamp = f"{NEWEST - timedelta(minutes=5 * (ORDERS - at)):%Y-%m-%d %H:%M:%S}"
        lines.append(f"[{stamp}] production.INFO: cart {at} opened [] []")
        context = json.dumps({"machine": f"web-{at % 2 + 1}", "total": f"{at},50", "shop": "north"})
        lines.append(f"[{stamp}] production.ERROR: Order {52_000 + at} was not paid after {100 + at} ms {context} []")
    return "\n".join(lines) + "\n"


def send_checkouts(url: str) -> None:
    """Send what happened to twelve users at a checkout, in two releases."""
    events = [
        {
            "message": f"Checkout of cart {9_000 + at} broke off",
            "severity": "WARNING" if at % 3 else "ERROR",
            "release": f"v2.4.{at % 2}",
            "user": {"id": f"user-{at % 12}"},
            "occurred_at": (NEWEST - timedelta(minutes=at)).isoformat(),
        }
        for at in range(SENT)
    ]
    post(f"{url}?api=plugins", {"id": "ingest", "enabled": True})
    with urlopen(f"{url}?api=ingest-settings", timeout=30) as answer:
        settings = json.load(answer)
    sent = post(settings["ingest_url"], {"events": events}, {settings["key_header"]: settings["key"]})
    assert sent["accepted"] == SENT


def post(url: str, body: object, headers: dict[str, str] | None = None) -> Any:
    given = {"Content-Type": "application/json", **(headers or {})}
    with urlopen(Request(url, json.dumps(body).encode(), given), timeout=30) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def shop(browser: Any, servers: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that read a log of 300 orders and was sent 60 checkouts."""
    folder = tmp_path_factory.mktemp("shop")
    log = folder / "shop.log"
    log.write_text(log_lines())
    servers.run("import", str(log), data=folder / "data")
    with servers.served(folder / "data") as url:
        send_checkouts(url)
        yield url


@pytest.fixture
def orders(open_page: Any, shop: str) -> Page:
    """The page of the issue with the orders; its values are counted."""
    return counted(open_page(f"{shop}?view=issue&id=1"))


@pytest.fixture
def checkouts(open_page: Any, shop: str) -> Page:
    """The page of the issue with the checkouts; its values are counted."""
    return counted(open_page(f"{shop}?view=issue&id=2"))


def counted(page: Page) -> Page:
    expect(page.locator("#affected")).to_contain_text("Counted over")
    return page


def address(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def rows(page: Page) -> Any:
    return page.locator(".events tbody tr")


def headings(page: Page) -> list[str]:
    return page.locator(".events th").all_inner_texts()


# -- from a mail to the lines


def test_from_an_order_number_to_its_lines(open_page: Any, shop: str, record_property: Any) -> None:
    """What somebody does who has a mail with an order number: at most five clicks, well below 20 seconds."""
    page = open_page(shop)
    page.evaluate("addEventListener('click', () => { window.clicks = (window.clicks ?? 0) + 1 }, true)")
    begun = time.monotonic()
    page.get_by_label("Search issues").click()
    page.keyboard.type("52045")
    page.keyboard.press("Enter")
    page.locator(".row", has_text="1 of 300 events matches").locator(".row-title").click()
    expect(page.locator("#event")).to_contain_text("Order 52045 was not paid after 145 ms")
    page.get_by_role("link", name="Open in the log").click()
    expect(page.locator(".line[aria-current]")).to_contain_text("Order 52045 was not paid")
    expect(page.locator(".line[aria-current]")).to_be_in_viewport()
    record_property("seconds", round(time.monotonic() - begun, 1))
    assert page.evaluate("window.clicks") <= 5


# -- the list of issues


def test_a_search_says_where_it_looked_and_what_it_found(open_page: Any, shop: str) -> None:
    page = open_page(f"{shop}?q=web-2 52001")
    searched = "Searched titles, messages, exceptions, stacks, tags, files and all values of events."
    expect(page.locator(".searched")).to_have_text(searched)
    expect(page.locator(".row-hits")).to_have_text("1 of 300 events matches")
    page.goto(f"{shop}?q=north")
    expect(page.locator(".row-hits")).to_have_text("all 300 events match")
    page.goto(f'{shop}?q=52001 "Order 52002"')
    expect(page.locator(".row-hits")).to_have_text("no single event has all the words")
    page.locator(".row-title").click()
    expect(page.locator("#event-title")).to_have_text("Latest event")
    assert "q" not in address(page), "words that choose no event would leave none"
    page.goto(f"{shop}?q=user:user-3")
    expect(page.locator(".searched")).to_have_text("Searched the users of events.")
    page.goto(f"{shop}?q=nowhere")
    expect(page.locator(".notice")).to_contain_text(searched)
    expect(page.get_by_role("link", name="in the raw logs")).to_be_visible()


def test_a_search_that_looked_at_some_events_says_so(open_page: Any, shop: str) -> None:
    page = open_page(shop)

    def some(route: Any) -> None:
        if "q=" not in route.request.url:  # the list that was open before asks for news once more
            route.fallback()
            return
        answer = route.fetch()
        body = answer.json()
        body["meta"]["search"]["complete"] = False
        body["data"][0]["matching"] = {"events": 37, "exact": False}
        route.fulfill(response=answer, json=body)

    page.route("**/*api=errors*", some)
    page.goto(f"{shop}?q=web-2")
    expect(page.locator(".searched")).to_contain_text("Not all events were looked at")
    expect(page.locator(".row-hits").first).to_contain_text("at least 37 of 300 events match")


def test_what_can_be_searched_for_is_explained(open_page: Any, shop: str) -> None:
    page = open_page(shop)
    page.get_by_role("button", name="What to search for").click()
    page.get_by_role("button", name='value:"52045"').click()
    expect(page.locator("#search")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".row")).to_have_count(1)
    assert address(page) == {"q": 'value:"52045"'}


def test_issues_show_their_users_and_can_be_sorted_by_them(open_page: Any, shop: str) -> None:
    page = open_page(shop)
    page.get_by_label("Sort").select_option("users")
    assert address(page) == {"sort": "users"}
    expect(page.locator(".row-title").first).to_contain_text("Checkout of cart")
    expect(page.locator(".row-users")).to_have_text([re.compile("12 users"), re.compile("^$")])
    page.locator("#search").fill("user:user-3")
    page.keyboard.press("Enter")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".row-title").click()
    expect(page.locator("#events [role=status]")).to_have_text("5 of 60 events match")


# -- the rows


def test_a_row_is_the_message_with_its_values(orders: Page) -> None:
    expect(rows(orders)).to_have_count(25)
    expect(rows(orders).first.locator("td").first).to_have_text("Order 52299 was not paid after 399 ms")
    expect(rows(orders).first.locator("mark")).to_have_text(["52299", re.compile("^399")])
    assert headings(orders) == ["Message", "Time (UTC)", "Machine", "Total", "Log"], (
        "what is the same in all has no column"
    )
    expect(rows(orders).first.locator("td").last).to_have_text(re.compile(r"^@\d+$"))


def test_columns_can_be_chosen_and_stay_chosen(checkouts: Page) -> None:
    assert headings(checkouts) == ["Message", "Time (UTC)", "Level", "User", "Release"]
    checkouts.get_by_text("Columns", exact=True).click()
    checkouts.get_by_label("user", exact=True).uncheck()
    checkouts.get_by_label("cart", exact=True).check()
    assert headings(checkouts) == ["Message", "Time (UTC)", "Level", "Release", "Cart"]
    checkouts.reload()
    counted(checkouts)
    assert headings(checkouts) == ["Message", "Time (UTC)", "Level", "Release", "Cart"]
    expect(rows(checkouts).first.locator("td").last).to_have_text("9000")


def test_a_row_opens_its_event(orders: Page) -> None:
    rows(orders).nth(3).get_by_text("was not paid").click()
    expect(orders.locator("#event .message").first).to_have_text("Order 52296 was not paid after 396 ms")
    expect(rows(orders).nth(3)).to_have_attribute("aria-current", "true")


# -- filters


def test_a_value_narrows_and_the_address_keeps_it(orders: Page) -> None:
    rows(orders).first.get_by_role("link", name="web-2").click()
    expect(orders.locator("#events [role=status]")).to_have_text("150 of 300 events match")
    assert address(orders)["value"] == "machine=web-2"
    orders.locator("#event-words").fill("5220* -52202")
    orders.keyboard.press("Enter")
    expect(orders.locator("#events [role=status]")).to_have_text("5 of 300 events match")
    orders.reload()
    expect(rows(orders)).to_have_count(5)
    chips = orders.get_by_label("Active filters")
    expect(chips.locator(".chip")).to_have_text(["“5220* -52202”", "machine = web-2"])
    chips.get_by_role("link", name="Remove the filter machine = web-2").click()
    expect(rows(orders)).to_have_count(9)
    chips.get_by_role("link", name="Clear filters").click()
    expect(orders.locator("#events [role=status]")).to_have_text("300 events")
    assert address(orders) == {"view": "issue", "id": "1"}


def test_a_value_with_a_comma_narrows(orders: Page) -> None:
    rows(orders).nth(1).get_by_role("link", name="298,50").click()
    expect(rows(orders)).to_have_count(1)
    expect(orders.get_by_label("Active filters").locator(".chip")).to_have_text("total = 298,50")


def test_a_typed_value_and_the_time_narrow(checkouts: Page) -> None:
    adding = checkouts.get_by_role("form", name="Filter by a value")
    adding.get_by_label("Name").select_option("user")
    adding.get_by_label("Value").fill("user-3")
    checkouts.keyboard.press("Enter")
    expect(rows(checkouts)).to_have_count(5)
    assert address(checkouts)["user"] == "user-3"
    checkouts.get_by_label("Time", exact=True).select_option("dates")
    since = NEWEST - timedelta(minutes=20)
    checkouts.get_by_label("From", exact=True).fill(f"{since:%Y-%m-%d}")
    checkouts.get_by_label("From, time of day").fill(f"{since:%H:%M}")
    checkouts.get_by_role("button", name="Show", exact=True).click()
    expect(rows(checkouts)).to_have_count(2)
    expect(checkouts.get_by_label("Active filters").locator(".chip").last).to_contain_text("Since")


def test_a_day_of_the_chart_narrows(orders: Page) -> None:
    newest = NEWEST - timedelta(minutes=5)
    days = orders.get_by_role("slider", name="Events per day, last 28 days")
    days.press("End")
    for _ in range((datetime.now(UTC).date() - newest.date()).days):
        days.press("ArrowLeft")
    days.press("Enter")
    today, tomorrow = f"{newest:%Y-%m-%d}", f"{newest + timedelta(days=1):%Y-%m-%d}"
    expect(orders.get_by_label("Active filters").locator(".chip")).to_have_text(
        re.compile(f"{newest.day} {newest:%b} 00:00 to")
    )
    assert (address(orders)["from"], address(orders)["to"]) == (f"{today} 00:00:00", f"{tomorrow} 00:00:00")
    expect(rows(orders).first.get_by_title("Show this event")).to_have_text(re.compile(f"^{newest.day} {newest:%b} "))


def test_a_time_ends_before_its_end(open_page: Any, shop: str) -> None:
    """As in the list, which hands its times on; the API of events takes the end with it."""
    newest = NEWEST - timedelta(minutes=5)
    page = open_page(f"{shop}?view=issue&id=1&to={newest:%Y-%m-%d+%H:%M:%S}")
    expect(rows(page).first).to_contain_text("52298")
    page.goto(f"{shop}?view=issue&id=1&to={newest:%Y-%m-%d}")
    expect(page.locator("#events [role=status]")).to_contain_text("of 300 events")
    expect(page.locator("#events")).not_to_contain_text("52299")
    page.goto(f"{shop}?date={newest:%Y-%m-%d}&status=all")
    page.locator(".row-title", has_text="was not paid").click()
    expect(rows(page).first).to_contain_text("52299")
    start, end = (f"{newest + timedelta(days=days):%Y-%m-%d} 00:00:00" for days in (0, 1))
    assert (address(page)["from"], address(page)["to"]) == (start, end)


def test_no_event_that_matches_is_said(open_page: Any, shop: str) -> None:
    page = open_page(f"{shop}?view=issue&id=1&q=nowhere")
    expect(page.locator("#events")).to_contain_text("No event of this issue matches.")
    expect(page.locator("#event-title")).to_have_text("Latest event, which does not match")


def test_next_and_previous_keep_the_filter(open_page: Any, shop: str) -> None:
    page = open_page(f"{shop}?view=issue&id=1&value=machine%3Dweb-1")
    shown = page.locator("#event .message").first
    expect(shown).to_contain_text("Order 52298")
    page.get_by_role("button", name="Older", exact=True).click()
    expect(shown).to_contain_text("Order 52296")
    rows(page).last.get_by_title("Show this event").click()
    expect(shown).to_contain_text("Order 52250")
    page.keyboard.press("j")
    expect(shown).to_contain_text("Order 52248")
    expect(page.locator("tr[aria-current]")).to_contain_text("52248")
    page.keyboard.press("k")
    expect(shown).to_contain_text("Order 52250")
    assert address(page)["value"] == "machine=web-1"


def test_a_search_that_stopped_goes_on(open_page: Any, shop: str) -> None:
    page = open_page(shop)
    asked: list[str] = []

    def stopped(route: Any) -> None:
        asked.append(route.request.url)
        answer = route.fetch()
        body = answer.json()
        if "cursor=" not in route.request.url:
            meta = {"looked_at": 10_000, "complete": False, "searched_to": "2026-01-03 10:00:00"}
            body = {"data": [], "meta": {**body["meta"], **meta, "next_cursor": body["meta"]["next_cursor"] or "x"}}
        route.fulfill(response=answer, json=body)

    page.route("**/*api=events*", stopped)
    page.goto(f"{shop}?view=issue&id=1&value=machine%3Dweb-1")
    pager = page.locator("#events .pager")
    expect(pager).to_contain_text(re.compile(r"Looked at 10,000 events, back to 3 Jan( 2026)? 10:00\."))
    pager.get_by_role("link", name="Go on").click()
    expect(rows(page)).to_have_count(25)
    assert "cursor=" in asked[-1]


def test_what_is_filtered_can_be_exported(open_page: Any, shop: str, tmp_path: Path) -> None:
    page = open_page(f"{shop}?view=issue&id=1&q=5220*")
    found: dict[str, str] = {}
    for form in ("CSV", "NDJSON"):
        with page.expect_download() as download:
            page.get_by_role("button", name=form, exact=True).click()
        download.value.save_as(tmp_path / form)
        found[form] = (tmp_path / form).read_text(encoding="utf-8-sig")
    table = list(csv.DictReader(found["CSV"].splitlines()))
    assert [row["value: order"] for row in table] == [str(52_209 - at) for at in range(10)]
    events = [json.loads(line) for line in found["NDJSON"].splitlines()]
    assert [event["fields"]["machine"] for event in events[:2]] == ["web-2", "web-1"]


# -- who and what is affected


def test_values_are_counted(orders: Page) -> None:
    panel = orders.locator("#affected")
    machines = panel.locator(".affected-one", has_text="machine")
    expect(machines.locator(".shares li")).to_have_text([re.compile("web-1.*150"), re.compile("web-2.*150")])
    spread = panel.locator(".affected-one", has_text="after").locator(".spread dd")
    expect(spread).to_have_text(["100", "249", "384", "399"])
    expect(panel.get_by_label("Same in all events")).to_contain_text("north")
    expect(panel).to_contain_text("Counted over 300 events.")


def test_a_counted_value_narrows(checkouts: Page) -> None:
    expect(checkouts.locator(".issue-figures > div", has_text="Users").locator("dd")).to_have_text("12")
    users = checkouts.locator(".affected-one", has_text="Users")
    expect(users.locator("h3")).to_contain_text("12 values")
    users.get_by_text("7 more").click()
    users.get_by_role("link", name="user-9", exact=True).click()
    expect(rows(checkouts)).to_have_count(5)
    expect(checkouts.locator("#affected")).to_contain_text("Counted over 5 events.")
    assert address(checkouts)["user"] == "user-9"


def test_the_page_fits_a_narrow_screen(open_page: Any, shop: str) -> None:
    page = counted(open_page(f"{shop}?view=issue&id=2&release=v2.4.1", viewport={"width": 400, "height": 800}))
    expect(rows(page).first.locator("[data-name=user]")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 400

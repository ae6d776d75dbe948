"""The page of access analytics: figures with their changes, times, whose requests, and the ways on from each row."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

HOSTILE = "/<b>bold</b>"
PERSON = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
ROBOT, SCANNER = "SeoCrawlBot/1.0", "Mozilla/5.0 zgrab/0.x"


def write_log(folder: Path) -> Path:
    """Write an access log of this hour and of yesterday."""
    now = datetime.now(UTC)
    log = folder / "shop" / "access.log"
    log.parent.mkdir()
    asked = [(0, "/a", 200, PERSON, 5)] * 3 + [(0, "/b", 404, ROBOT, 70)] * 2 + [(0, HOSTILE, 200, PERSON, 9)]
    asked += [(0, "/orders/7", 500, PERSON, 900), (0, "/.env", 404, PERSON, 1), (0, "/a", 200, SCANNER, 1)]
    asked = [(40, "/a", 200, PERSON, 5)] * 4 + asked
    log.write_text(
        "".join(
            f"192.0.2.1 - - [{now - timedelta(hours=hours):%d/%b/%Y:%H:%M:%S +0000}]"
            f' "GET {path} HTTP/1.1" {status} 2000 "https://news.example/" "{agent}" {ms}\n'
            for hours, path, status, agent, ms in asked
        )
    )
    return log


@pytest.fixture(scope="module")
def counting(servers: Any, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that has counted an access log."""
    folder: Path = tmp_path_factory.mktemp("access")
    data = folder / "data"
    servers.run("plugins", "enable", "access_analytics", data=data)
    servers.run("import", str(write_log(folder)), data=data)
    with servers.served(data) as url:
        yield url


def test_what_was_read_before_is_counted_by_a_button(servers: Any, open_page: Any, watch: Any, tmp_path: Path) -> None:
    watch.expect("status of 404")
    servers.run("import", str(write_log(tmp_path)), data=tmp_path / "data")
    with servers.served(tmp_path / "data") as url:
        page = open_page(f"{url}?view=access&days=1")
        page.get_by_role("button", name="Switch on").click()
        page.get_by_role("button", name="Read all logs again").click()
        page.get_by_role("dialog", name="Read all logs again?").get_by_role("button", name="Read again").click()
        expect(figures(page)).to_contain_text(re.compile(r"Requests\s*7"), timeout=20_000)
        page.close()


def rows(page: Page, title: str) -> Locator:
    """The rows of a list."""
    return page.get_by_role("table", name=title, exact=True).locator("tbody tr")


def figures(page: Page) -> Locator:
    return page.get_by_role("region", name="Figures")


def test_the_figures_and_lists(counting: str, open_page: Any) -> None:
    """Scanners are left out at first; errors of the server are apart from those of clients."""
    page = open_page(f"{counting}?view=access&days=1")
    expect(figures(page)).to_contain_text(re.compile(r"Requests\s*7"))
    expect(figures(page)).to_contain_text(re.compile(r"Server errors \(5xx\)\s*14.3 %"))
    expect(figures(page)).to_contain_text(re.compile(r"Client errors \(4xx\)\s*28.6 % · 2"))
    expect(figures(page)).to_contain_text(re.compile(r"Data sent\s*14 kB"))
    expect(figures(page)).to_contain_text(re.compile(r"By scanners\s*2"))
    expect(rows(page, "Pages")).to_have_count(4)
    expect(rows(page, "Pages").nth(0)).to_contain_text("/a")
    expect(page.get_by_text(HOSTILE, exact=True)).to_be_visible()
    expect(rows(page, "Server errors by path")).to_have_count(1)
    expect(rows(page, "Server errors by path")).to_contain_text("/orders/{id}")
    expect(rows(page, "Not found")).to_contain_text(["/b"])
    expect(rows(page, "Referrers")).to_contain_text(["news.example"])
    expect(rows(page, "Client networks")).to_contain_text(["192.0.2.0/24"])
    expect(rows(page, "Browsers, tools and bots").filter(has_text="SeoCrawlBot")).to_contain_text("bot")
    expect(rows(page, "Operating systems").first).to_contain_text("Linux")
    page.get_by_role("table", name="Pages").get_by_role("button", name="p95 ms").click()
    expect(rows(page, "Pages").nth(0)).to_contain_text("/orders/{id}")


def test_whose_requests(counting: str, open_page: Any) -> None:
    page = open_page(f"{counting}?view=access&days=1")
    whose = page.get_by_role("combobox", name="Show")
    whose.select_option("People")
    expect(rows(page, "Pages")).to_have_count(3)
    expect(figures(page)).to_contain_text(re.compile(r"By bots\s*3"))
    whose.select_option("Everyone, including scanners")
    expect(rows(page, "Not found")).to_have_count(2)
    expect(figures(page)).to_contain_text(re.compile(r"Requests\s*9"))
    page.reload()
    expect(whose).to_have_value("all")


def test_times_and_the_time_before(counting: str, open_page: Any) -> None:
    page = open_page(f"{counting}?view=access")
    times = page.get_by_role("navigation", name="Time")
    expect(times.locator("[aria-current]")).to_have_text("7 days")
    chart = page.get_by_role("slider", name="Requests per day")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("2xx 8, 4xx 2, 5xx 1, 0 in the previous period"))
    times.get_by_role("link", name="3 days").click()
    expect(page.get_by_role("slider", name="Requests per hour")).to_be_visible()
    times.get_by_role("link", name="24 hours").click()
    chart = page.get_by_role("slider", name="Requests per hour")
    expect(chart).to_have_attribute("aria-valuetext", re.compile("2xx 4, 4xx 2, 5xx 1, 4 in the previous period"))
    expect(page.locator(".change").first).to_contain_text("75 %")
    page.get_by_label("Compare with previous period").uncheck()
    expect(page.locator(".change")).to_have_count(0)
    expect(page).to_have_url(re.compile("compare=off"))
    # Down to the last hour, by the chart.
    chart.press("End")
    chart.press("Enter")
    expect(page).to_have_url(re.compile(r"from=.*&to="))
    expect(times.locator("[aria-current]")).to_have_text("From … to")
    expect(figures(page)).to_contain_text(re.compile(r"Requests\s*\d"))


def test_from_and_to(counting: str, open_page: Any) -> None:
    page = open_page(f"{counting}?view=access")
    page.get_by_role("button", name="From … to").click()
    form = page.get_by_role("form", name="Time range")
    form.get_by_label("From", exact=True).fill("2020-01-01")
    form.get_by_label("to", exact=True).fill("2020-01-03")
    form.get_by_role("button", name="Show").click()
    expect(page.get_by_role("heading", name="No requests in this period")).to_be_visible()
    expect(page.get_by_role("slider")).to_have_count(0)


def test_rows_lead_to_issues_and_lines(counting: str, open_page: Any) -> None:
    page = open_page(f"{counting}?view=access&days=1")
    failing = rows(page, "Server errors by path")
    failing.get_by_role("link", name="Issues: /orders/{id}").click()
    expect(page.locator(".row-title")).to_contain_text(["/orders/7"])
    page.go_back()
    failing.get_by_role("link", name="Log lines: /orders/{id}").click()
    expect(page.locator(".line-text")).to_have_count(1)
    expect(page.locator(".line-text")).to_contain_text('"GET /orders/7 HTTP/1.1" 500')
    page.go_back()
    for title, name, count in (
        ("Not found", "/b", 2),
        ("Pages", "/a", 4),
        ("Statuses", "status 500", 1),
        ("Client networks", "192.0.2.0/24", 9),
        ("Referrers", "news.example", 9),
        ("Methods", "GET", 9),
    ):
        rows(page, title).get_by_role("link", name=f"Log lines: {name}", exact=True).click()
        expect(page.locator(".line-text")).to_have_count(count)
        page.go_back()
        expect(page.get_by_role("heading", level=1)).to_have_text("Access")


def test_it_fits_a_phone(counting: str, open_page: Any) -> None:
    page = open_page(f"{counting}?view=access&days=1", viewport={"width": 360, "height": 800})
    expect(rows(page, "Pages").first).to_be_visible()
    expect(page.locator("ui-chart .scale-number").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_no_accessibility_violations(browser: Any, counting: str, scheme: str) -> None:
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{counting}?view=access&days=1&who=all")
    expect(rows(page, "Pages").first).to_be_visible()
    expect(page.get_by_role("slider", name="Visitors per hour")).to_be_visible()
    page.get_by_role("button", name="From … to").click()
    found = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()

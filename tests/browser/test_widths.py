"""Every page fits every width and paper, each control is in reach, and each page of the rail is two keys away."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Page

WIDTHS = (1440, 1024, 1000, 768, 640, 390, 320)
PAGES = (
    "", "overview", "issue&id=9", "sources", "log-search", "setup", "connectors", "tags", "modules", "maintenance",
    "applications", "plugins", "jobs", "health", "releases", "alerts", "tracker", "access",
)  # fmt: skip
# What reaches beyond the page, once it had the time to fit: charts are drawn anew when their width changes.
BEYOND = """async (width) => {
  const outside = () => [...document.querySelectorAll('main :is(a, button, input, select, textarea)')]
    .filter((control) => control.checkVisibility() && !control.closest('.off-screen, [popover], .scroll:has(.events)'))
    .filter((control) => {
      const { left, right, width: own } = control.getBoundingClientRect();
      return own > 1 && (left < -1 || right > innerWidth + 1);
    }).map(({ outerHTML }) => outerHTML.slice(0, 120));
  const beyond = () => [document.documentElement.scrollWidth - width, ...outside()].filter(Boolean);
  for (let frame = 0; frame < 60 && beyond().length; frame += 1) await new Promise(requestAnimationFrame);
  return beyond();
}"""


def send(url: str, api: str, body: dict[str, Any], method: str = "POST") -> None:
    data = json.dumps(body).encode()
    with urlopen(Request(f"{url}?api={api}", data, {"Content-Type": "application/json"}, method=method)):
        pass


@pytest.fixture(scope="module")
def full(servers: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with every plugin on and rows in its tables, some with long names."""
    data: Path = tmp_path_factory.mktemp("full") / "data"
    servers.fill(data)
    with servers.served(data) as url:
        for plugin in ("alerting", "releases", "tracker", "ingest", "access_analytics"):
            send(url, "plugins", {"id": plugin, "enabled": True})
        for version in ("v2.5.0", "release-2026.11.28-build.4711+3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f"):
            send(
                url,
                "deploys",
                {"version": version, "environment": "production-europe-west", "notes": "As planned. " * 20},
            )
        yield url


@pytest.mark.parametrize("view", PAGES)
def test_a_page_fits_every_width(open_page: Any, full: str, view: str) -> None:
    page: Page = open_page(f"{full}?view={view}" if view else full)
    page.locator("main h1").wait_for()
    page.wait_for_load_state("networkidle")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(BEYOND, width) == [], f"{view} at {width}"


def test_paper_has_what_the_page_says_and_no_controls(open_page: Any, full: str) -> None:
    page: Page = open_page(f"{full}?view=issue&id=9")
    page.locator(".issue-head").wait_for()
    page.emulate_media(media="print")
    assert page.locator("h1").is_visible()
    assert not page.locator(".rail").is_visible()
    assert not page.locator("main button:visible, main input:visible, main form:visible").count()
    assert re.fullmatch(r".+ · Issue · printed \d+ \w{3} \d{4}, .+", page.locator(".printed").inner_text())
    for panel in page.locator(".panel:visible").all():
        assert len(panel.inner_text().strip().splitlines()) > 1, "a box with a heading alone"
    page.emulate_media(media="screen")
    assert not page.locator(".printed").is_visible()


def test_every_page_of_the_rail_has_a_shortcut_of_its_own(open_page: Any, full: str) -> None:
    page: Page = open_page(full)
    page.locator(".row").first.wait_for()
    titles = page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link").all_inner_texts()
    page.keyboard.press("?")
    lines = page.locator(".shortcuts > div")
    lines.first.wait_for()
    journeys = [line.split("\n") for line in lines.all_inner_texts() if line.startswith("g ")]
    assert sorted(f"Go to {title}" for title in titles) == sorted(label for _, label in journeys)
    assert len({key for key, _ in journeys}) == len(journeys)

"""The page of access analytics: figures, windows, bots, sorting, hostile paths."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

HOSTILE = "/<b>bold</b>"


@pytest.fixture
def counting(servers: Any, browser: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a server that has counted an access log."""
    stamp = datetime.now(UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
    person, robot = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "SeoCrawlBot/1.0"
    log = tmp_path / "shop" / "access.log"
    log.parent.mkdir()
    asked = [("/a", 200, person, 5)] * 3 + [("/b", 404, robot, 70)] * 2 + [(HOSTILE, 200, person, 9)]
    log.write_text(
        "".join(f'192.0.2.1 - - [{stamp}] "GET {p} HTTP/1.1" {s} 10 "-" "{a}" {ms}\n' for p, s, a, ms in asked)
    )
    data = tmp_path / "data"
    servers.run("plugins", "enable", "access_analytics", data=data)
    servers.run("import", str(log), data=data)
    with servers.served(data) as url:
        yield url


def test_the_page(counting: str, open_page: Any) -> None:
    page = open_page(f"{counting}?view=access")
    paths = page.locator("section", has=page.get_by_role("heading", name="Paths", exact=True)).locator("tbody tr")
    expect(paths).to_have_count(3)
    expect(paths.nth(0)).to_contain_text("/a")
    expect(page.locator("dl")).to_contain_text("Requests6")
    expect(page.get_by_text(HOSTILE, exact=True)).to_be_visible()
    expect(page.get_by_text("SeoCrawlBot (bot)")).to_be_visible()
    page.get_by_role("button", name="p95 ms").click()
    expect(paths.nth(0)).to_contain_text("/b")
    page.get_by_role("button", name="p95 ms").click()
    expect(paths.nth(0)).to_contain_text("/a")
    page.get_by_label("With bots").uncheck()
    expect(paths).to_have_count(2)
    expect(page.locator("dl")).to_contain_text("Of bots2")
    page.get_by_label("Window").select_option("30")
    expect(page).to_have_url(f"{counting}?view=access&bots=false&days=30")
    page.reload()
    expect(page.get_by_label("Window")).to_have_value("30")
    expect(page.get_by_label("With bots")).not_to_be_checked()

"""What snaglist-sentry and snaglist-otlp show in the dashboard, in Chromium."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


def test_how_to_send_is_shown(server: Any, page: Page) -> None:
    page.goto(f"{server.url}?view=setup")
    dsn = server.get("sentry-settings")["dsn"]
    expect(page.get_by_label("Python", exact=True)).to_contain_text(f'sentry_sdk.init("{dsn}")')
    otlp = server.get("otlp-settings")
    expect(page.get_by_label("OpenTelemetry", exact=True)).to_contain_text(f"{otlp['key_header']}={otlp['key']}")


def test_a_new_dsn(server: Any, page: Page) -> None:
    """It is asked for once more, and the page shows the new one."""
    before = server.get("sentry-settings")["dsn"]
    page.goto(f"{server.url}?view=maintenance")
    page.get_by_role("button", name="New DSN …").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a new DSN").click()
    expect(page.get_by_text("The DSN is a new one.")).to_be_visible()
    after = server.get("sentry-settings")["dsn"]
    assert after != before
    expect(page.get_by_label("Python", exact=True)).to_contain_text(after)
    expect(page.get_by_text(re.compile("^In the last 24 hours: 0 stored")).first).to_be_visible()

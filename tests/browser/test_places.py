"""Wherever it runs: below a path, behind a proxy, on a phone, in the dark, for a screen reader."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

PREFIX = "/logs"
NOT_FORWARDED = ("transfer-encoding", "connection", "date", "server")


@pytest.fixture
def below_a_path(deployment: Any) -> Iterator[str]:
    """The deployment behind a proxy that serves it under `/logs/` and strips that prefix."""

    class Proxy(BaseHTTPRequestHandler):
        def handle_one(self) -> None:
            if not self.path.startswith(f"{PREFIX}/"):
                self.send_error(404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            wanted = deployment.url + self.path.removeprefix(f"{PREFIX}/")
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            request = Request(wanted, body or None, headers, method=self.command)
            try:
                answer = urlopen(request)
            except HTTPError as error:
                answer = error
            with answer:
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in NOT_FORWARDED:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_POST = handle_one

        def log_message(self, format: str, *args: object) -> None:
            """Keep the output of the tests clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}{PREFIX}/"
    server.shutdown()
    thread.join()
    server.server_close()


def test_works_below_a_path(open_page: Any, below_a_path: str) -> None:
    """Assets, API and links are relative."""
    page = open_page(below_a_path)
    page.locator(".row-title", has_text="Order 4711").click()
    expect(page.locator("h1")).to_contain_text("Order 4711")
    assert page.url.startswith(f"{below_a_path}?view=issue")
    page.reload()
    expect(page.locator("h1")).to_contain_text("Order 4711")
    page.keyboard.press("e")
    expect(page.locator(".history li").first).to_contain_text("set it to Fixed")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".history li").first).to_contain_text("set it to Open")
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text("Issues")
    assert page.url.split("?")[0] == below_a_path


def visit(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.locator(".row").first.wait_for()
    if name == "issue":
        page.locator(".row-title", has_text="Order 4711").click()
        page.locator(".issue-head").wait_for()
    if name == "bar":
        for at in (0, 1):
            page.locator(".row-choice input").nth(at).click()
        page.locator(".bulk").wait_for()


@pytest.mark.parametrize("name", ["list", "bar", "issue"])
def test_fits_a_phone(open_page: Any, deployment: Any, name: str) -> None:
    page = open_page("about:blank", viewport={"width": 390, "height": 844}, has_touch=True)
    visit(page, deployment.url, name)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for control in page.locator("main input:visible, main select:visible, main button:visible").all():
        box = control.bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 390, control


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["list", "bar", "issue"])
def test_has_no_accessibility_violations(browser: Any, deployment: Any, name: str, scheme: str) -> None:
    # axe is injected as a script, which the policy would refuse.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    visit(page, deployment.url, name)
    page.evaluate("document.querySelectorAll('details').forEach((element) => (element.open = true))")
    found = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()


def test_theme_follows_the_system_and_the_switch(open_page: Any, deployment: Any) -> None:
    page = open_page(deployment.url, color_scheme="dark")
    page.locator(".row").first.wait_for()
    paper = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(paper) == "rgb(15, 19, 24)"
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(paper) == "rgb(246, 247, 249)"
    page.reload()
    assert page.evaluate(paper) == "rgb(246, 247, 249)"
    page.get_by_role("button", name="Switch between light and dark").click()
    assert page.evaluate(paper) == "rgb(15, 19, 24)"


def test_skeleton_shows_without_the_api(open_page: Any, deployment: Any) -> None:
    page = open_page("about:blank")
    page.route("**/*api=*", lambda route: None)
    page.goto(deployment.url, wait_until="domcontentloaded")
    expect(page.locator(".skeleton .bone").first).to_be_visible()


def test_the_keyboard_reaches_the_content_first(page: Page) -> None:
    page.locator("body").press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()

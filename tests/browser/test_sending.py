"""The page "Sending events", and the script that web pages of other origins include (docs/sending.md)."""

import json
import re
import threading
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "sending.md").read_text(encoding="utf-8")


@pytest.fixture
def shop() -> Iterator[Callable[[str], str]]:
    """Serve one page on an origin of its own; returns its address."""
    made: list[ThreadingHTTPServer] = []

    def serve(html: str) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = html.encode()
                self.send_response(200 if self.path == "/" else 204)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(body) if self.path == "/" else 0))
                self.end_headers()
                if self.path == "/":
                    self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        made.append(server)
        return f"http://localhost:{server.server_address[1]}/"

    yield serve
    for server in made:
        server.shutdown()
        server.server_close()


@pytest.fixture
def receiving(servers: Any, browser: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a server whose application takes events."""
    with servers.served(tmp_path / "data", SERVICE_PLUGINS="ingest") as url:
        yield url


def ask(url: str, api: str, more: str = "") -> Any:
    with urllib.request.urlopen(f"{url}?api={api}{more}", timeout=30) as answer:
        return json.load(answer)


def test_errors_of_a_web_page(receiving: str, shop: Any, open_page: Any, watch: Any) -> None:
    """The recipe of docs/sending.md in a page of another origin, as it stands there."""
    key = ask(receiving, "ingest-settings")["key"]
    found = re.search(r"<!-- tested: browser -->\n```html\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found
    script = found[1].replace("http://127.0.0.1:8787/", receiving).replace("svk_KEY", key)
    page_address = shop(
        f"""<!doctype html><title>Shop</title>{script}
        <script>
          function charge(order) {{ throw new TypeError("order " + order + " is undefined"); }}
          addEventListener("load", () => setTimeout(() => charge(4711)));
          Promise.reject(new RangeError("too far"));
        </script>"""
    )
    watch.expect("order 4711 is undefined|too far|favicon")
    page = open_page(page_address)
    page.wait_for_function("() => globalThis.snaglist")
    page.evaluate('() => snaglist.send({ message: "own event", severity: "WARNING", context: { basket: 3 } })')
    page.close()  # nothing waits for the pause: what is left goes out as the page ends
    for _ in range(100):
        issues = ask(receiving, "errors", "&include_context=1")["data"]
        if len(issues) == 3:
            break
        threading.Event().wait(0.1)
    by_title = {issue["title"]: issue for issue in issues}
    assert set(by_title) == {"TypeError: order 4711 is undefined", "RangeError: too far", "own event"}
    thrown = by_title["TypeError: order 4711 is undefined"]
    assert (thrown["channel"], thrown["environment"], thrown["exception_class"]) == (
        "browser",
        "production",
        "TypeError",
    )
    assert re.search(r":\d+$", thrown["source_frame"])
    assert json.loads(by_title["own event"]["sample_context"])["basket"] == 3


def test_an_application_that_waits_for_its_first_event(receiving: str, open_page: Any) -> None:
    page = open_page(f"{receiving}?view=ingest")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sending events")
    expect(page.get_by_role("status").filter(has_text="Waiting for the first event")).to_be_visible()
    settings = ask(receiving, "ingest-settings")
    for label in ("curl", "Python logging", "Web page", "Vector"):
        expect(page.get_by_label(label, exact=True)).to_contain_text(settings["key"])
    headers = {settings["key_header"]: settings["key"], "Content-Type": "application/json"}
    sent = urllib.request.Request(settings["ingest_url"], b'{"message":"first"}', headers)
    with urllib.request.urlopen(sent, timeout=30) as answer:
        assert answer.status == 202
    expect(page.get_by_role("status").filter(has_text="1 stored")).to_be_visible(timeout=15_000)


def test_the_page_stays_while_the_service_is_away(receiving: str, open_page: Any, lose_service: Any) -> None:
    page = open_page(receiving)
    page.clock.install()
    page.goto(f"{receiving}?view=ingest")
    page.get_by_role("heading", name="How to send").wait_for()
    lose_service(page)
    expect(page.get_by_role("heading", name="How to send")).to_be_visible()


def test_a_new_key(receiving: str, open_page: Any) -> None:
    page = open_page(f"{receiving}?view=ingest")
    before = ask(receiving, "ingest-settings")["key"]
    page.get_by_role("button", name="New key").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a new key").click()
    expect(page.get_by_text("The previous key works until")).to_be_visible()
    after = ask(receiving, "ingest-settings")["key"]
    assert after != before
    expect(page.get_by_label("curl", exact=True)).to_contain_text(after)


def test_the_page_is_there_only_where_the_area_is_on(empty_deployment: Any, open_page: Any) -> None:
    page = open_page(empty_deployment.url)
    page.get_by_text("Nothing received yet").wait_for()
    expect(page.get_by_role("link", name="Sending events")).to_have_count(0)


def test_a_pushed_channel_has_no_raw_lines_to_open(receiving: str, open_page: Any) -> None:
    """Its events are counted among the logs, and lead to their issues."""
    key = ask(receiving, "ingest-settings")["key"]
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    event = json.dumps({"message": "boom", "channel": "shop"}).encode()
    urllib.request.urlopen(urllib.request.Request(f"{receiving}?api=ingest", event, headers), timeout=30).close()
    page = open_page(f"{receiving}?view=sources")
    row = page.get_by_role("row", name="shop")
    expect(row).to_contain_text("http-ingest/-/shop")
    expect(row.locator("a[href*='view=source&']")).to_have_count(0)
    expect(row.get_by_role("link")).to_have_text(["1", "1"])  # errors of the last day, events of all time
    row.get_by_role("link").last.click()
    expect(page.get_by_text("boom").first).to_be_visible()

"""The page "Releases" and what an issue shows of releases, source maps included, by hand in a real browser."""

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

TRACE = "TypeError: Cart is empty\n    at t (https://shop.example/static/app.js:1:9)"


@pytest.fixture
def shop(servers: Any, browser: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a server whose application knows releases, with one error of a script."""
    with servers.served(tmp_path / "data", SERVICE_PLUGINS="releases,ingest") as url:
        push(url)
        yield url


def push(url: str, **fields: str) -> None:
    with urllib.request.urlopen(f"{url}?api=ingest-settings", timeout=30) as answer:
        settings = json.load(answer)
    event = {"message": "Cart is empty", "exception_class": "TypeError", "stack": TRACE, "release": "v2.4.0"} | fields
    headers = {settings["key_header"]: settings["key"], "Content-Type": "application/json"}
    sent = urllib.request.Request(settings["ingest_url"], json.dumps(event).encode(), headers)
    urllib.request.urlopen(sent, timeout=30).close()


@pytest.fixture
def map_file(tmp_path: Path) -> Path:
    """A map that a build left: `app.js:1:9` is line 2, column 3 of src/a.js."""
    path = tmp_path / "app.js.map"
    texts = '"sourcesContent":["function total(cart) {\\n  if (!cart) throw new TypeError(1);\\n}"]'
    path.write_text(f'{{"version":3,"sources":["src/a.js"],{texts},"names":[],"mappings":"AAAA,QACE"}}')
    return path


def add_deploy(page: Page, version: str, **fields: str) -> None:
    page.get_by_role("button", name="New deploy").click()
    form = page.get_by_role("form", name="New deploy")
    form.get_by_label("Version").fill(version)
    for label, text in fields.items():
        form.get_by_label(label.replace("_", " ")).fill(text)
    form.get_by_role("button", name="Add").click()


def test_a_time_that_is_none_is_no_deploy(shop: str, open_page: Any) -> None:
    """The clock would make another day of it."""
    page = open_page(f"{shop}?view=releases")
    form_of_time, no_time = "Write it as 2026-11-28 17:30.", "There is no such time."
    for time, said in (("2026-02-31 10:00", no_time), ("2026-02-03 25:00", no_time), ("yesterday", form_of_time)):
        add_deploy(page, "v2.4.0", Deployed_at=time)
        form = page.get_by_role("form", name="New deploy")
        expect(form).to_contain_text(said)
        form.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("No deploys yet.")).to_be_visible()


def test_deploys_links_and_maps(shop: str, open_page: Any, map_file: Path) -> None:
    page = open_page(f"{shop}?view=releases")
    expect(page.get_by_role("heading", level=1)).to_have_text("Releases")
    expect(page.get_by_text("No deploys yet.")).to_be_visible()
    add_deploy(page, "v2.4.0", Notes="<b>Spring</b>", Commit="abc123")
    row = page.get_by_role("row", name="v2.4.0")
    expect(row).to_contain_text("production")
    expect(row).to_contain_text("<b>Spring</b>")
    expect(row.get_by_role("link", name="1 issue")).to_be_visible()
    links = page.get_by_role("form", name="Links to source code")
    links.get_by_label("Link to a line").fill("https://git.example.com/{ref}/{path}#L{line}")
    links.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    upload = page.get_by_role("form", name="Upload source maps")
    upload.get_by_label("Release").fill("v2.4.0")
    upload.get_by_label("Folder").fill("static")
    upload.get_by_label("Map files").set_input_files(map_file)
    upload.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("1 source map stored.")).to_be_visible()
    expect(page.get_by_role("cell", name="static/app.js", exact=True)).to_be_visible()
    row.get_by_role("link", name="1 issue").click()
    # The class stands once, though the title of a pushed event begins with it.
    expect(page.locator(".row-title")).to_have_text("TypeError Cart is empty")
    page.locator(".row-title").click()
    expect(page.locator("h1")).to_have_text("TypeError Cart is empty")
    expect(page.locator(".frame-line")).to_contain_text("src/a.js:2:3")
    frame = page.locator(".frame-line")
    expect(frame.locator("pre .code-failing")).to_have_text("  if (!cart) throw new TypeError(1);")
    expect(frame.locator("pre .code-row")).to_have_count(3)
    frame.get_by_text("Lines 1 to 3").click()
    expect(frame.locator("pre")).to_be_hidden()
    expect(frame.locator("summary")).to_have_text("if (!cart) throw new TypeError(1);Lines 1 to 3")
    opened = frame.get_by_role("link", name="Open in repository")
    expect(opened).to_have_attribute("href", "https://git.example.com/abc123/src/a.js#L2")
    panel = page.locator("section", has=page.get_by_role("heading", name="Seen in releases"))
    expect(panel).to_contain_text("First in v2.4.0, last in v2.4.0")
    source = panel.get_by_role("link", name="Source code of the failing line")
    expect(source).to_have_attribute("href", "https://git.example.com/abc123/src/a.js#L2")
    page.go_back()
    page.go_back()
    page.get_by_role("button", name="Delete the map of static/app.js").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the source map").click()
    expect(page.get_by_role("cell", name="static/app.js", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Delete the deploy of v2.4.0 to production").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the deploy").click()
    expect(page.get_by_text("No deploys yet.")).to_be_visible()


def test_a_module_has_a_repository_of_its_own(shop: str, open_page: Any, watch: Any) -> None:
    watch.expect("422")
    body, headers = json.dumps({"name": "Till"}).encode(), {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"{shop}?api=modules", body, headers), timeout=30).close()
    push(shop, module="Till")
    page = open_page(f"{shop}?view=releases")
    page.get_by_role("button", name="Add a module").click()
    form = page.get_by_role("form", name="Repository of a module")
    form.get_by_label("Link to a line").fill("https://git.example.com/{path}?{branch}")
    form.get_by_label("Path prefixes").fill("https://shop.example/")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_text("{branch} is no placeholder")).to_be_visible()
    form.get_by_label("Link to a line").fill("https://git.example.com/till/{release}/{path}#L{line}")
    form.get_by_role("button", name="Save").click()
    row = page.get_by_role("row", name="Till")
    expect(row).to_contain_text("https://git.example.com/till/{release}/{path}#L{line}")
    links = page.get_by_role("form", name="Links to source code")
    links.get_by_label("Link to a line").fill("https://git.example.com/shop/{path}")
    links.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(row).to_be_visible()
    addresses = {}
    for issue_id in (1, 2):
        page.goto(f"{shop}?view=issue&id={issue_id}")
        addresses[issue_id] = page.get_by_role("link", name="Open in repository").get_attribute("href")
    assert addresses == {
        1: "https://git.example.com/shop/static/app.js",
        2: "https://git.example.com/till/v2.4.0/static/app.js#L1",
    }
    page.goto(f"{shop}?view=releases")
    page.get_by_role("button", name="Take the repository off Till").click()
    page.get_by_role("dialog").get_by_role("button", name="Take it off").click()
    expect(page.get_by_text("All modules use the link above.")).to_be_visible()


def test_what_the_service_refuses_is_told(shop: str, open_page: Any, watch: Any, tmp_path: Path) -> None:
    watch.expect("422")
    page = open_page(f"{shop}?view=releases")
    add_deploy(page, "v1")
    expect(page.get_by_role("row", name="v1")).to_be_visible()
    add_deploy(page, "v1")
    expect(page.get_by_role("dialog").get_by_text("v1 is deployed to production already")).to_be_visible()
    page.keyboard.press("Escape")
    broken = tmp_path / "broken.js.map"
    broken.write_text("{")
    upload = page.get_by_role("form", name="Upload source maps")
    upload.get_by_label("Release").fill("v1")
    upload.get_by_label("Map files").set_input_files(broken)
    upload.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("map: is not JSON")).to_be_visible()
    links = page.get_by_role("form", name="Links to source code")
    prefixes = "\n".join(f"/srv/{at}/" for at in range(21))
    links.get_by_label("Path prefixes").fill(prefixes)
    links.get_by_role("button", name="Save").click()
    expect(links.get_by_role("alert")).to_contain_text("20")
    expect(links.get_by_label("Path prefixes")).to_have_value(prefixes)


def test_a_form_keeps_the_focus_while_its_page_is_loaded_again(
    shop: str, open_page: Any, watch: Any, tmp_path: Path
) -> None:
    """What is typed then goes where it was meant to go, also before the first letter."""
    watch.expect("422")
    page = open_page(f"{shop}?view=releases")
    broken = tmp_path / "broken.js.map"
    broken.write_text("{")
    upload = page.get_by_role("form", name="Upload source maps")
    upload.get_by_label("Release").fill("v1")
    upload.get_by_label("Map files").set_input_files(broken)
    prefixes = page.get_by_role("form", name="Links to source code").get_by_label("Path prefixes")
    prefixes.focus()
    with page.expect_response(lambda answer: "api=release-settings" in answer.url):
        upload.get_by_role("button", name="Upload").dispatch_event("click")
    expect(page.locator("#app")).not_to_have_attribute("aria-busy", "true")
    page.keyboard.type("/srv/")
    expect(prefixes).to_have_value("/srv/")


def test_what_came_up_since_a_deploy(shop: str, open_page: Any) -> None:
    """Deploys are marked on the charts; a mark leads to what was first seen since then."""
    body = json.dumps({"version": "v3", "deployed_at": "2020-01-01 00:00:00"}).encode()
    headers = {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(f"{shop}?api=deploys", body, headers), timeout=30).close()
    page = open_page(f"{shop}?view=releases")
    row = page.get_by_role("row", name="v3")
    row.get_by_role("link", name="What is new").click()
    expect(page.get_by_role("heading", name="New since 1 Jan 2020 00:00 UTC (1)")).to_be_visible()
    page.get_by_role("link", name="Releases", exact=True).click()
    add_deploy(page, "v4")
    expect(page.get_by_role("row", name="v4")).to_be_visible()
    page.goto(f"{shop}?view=issue&id=1")
    expect(page.locator(".mark")).to_have_text(["v4"])  # the other one is long ago
    page.locator(".mark-name").click()
    expect(page.get_by_role("heading", name="New since")).to_be_visible()
    expect(page.get_by_text("Nothing new since then.")).to_be_visible()
    for no_moment in ("yesterday", "2026-02-30 00:00:00", "2026-13-45 99:99:99"):
        page.goto(f"{shop}?view=overview&since={no_moment}")
        expect(page.get_by_role("heading", name="New in 24 hours")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_has_no_accessibility_violations(browser: Any, shop: str, scheme: str, map_file: Path) -> None:
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{shop}?view=releases")
    add_deploy(page, "v2.4.0")
    expect(page.get_by_role("row", name="v2.4.0")).to_be_visible()
    found = Axe().run(page)
    page.goto(f"{shop}?view=issue&id=1")
    expect(page.get_by_role("heading", name="Seen in releases")).to_be_visible()
    expect(page.locator(".mark")).to_be_visible()
    on_issue = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()
    assert on_issue.violations_count == 0, on_issue.generate_report()

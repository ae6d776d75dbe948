"""Third-party parts of the dashboard: a page, panels and an action from a wheel; failures stay where they are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, expect

PYTHON = """
from importlib.resources import files
from snaglist.kernel import Assets, Description, hookimpl

@hookimpl
def describe():
    return Description(id={id!r}, name={id!r}, description="A test", category="Test", version="1")

@hookimpl
def dashboard_assets():
    return [Assets({id!r}, files({package!r}), "panel.js", ("panel.css",))]
"""
COLUMN = """
from snaglist.plugins.issues import ListColumn, SearchField, stored

@hookimpl
def register_list_columns():
    return [ListColumn("budget", lambda call, ids: dict.fromkeys(ids, 4200), {{"type": "integer"}}, heading="Budget")]

@hookimpl
def register_search_fields():
    return [SearchField("numbered", lambda call, number: stored.issues.id == number, {{"type": "integer"}})]
"""
SLA = """
export default (ui) => {
  const { html, api, page, panel, action, toast, keys, go } = ui;
  globalThis.offered = Object.keys(ui);
  page({ id: "sla", title: "SLA", icon: "chart", nav: true, order: 60,
    load: () => api("summary"),
    render: (data) => html`<h1 tabindex="-1">Budget</h1><p class="sla">${data.total.groups_count} issues</p>` });
  panel("issue.side", { id: "budget", title: "Error budget", render: (issue) => html`<p>${issue.count} of 100</p>` });
  panel("issue.main", { id: "tags", title: "Tags table", api: "tags", columns: [{ name: "name", label: "Name" }] });
  panel("issue.main", { id: "loaded", load: () => api("tags"),
    render: (issue, tags) => html`<p>${issue.count} ${tags.data.length}</p>` });
  panel("issue.side", { id: "broken", title: "Broken panel", render: () => { throw new Error("no budget"); } });
  panel("issues.columns", { id: "cell", render: (issue) => html`<b class="sla-cell">#${issue.id}</b>` });
  action("issue.actions", { id: "hello", label: "Say hello", run: (issue) => toast(`Hello ${issue.id}`) });
  keys([{ key: "g s", label: "Go to SLA", run: () => go({ view: "sla" }) }]);
};
"""
FAILING = """
export default ({ page, html }) => {
  page({ id: "half", title: "Half", nav: true, render: () => html`half` });
  page({ id: "issues", title: "Mine now", nav: true, render: () => html`hijacked` });
};
"""


def install(folder: Path, name: str, module: str, python: str = PYTHON) -> None:
    """Lay out a distribution as `pip install` would: a package and its metadata with the entry point."""
    package = f"snaglist_{name}"
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").write_text(python.format(id=name, package=package))
    (folder / package / "panel.js").write_text(module)
    (folder / package / "panel.css").write_text(".sla { font-weight: 700; }")
    metadata = folder / f"{package}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: snaglist-{name}\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text(f"[snaglist.plugins]\n{name} = {package}\n")


@pytest.fixture(scope="module")
def extended(browser: Browser, tmp_path_factory: pytest.TempPathFactory, servers: Any) -> Iterator[str]:
    """A server with two more plugins enabled, one of which claims a page that exists."""
    folder: Path = tmp_path_factory.mktemp("extended")
    install(folder / "site", "sla", SLA, PYTHON + COLUMN)
    install(folder / "site", "failing", FAILING)
    install(folder / "site", "broken", "", 'raise ImportError("no module named <b>crystal</b>")')
    servers.fill(folder / "data")
    with servers.served(folder / "data", python_path=folder / "site") as url:
        switch(url, "sla", True)
        switch(url, "failing", True)
        yield url


def switch(url: str, plugin: str, enabled: bool) -> None:
    body = json.dumps({"id": plugin, "enabled": enabled}).encode()
    urlopen(Request(f"{url}?api=plugins", body, {"Content-Type": "application/json"})).close()


@pytest.fixture
def page(open_page: Any, watch: Any, extended: str) -> Any:
    watch.expect("plugin failing")
    opened = open_page(extended)
    opened.locator(".row").first.wait_for()
    return opened


def test_a_plugin_adds_a_page_with_styles_and_a_shortcut(page: Any) -> None:
    page.get_by_role("link", name="SLA").click()
    expect(page.locator(".sla")).to_have_text("71 issues")
    assert page.locator(".sla").evaluate("(element) => getComputedStyle(element).fontWeight") == "700"
    page.keyboard.press("g")
    page.keyboard.press("i")
    expect(page.locator("h1")).to_have_text("Issues")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.locator("h1")).to_have_text("Budget")


def test_a_plugin_adds_cells_panels_and_actions(page: Any, watch: Any) -> None:
    watch.expect("panel sla.broken")
    expect(page.locator(".row .sla-cell")).to_have_count(50)
    expect(page.locator(".cell-head")).to_have_text("Budget")
    expect(page.locator(".row .row-cell").first).to_have_text("4,200")
    number = page.locator(".row", has_text="Order 4711").get_attribute("data-id")
    page.locator("#search").fill(f"numbered:{number}")
    page.locator("#search").press("Enter")
    expect(page.locator(".row")).to_have_count(1)
    page.reload()
    expect(page.get_by_label("Active filters").locator(".chip")).to_have_text(f"Numbered: {number}")
    expect(page.locator(".row")).to_have_count(1)
    page.locator(".row-title", has_text="Order 4711").click()
    expect(page.locator("[data-panel='sla.budget']")).to_have_text("Error budget3 of 100")
    expect(page.locator("[data-panel='sla.tags'] td")).to_have_text(["Noise <b>", "Payments"])
    expect(page.locator("[data-panel='sla.loaded']")).to_have_text("3 2")
    page.get_by_role("button", name="Say hello").click()
    expect(page.locator(".toast", has_text="Hello")).to_be_visible()


def test_a_failing_panel_harms_nothing_else(page: Any, watch: Any) -> None:
    watch.expect("panel sla.broken")
    page.locator(".row-title", has_text="Order 4711").click()
    expect(page.locator("[data-panel='sla.broken']")).to_contain_text("This panel failed: no budget")
    expect(page.locator("h1")).to_contain_text("Order 4711")


def test_a_failing_module_becomes_a_message_and_leaves_nothing(page: Any) -> None:
    expect(page.locator(".toast-error")).to_contain_text('"issues" is registered already by issues')
    names = page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link").all_inner_texts()
    assert (names[0], "SLA" in names) == ("Issues", True)
    assert not {"Half", "Mine now"} & set(names)
    expect(page.locator("h1")).to_have_text("Issues")


def test_a_disabled_plugin_disappears(page: Any, watch: Any, extended: str) -> None:
    watch.expect("status of 404")
    switch(extended, "sla", False)
    try:
        page.reload()
        page.locator(".row").first.wait_for()
        names = page.get_by_role("navigation", name="Pages", exact=True).get_by_role("link").all_inner_texts()
        assert ("Issues" in names, "SLA" in names) == (True, False)
        assert page.locator(".sla-cell").count() == 0
        page.goto(f"{extended}?view=sla")
        expect(page.get_by_role("alert")).to_contain_text("is off in this application")
        page.get_by_role("button", name="Switch on").click()
        expect(page.locator("h1")).to_have_text("Budget")
        page.goto(f"{extended}?view=nope")
        expect(page.get_by_role("alert")).to_contain_text("There is no page at this address.")
        expect(page.get_by_role("button", name="Try again")).to_have_count(0)
    finally:
        switch(extended, "sla", True)


def fetched(page: Any) -> set[str]:
    """The files of the dashboard that this page has fetched: `contributor/path`."""
    names = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)")
    return {name.split("/", 3)[3] for name in names if name.startswith("/static/")}


def test_the_module_of_a_disabled_plugin_is_fetched_when_it_is_needed(page: Any, extended: str) -> None:
    assert "sla/panel.js" in fetched(page)
    switch(extended, "sla", False)
    try:
        page.reload()
        page.locator(".row").first.wait_for()
        assert "sla/panel.js" not in fetched(page)
        page.get_by_role("link", name="Plugins").click()
        # What it would add is told all the same: its module is fetched for that.
        sla = page.locator(".plugin", has=page.get_by_role("switch", name="sla is on"))
        expect(sla).to_contain_text("Error budget")
        expect(page.get_by_role("link", name="SLA")).to_have_count(0)
        sla.get_by_role("switch").click()
        expect(page.get_by_role("link", name="SLA")).to_be_visible()
    finally:
        switch(extended, "sla", True)


def test_the_page_of_plugins_tells_what_each_adds_and_why_one_failed(page: Any, extended: str) -> None:
    page.goto(f"{extended}?view=plugins")
    sla = page.locator(".plugin", has=page.get_by_role("switch", name="sla is on"))
    expect(sla).to_contain_text("PagesSLA")
    expect(sla).to_contain_text("Error budget")
    expect(sla).to_contain_text("Say hello")
    broken = page.locator(".plugin", has=page.get_by_role("heading", name="broken"))
    expect(broken).to_contain_text("Could not be loaded")
    expect(broken).to_contain_text("no module named <b>crystal</b>")
    expect(broken.get_by_role("switch")).to_have_count(0)


def test_the_published_type_names_everything_a_plugin_gets(page: Any) -> None:
    types = Path(__file__).parents[2] / "schemas" / "dashboard.d.ts"
    interface = types.read_text().split("export interface Ui {")[1].split("\n}")[0]
    named = set(re.findall(r"^  (?:readonly )?(\w+)[<(:]", interface, re.M))
    assert set(page.evaluate("offered")) == named

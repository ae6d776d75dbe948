"""Every screen that is not about issues: what can be done there, and that it holds on a phone, in the dark, with
hostile names, when it is empty, and when the service fails."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, Route, expect

from snaglist.kernel import times
from snaglist.testing import Client, running_service

HOSTILE = "<img src=x onerror=alert(1)>"
LINES = 450
# By its view: the heading, and the endpoint without which it cannot be shown.
SCREENS = {
    "overview": ("Overview", "summary"),
    "sources": ("Logs", "sources"),
    "source&id=1": ("app.log", "source"),
    "source&id=1&find=Order&mark=0": ("app.log", "source"),
    "log-search&q=Order": ("Search logs", "source-search"),
    "formats": ("Formats", "log-formats"),
    "format&source=1": ("New format", "log-formats"),
    "connectors": ("Connectors", "connectors"),
    "connector&id=1": (HOSTILE, "connectors"),
    "alerts": ("Alerts", "alert-rules"),
    "ingest": ("Sending events", "ingest-settings"),
    "tags": ("Tags", "tags"),
    "modules": ("Modules", "modules"),
    "maintenance": ("Maintenance", "ingestion-settings"),
    "applications": ("Applications", "applications"),
    "plugins": ("Plugins", "plugins"),
    "jobs": ("Jobs", "jobs"),
    "health": ("Health", "health"),
    "setup": ("Add logs", "summary"),
}
DIALOGS = {"tags": "New tag", "connectors": "New connector", "alerts": "New rule", "applications": "New application"}


@dataclass(frozen=True)
class Site:
    """A running server, its log file, and its data directory."""

    url: str
    log: Path
    data: Path


def written(now: str, count: int) -> str:
    """Lines of a log: every tenth an error with a trace behind it, every tenth a warning."""
    lines = []
    for at in range(count):
        stamp = times.add(now, seconds=at - 3600)
        level = {0: "ERROR", 5: "WARNING"}.get(at % 10, "INFO")
        text = f"Order {at} failed: {HOSTILE}" if level == "ERROR" else f"line {at + 1}"
        lines.append(f"[{stamp}] production.{level}: {text}")
    return "".join(f"{line}\n" for line in lines)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, servers: Any) -> tuple[Path, Path]:
    """A data directory with something of everything, all of it with hostile names."""
    folder: Path = tmp_path_factory.mktemp("screens")
    data, log = folder / "data", folder / "logs" / "app.log"
    log.parent.mkdir()
    log.write_text(written(times.now(), LINES))
    servers.run("import", str(log), data=data)
    options: Any = {"ingestion__allowed_roots": [str(folder)], "outbound__allow_private": ["127.0.0.0/8"]}
    with running_service(data, jobs=False, **options) as service:
        client = Client(service)
        config = {"directory": str(log.parent)}
        for api, body in (
            ("plugins", {"id": "alerting", "enabled": True}),
            ("plugins", {"id": "ingest", "enabled": True}),
            ("tags", {"name": HOSTILE, "match_word": "order"}),
            ("modules", {"name": HOSTILE, "slug": "hostile"}),
            ("connectors", {"name": HOSTILE, "type": "local", "config": config, "enabled": False}),
            ("alert-channels", {"name": HOSTILE, "type": "webhook", "url": "http://127.0.0.1:9/hook"}),
            ("applications", {"name": HOSTILE, "id": "empty"}),
        ):
            answer = client.post(api, body)
            assert answer.status in (200, 201), answer.text
        client.post("alert-rules", {"name": HOSTILE, "channel_id": 1, "trigger_type": "new_error"})
        job = client.post("import-incoming").json["job_id"]
        client.post("jobs", {"id": job, "action": "cancel"})
    return data, log


@pytest.fixture(scope="module")
def site(browser: Any, filled: tuple[Path, Path], servers: Any) -> Iterator[Site]:
    data, log = filled
    variables = {
        "SERVICE_INGESTION_ALLOWED_ROOTS": str(log.parent.parent),
        "SERVICE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8",
    }
    with servers.served(data, **variables) as url:
        yield Site(url, log, data)


Show = Callable[..., Page]


@pytest.fixture
def show(open_page: Any, site: Site) -> Show:
    """Open a screen and wait until it is there."""

    def opened(view: str, page: Page | None = None, **options: Any) -> Page:
        shown: Page = page or open_page("about:blank", **options)
        shown.goto(f"{site.url}?view={view}")
        shown.locator("#app:not([aria-busy]) h1").wait_for()
        return shown

    return opened


def ask(url: str, api: str, more: str = "") -> Any:
    with urllib.request.urlopen(f"{url}?api={api}{more}", timeout=30) as answer:
        return json.load(answer)


def dialog(page: Page) -> Any:
    return page.get_by_role("dialog")


def menu(page: Page, name: str, item: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.get_by_role("button", name=item).click()


# -- every screen


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_screen_has_accessibility_violations(browser: Any, site: Site, scheme: str) -> None:
    # axe is injected as a script, which the policy would refuse.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    found = {}
    for view, (heading, _) in SCREENS.items():
        page.goto(f"{site.url}?view={view}")
        expect(page.locator("h1")).to_contain_text(heading)
        result = Axe().run(page)
        if not result.violations_count and view in DIALOGS:
            page.get_by_role("button", name=DIALOGS[view]).click()
            result = Axe().run(page)
        if result.violations_count:
            found[view] = f"{view}: {result.generate_report()}"
    context.close()
    assert not found, "\n".join(found.values())


_EDGES = """(found) => found.map((one) => {
    const box = one.getBoundingClientRect();
    return [box.left, box.right, one.outerHTML];
})"""


def test_every_screen_fits_a_phone(show: Show) -> None:
    page = show("overview", viewport={"width": 390, "height": 844}, has_touch=True)
    wrong = []
    for view in SCREENS:
        show(view, page)
        if view in DIALOGS:
            page.get_by_role("button", name=DIALOGS[view]).click()
        if page.evaluate("document.documentElement.scrollWidth") != 390:
            wrong.append(view)
        # All in one look: parts of a page that come later draw it anew.
        controls = page.locator(":is(main, dialog) :is(input, select, button, textarea):visible")
        for left, right, shown in controls.evaluate_all(_EDGES):
            if left < 0 or right > 390:
                wrong.append(f"{view}: {shown}")
    assert wrong == []


def test_hostile_names_stay_text(show: Show) -> None:
    page = show("overview")
    for view in SCREENS:
        show(view, page)
        assert page.locator("main img").count() == 0, view
    for view in ("tags", "modules", "connectors", "applications", "alerts"):
        show(view, page)
        expect(page.locator("main").get_by_text(HOSTILE, exact=True).first).to_be_visible()


def test_every_screen_says_when_it_is_empty(show: Show) -> None:
    page = show("overview&app=empty")
    expect(page.locator("main")).to_contain_text("Nothing received yet")
    for view, text in {
        "sources": "No log was read yet.",
        "connectors": "No connector yet.",
        "tags": "No tags yet.",
        "modules": "No modules yet.",
        "jobs&status=failed": "No jobs with this status.",
        "setup": "Waiting for the first event",
    }.items():
        show(f"{view}&app=empty", page)
        expect(page.locator("main")).to_contain_text(text)


def test_every_screen_shows_a_failure_and_tries_again(show: Show, watch: Any) -> None:
    watch.expect("status of 500")
    page = show("overview")
    body = json.dumps({"error": "It broke."})
    for view, (heading, api) in SCREENS.items():
        if api in ("plugins", "applications"):  # the shell asks for them as well and goes on without
            continue
        pattern = re.compile(rf"[?&]api={api}(&|$)")
        page.route(pattern, lambda route: route.fulfill(status=500, body=body, content_type="application/json"))
        page.goto(f"{page.url.split('?')[0]}?view={view}")
        expect(page.get_by_role("alert").first).to_contain_text("It broke.")
        page.unroute(pattern)
        page.get_by_role("button", name="Try again").click()
        expect(page.locator("h1")).to_contain_text(heading)


def test_pages_by_keyboard_alone(show: Show) -> None:
    page = show("overview")
    for key, heading in (("t", "Tags"), ("c", "Connectors"), ("l", "Logs"), ("j", "Jobs"), ("m", "Maintenance")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.locator("h1")).to_have_text(heading)
    page.keyboard.press("?")
    expect(dialog(page)).to_contain_text("Go to Health")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    page.keyboard.type("heal")
    expect(page.locator("#commands li span")).to_have_text(
        ["Go to Health", "Search issues for “heal”", "Search the raw logs for “heal”"]
    )
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Health")
    page.keyboard.press("Control+k")
    page.keyboard.type("#1")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Order")


def test_what_is_typed_before_the_palette_is_there_counts(show: Show) -> None:
    page = show("overview")
    waiting: list[Any] = []
    page.route("**/palette.js", lambda route: waiting.append(route))
    page.keyboard.press("Control+k")
    page.keyboard.type("heal")
    page.keyboard.press("Enter")
    while not waiting:
        page.wait_for_timeout(20)
    waiting[0].continue_()
    expect(page.locator("h1")).to_have_text("Health")
    expect(dialog(page)).to_have_count(0)


# -- tags, modules, applications


def test_a_tag_from_preview_to_deletion(show: Show, watch: Any) -> None:
    watch.expect("status of 422")
    page = show("tags")
    page.get_by_role("button", name="New tag").click()
    form = dialog(page)
    form.get_by_label("Name").fill(HOSTILE)
    form.get_by_label("Rule").fill("order")
    expect(form.get_by_role("status")).to_contain_text("Would tag 1 issue now")
    form.get_by_role("button", name="Create").click()
    name = form.get_by_label("Name")
    expect(name).to_have_attribute("aria-invalid", "true")
    expect(name).to_be_focused()
    expect(form.get_by_role("alert")).to_contain_text("Another tag has this name")
    name.fill("Orders")
    expect(name).not_to_have_attribute("aria-invalid", "true")
    form.get_by_label("Icon").fill("box")
    form.get_by_role("button", name="Create").click()
    row = page.get_by_role("row", name=re.compile("Orders"))
    expect(row).to_contain_text("contains order")
    page.get_by_role("button", name="Edit Orders").click()
    form.get_by_label("Rule enabled").uncheck()
    form.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("(off)")
    page.get_by_role("button", name="Delete Orders").click()
    form.get_by_role("button", name="Delete the tag").click()
    expect(row).to_have_count(0)


def test_a_rule_that_is_still_being_applied_is_told(show: Show) -> None:
    """Until its job ends; then the numbers are fetched anew."""
    running = {
        "id": 71, "kind": "tag_rule", "status": "running", "created_by": "Ana", "created_at": "2026-01-01 00:00:00",
        "progress": {"done": 5, "total": None, "unit": "issues", "text": None}, "error": None,
    }  # fmt: skip
    ended: list[bool] = []

    def answer(route: Route) -> None:
        if "id=71" in route.request.url:
            route.fulfill(json={"data": running | ({"status": "succeeded"} if ended else {})})
        else:
            route.fulfill(json={"data": [] if ended else [running]})

    page = show("tags")
    page.route("**/*api=jobs*", answer)
    page.reload()
    told = page.get_by_text("A rule is still being applied")
    expect(told).to_be_visible()
    expect(page.get_by_role("region", name="Jobs")).to_contain_text("rule")
    ended.append(True)
    expect(told).to_have_count(0)


def test_a_dialog_left_with_escape_changes_nothing(show: Show) -> None:
    page = show("tags")
    opener = page.get_by_role("button", name="New tag")
    opener.click()
    page.keyboard.type("Forgotten")
    page.keyboard.press("Escape")
    expect(dialog(page)).to_have_count(0)
    expect(opener).to_be_focused()
    expect(page.get_by_role("row", name=re.compile("Forgotten"))).to_have_count(0)


def test_a_module_from_creation_to_deletion(show: Show, watch: Any) -> None:
    watch.expect("status of 422")
    page = show("modules")
    page.get_by_role("button", name="New module").click()
    form = dialog(page)
    form.get_by_label("Name", exact=True).fill("Billing")
    form.get_by_label("Short name").fill("hostile")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_label("Short name")).to_have_attribute("aria-invalid", "true")
    form.get_by_label("Short name").fill("")
    form.get_by_role("button", name="Create").click()
    row = page.get_by_role("row", name=re.compile("Billing"))
    expect(row).to_contain_text("billing")
    page.get_by_role("button", name="Delete Billing").click()
    form.get_by_label("Move them to").select_option("No module")
    form.get_by_role("button", name="Delete the module").click()
    expect(row).to_have_count(0)


def test_an_application_from_creation_to_deletion(show: Show, watch: Any) -> None:
    watch.expect("status of 422")
    page = show("applications")
    page.get_by_role("button", name="New application").click()
    form = dialog(page)
    form.get_by_label("Name").fill("Portal")
    form.get_by_role("button", name="Create").click()
    switcher = page.locator(".switcher select")
    switcher.select_option("portal")
    expect(page).to_have_url(re.compile("app=portal"))
    menu(page, "Actions of Portal", "Rename …")
    form.get_by_label("Name", exact=True).fill("Customers")
    form.get_by_role("button", name="Save").click()
    expect(switcher.locator("option:checked")).to_have_text("Customers")
    menu(page, "Actions of Customers", "Delete …")
    form.get_by_label("to confirm").fill("DELETE")
    expect(form.get_by_role("button", name="Delete the application")).to_be_disabled()
    form.get_by_label("to confirm").fill("DELETE APPLICATION portal")
    form.get_by_role("button", name="Delete the application").click()
    expect(page.get_by_role("row", name=re.compile("Customers"))).to_have_count(0)
    assert "app=" not in page.url


# -- connectors


def test_a_connector_from_a_wrong_folder_to_its_first_run(show: Show, site: Site, watch: Any) -> None:
    watch.expect("status of 422")
    page = show("connectors")
    page.get_by_role("button", name="New connector").click()
    form = dialog(page)
    form.get_by_label("Name", exact=True).fill("web")
    form.get_by_label("Folder", exact=True).fill("/nowhere")
    form.get_by_role("button", name="Create").click()
    expect(form.get_by_label("Folder", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_role("alert")).to_contain_text("Must be an existing folder")
    form.get_by_label("Folder", exact=True).fill(str(site.log.parent))
    form.get_by_role("button", name="Create").click()
    expect(page.locator("h1")).to_contain_text("web")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("Discovered 1 log file")).to_be_visible()
    page.get_by_role("button", name="Preview").click()
    plan = page.get_by_role("table", name="Plan")
    expect(plan).to_contain_text("app.log")
    page.get_by_role("button", name="Sync", exact=True).click()
    expect(page.get_by_role("table", name="Runs")).to_contain_text("success")
    expect(page.locator(".strip-job")).to_contain_text("done")
    menu(page, "Actions of web", "Delete …")
    form.get_by_role("button", name="Delete the connector").click()
    expect(page.locator("h1")).to_have_text("Connectors")


def test_secrets_of_a_connector_are_kept_and_never_shown(show: Show, site: Site) -> None:
    page = show("connectors")
    page.get_by_role("button", name="New connector").click()
    form = dialog(page)
    form.get_by_label("Name", exact=True).fill("remote")
    form.get_by_label("Where the logs are").select_option("ssh")
    form.get_by_label("Server", exact=True).fill("web-1.example")
    form.get_by_label("User").fill("deploy")
    form.get_by_label("Sign in with").select_option("password")
    form.get_by_label("Password", exact=True).fill("s3cret-word")
    form.get_by_label("Paths").fill("/var/log/app/*.log\n/var/log/web/*.log")
    form.get_by_role("button", name="Create").click()
    expect(page.locator("h1")).to_contain_text("remote")
    expect(page.locator("main")).to_contain_text("password")
    menu(page, "Actions of remote", "Edit …")
    expect(form.get_by_label("Sign in with")).to_have_value("password")
    expect(form.get_by_label("Password", exact=True)).to_have_value("")
    form.get_by_label("Port").fill("2222")
    form.get_by_role("button", name="Save").click()
    expect(dialog(page)).to_have_count(0)
    assert "s3cret-word" not in page.content()
    stored = next(one for one in ask(site.url, "connectors")["data"] if one["name"] == "remote")
    assert stored["secrets"]["password"] is True
    assert (stored["config"]["port"], len(stored["config"]["paths"])) == (2222, 2)


# -- logs


def test_a_format_is_made_over_the_lines_of_a_log(show: Show, site: Site, watch: Any) -> None:
    watch.expect("status of 422")
    page = show("formats")
    page.get_by_role("link", name="New format").click()
    page.get_by_label("Take the first lines of").select_option(str(site.log))
    expect(page.get_by_label("Example lines")).to_have_value(re.compile("production"))
    pattern = page.get_by_label("Pattern")
    pattern.fill(r"\[(?P<time>[^\]]+)\] (?P<logger>\w+)\.(?P<level>\w+: ")
    expect(page.get_by_role("status").filter(has_text="pattern: missing )")).to_be_visible()
    pattern.fill(r"\[(?P<time>[^\]]+)\] (?P<logger>\w+)\.(?P<level>\w+): (?P<message>.*)")
    expect(page.get_by_text("50 of 50 lines begin an entry; 50 have a time, 50 a level.")).to_be_visible()
    first = page.get_by_label("How each line is read").locator("li").first
    expect(first.locator("mark[data-group=level]")).to_have_text("ERROR")
    expect(first.locator("mark[data-group=message]")).to_contain_text(HOSTILE)
    expect(first).to_contain_text("Error · logger production")
    page.get_by_label("Name").fill("Not a name")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("Must be 1-32 small letters")
    page.get_by_label("Name").fill("production")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("table", name="Formats")).to_contain_text("production")
    page.get_by_role("link", name="production").click()
    expect(page.get_by_label("Pattern")).to_have_value(re.compile("logger"))
    page.go_back()
    menu(page, "Actions of production", "Delete …")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No format yet.")).to_be_visible()


def test_the_raw_lines_of_a_log(show: Show, site: Site) -> None:
    page = show("sources")
    page.get_by_role("link", name="app.log", exact=True).click()
    lines = page.locator(".line")
    expect(lines).to_have_count(200)
    expect(lines.last).to_contain_text(f"line {LINES}")
    expect(page.locator('.line[data-level="ERROR"]').first).to_contain_text(HOSTILE)
    page.get_by_role("button", name="Earlier lines").click()
    expect(lines).to_have_count(400, timeout=10_000)
    page.get_by_role("button", name="Earlier lines").click()
    expect(lines).to_have_count(LINES)
    expect(lines.first.locator(".line-number")).to_have_text("1")
    assert [text.split(": ", 1)[1] for text in page.locator(".line-text").all_inner_texts()[1:4]] == [
        f"line {at}" for at in (2, 3, 4)
    ]
    page.keyboard.press("/")
    page.keyboard.type("42\n")
    expect(lines.first.locator(".line-number")).to_have_text("42")
    expect(lines.first).to_contain_text("line 42")
    assert page.url.endswith("line=42")
    page.get_by_role("button", name="Later lines").click()
    expect(lines).to_have_count(400)
    page.get_by_label("Go to", exact=True).last.fill("50%")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"at=\d+"))
    page.get_by_label("Go to", exact=True).last.fill("half")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Type a line number")).to_be_visible()
    page.get_by_role("button", name="Show the issue of this line").first.click()
    expect(page.locator("h1")).to_contain_text(re.compile("Order|line"))
    assert "occurrence=" in page.url


def test_a_log_is_followed_live(show: Show, site: Site, servers: Any) -> None:
    page = show("source&id=1")
    page.get_by_role("button", name="Live").click()
    expect(page.get_by_role("button", name="Live")).to_have_attribute("aria-pressed", "true")
    with site.log.open("a") as file:
        file.write(f"[{times.now()}] production.CRITICAL: just now\n")
    servers.run("import", str(site.log), data=site.data)
    line = page.locator(".line").last
    expect(line).to_contain_text("just now", timeout=20_000)
    expect(line).to_have_attribute("data-level", "CRITICAL")


# -- maintenance, plugins, jobs, health


def test_what_is_kept_and_reading_again(show: Show, watch: Any, site: Site) -> None:
    watch.expect("status of 422")
    page = show("maintenance&app=empty")
    form = page.get_by_role("form", name="What is kept")
    form.get_by_label("Info").check()
    zone = form.get_by_label("Time zone")
    zone.fill("Mars/Base")
    form.get_by_role("button", name="Save").click()
    expect(zone).to_have_attribute("aria-invalid", "true")
    expect(form.get_by_label("Info")).to_be_checked()
    zone.fill("Europe/Berlin")
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert "INFO" in ask(site.url, "ingestion-settings", "&app=empty")["ingested_severities"]
    page.get_by_role("form", name="Read again").get_by_role("button").click()
    expect(page.locator(".strip-job")).to_contain_text("done")
    expect(page.get_by_text("0 files read again")).to_be_visible()


@pytest.mark.parametrize(
    ("view", "button"),
    [("sources", "Read the drop folder now"), ("maintenance", "Read the drop folder now"), ("setup", "Read it now")],
)
def test_the_drop_folder_is_read_and_what_came_of_it_is_told(show: Show, view: str, button: str) -> None:
    page = show(f"{view}&app=empty")
    page.get_by_role("button", name=button).click()
    told = "0 files read: 0 new events, 0 new issues."
    expect(page.get_by_text(told)).to_be_visible()


def test_events_of_a_day_are_deleted_after_a_preview(show: Show, site: Site) -> None:
    today = ask(site.url, "summary")["trend"][0]["day"]
    page = show("maintenance")
    page.get_by_label("All events of one day").fill("2001-01-01")
    page.get_by_role("button", name="Preview deletion").click()
    expect(page.get_by_text("There are no stored events of 2001-01-01")).to_be_visible()
    page.get_by_label("All events of one day").fill(today)
    page.get_by_role("button", name="Preview deletion").click()
    form = dialog(page)
    expect(form).to_contain_text(re.compile(r"\d+ events in \d+ issues? from 1 source"))
    form.get_by_label("to confirm").fill("delete log")
    expect(form.get_by_role("button", name="Delete the events")).to_be_disabled()
    form.get_by_label("to confirm").fill("DELETE LOGS")
    form.get_by_role("button", name="Delete the events").click()
    expect(page.get_by_text(re.compile(r"\d+ events deleted"))).to_be_visible()
    assert ask(site.url, "log-deletion-preview", f"&date={today}")["occurrences"] == 0


def test_a_user_is_forgotten_after_a_preview(browser: Any, servers: Any, open_page: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_service(data) as service:
        line = '[2026-01-03 10:00:0{}] production.ERROR: Parcel {} is lost {{"user_id": "{}"}}\n'
        Client(service).feed("".join(line.format(n, n, ("jo@example.com", "ana")[n % 2]) for n in range(9)))
    with servers.served(data) as url:
        page = open_page(f"{url}?view=maintenance")
        form = page.get_by_role("form", name="Forget a user")
        form.get_by_label("User").fill("jo")
        form.get_by_role("button", name="Preview their events").click()
        expect(page.get_by_text("No stored event names the user jo.")).to_be_visible()
        form.get_by_label("User").fill("jo@example.com")
        form.get_by_role("button", name="Preview their events").click()
        shown = dialog(page)
        expect(shown).to_contain_text("5 events of jo@example.com in 1 issue")
        expect(shown).to_contain_text("Parcel 8 is lost (5)")
        expect(shown).to_contain_text("app.log (5)")
        shown.get_by_label("to confirm").fill("FORGET USER")
        shown.get_by_role("button", name="Delete the events").click()
        expect(page.locator(".strip-job")).to_contain_text("done")
        assert ask(url, "user-events-preview", "&user=jo@example.com")["events"] == 0
        assert ask(url, "user-events-preview", "&user=ana")["events"] == 4


def test_a_plugin_is_switched_and_switched_back(show: Show) -> None:
    page = show("plugins")
    rail = page.get_by_role("navigation", name="Pages", exact=True)
    switch = page.get_by_role("switch", name="Alerting is on")
    expect(page.locator(".plugin", has=switch)).to_contain_text("alert-channels")
    expect(rail.get_by_role("link", name="Alerts")).to_be_visible()
    switch.click()
    expect(switch).not_to_be_checked()
    expect(rail.get_by_role("link", name="Alerts")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(rail.get_by_role("link", name="Alerts")).to_be_visible()
    expect(switch).to_be_checked()


def test_a_cancelled_job_is_tried_again(show: Show) -> None:
    page = show("jobs&status=cancelled")
    page.get_by_role("button", name="Retry job").first.click()
    expect(page.locator(".strip-job")).to_contain_text("done")
    page.get_by_role("link", name="Succeeded").click()
    page.get_by_role("button", name="Show job").first.click()
    expect(dialog(page)).to_contain_text('"events"')


def test_the_strip_stays_while_pages_come_and_go(browser: Any, servers: Any, open_page: Any, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_service(data, jobs=False) as service:
        call = service.call()
        with call.transaction():  # on a machine that nobody works on
            call.enqueue("import", node="elsewhere")
    with servers.served(data) as url:
        page = open_page(f"{url}?view=sources")
        strip = page.locator(".strip-job")
        expect(strip).to_contain_text("Import")
        page.get_by_role("link", name="Tags").click()
        expect(page.locator("h1")).to_have_text("Tags")
        expect(strip).to_contain_text("Import")
        page.reload()
        expect(strip).to_contain_text("Import")
        page.get_by_role("button", name="Keyboard shortcuts").click()  # in the corner of the rail, in reach
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        strip.get_by_role("button", name="Cancel").click()
        expect(strip).to_contain_text("cancelled")


def test_health_in_words(show: Show) -> None:
    page = show("health")
    expect(page.get_by_role("table", name="Checks").get_by_role("row")).to_have_count(9)
    expect(page.locator("main")).to_contain_text("sqlite")


# -- the first run


def test_from_nothing_to_the_first_issue(
    browser: Any, servers: Any, open_page: Any, watch: Any, tmp_path: Path
) -> None:
    watch.expect("status of 422")
    log = tmp_path / "logs" / "shop.log"
    log.parent.mkdir()
    log.write_text(written(times.now(), 20))
    with servers.served(tmp_path / "data", SERVICE_INGESTION_ALLOWED_ROOTS=str(tmp_path)) as url:
        page = open_page(url)
        expect(page.get_by_text("Waiting for the first event")).to_be_visible()
        form = page.get_by_role("form", name="Read a folder")
        form.get_by_label("Folder").fill("/nowhere")
        with page.expect_response(lambda answer: "api=summary" in answer.url):
            pass  # the page looks whether something came in, and is drawn again
        expect(form.get_by_label("Folder")).to_have_value("/nowhere")
        form.get_by_role("button", name="Read the folder").click()
        expect(form.get_by_role("alert")).to_contain_text("one of ingestion.allowed_roots")
        form.get_by_label("Folder").fill(str(log.parent))
        form.get_by_role("button", name="Read the folder").click()
        expect(page.get_by_role("table", name="Runs")).to_contain_text("success")
        page.get_by_role("link", name="Issues").click()
        expect(page.locator(".row-title").first).to_contain_text(re.compile("Order|line"))
        page.context.close()  # it would ask on when its server has ended

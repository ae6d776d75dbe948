"""The page "Tracker": settings, test, pull, webhook address; on issues the item, and making items, one or many."""

import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def load_doubles() -> ModuleType:
    place = Path(__file__).parents[1] / "areas" / "tracker" / "doubles.py"
    spec = importlib.util.spec_from_file_location("tracker_doubles_in_browser", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


doubles = load_doubles()


@pytest.fixture
def github() -> Iterator[Any]:
    with doubles.serving(doubles.GitHubDouble()) as double:
        yield double


@pytest.fixture
def tracking(servers: Any, browser: Any, tmp_path: Path) -> Iterator[str]:
    """The address of a server with issues whose application has a tracker."""
    servers.fill(tmp_path / "data")
    servers.run("plugins", "enable", "tracker", data=tmp_path / "data")
    variables = {"SERVICE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8", "SERVICE_TRACKER_INTERVAL_MINUTES": "0"}
    with servers.served(tmp_path / "data", **variables) as url:
        yield url


def set_up(page: Any, github: Any) -> None:
    form = page.get_by_role("form", name="Tracker settings")
    form.get_by_label("Tracker").select_option("github")
    form.get_by_label("Repository").fill(github.project)
    form.get_by_label("API address").fill(github.url)
    form.get_by_label("API key").fill(doubles.KEY)
    form.get_by_label("Webhook secret").fill("s3cr3t-key")
    form.get_by_label("Enabled").check()
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_text("On, with GitHub.")).to_be_visible()


def test_from_nothing_to_linked_issues(tracking: str, github: Any, open_page: Any) -> None:
    github.add("Refund <b>fails</b>")
    page = open_page(f"{tracking}?view=tracker")
    expect(page.get_by_role("heading", level=1)).to_have_text("Tracker")
    expect(page.get_by_text("Webhooks are not ready")).to_be_visible()
    expect(page.get_by_role("button", name="Pull now")).to_be_disabled()
    set_up(page, github)
    expect(page.get_by_text("A secret is set.")).to_be_visible()
    expect(page.get_by_text("?api=tracker-webhook&app=default")).to_be_visible()
    expect(page.get_by_label("API key")).to_have_value("")
    page.get_by_role("button", name="Test what is saved").click()
    expect(page.get_by_text("Connected. The key is Ana's.")).to_be_visible()
    page.get_by_role("button", name="Pull now").click()
    expect(page.get_by_text("1 item read: 1 new, 0 changed.")).to_be_visible()
    expect(page.get_by_text("Nothing was pulled yet.")).to_have_count(0)
    page.goto(f"{tracking}?origin=tracker")
    page.get_by_role("link", name="Refund <b>fails</b>").click()
    panel = page.get_by_role("complementary").get_by_role("link", name="octo/shop#1")
    expect(panel).to_have_attribute("href", "https://github.example/octo/shop/issues/1")


def test_what_is_typed_stays_while_the_tracker_is_read(tracking: str, github: Any, open_page: Any) -> None:
    page = open_page(f"{tracking}?view=tracker")
    set_up(page, github)
    github.add("Refund fails")
    form = page.get_by_role("form", name="Tracker settings")
    form.get_by_label("API key").fill("another key")
    form.get_by_label("Only items with these labels").fill("bug")
    page.get_by_role("button", name="Pull now").evaluate("(button) => button.click()")  # the field keeps the focus
    expect(page.get_by_text("Nothing was pulled yet.")).to_have_count(0)
    expect(form.get_by_label("Only items with these labels")).to_have_value("bug")
    expect(form.get_by_label("API key")).to_have_value("another key")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_label("API key")).to_have_value("")
    expect(form.get_by_label("Only items with these labels")).to_have_value("bug")
    page.reload()
    expect(form.get_by_label("Only items with these labels")).to_have_value("bug")


def test_making_items(tracking: str, github: Any, open_page: Any) -> None:
    page = open_page(f"{tracking}?view=tracker")
    set_up(page, github)
    page.goto(f"{tracking}?view=issue&id=1")
    page.get_by_role("button", name="Create in GitHub").click()
    expect(page.get_by_text("Linked to octo/shop#1.")).to_be_visible()
    expect(page.get_by_role("complementary").get_by_role("link", name="octo/shop#1")).to_be_visible()
    page.goto(f"{tracking}?q=mailer")
    for at in (0, 1):
        page.locator(".row-choice input").nth(at).click()
    page.get_by_role("button", name="More actions on the selected issues").click()
    page.get_by_role("button", name="Create in tracker").click()
    expect(page.get_by_text("2 issues linked.")).to_be_visible()
    assert len(github.issues) == 3


def test_each_tracker_asks_for_what_it_needs_in_its_own_words(tracking: str, open_page: Any, watch: Any) -> None:
    watch.expect("422")
    page = open_page(f"{tracking}?view=tracker")
    form = page.get_by_role("form", name="Tracker settings")
    for title, shown, hidden in (
        ("Linear", "Team", "Repository"),
        ("GitLab", "As group/project, or its number.", "As owner/repository."),
        ("Jira", "Project key", "Team"),
        (
            "Another program (signed JSON)",
            "Gets new items and statuses as signed JSON.",
            "Only items with these labels",
        ),
    ):
        form.get_by_label("Tracker").select_option(label=title)
        expect(form.get_by_text(shown, exact=True)).to_be_visible()
        expect(form.get_by_text(hidden)).to_have_count(0)
    page.get_by_role("button", name="Test what is saved").click()
    expect(page.get_by_text("Enter an API key, and save it.")).to_be_visible()


def test_what_is_wrong_is_told(tracking: str, github: Any, open_page: Any, watch: Any) -> None:
    watch.expect("422")
    page = open_page(f"{tracking}?view=tracker")
    form = page.get_by_role("form", name="Tracker settings")
    form.get_by_label("Enabled").check()
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_have_text("Is required before the tracker can be enabled")
    expect(form.get_by_label("Enabled")).to_be_checked()
    form.get_by_label("Tracker").select_option("generic")
    expect(form.get_by_label("Repository")).to_have_count(0)
    expect(form.get_by_text("As owner/repository.")).to_have_count(0)
    form.get_by_label("Tracker").select_option("jira")
    expect(form.get_by_label("E-mail of the key's owner")).to_be_visible()
    page.reload()
    set_up(page, github)
    github.fail = [doubles.Answer(401)]
    page.get_by_role("button", name="Pull now").click()
    expect(page.get_by_text("The last time failed: The tracker rejected the key.")).to_be_visible()
    page.get_by_role("button", name="Forget the api key").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget it").click()
    # Not by its text alone: that is part of the notice "The tracker is disabled." as well.
    expect(page.get_by_role("status").filter(has_text=re.compile(r"^Off\."))).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_has_no_accessibility_violations(browser: Any, tracking: str, github: Any, scheme: str) -> None:
    # axe is injected as a script, which the policy would refuse.
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{tracking}?view=tracker")
    set_up(page, github)
    for view in ("tracker", "issue&id=1"):
        page.goto(f"{tracking}?view={view}")
        expect(page.locator("#app:not([aria-busy]) h1")).to_be_visible()
        if view != "tracker":
            expect(page.get_by_role("button", name="Create in GitHub")).to_be_visible()
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
    context.close()


def test_fits_a_phone(tracking: str, open_page: Any) -> None:
    page = open_page(f"{tracking}?view=tracker", viewport={"width": 390, "height": 844}, has_touch=True)
    expect(page.get_by_role("form", name="Tracker settings")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390

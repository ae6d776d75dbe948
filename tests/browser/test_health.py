"""Health: what is not well with the next step, figures, and the words when all is well."""

from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect


def test_figures_stand_on_the_page(deployment: Any, open_page: Any) -> None:
    page = open_page(f"{deployment.url}?view=health")
    expect(page.get_by_role("heading", name="All systems OK")).to_be_visible()
    for heading in ("Disk", "Database", "Jobs", "Events", "Logs read in the last 7 days", "Last events", "Versions"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    disk = page.locator("section", has=page.get_by_role("heading", name="Disk", exact=True))
    expect(disk).to_contain_text("GB")
    expect(page.get_by_role("table", name="Checks").get_by_text("OK")).to_have_count(9)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_problem_has_a_next_step(tmp_path: Path, servers: Any, open_page: Any, scheme: str) -> None:
    data = tmp_path / "data"
    servers.fill(data)
    logs = data / "applications" / "default" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    (logs / "photo.png").write_bytes(b"PNG")
    (logs / "odd.log").write_text("first\n\nfailed\n\nsecond\n" * 9)
    servers.run("import", str(logs / "odd.log"), data=data)
    with servers.served(data) as url:
        page = open_page(f"{url}?view=health", color_scheme=scheme, bypass_csp=True)  # for axe
        unwell = page.locator("section", has=page.get_by_role("heading", name="Problems"))
        expect(unwell).to_contain_text("Not read in the drop folder, because of the name: photo.png.")
        expect(unwell).to_contain_text("Give it a name that ends in .log")
        expect(page.get_by_role("status").filter(has_text="2 problems")).to_be_visible()
        assert Axe().run(page).response["violations"] == []
        unwell.get_by_role("link", name="Make a format that says where they stand in a line.").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("ormat")
        page.context.close()


def test_the_page_follows_and_stays_while_the_service_is_away(
    empty_deployment: Any, open_page: Any, lose_service: Any, tmp_path: Path
) -> None:
    page = open_page(empty_deployment.url)
    page.clock.install()
    page.goto(f"{empty_deployment.url}?view=health")
    page.get_by_role("heading", name="All systems OK").wait_for()
    (tmp_path / "data" / "applications" / "default" / "logs" / "photo.png").write_bytes(b"PNG")
    page.clock.run_for(11_000)
    expect(page.get_by_role("heading", name="Problems")).to_be_visible()
    lose_service(page)
    expect(page.get_by_role("heading", name="Problems")).to_be_visible()

"""Characters that turn a text or steer a terminal are shown, not obeyed; right-to-left texts keep to their place."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from snaglist.kernel import times
from snaglist.testing import Client, running_service

TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
FORGED = "invoice\u202efdp.exe\u202c"
SHOWN = r"invoice\u202efdp.exe\u202c"
HEBREW = "שלום עולם"
PLACES = (
    "issues", "issue&id=1", "sources", "source&id=1", "log-search&q=room", "tags", "modules", "connectors",
    "connector&id=1", "applications", "overview", "jobs",
)  # fmt: skip
READ = ["title", "aria-label", "label", "alt", "placeholder"]


@pytest.fixture(scope="module")
def url(browser: Any, tmp_path_factory: pytest.TempPathFactory, servers: Any) -> Iterator[str]:
    """A server where names, messages, stacks and raw lines hold overrides, and some are Hebrew."""
    folder: Path = tmp_path_factory.mktemp("direction")
    data, log = folder / "data", folder / "logs" / "app\u202egol.log"
    log.parent.mkdir()
    trace = f'Traceback (most recent call last):\n  File "/srv/{FORGED}.py", line 4, in charge\nOSError: {FORGED}\n'
    lines = [f"No room for {FORGED}", f"{HEBREW} 42 :: {FORGED}"]
    log.write_text("".join(f"[{times.now()}] production.ERROR: {line}\n{trace}" for line in lines), encoding="utf-8")
    servers.run("import", str(log), data=data)
    with running_service(data, jobs=False, ingestion__allowed_roots=[str(folder)]) as service:
        client = Client(service)
        for api, body in (
            ("tags", {"name": FORGED}),
            ("tags", {"name": HEBREW}),
            ("modules", {"name": FORGED, "slug": "forged"}),
            (
                "connectors",
                {"name": FORGED, "type": "local", "config": {"directory": str(log.parent)}, "enabled": False},
            ),
            ("applications", {"name": f"{HEBREW} {FORGED}", "id": "other"}),
            ("issue-tags", {"group_id": 1, "tag_id": 1}),
            ("issue-tags", {"group_id": 1, "tag_id": 2}),
        ):
            answer = client.post(api, body)
            assert answer.status in (200, 201), answer.text
    with servers.served(data, SERVICE_INGESTION_ALLOWED_ROOTS=str(folder)) as started:
        yield started


def read_by_people(page: Page) -> list[str]:
    """Return what the page says: its texts, the attributes that are read, and its title."""
    found: list[str] = page.evaluate(
        """(names) => [document.title, document.body.textContent,
          ...[...document.querySelectorAll('*')].flatMap((e) => names.map((n) => e.getAttribute(n) ?? ''))]""",
        READ,
    )
    return found


@pytest.mark.parametrize("place", PLACES)
def test_no_page_obeys_an_override(open_page: Any, url: str, place: str) -> None:
    page = open_page(f"{url}?view={place}")
    page.locator("main h1").first.wait_for()
    if place not in ("jobs", "overview"):
        # Paths are stored with the bytes of such a character written out.
        expect(page.locator("main")).to_contain_text(r"\xe2\x80\xae" if place == "sources" else r"\u202e")
    for text in read_by_people(page):
        assert not TURNING.search(text), text


def test_control_characters_are_shown_by_their_number(open_page: Any, url: str) -> None:
    """What would colour a terminal is no box without a meaning."""
    page = open_page(url)
    answer = page.request.post(f"{url}?api=issues", data={"title": "Disk \x1b[31mfull\x1b[0m"})
    page.goto(f"{url}?view=issue&id={answer.json()['data']['id']}")
    expect(page.locator("h1")).to_have_text(r"Disk \u001b[31mfull\u001b[0m")


def test_a_name_of_data_is_sent_as_it_is(open_page: Any, url: str) -> None:
    """What is shown is not what is stored: fields that are edited hold the name itself."""
    page = open_page(f"{url}?view=tags")
    page.locator("main").get_by_text(SHOWN).first.wait_for()
    page.get_by_role("button", name=re.compile("^Edit")).first.click()
    assert page.get_by_label("Name").input_value() in (FORGED, HEBREW)


def test_hebrew_is_isolated_and_reads_as_written(open_page: Any, url: str) -> None:
    page = open_page(f"{url}?view=tags")
    name = page.locator("main bdi", has_text=HEBREW).first
    expect(name).to_have_text(HEBREW)
    assert name.evaluate("(e) => [getComputedStyle(e).direction, getComputedStyle(e).unicodeBidi]") == [
        "rtl",
        "isolate",
    ]


def test_what_stands_beside_hebrew_keeps_its_place(page: Page) -> None:
    """Without isolation the number would move to the left of the name that it follows."""
    places = page.evaluate(
        """async (name) => {
          const at = document.querySelector('script[type=module]').src.replace('app.js', 'dom.js');
          const { html, render } = await import(at);
          const box = document.body.appendChild(document.createElement('div'));
          const range = new Range();
          const left = (node) => (range.selectNode(node), range.getBoundingClientRect().left);
          const view = (text) => html`<p>${text} ${12}</p>`;
          const shown = [];
          for (const text of [name, 'plain', name]) {
            render(view(text), box);
            const p = box.querySelector('p');
            const nodes = [...p.childNodes].filter((node) => node.textContent.trim());
            shown.push([p.textContent, nodes.map((node) => node.nodeName), left(nodes[0]) < left(nodes.at(-1))]);
          }
          const [first] = box.querySelectorAll('bdi');
          render(view(name), box);
          shown.push(box.querySelector('bdi') === first);
          render(html`<select><option>${name}</option></select><svg><title>${name}</title></svg>`, box);
          shown.push(box.querySelectorAll('bdi').length);
          return shown;
        }""",
        HEBREW,
    )
    assert places == [
        [f"{HEBREW} 12", ["BDI", "#text"], True],
        ["plain 12", ["#text", "#text"], True],
        [f"{HEBREW} 12", ["BDI", "#text"], True],
        True,
        0,
    ]


def test_attributes_that_people_read(page: Page) -> None:
    shown = page.evaluate(
        """async (text) => {
          const at = document.querySelector('script[type=module]').src.replace('app.js', 'dom.js');
          const { html, render } = await import(at);
          const box = document.body.appendChild(document.createElement('div'));
          render(html`<input title=${text} aria-label=${text} value=${text} data-name=${text} .name=${text}>`, box);
          const [input] = box.children;
          return [input.title, input.ariaLabel, input.value, input.dataset.name, input.name];
        }""",
        FORGED,
    )
    assert shown == [SHOWN, SHOWN, FORGED, FORGED, FORGED]

"""Charts: their scales, read and chosen with the mouse and by keyboard, on a page of the dashboard."""

import re
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

SCALE, WORDS, MARKS = "widgets/chart/scale.js", "widgets/chart/words.js", "widgets/chart/marks.js"
# Ten hours from 08:00 in Berlin, of two series; what is chosen is kept in `said`.
CHART = """
const { widgetKit } = await load('widgets.js');
const { render } = await load('dom.js');
const box = document.querySelector('.tested') ?? Object.assign(document.createElement('div'), { className: 'tested' });
document.querySelector('main').prepend(box);
const starts = Array.from({ length: 10 }, (_, at) => `2026-11-28 ${String(7 + at).padStart(2, '0')}:00:00`);
const chart = {
  label: 'Events per hour', unit: ['event', 'events'], starts, end: '2026-11-28 17:00:00',
  series: [
    { id: 'WARNING', label: 'Warning', tone: 'warning', values: [9, 0, 0, 0, 0, 0, 0, 0, 0, 40] },
    { id: 'ERROR', label: 'Error', tone: 'error', values: [3, 1, 0, 0, 0, 0, 0, 0, 0, 0] },
  ],
  pick: (range) => { window.said = range; },
  clear: () => { window.said = 'cleared'; },
};
const show = (more = {}) => render(widgetKit(() => {}).chart({ ...chart, ...more }), box);
"""


@pytest.fixture
def berlin(open_page: Any, deployment: Any) -> Page:
    opened: Page = open_page(f"{deployment.url}?view=setup", timezone_id="Europe/Berlin")
    opened.locator("#app:not([aria-busy]) h1").wait_for()
    return opened


def run(page: Page, code: str) -> Any:
    """Run JavaScript that has `load`, which imports a module of the dashboard."""
    at = "const at = document.querySelector('script[type=module]').src;"
    return page.evaluate(f"async () => {{ {at} const load = (name) => import(at.replace('app.js', name)); {code} }}")


def drawn(page: Page, more: str = "{}") -> Locator:
    """Draw the chart; gives the control that reads it."""
    run(page, f"{CHART} show({more});")
    plot = page.get_by_role("slider", name="Events per hour")
    expect(plot.locator("svg .scale-number")).not_to_have_count(0)
    return plot


def bar(plot: Locator, share: float) -> dict[str, float]:
    """A place over the bars: this share of the width from the left."""
    size = plot.bounding_box()
    assert size
    return {"x": size["width"] * share, "y": size["height"] / 3}


# -- scales


@pytest.mark.parametrize(
    ("most", "ticks"),
    [
        (0, [1]),
        (1, [1]),
        (2, [1, 2]),
        (3, [1, 2, 3]),
        (5, [2, 4, 6]),
        (7, [4, 8]),
        (10, [5, 10]),
        (90, [30, 60, 90]),
        (101, [40, 80, 120]),
        (999, [500, 1000]),
        (123_456, [50_000, 100_000, 150_000]),
    ],
)
def test_a_scale_has_two_or_three_round_numbers(berlin: Page, most: int, ticks: list[int]) -> None:
    assert run(berlin, f"return (await load('{SCALE}')).valueTicks({most});") == ticks


def test_every_scale_ends_not_below_the_greatest_number(berlin: Page) -> None:
    wrong = run(
        berlin,
        f"""
      const {{ valueTicks }} = await load('{SCALE}');
      const wrong = [];
      for (let most = 2; most < 5000; most += 1) {{
        const ticks = valueTicks(most);
        const whole = ticks.every((tick, at) => Number.isInteger(tick) && tick === ticks[0] * (at + 1));
        const fits = most <= ticks.at(-1) && ticks.at(-1) <= most * 2;
        if (!whole || !fits || ticks.length < 2 || ticks.length > 3) wrong.push([most, ticks]);
      }}
      return wrong;
    """,
    )
    assert wrong == []


def test_numbers_of_a_scale_are_short(berlin: Page) -> None:
    values = "[0, 250, 1000, 1500, 40000, 2500000, 3e9]"
    assert run(berlin, f"return {values}.map((await load('{SCALE}')).compact);") == [
        "0", "250", "1k", "1.5k", "40k", "2.5M", "3G",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("start", "end", "width", "texts"),
    [
        ("2025-11-28 07:00:00", "2025-11-28 09:00:00", 900, ["28 Nov 2025 08:20", "08:40", "09:00", "09:20", "09:40"]),
        ("2025-11-28 07:00:00", "2025-11-29 07:00:00", 900, ["12:00", "16:00", "20:00", "29 Nov 2025", "04:00"]),
        ("2025-11-28 07:00:00", "2025-12-01 07:00:00", 300, ["29 Nov 2025", "30 Nov 2025", "1 Dec 2025"]),
        ("2025-03-29 11:00:00", "2025-03-30 11:00:00", 900, ["18:00", "30 Mar 2025", "06:00", "12:00"]),
    ],
)  # fmt: skip
def test_times_are_round_in_the_chosen_clock(berlin: Page, start: str, end: str, width: int, texts: list[str]) -> None:
    """Also where a day has 23 hours; a day that begins has its date."""
    found = run(berlin, f"return (await load('{SCALE}')).timeTicks('{start}', '{end}', {width});")
    assert [tick["text"] for tick in found] == texts


def test_names_of_times_never_cover_each_other(berlin: Page) -> None:
    covered = run(
        berlin,
        f"""
      const {{ timeTicks, widthOf }} = await load('{SCALE}');
      const covered = [];
      const stamp = (at) => new Date(at).toISOString().slice(0, 19).replace('T', ' ');
      for (let width = 200; width < 1500; width += 37) for (const hours of [1, 5, 24, 31, 72, 200, 700, 3000, 9000]) {{
        const from = Date.UTC(2025, 9, 20, 5), to = from + hours * 3600e3;
        const ticks = timeTicks(stamp(from), stamp(to), width);
        const boxes = ticks.map(({{ middle, text }}) => [middle - widthOf(text) / 2, middle + widthOf(text) / 2]);
        const near = boxes.some(([left], at) => at && left < boxes[at - 1][1] + 8);
        const out = boxes.some(([left, right]) => left < -1 || right > width + 1);
        if (ticks.length < 1 || ticks.length > 6 || near || out) covered.push([width, hours, boxes]);
      }}
      return covered;
    """,
    )
    assert covered == []


def test_names_of_marks_never_cover_each_other(berlin: Page) -> None:
    places = run(
        berlin,
        f"""
      const {{ placeNames }} = await load('{MARKS}');
      return [
        placeNames([{{ x: 10, width: 40 }}, {{ x: 100, width: 40 }}], 300), // room for both
        placeNames([{{ x: 100, width: 40 }}, {{ x: 110, width: 40 }}], 300), // the older one before its line
        placeNames([{{ x: 20, width: 40 }}, {{ x: 30, width: 40 }}], 300), // no room for the older one
        placeNames([{{ x: 295, width: 40 }}], 300), // at the end
      ];
    """,
    )
    assert places == [[10, 100], [60, 110], [None, 30], [255]]


def test_words_of_bars(berlin: Page) -> None:
    words = run(
        berlin,
        f"""
      const {{ spanText }} = await load('{WORDS}');
      return [
        spanText('2025-11-28 07:00:00', '2025-11-28 08:00:00', false),
        spanText('2025-11-28 22:00:00', '2025-11-28 23:00:00', false),
        spanText('2025-11-28 07:00:00', '2025-11-29 07:00:00', false),
        spanText('2025-11-28 00:00:00', '2025-11-29 00:00:00', true),
        spanText('2025-11-28 00:00:00', '2025-12-01 00:00:00', true),
      ];
    """,
    )
    assert words == [
        "28 Nov 2025 08:00 to 09:00",
        "28 Nov 2025 23:00 to 00:00",
        "28 Nov 2025 08:00 to 29 Nov 2025 08:00",
        "28 Nov 2025",
        "28 Nov 2025 to 30 Nov 2025",
    ]


# -- reading and choosing


def test_numbers_by_keyboard(berlin: Page) -> None:
    """Arrows move, with Shift they extend, Enter chooses, Escape takes back."""
    plot = drawn(berlin)
    plot.focus()
    expect(plot).to_have_attribute("aria-valuetext", re.compile("08:00 to 18:00: 53 events, Warning 49, Error 4$"))
    for key in ("End", "Home", "ArrowRight", "ArrowLeft"):
        plot.press(key)
    expect(plot).to_have_attribute("aria-valuetext", re.compile("08:00 to 09:00: 12 events, Warning 9, Error 3$"))
    expect(berlin.locator(".chart-tip")).to_contain_text("12 events")
    plot.press("Shift+ArrowRight")
    expect(plot).to_have_attribute("aria-valuetext", re.compile("08:00 to 10:00: 13 events, Warning 9, Error 4$"))
    plot.press("Enter")
    assert berlin.evaluate("said") == {"from": "2026-11-28 07:00:00", "to": "2026-11-28 09:00:00"}
    plot.press("Escape")
    expect(plot).to_have_attribute("aria-valuetext", re.compile("53 events"))
    expect(berlin.locator(".chart-tip")).to_be_hidden()


def test_escape_takes_back_what_was_chosen(berlin: Page) -> None:
    plot = drawn(berlin, "{ picked: { from: '2026-11-28 09:00:00', to: null } }")
    expect(plot.locator(".picked")).to_have_count(1)
    plot.focus()
    plot.press("Escape")
    assert berlin.evaluate("said") == "cleared"


def test_numbers_on_hover_a_click_and_a_drag(berlin: Page) -> None:
    plot = drawn(berlin)
    plot.hover(position=bar(plot, 0.99))
    expect(berlin.locator(".chart-tip")).to_contain_text("40 events")
    plot.click(position=bar(plot, 0.99))
    assert berlin.evaluate("said") == {"from": "2026-11-28 16:00:00", "to": "2026-11-28 17:00:00"}
    box = plot.bounding_box()
    assert box
    y = box["y"] + 40
    berlin.mouse.move(box["x"] + box["width"] * 0.99, y)
    berlin.mouse.down()
    berlin.mouse.move(box["x"] + box["width"] * 0.5, y, steps=4)
    berlin.mouse.move(box["x"] + 1, y, steps=4)
    expect(berlin.locator(".chart-tip")).to_contain_text("53 events")
    berlin.mouse.up()
    assert berlin.evaluate("said") == {"from": "2026-11-28 07:00:00", "to": "2026-11-28 17:00:00"}


def test_the_same_numbers_as_a_table(berlin: Page) -> None:
    plot = drawn(berlin, "{ before: [1, 2, 3, 4, 5, 6, 7, 8, 9, 1000] }")
    expect(berlin.locator(".chart-legend li")).to_have_text(["Error 4", "Warning 49", "Previous period 1,045"])
    expect(plot.locator(".earlier")).to_have_count(1)
    berlin.get_by_text("Show as table").click()
    rows = berlin.get_by_role("row")
    expect(rows).to_have_count(11)
    expect(rows.first.get_by_role("columnheader")).to_have_text(
        ["Time (UTC+1)", "Warning", "Error", "Total", "Previous period"]
    )
    expect(rows.last.get_by_role("cell")).to_have_text(["40", "0", "40", "1,000"])


def test_without_numbers_it_says_so(berlin: Page) -> None:
    none = "series: [{ id: 'a', label: 'A', tone: 'soft', values: starts.map(() => 0) }]"
    run(berlin, f"{CHART} show({{ {none} }});")
    expect(berlin.locator(".chart-empty")).to_have_text(re.compile("^No events from 28 Nov( 2026)? 08:00 to 18:00.$"))
    run(berlin, f"{CHART} show({{ {none}, empty: 'The last event was on 3 Sep 2024.' }});")
    expect(berlin.locator(".chart-empty")).to_have_text("The last event was on 3 Sep 2024.")
    expect(berlin.get_by_role("slider")).to_have_count(0)


def test_every_mark_is_in_reach(berlin: Page) -> None:
    """Also one whose name has no room; a promise of marks is drawn when it is kept."""
    marks = ", ".join(f"{{ at: '2026-11-28 08:0{at}:00', text: 'v{at}', href: '?view=overview' }}" for at in range(3))
    drawn(berlin, f"{{ marks: Promise.resolve([{marks}]) }}")
    found = berlin.locator(".mark")
    expect(found).to_have_count(3)
    short = berlin.locator(".mark-short")
    expect(short).to_have_count(2)
    short = short.first
    expect(short.locator(".mark-name")).to_be_hidden()
    short.focus()
    expect(short.locator(".mark-name")).to_be_visible()
    expect(short).to_have_accessible_name(re.compile(r"^v0, 28 Nov( 2026)? 09:00$"))
    berlin.get_by_role("link", name="v2").press("Enter")
    expect(berlin.get_by_role("heading", level=1)).to_have_text("Overview")


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_it_fits_its_place(berlin: Page, width: int) -> None:
    berlin.set_viewport_size({"width": width, "height": 900})
    plot = drawn(berlin)
    berlin.set_viewport_size({"width": width - 10, "height": 900})
    size = plot.bounding_box()
    assert size
    expect(plot.locator("svg")).to_have_attribute("viewBox", f"0 0 {round(size['width'])} {round(size['height'])}")
    assert berlin.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_no_accessibility_violations(browser: Any, deployment: Any, scheme: str) -> None:
    context = browser.new_context(bypass_csp=True, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{deployment.url}?view=setup")
    page.locator("#app:not([aria-busy]) h1").wait_for()
    marks = "[{ at: '2026-11-28 09:00:00', text: 'v1', href: '?x=1' }, { at: '2026-11-28 15:00:00', text: 'v2' }]"
    drawn(page, f"{{ marks: {marks}, before: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }}")
    page.get_by_text("Show as table").click()
    page.get_by_role("slider").press("End")
    found = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()


# -- where charts are


def test_days_of_an_issue_narrow_its_events(deployment: Any, open_page: Any) -> None:
    page = open_page(f"{deployment.url}?view=issue&id=1")
    plot = page.get_by_role("slider", name="Events per day, last 28 days")
    plot.press("End")
    plot.press("Enter")
    expect(page).to_have_url(re.compile(r"from=\d{4}-\d\d-\d\d\+00%3A00%3A00&to=\d{4}-\d\d-\d\d\+00%3A00%3A00"))
    expect(plot.locator(".picked")).to_have_count(1)
    plot.press("Escape")
    plot.press("Escape")
    expect(page).not_to_have_url(re.compile("from="))


def test_days_of_the_overview_lead_to_their_issues(deployment: Any, open_page: Any) -> None:
    page = open_page(f"{deployment.url}?view=overview")
    plot = page.get_by_role("slider", name="Events per day, last 30 days")
    plot.press("End")
    plot.press("Shift+ArrowLeft")
    plot.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Issues")
    expect(page.locator(".row").first).to_be_visible()

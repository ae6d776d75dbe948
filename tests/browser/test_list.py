"""The list of issues: what it shows, filters in the address, keyboard, choosing, live pill, empty states."""

import itertools
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from snaglist.kernel import times


def address(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def post(url: str, api: str, body: dict[str, object]) -> dict[str, object]:
    data = json.dumps(body).encode()
    with urlopen(Request(f"{url}?api={api}", data, {"Content-Type": "application/json"})) as answer:
        result: dict[str, object] = json.load(answer)
        return result


def test_rows_show_the_issue(page: Page) -> None:
    row = page.locator(".row").first
    expect(row.locator(".row-title")).to_have_text(re.compile("GatewayTimeout.*Order 4711 failed: gateway timeout"))
    expect(row.locator(".badge")).to_have_text("Error")
    expect(row.locator(".row-count b")).to_have_text("3")
    expect(row.locator(".chip")).to_have_text("Payments")
    expect(row.locator("time")).to_have_text(re.compile(r"^\d+m ago$"))
    assert re.fullmatch(r"\d{1,2} \w{3} \d{4}, \d\d:\d\d:\d\d UTC", row.locator("time").get_attribute("title") or "")
    assert row.locator(".spark path").get_attribute("d"), "the sparkline has no bar although events are new"


def test_the_list_fetches_what_it_shows_and_nothing_else(page: Page) -> None:
    """What the page names, and every question once: no waterfall, no form, dialog or palette."""
    page.wait_for_load_state("networkidle")
    files = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"
    fetched = [name.split("/", 3)[3] for name in page.evaluate(files) if name.startswith("/static/")]
    tags = "[...document.querySelectorAll('head link:not([rel=icon]), script[src]')]"
    named = f"{tags}.map((tag) => new URL(tag.href ?? tag.src).pathname)"
    files_of_the_list = {name.split("/", 3)[3] for name in page.evaluate(named)}
    assert {"dashboard/first.css", "dashboard/app.js", "dashboard/theme.js", "issues/list.js"} < files_of_the_list
    # The rows do not wait for the chart, nor for what would show a failure.
    behind = ("dashboard/widgets/chart", "issues/screens/activity", "dashboard/failure.js")
    late = {name for name in fetched if name.startswith(behind)}
    assert set(fetched) - late - {"dashboard/icon.svg"} == files_of_the_list  # a browser may have the icon already
    assert len(fetched) == len(set(fetched))
    requests = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).searchParams.get('api'))"
    asked = [name for name in page.evaluate(requests) if name]
    assert sorted(asked) == sorted(
        ["plugins", "applications", "errors", "issue-activity", "summary", "tags", "assignable-users", "jobs"]
    ), "each is asked for once"


def test_a_module_is_there_once(page: Page) -> None:
    """One with a state, asked for by its address, is the one that the page runs on; none is fetched twice."""
    page.evaluate(
        """async () => {
          const app = document.querySelector("script[type=module]").src;
          const { toast } = await import(new URL("widgets.js", app));
          toast("Said by its own address");
        }"""
    )
    expect(page.locator(".toasts")).to_have_count(1)
    expect(page.locator(".toast")).to_have_text("Said by its own address")
    page.locator(".row-title").first.click()
    expect(page.locator("h1")).to_be_focused()
    page.wait_for_load_state("networkidle")
    files = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)"
    fetched = [name.split("/", 3)[3] for name in page.evaluate(files) if name.endswith(".js")]
    assert {"dashboard/widgets/form.js", "issues/screens/issue.js", "issues/screens/triage.js"} <= set(fetched)
    assert len(fetched) == len(set(fetched))


def test_widgets_of_a_page_that_did_not_wait_for_them_come_late(page: Page) -> None:
    """`bare`: who draws a table or a form there all the same gets an element that is filled."""
    names = page.evaluate(
        """async () => {
          const { widgetKit } = await import(new URL("widgets.js", document.querySelector("script[type=module]").src));
          const ui = widgetKit(() => {});
          const made = () => [ui.table([{ name: "colour", label: "Colour" }], [{ id: 1, colour: "red" }]),
            ui.form({ label: "Paint", fields: [{ name: "coat", label: "Coat" }], save: () => {} })];
          const late = made();
          document.body.append(...late);
          await ui.dialog("Ready?", (close) => (queueMicrotask(close), "Yes"));
          return [...late, ...made()].map(({ nodeType, tagName }) => (nodeType ? tagName : "template"));
        }"""
    )
    assert names == ["DIV", "FORM", "template", "FORM"]
    expect(page.locator(".late td")).to_have_text("red")
    expect(page.get_by_role("form", name="Paint").get_by_label("Coat")).to_be_visible()


def test_text_of_logs_is_text(page: Page, deployment: Any) -> None:
    expect(page.locator(".row-title", has_text=deployment.hostile)).to_have_count(1)
    assert page.locator(".rows img").count() == 0


def test_tabs_count_and_filter(page: Page, deployment: Any) -> None:
    tabs = page.locator(".tab")
    expect(tabs.first).to_have_text(f"Unresolved {deployment.issues}")
    tabs.filter(has_text="Open").click()
    expect(tabs.filter(has_text="Open")).to_have_attribute("aria-current", "true")
    assert address(page)["status"] == "open"


def test_selects_write_the_address_and_a_reload_keeps_it(page: Page) -> None:
    page.get_by_label("Level", exact=True).select_option("CRITICAL")
    expect(page.locator(".row .badge").first).to_have_text("Critical")
    assert address(page) == {"severity": "CRITICAL"}
    page.get_by_label("Sort").select_option("oldest")
    page.reload()
    expect(page.get_by_label("Level", exact=True)).to_have_value("CRITICAL")
    expect(page.get_by_label("Sort")).to_have_value("oldest")
    assert set(page.locator(".row .badge").all_inner_texts()) == {"Critical"}


def test_back_returns_to_the_filters_before(page: Page) -> None:
    page.get_by_label("Level", exact=True).select_option("CRITICAL")
    expect(page.locator(".row .badge").first).to_have_text("Critical")
    page.go_back()
    expect(page.get_by_label("Level", exact=True)).to_have_value("")
    expect(page.locator(".row-title").first).to_contain_text("Order 4711")


def test_search_takes_tokens_and_words(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type('level:error tag:payments is:open "gateway timeout"')
    page.keyboard.press("Enter")
    expect(page.locator(".row")).to_have_count(1)
    assert address(page) == {"severity": "ERROR", "tag": "payments", "status": "open", "q": '"gateway timeout"'}


def test_unknown_tokens_are_words(page: Page) -> None:
    page.locator("#search").fill("level:loud")
    page.keyboard.press("Enter")
    expect(page.locator("h2", has_text="No issue matches")).to_be_visible()
    assert address(page) == {"q": "level:loud"}
    page.locator(".notice").get_by_role("link", name="Clear filters").click()
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator("#search")).to_have_value("")


@pytest.mark.parametrize(
    ("text", "parameters", "written"),
    [
        ("gateway  timeout", {"q": "gateway timeout"}, "gateway timeout"),
        ("LEVEL:Error level:critical", {"severity": "ERROR,CRITICAL"}, "level:error level:critical"),
        ('tag:"on call" is:fixed x', {"tag": "on call", "status": "fixed", "q": "x"}, 'tag:"on call" x'),
        ('"level:error" x', {"q": '"level:error" x'}, '"level:error" x'),
        ('"gateway timeout"', {"q": '"gateway timeout"'}, '"gateway timeout"'),
        (
            "stack:true user:jo stack:charge -user:ada",
            {"has_stack": "true", "q": "user:jo stack:charge -user:ada"},
            "stack:true user:jo stack:charge -user:ada",
        ),
        ('value:"52045" -payment 5204*', {"q": 'value:"52045" -payment 5204*'}, 'value:"52045" -payment 5204*'),
        ("is:toString is:constructor", {"q": "is:toString is:constructor"}, "is:toString is:constructor"),
        ("is:gone http://a.b/c", {"q": "is:gone http://a.b/c"}, "is:gone http://a.b/c"),
        ("env:staging release:v2.4.0", {"environment": "staging", "release": "v2.4.0"}, "env:staging release:v2.4.0"),
        ('50% "quoted" text', {"q": '50% "quoted" text'}, '50% "quoted" text'),
        ("", {}, ""),
    ],
)
def test_the_search_language(page: Page, text: str, parameters: dict[str, str], written: str) -> None:
    found, back = page.evaluate(
        """async (text) => {
          const shell = document.querySelector("script[type=module]").src;
          const { parse, compose } = await import(new URL("../issues/search.js", shell));
          const found = Object.fromEntries(Object.entries(parse(text)).filter(([, value]) => value !== null));
          return [found, compose(found)];
        }""",
        text,
    )
    assert (found, back) == (parameters, written)


def test_pages(page: Page, deployment: Any) -> None:
    expect(page.locator(".row")).to_have_count(50)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".row")).to_have_count(deployment.issues - 50)
    assert address(page) == {"page": "2"}
    page.get_by_role("link", name="Previous").click()
    expect(page.locator(".row")).to_have_count(50)
    assert address(page) == {}


def test_what_every_object_has_is_no_range_status_or_order(page: Page, deployment: Any) -> None:
    for name in ("toString", "constructor", "__proto__"):
        page.goto(f"{deployment.url}?range={name}")
        expect(page.locator(".row")).to_have_count(50)
        expect(page.get_by_label("Time", exact=True)).to_have_value("")


def test_ranges_count_back_from_now_and_mark_what_is_new_in_them(page: Page, deployment: Any) -> None:
    page.get_by_label("Time", exact=True).select_option(label="Last 7 days")
    expect(page.locator(".row").first.locator(".new")).to_have_attribute("title", "First seen in this time range")
    assert address(page) == {"range": "7d"}
    # The others have had events for four weeks.
    expect(page.locator(".row .new")).to_have_count(1)
    assert int(page.locator(".row-count b").nth(1).inner_text()) < 72


def test_any_two_dates_are_a_range(page: Page) -> None:
    page.get_by_label("Time", exact=True).select_option(label="From … to …")
    expect(page.get_by_label("From", exact=True)).to_be_focused()
    page.get_by_label("From", exact=True).fill("2001-02-03")
    page.get_by_label("From, time of day").fill("04:00")
    page.get_by_label("to", exact=True).fill("2001-02-04")
    page.get_by_label("to, time of day").fill("4:00")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.locator("h2", has_text="No issue matches")).to_be_visible()
    assert address(page) == {"from": "2001-02-03 04:00:00", "to": "2001-02-04 04:00:00"}
    expect(page.get_by_label("From", exact=True)).to_have_count(0)


def test_times_that_are_typed_stay_while_time_goes_on(open_page: Any, deployment: Any) -> None:
    """A range that counts back from now is another one with each minute; the form has the one that it began with."""
    page = open_page("about:blank")
    page.clock.install()
    page.goto(f"{deployment.url}?range=24h")
    page.get_by_label("Time", exact=True).select_option(label="From … to …")
    field = page.get_by_label("From, time of day")
    field.fill("4:30")
    expect(page.get_by_role("form", name=re.compile("^Time range"))).to_contain_text("UTC")
    page.route("**/*api=summary*", more_events)
    page.clock.run_for(120_000)
    expect(page.locator("main .live button")).to_be_visible()
    expect(field).to_have_value("4:30")


@pytest.mark.parametrize(
    ("typed", "offers"),
    [
        ("le", ["level:"]),
        ("gateway is:f", ["gateway is:fixed"]),
        ("level:e", ["level:emergency", "level:error"]),
        ("level:error tag:pay", ["level:error tag:Payments"]),
        ("tag:noi", ['tag:"Noise <b>"']),
        ("env:p", ["env:production"]),
        ("assignee:", ["assignee:none"]),
        ("plain words", []),
        ("", []),
    ],
)
def test_the_search_field_offers_what_may_follow(page: Page, typed: str, offers: list[str]) -> None:
    page.locator("#search").fill(typed)
    expect(page.locator("#search-offers option")).to_have_count(len(offers))
    values = [option.get_attribute("value") for option in page.locator("#search-offers option").all()]
    assert values == offers
    expect(page.locator("#search")).to_have_value(typed)


def test_a_tab_keeps_a_filter_whose_answer_has_not_come(page: Page) -> None:
    page.route("**/*api=errors*", lambda route: None)
    page.get_by_label("Level", exact=True).select_option("CRITICAL")
    page.locator(".tab", has_text="Open").click()
    page.wait_for_url("**/*status=open*")
    assert address(page) == {"severity": "CRITICAL", "status": "open"}


def test_the_newest_show_when_they_were_first_seen(page: Page, deployment: Any) -> None:
    """And what was first seen in the last 24 hours is marked, where not everything was."""
    page.get_by_label("Sort", exact=True).select_option(label="Newest issues")
    expect(page.locator(".age-head")).to_have_text("First seen")
    page.locator(".row").first.wait_for()
    with urlopen(f"{deployment.url}?api=errors&sort=first_seen&status=open,in_progress,reoccurred") as answer:
        first = [issue["first_seen"] for issue in json.load(answer)["data"]]
    assert first == sorted(first, reverse=True)
    expect(page.locator(".row-age ui-ago").first).to_have_attribute("at", first[0])
    recent = [at for at in first if at > times.add(times.now(), days=-1)]
    expect(page.locator('.row .new[title="First seen in the last 24 hours"]')).to_have_count(len(recent))
    page.get_by_label("Sort", exact=True).select_option(label="Last seen")
    expect(page.locator(".age-head")).to_have_text("Last seen")


def test_users_are_left_out_beside_the_events_of_a_range(page: Page, deployment: Any) -> None:
    """They are counted over all time; whoever sorts by them sees them, and that."""
    page.goto(f"{deployment.url}?range=7d")
    expect(page.locator(".row").first).to_be_visible()
    expect(page.locator(".users-head")).to_have_count(0)
    page.goto(f"{deployment.url}?range=7d&sort=users")
    expect(page.locator(".users-head")).to_have_text("Users ever")


def test_compact_rows_are_one_line_and_stay_so(page: Page) -> None:
    page.get_by_role("button", name="Compact").click()
    expect(page.get_by_role("button", name="Compact")).to_have_attribute("aria-pressed", "true")
    box = page.locator(".row").first.bounding_box()
    assert box and box["height"] <= 36
    page.reload()
    expect(page.locator(".rows-compact")).to_be_visible()


def test_what_is_new_since_the_last_visit_is_marked(page: Page, deployment: Any) -> None:
    expect(page.locator('.row .new[title="New since your last visit"]')).to_have_count(0)
    long_ago = "{ left: Date.now() - 3_600_000, before: null }"
    name = "`snaglist.issues:${location.pathname}::visit`"
    # Written when the page is left, so after what the page writes itself.
    page.evaluate(f"addEventListener('pagehide', () => localStorage.setItem({name}, JSON.stringify({long_ago})))")
    page.goto(f"{deployment.url}?q=order")
    expect(page.locator(".row .new")).to_have_text("New")
    expect(page.locator(".row .new")).to_have_attribute("title", "New since your last visit")
    page.reload()
    expect(page.locator(".row .new")).to_have_count(1)


def test_keyboard_moves_opens_and_comes_back(page: Page) -> None:
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    title = page.locator(".row-cursor .row-title").inner_text()
    assert "Order 4711" in title
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("Order 4711")
    assert address(page)["view"] == "issue"
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text("Issues")


def test_help_lists_the_shortcuts(page: Page) -> None:
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    for key in ("j", "k", "Enter", "x", "X", "e", "t", "s", "/", "u", "?", "g i"):
        expect(dialog.locator("kbd", has_text=re.compile(f"^{re.escape(key)}$"))).to_have_count(1)
    expect(dialog.locator("div", has=page.get_by_text("Esc", exact=True))).to_contain_text(
        ["Clear selection", "Exit field, close dialog"]
    )
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_keys_typed_into_a_field_are_text(page: Page) -> None:
    page.locator("#search").fill("")
    page.locator("#search").press_sequentially("jxe?")
    expect(page.locator("#search")).to_have_value("jxe?")
    expect(page.locator(".row-cursor, dialog")).to_have_count(0)


def test_e_fixes_and_undo_takes_it_back(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=queue lost its lock at noon")
    expect(page.locator(".row")).to_have_count(1)
    page.keyboard.press("j")
    expect(page.locator(".row-cursor")).to_have_count(1)
    page.keyboard.press("e")
    expect(page.locator(".row-cursor .row-status")).to_have_text("Fixed")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".row .row-status")).to_have_text("Open")
    page.reload()
    expect(page.locator(".row .row-status")).to_have_text("Open")


def test_e_leaves_what_is_fixed_as_it_is(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=queue lost its lock at noon&status=all")
    expect(page.locator(".row")).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".toast")).to_contain_text("1 issue set to fixed")
    page.keyboard.press("e")
    expect(page.locator(".toast").last).to_contain_text("1 issue already set to fixed")
    page.keyboard.press("Enter")
    page.locator("#history li").first.wait_for()
    page.keyboard.press("e")
    page.reload()
    expect(page.locator("#history li").first).to_contain_text("set it to Fixed (was Open)")
    page.get_by_role("button", name="Reopen").click()
    expect(page.locator("#history li").first).to_contain_text("set it to Open (was Fixed)")


def test_a_refused_change_is_rolled_back(page: Page, deployment: Any, watch: Any) -> None:
    watch.expect("403")
    refusal = json.dumps({"error": "Your role lacks the ability issues.write."})
    page.route("**/*api=bulk-issues*", lambda route: route.fulfill(status=403, body=refusal))
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".toast-error")).to_contain_text("Your role lacks the ability issues.write.")
    expect(page.locator(".row-cursor .row-status")).to_have_text("Open")


def test_x_and_shift_choose_and_the_bar_sets_the_status(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?q=queue")
    expect(page.locator(".row").nth(4)).to_be_visible()
    boxes = page.locator(".row-choice input")
    boxes.nth(0).click()
    boxes.nth(3).click(modifiers=["Shift"])
    expect(page.locator(".bulk b")).to_have_text("4 selected")
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator(".bulk b")).to_have_text("3 selected")
    page.locator(".bulk").get_by_role("button", name="In progress").click()
    expect(page.locator(".toast")).to_contain_text("3 issues set to in progress")
    expect(page.locator(".row-status", has_text="In progress")).to_have_count(3)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".row-status", has_text="In progress")).to_have_count(0)


@pytest.mark.parametrize("width", [1440, 768, 390])
def test_no_row_moves_when_the_chart_comes(open_page: Any, deployment: Any, width: int) -> None:
    page = open_page("about:blank", viewport={"width": width, "height": 900})
    held: list[Route] = []
    page.route("**/*api=issue-activity*", lambda route: held.append(route))
    page.goto(deployment.url)
    row = page.locator(".row").first
    row.wait_for()
    expect(page.locator(".tab").first).to_have_text(re.compile(r"\d"))
    before = row.bounding_box()
    for route in held:
        route.continue_()
    page.locator("ui-chart svg").first.wait_for()
    after = row.bounding_box()
    assert before and after and abs(after["y"] - before["y"]) < 1


def test_no_row_moves_when_the_bar_comes_and_goes(page: Page, deployment: Any) -> None:
    """Whoever chooses the next row at that moment must not hit another one."""
    page.goto(f"{deployment.url}?q=queue")
    page.locator("ui-chart svg").first.wait_for()
    row = page.locator(".row").nth(4)
    before = row.bounding_box()
    page.locator(".row-choice input").first.click()
    expect(page.locator(".bulk")).to_be_in_viewport(ratio=1)
    assert row.bounding_box() == before
    page.keyboard.press("Escape")
    expect(page.locator(".bulk")).to_have_count(0)
    assert row.bounding_box() == before


def test_the_bar_covers_nothing_on_a_phone(page: Page) -> None:
    """Not the row that has the focus; and the toast of a change stands above the bar."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".row-choice input").first.click()
    bar = page.locator(".bulk")
    for _ in range(30):
        page.keyboard.press("Tab")
        focused = page.locator(".row :focus").bounding_box()
        assert focused and focused["y"] + focused["height"] <= top(bar)
    page.locator(".bulk").get_by_role("button", name="In progress").click()
    toast = page.locator(".toast", has_text="1 issue set to in progress")
    expect(toast).to_be_visible()
    page.locator(".row-choice input").first.click()
    expect(bar).to_be_visible()
    shown = toast.bounding_box()
    assert shown and shown["y"] + shown["height"] <= top(bar)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".row-status", has_text="In progress")).to_have_count(0)


def top(element: Locator) -> float:
    box = element.bounding_box()
    assert box
    return box["y"]


def test_shift_x_chooses_up_to_the_row_and_escape_none(page: Page) -> None:
    for key in ("j", "x", "j", "j", "j", "Shift+X"):
        page.keyboard.press(key)
    expect(page.locator(".bulk b")).to_have_text("4 selected")
    page.keyboard.press("Escape")
    expect(page.locator(".bulk")).to_have_count(0)


def test_a_status_set_in_the_list_shows_in_the_tabs(page: Page, deployment: Any) -> None:
    page.goto(f"{deployment.url}?status=all&q=tax table is read only")
    expect(page.locator(".row").first).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".tab", has_text="Fixed").locator(".count")).to_have_text("1", timeout=10_000)
    expect(page.locator(".row-cursor .row-status")).to_have_text("Fixed")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".tab", has_text="Fixed").locator(".count")).to_have_text("0")


def test_nothing_blocks_typing(page: Page) -> None:
    """The list answers late: letters still arrive, the answer leaves them, and what was typed last is what shows."""
    page.route("**/*api=errors*", lambda route: None)
    page.locator("#search").fill("gateway")
    page.keyboard.press("Enter")
    page.locator("#search").press_sequentially(" timeout")
    expect(page.locator("#search")).to_have_value("gateway timeout")
    page.unroute("**/*api=errors*")  # which lets the first answer through
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator("#search")).to_have_value("gateway timeout")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"\?q=gateway\+timeout$"))
    page.go_back()
    expect(page.locator("#search")).to_have_value("gateway")


def test_the_bar_goes_with_the_rows_that_were_selected(empty_deployment: Any, open_page: Any) -> None:
    """A row that left the list is not acted on, nor is one in its place that nobody selected."""
    for number in range(3):
        post(empty_deployment.url, "issues", {"title": f"Invoice {number} is missing"})
    page = open_page("about:blank")
    page.clock.install()
    page.goto(empty_deployment.url)
    page.locator(".row").first.wait_for()
    page.keyboard.press("j")
    page.locator(".row-choice input").nth(1).click()
    expect(page.locator(".bulk b")).to_have_text("1 selected")
    fixed = page.locator(".row").nth(1).get_attribute("data-id")
    post(empty_deployment.url, "issue-status", {"id": int(fixed or 0), "status": "fixed"})
    page.route("**/*api=summary*", more_events)
    page.clock.run_for(6000)
    page.locator("main .live button").click()
    expect(page.locator(".row")).to_have_count(2)
    expect(page.locator(".bulk")).to_have_count(0)
    expect(page.locator(".row-cursor")).to_have_count(1)


def test_the_pill_tells_of_new_events_without_moving_rows(open_page: Any, deployment: Any) -> None:
    page = open_page("about:blank")
    page.clock.install()
    page.goto(deployment.url)
    expect(page.locator(".connection")).to_have_text("Live")
    before = page.locator(".row").first.inner_text()
    page.route("**/*api=summary*", more_events)
    page.clock.run_for(6000)
    expect(page.locator("main .live button")).to_have_text("5 new events")
    assert page.locator(".row").first.inner_text() == before
    page.locator("main .live button").click()
    expect(page.locator(".connection")).to_have_text("Live")


def more_events(route: Route, *, events: int = 5) -> None:
    response = route.fetch(headers={**route.request.headers, "if-none-match": ""})
    summary = response.json()
    summary["total"]["occurrences"] += events
    route.fulfill(response=response, json=summary)


def test_the_chart_is_asked_for_once_at_a_time(open_page: Any, deployment: Any) -> None:
    """A slow answer is waited for; what came meanwhile is asked for once, behind it."""
    page = open_page("about:blank")
    page.clock.install()
    held: list[Route] = []
    came = itertools.count(5, 5)
    page.route("**/*api=issue-activity*", lambda route: held.append(route))
    page.route("**/*api=summary*", lambda route: more_events(route, events=next(came)))
    page.goto(deployment.url)
    page.locator(".row").first.wait_for()
    for _ in range(4):
        with page.expect_response("**/*api=summary*"):
            page.clock.run_for(5000)
    assert len(held) == 1
    with page.expect_request("**/*api=issue-activity*"):
        held[0].continue_()
    page.clock.run_for(1)
    assert len(held) == 2


def test_the_chart_is_not_asked_for_again_while_nothing_is_new(open_page: Any, deployment: Any) -> None:
    page = open_page(deployment.url)
    page.clock.install()
    page.goto(deployment.url)
    expect(page.locator(".chart-label")).to_be_visible()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for _ in range(3):
        with page.expect_response("**/*api=summary*"):
            page.clock.run_for(6_000)
    assert not [url for url in asked if "issue-activity" in url]


def test_polling_asks_with_the_etag_and_rests_while_hidden(open_page: Any, deployment: Any) -> None:
    page = open_page("about:blank")
    page.clock.install()
    page.goto(deployment.url)
    expect(page.locator(".connection")).to_have_text("Live")
    statuses: list[int] = []
    page.on("response", lambda answer: statuses.append(answer.status) if "api=summary" in answer.url else None)
    for _ in range(3):
        with page.expect_response(lambda answer: "api=summary" in answer.url):
            page.clock.run_for(5100)
        page.wait_for_timeout(50)
    assert statuses[1:] == [304, 304]
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    seen = len(statuses)
    page.clock.run_for(60_000)
    assert len(statuses) == seen


def test_nothing_received_yet_shows_commands_for_this_deployment(empty_deployment: Any, open_page: Any) -> None:
    page = open_page(empty_deployment.url)
    expect(page.locator("h2").first).to_have_text("Nothing received yet")
    command = page.get_by_label("Request that creates an issue").inner_text()
    assert f"'{empty_deployment.url}?api=issues'" in command
    expect(page.locator("main")).to_contain_text("applications/default/logs")


def test_the_shown_request_creates_an_issue(empty_deployment: Any, open_page: Any) -> None:
    page = open_page(empty_deployment.url)
    command = page.get_by_label("Request that creates an issue").inner_text()
    found = re.fullmatch(r"curl -H 'Content-Type: application/json' -d '(.*)' '(.*)\?api=(.*)'", command)
    assert found, command
    post(found[2], found[3], json.loads(found[1]))
    expect(page.locator(".row-title")).to_have_text(re.compile("First issue from curl"), timeout=15_000)


def test_the_application_is_part_of_the_address(empty_deployment: Any, open_page: Any) -> None:
    post(empty_deployment.url, "applications", {"name": "Shop"})
    post(empty_deployment.url, "issues&app=shop", {"title": "Only in the shop"})
    page = open_page(empty_deployment.url)
    expect(page.locator("h2").first).to_have_text("Nothing received yet")
    page.get_by_label("Application").select_option("shop")
    expect(page.locator(".row-title")).to_have_text(re.compile("Only in the shop"))
    assert address(page) == {"app": "shop"}
    page.locator(".row-title").click()
    expect(page.locator("h1")).to_contain_text("Only in the shop")
    assert address(page)["app"] == "shop"


@pytest.mark.parametrize("query", ["?view=nothing", "?severity=LOUD", "?view=issue&id=999999"])
def test_bad_addresses_show_what_is_wrong(open_page: Any, deployment: Any, watch: Any, query: str) -> None:
    watch.expect("status of (404|422)")
    page = open_page(deployment.url + query)
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_visible()


@pytest.mark.parametrize(
    "query", ["date=9999-12-31", "date=0001-01-01", "from=0001-01-01&to=9999-12-31", "from=9999-12-31"]
)
def test_ranges_at_the_ends_of_the_calendar(open_page: Any, deployment: Any, query: str) -> None:
    """The page stands, and writes nothing to the console."""
    page = open_page(f"{deployment.url}?{query}")
    expect(page.locator("main h1").first).to_be_visible()
    expect(page.locator("[aria-busy]")).to_have_count(0)

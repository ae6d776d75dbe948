"""Files by hand: chosen or dropped, on the setup page and anywhere; from an empty installation to its first issue."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

OpenPage = Callable[..., Page]
LINES = 400
DROP = """({ files, kinds, on }) => {
  const data = new DataTransfer();
  const lastModified = 1767434400000;
  for (const { name, text, type = "" } of files) data.items.add(new File([text], name, { type, lastModified }));
  return kinds.map((kind) => {
    const event = new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true });
    document.querySelector(on).dispatchEvent(event);
    return event.defaultPrevented;
  });
}"""


def written(lines: int = LINES) -> str:
    """A log with two kinds of errors, and lines that are none."""
    at = datetime.now(UTC) - timedelta(hours=2)
    texts = ("ERROR: Payment {} declined", "WARNING: Stock of {} is low", "INFO: Order {} paid", "INFO: Order {} sent")
    return "".join(
        f"[{at + timedelta(seconds=number):%Y-%m-%d %H:%M:%S}] production.{texts[number % 4].format(1000 + number)}\n"
        for number in range(lines)
    )


def dropped(
    page: Page,
    *files: dict[str, str],
    kinds: tuple[str, ...] = ("dragenter", "dragover", "drop"),
    on: str = "main, #app",
) -> list[bool]:
    prevented: list[bool] = page.evaluate(DROP, {"files": list(files), "kinds": list(kinds), "on": on})
    return prevented


def uploads(page: Page) -> Any:
    return page.get_by_role("region", name="Uploads")


def test_from_zero_to_the_first_issue_without_a_shell(
    open_page: OpenPage, empty_deployment: Any, tmp_path: Path
) -> None:
    page = open_page(empty_deployment.url)
    log = tmp_path / "shop.log"
    log.write_text(written())
    page.get_by_label("Choose log files").set_input_files(log)
    expect(uploads(page)).to_contain_text("400 entries · 2 issues · 200 skipped (below Warning)")
    uploads(page).get_by_role("link", name="See the issues").click()
    expect(page.locator(".row")).to_have_count(2)
    page.get_by_role("link", name="Payment", exact=False).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Payment")


def test_the_ways_on_show_issues_of_every_status(open_page: OpenPage, empty_deployment: Any) -> None:
    page = open_page(f"{empty_deployment.url}?view=setup")
    page.get_by_label("Choose log files").wait_for(state="attached")
    dropped(page, {"name": "shop.log", "text": written()})
    every = re.compile("[?&]status=all")
    expect(uploads(page).get_by_role("link", name="See the issues")).to_have_attribute("href", every)
    page.goto(f"{empty_deployment.url}?view=sources")
    row = page.get_by_role("row", name="shop.log")
    expect(row.get_by_role("link", name="100", exact=True)).to_have_attribute("href", every)  # the errors


def test_the_empty_home_turns_into_the_list_of_issues(empty_deployment: Any, open_page: OpenPage) -> None:
    page = open_page(empty_deployment.url)
    page.get_by_label("Choose log files").wait_for(state="attached")
    dropped(page, {"name": "shop.log", "text": written()})
    expect(page.locator(".row")).to_have_count(2)
    expect(uploads(page)).to_contain_text("2 issues")  # what was found stays in sight
    uploads(page).get_by_role("button", name="Close").click()
    expect(uploads(page)).to_have_count(0)


def test_the_drop_folder_is_named_to_be_copied(empty_deployment: Any, open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(f"{empty_deployment.url}?view=setup")
    folder = page.locator("[data-panel='logs.drop'] code")
    expect(folder).to_have_text(str((tmp_path / "data" / "applications" / "default" / "logs").resolve()))
    expect(page.locator("ui-copy", has_text="Copy path")).to_have_attribute("text", folder.inner_text())


def test_files_are_chosen_by_keyboard(empty_deployment: Any, open_page: OpenPage) -> None:
    page = open_page(f"{empty_deployment.url}?view=setup")
    page.get_by_label("Choose log files").focus()
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    assert chooser.value.is_multiple()
    chooser.value.set_files({"name": "shop.log", "mimeType": "text/plain", "buffer": written(8).encode()})
    expect(uploads(page)).to_contain_text("8 entries")


@pytest.fixture(scope="module")
def page_url(deployment: Any) -> Iterator[str]:
    yield deployment.url


@pytest.mark.parametrize("view", ["", "?view=jobs", "?view=nothing"])
def test_a_drop_anywhere_is_read_and_never_leaves_the_dashboard(
    open_page: OpenPage, page_url: str, view: str, watch: Any
) -> None:
    page = open_page(f"{page_url}{view}")
    page.locator("h1").wait_for()
    address = page.url
    assert dropped(page, {"name": "a.log", "text": "x"}, kinds=("dragenter", "dragover")) == [True, True]
    expect(page.get_by_text("Drop files to read them")).to_be_visible()
    name = f"drop{len(view)}.log"
    assert dropped(page, {"name": name, "text": written(4).replace("Payment", name)}, kinds=("drop",)) == [True]
    expect(page.get_by_text("Drop files to read them")).to_have_count(0)
    expect(uploads(page)).to_contain_text("4 entries")
    assert page.url == address


def test_the_words_over_the_page_go_when_the_files_leave(open_page: OpenPage, page_url: str) -> None:
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    dropped(page, {"name": "a.log", "text": "x"}, kinds=("dragenter",))
    page.get_by_text("Drop files to read them").wait_for()
    dropped(page, {"name": "a.log", "text": "x"}, kinds=("dragleave",))
    expect(page.get_by_text("Drop files to read them")).to_have_count(0)


def test_text_that_is_dragged_is_left_alone(open_page: OpenPage, page_url: str) -> None:
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    assert dropped(page, kinds=("dragenter", "dragover", "drop")) == [False] * 3


@pytest.mark.parametrize("kind", ["box", "zone"])
def test_files_for_another_control_are_left_to_it(open_page: OpenPage, page_url: str, kind: str) -> None:
    """A box for files, and a zone of somebody's own that takes what is dropped on it."""
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    page.evaluate(
        """(kind) => {
          const control = document.createElement(kind === "box" ? "input" : "div");
          control.id = "theirs";
          if (kind === "box") control.type = "file";
          const take = (event) => kind === "zone" && event.preventDefault();
          for (const name of ["dragover", "drop"]) control.addEventListener(name, take);
          document.querySelector("main").append(control);
        }""",
        kind,
    )
    dropped(page, {"name": "app.js.map", "text": "{}"}, kinds=("dragenter",))
    page.get_by_text("Drop files to read them").wait_for()
    prevented = dropped(page, {"name": "app.js.map", "text": "{}"}, kinds=("dragover", "drop"), on="#theirs")
    assert prevented == [kind == "zone"] * 2
    expect(page.get_by_text("Drop files to read them")).to_have_count(0)
    dropped(page, {"name": "empty.log", "text": ""})
    expect(uploads(page).get_by_role("listitem")).to_have_text(re.compile("empty.log"))  # and nothing else


def test_what_is_no_log_is_said_and_can_be_read_all_the_same(open_page: OpenPage, page_url: str, watch: Any) -> None:
    watch.expect("422")
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    dropped(
        page,
        {"name": "photo.png", "text": "PNG", "type": "image/png"},
        {"name": "till.txt", "text": written(4).replace("Payment", "Till"), "type": "text/plain"},
        {"name": "empty.log", "text": ""},
    )
    lines = uploads(page).get_by_role("listitem")
    expect(lines.nth(0)).to_contain_text("The name is not that of a log: names of logs end in .log")
    expect(lines.nth(0).get_by_role("button")).to_have_count(0)
    expect(lines.nth(2)).to_contain_text("The file is empty.")
    lines.nth(1).get_by_role("button", name="Read it as a log").click()
    expect(lines.nth(1)).to_contain_text("till.txt.log")
    expect(lines.nth(1)).to_contain_text("4 entries")


def test_progress_shows_and_a_file_is_cancelled(open_page: OpenPage, page_url: str) -> None:
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    deleted: list[str] = []
    held: list[Route] = []

    def hold(route: Route) -> None:
        """Let the second piece wait until there was time to look."""
        if route.request.method == "DELETE":
            deleted.append(route.request.url)
        if not held and "upload=" in route.request.url:
            held.append(route)
        else:
            route.continue_()

    page.route("**/?*api=uploads*", hold)
    dropped(page, {"name": "large.log", "text": "x" * 3_000_000}, {"name": "next.log", "text": written(4)})
    bar = uploads(page).get_by_role("progressbar", name="Uploading large.log")
    bar.wait_for()
    page.wait_for_function("() => document.querySelector('.uploads progress')?.value > 0")
    expect(uploads(page).get_by_role("listitem").nth(1)).to_contain_text("Waiting")
    uploads(page).get_by_role("button", name="Cancel large.log").click()
    expect(uploads(page)).to_contain_text("Cancelled")
    held[0].continue_()
    expect(uploads(page).get_by_role("listitem").nth(1)).to_contain_text("4 entries")
    assert len(deleted) == 1


def test_a_file_that_came_whole_before_it_was_cancelled_is_read(open_page: OpenPage, page_url: str) -> None:
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    held: list[Route] = []
    page.route(
        "**/?*api=uploads*", lambda route: held.append(route) if "size=" in route.request.url else route.continue_()
    )
    with page.expect_request(lambda request: "size=" in request.url):
        dropped(page, {"name": "late.log", "text": written(4).replace("Payment", "Late")})
    uploads(page).get_by_role("button", name="Cancel late.log").click()
    expect(uploads(page)).to_contain_text("Cancelled")
    held[0].continue_()
    expect(uploads(page)).to_contain_text("4 entries")
    expect(uploads(page)).not_to_contain_text("Cancelled")


def test_a_lost_connection_is_said_and_the_file_goes_on(open_page: OpenPage, page_url: str, watch: Any) -> None:
    watch.expect("ERR_FAILED")
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    lost = 0

    def lose(route: Route) -> None:
        nonlocal lost
        lost += route.request.method == "POST"
        if route.request.method == "POST" and lost == 2:
            route.abort()
        else:
            route.continue_()

    page.route("**/?*api=uploads*", lose)
    dropped(page, {"name": "again.log", "text": written(6000).replace("Payment", "Refund")})
    expect(uploads(page)).to_contain_text("no connection, trying again")
    expect(uploads(page)).to_contain_text("6,000 entries")


def test_a_lost_answer_to_the_last_piece_is_no_error(open_page: OpenPage, page_url: str, watch: Any) -> None:
    """The file is in place by then, and no part of it is left: it is sent anew, and nothing is read twice."""
    watch.expect("ERR_FAILED|status of 404")
    page = open_page(page_url)
    page.locator(".row").first.wait_for()
    lost: list[str] = []

    def lose(route: Route) -> None:
        if route.request.method != "POST":
            return route.continue_()
        answer = route.fetch()
        if answer.status == 202 and not lost:
            lost.append(route.request.url)
            return route.abort()
        route.fulfill(response=answer)

    page.route("**/?*api=uploads*", lose)
    dropped(page, {"name": "twice.log", "text": written(6000).replace("Payment", "Parcel")})
    expect(uploads(page)).to_contain_text("no connection, trying again")
    expect(uploads(page)).to_contain_text("already read: nothing new in it")
    found = page.request.get(f"{page_url.split('?')[0]}?api=errors&q=Parcel").json()["data"]
    assert [issue["count"] for issue in found] == [1500]


def test_a_drop_is_refused_in_words_where_nothing_may_be_uploaded(
    open_page: OpenPage, tmp_path: Path, servers: Any
) -> None:
    reason = "Uploads are switched off on this service"
    with servers.served(tmp_path / "data", SERVICE_INGESTION_MAX_UPLOAD_BYTES="0") as url:
        page = open_page(f"{url}?view=setup")
        expect(page.locator("[data-panel='logs.drop']")).to_contain_text(reason)
        expect(page.get_by_label("Choose log files")).to_have_count(0)
        dropped(page, {"name": "a.log", "text": "x"}, kinds=("dragenter",))
        expect(page.get_by_text("Files cannot be read here")).to_be_visible()
        dropped(page, {"name": "a.log", "text": "x"}, kinds=("drop",))
        expect(uploads(page)).to_contain_text(reason)
        page.context.close()

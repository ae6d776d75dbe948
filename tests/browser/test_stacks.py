"""The stack of an event: code beside frames, what is folded, the order of the calls."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

LIBRARY = """\
  File "/usr/lib/python3/site-packages/web/{name}.py", line {line}, in {name}
    return self.next(request)
"""
CYCLE = """\
  File "/srv/shop/tree.py", line 9, in left
    return right(node.left)
  File "/srv/shop/tree.py", line 14, in right
    return left(node.right)
"""
AGAIN = """\
  File "/srv/shop/tree.py", line 50, in walk
    return walk(node.next)
"""
LOG = (
    """\
2026-01-03 10:00:00 ERROR tree walk failed
Traceback (most recent call last):
  File "/srv/shop/views.py", line 20, in show
    return render(build(tree))
"""
    + "".join(LIBRARY.format(name=name, line=at) for at, name in enumerate(("session", "route", "guard"), 5))
    + CYCLE * 4
    + AGAIN * 3
    + """\
  [Previous line repeated 978 more times]
RecursionError: maximum recursion depth exceeded
"""
)


@pytest.fixture(scope="module")
def deep(servers: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page of an issue with a deep stack."""
    folder: Path = tmp_path_factory.mktemp("deep")
    (folder / "app.log").write_text(LOG, encoding="utf-8")
    servers.run("import", str(folder / "app.log"), data=folder / "data")
    with servers.served(folder / "data") as url:
        yield f"{url}?view=issue&id=1"


def lines(page: Page) -> list[str]:
    """What each visible row of the stack begins with: the name of the frame, or what is said of a fold."""
    rows = page.locator(".frames > li:visible")
    return [row.locator("summary, .frame-link + .mono").first.inner_text() for row in rows.all()]


def test_what_says_little_is_folded(deep: str, open_page: Any) -> None:
    page = open_page(deep)
    expect(page.locator(".frame-raising")).to_contain_text("return walk(node.next)")
    folded = ["walk", "recurses 981 times", "right", "left", "these 2 frames recur 4 times", "3 library frames", "show"]
    assert lines(page) == folded
    page.get_by_text("3 library frames").click()
    page.get_by_text("recurses 981 times").click()
    assert lines(page) == ["walk", folded[1], "walk", "walk", *folded[2:6], "guard", "route", "session", "show"]
    page.get_by_text("these 2 frames recur 4 times").click()
    expect(page.locator(".frame-line:visible")).to_have_count(15)


def test_the_order_of_the_calls_is_remembered(deep: str, open_page: Any) -> None:
    page = open_page(deep)
    page.get_by_label("Stack order").select_option("Innermost last")
    turned = ["show", "3 library frames", "left", "right", "these 2 frames recur 4 times", "walk", "recurses 981 times"]
    assert lines(page) == turned
    page.reload()
    expect(page.get_by_label("Stack order")).to_have_value("last")
    assert lines(page) == turned
    expect(page.locator(".frame-raising")).to_contain_text("walk")
    page.get_by_label("Stack order").select_option("Innermost first")
    assert lines(page)[0] == "walk"


def test_a_link_to_a_folded_call_opens_the_fold(deep: str, open_page: Any) -> None:
    page = open_page(f"{deep}&frame=0.5")
    expect(page.locator(".frame-target")).to_be_visible()
    expect(page.locator(".frame-target")).to_contain_text(re.compile("right|left"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_has_no_accessibility_violations(deep: str, browser: Any, scheme: str) -> None:
    context = browser.new_context(bypass_csp=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(deep)
    page.get_by_text("these 2 frames recur 4 times").click()
    found = Axe().run(page)
    context.close()
    assert found.violations_count == 0, found.generate_report()

"""The template runtime, tested where it runs: each test is a piece of JavaScript in a page of the dashboard."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page

SETUP = """
const at = document.querySelector('script[type=module]').src.replace('app.js', 'dom.js');
const { html, keyed, render } = await import(at);
const box = document.createElement('div');
document.body.append(box);
const failure = (run) => { try { run(); return null; } catch (error) { return error.message; } };
"""


@pytest.fixture
def run(page: Page) -> Any:
    """Run JavaScript that has `html`, `keyed`, `render`, `box` and `failure`, and return its result."""
    return lambda code: page.evaluate(f"async () => {{ {SETUP} {code} }}")


def test_text_and_attributes_are_never_markup(run: Any) -> None:
    hostile = json.dumps("\"><img src=x onerror=alert(1)> & '")
    text, title, images = run(f"""
      render(html`<p title=${{{hostile}}}>${{{hostile}}}</p>`, box);
      const p = box.querySelector('p');
      return [p.textContent, p.title, box.querySelectorAll('img').length];
    """)
    assert [text, title, images] == [json.loads(hostile), json.loads(hostile), 0]


def test_a_second_render_updates_the_same_nodes(run: Any) -> None:
    assert run("""
      const view = (n) => html`<p class=${'c' + n}><b>${n}</b> of ${10}</p>`;
      render(view(1), box);
      const [p, b] = [box.querySelector('p'), box.querySelector('b')];
      render(view(2), box);
      return [box.querySelector('p') === p, box.querySelector('b') === b, p.className, p.textContent];
    """) == [True, True, "c2", "2 of 10"]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("'a', html`<b>b</b>`, null, 'c'", ["a", "b", "", "c"]),
        ("html`<b>b</b>`, html`<i>i</i>`, html`<b>c</b>`", ["b", "i", "c"]),
        ("['x', html`<b>y</b>`], [], 'z', ['w']", ["xy", "", "z", "w"]),
        ("document.createTextNode('node'), 'text', document.createElement('hr'), 0", ["node", "text", "", "0"]),
        ("keyed(['a', 'b'], (v) => v, (v) => v), html`<b>b</b>`, false, true, undefined", ["ab", "b", "", "", ""]),
        ("html`${html`${html`deep`}`}`, html`${'flat'}`", ["deep", "flat"]),
    ],
)
def test_a_hole_changes_what_it_shows(run: Any, values: str, expected: list[str]) -> None:
    assert (
        run(f"""
      const shown = [];
      for (const value of [{values}]) {{
        render(html`<p>[${{value}}]</p>`, box);
        shown.push(box.textContent.slice(1, -1));
      }}
      return shown;
    """)
        == expected
    )


def test_attributes_come_and_go(run: Any) -> None:
    assert run("""
      const view = (a, b) => html`<a href=${a} ?hidden=${b}></a>`;
      return [['?x', true], [null, false], ['', 1], [false, 0], [true, 0], [undefined, null]].map(([a, b]) => {
        render(view(a, b), box);
        const link = box.querySelector('a');
        return [link.getAttribute('href'), link.hidden];
      });
    """) == [["?x", True], [None, False], ["", True], [None, False], ["", False], [None, False]]


def test_quoted_and_unquoted_holes_mean_the_same(run: Any) -> None:
    assert (
        run("""
      render(html`<p id="${'a b'}" title='${'c'}' lang=${'de'}>x</p>`, box);
      return box.innerHTML.replaceAll(/<!--.*?-->/g, '');
    """)
        == '<p id="a b" title="c" lang="de">x</p>'
    )


def test_properties_are_written_only_when_the_state_changes(run: Any) -> None:
    assert run("""
      const view = (value) => html`<input .value=${value}>`;
      render(view('state'), box);
      const input = box.querySelector('input');
      input.value = 'typed';
      render(view('state'), box);
      const kept = input.value;
      render(view('new'), box);
      return [kept, input.value];
    """) == ["typed", "new"]


def test_a_select_takes_a_value_that_its_options_offer(run: Any) -> None:
    assert (
        run("""
      const options = ['a', 'b', 'c'].map((id) => html`<option value=${id}>${id}</option>`);
      render(html`<select .value=${'b'}>${options}</select>`, box);
      return box.querySelector('select').value;
    """)
        == "b"
    )


def test_a_listener_is_replaced_not_added(run: Any) -> None:
    assert run("""
      const seen = [];
      for (const name of ['first', 'second']) render(html`<button @click=${() => seen.push(name)}>x</button>`, box);
      box.querySelector('button').click();
      render(html`<button @click=${null}>x</button>`, box);
      box.querySelector('button').click();
      return seen;
    """) == ["second"]


def test_vars_set_custom_properties_without_a_style_attribute(run: Any) -> None:
    assert (
        run("""
      render(html`<i vars=${{ '--tag': '#123456' }}></i>`, box);
      return box.querySelector('i').style.getPropertyValue('--tag');
    """)
        == "#123456"
    )


def test_keyed_items_keep_their_nodes_in_any_order(run: Any) -> None:
    """300 random lists in a row: order right, and every key that stays keeps its element."""
    assert (
        run("""
      let seed = 7;
      const random = (n) => (seed = (seed * 48271) % 2147483647) % n;
      let nodes = new Map();
      for (let round = 0; round < 300; round += 1) {
        const keys = [...Array(12).keys()].filter(() => random(2)).sort(() => random(3) - 1);
        const item = (k) => html`<li data-k=${k}>${k}</li>${k % 3 ? '' : '!'}`;
        render(html`<ul><li>head</li>${keyed(keys, (k) => k, item)}<li>tail</li></ul>`, box);
        const items = [...box.querySelectorAll('[data-k]')];
        const text = 'head' + keys.map((k) => (k % 3 ? `${k}` : `${k}!`)).join('') + 'tail';
        if (box.textContent !== text) return `round ${round}: ${box.textContent} instead of ${text}`;
        const lost = items.find((item) => nodes.has(item.dataset.k) && nodes.get(item.dataset.k) !== item);
        if (lost) return `round ${round}: key ${lost.dataset.k} got another element`;
        nodes = new Map(items.map((item) => [item.dataset.k, item]));
      }
      return 'fine';
    """)
        == "fine"
    )


def test_focus_survives_a_move(run: Any) -> None:
    assert (
        run("""
      const view = (keys) => keyed(keys, (k) => k, (k) => html`<input id=${'f' + k}>`);
      render(view([1, 2, 3]), box);
      box.querySelector('#f3').focus();
      render(view([3, 1, 2]), box);
      return document.activeElement.id;
    """)
        == "f3"
    )


def test_an_element_that_moved_to_another_hole_stays(run: Any) -> None:
    assert (
        run("""
      const [a, b, c] = ['a', 'b', 'c'].map((name) => document.createElement('i'));
      [a, b, c].forEach((element, at) => (element.textContent = 'abc'[at]));
      render(html`<p>${[a, b]}</p>`, box);
      render(html`<p>${[b, c]}</p>`, box);
      return box.textContent;
    """)
        == "bc"
    )


def test_custom_elements_do_not_shift_the_holes(run: Any) -> None:
    assert (
        run("""
      customElements.define('t-grow', class extends HTMLElement { connectedCallback() { this.append('grown'); } });
      render(html`<t-grow></t-grow><b>${'after'}</b>`, box);
      return box.querySelector('b').textContent;
    """)
        == "after"
    )


def test_rows_of_a_table_can_be_templates(run: Any) -> None:
    assert (
        run("""
      render(html`<table><tbody>${[1, 2].map((n) => html`<tr><td>${n}</td></tr>`)}</tbody></table>`, box);
      return box.querySelectorAll('tbody > tr > td').length;
    """)
        == 2
    )


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("html`<a onclick=${'x'}></a>`", '"onclick" cannot be set'),
        ("html`<a style=${'x'}></a>`", '"style" cannot be set'),
        ("html`<iframe srcdoc=${'x'}></iframe>`", '"srcdoc" cannot be set'),
        ("html`<a class=\"b ${'x'}\"></a>`", "whole attribute value"),
        ("html`<a class=\"${'x'} b\"></a>`", "whole attribute value"),
        ("html`<a ${'x'}></a>`", "whole attribute value"),
        ("html`<a href=${'x'}y></a>`", "whole attribute value"),
        ("html`<textarea>${'x'}</textarea>`", "where markup is not read"),
        ("keyed([1, 1], (v) => v, (v) => v)", "two items have the key 1"),
    ],
)
def test_mistakes_are_named(run: Any, template: str, message: str) -> None:
    assert message in run(f"return failure(() => render({template}, box));")


def test_first_render_replaces_what_was_there(run: Any) -> None:
    assert run("box.textContent = 'skeleton'; render('real', box); return box.textContent;") == "real"

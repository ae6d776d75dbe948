"""Joining browser modules: what it makes, and that it refuses what it cannot make."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from snaglist.plugins.dashboard.joining import NotJoinable, alias, join, link, read

AT = "dashboard/all.js"
ENTRY = "shop/shop.js"
ROOT = Path(__file__).parents[3]
# As they are written in the dashboard: default and named, under another name, whole, for the effect, over lines.
SOURCES = {
    ENTRY: """// The shop.

import basket, { empty, fill as put } from "./basket/basket.js";
import { price } from "./price.js";
import * as words from "./words.js";
import "./effect.js";
import {
  rate,
  unit as one,
} from "./tax.js";

const total = price(2) + rate;

export default (ui) => {
  ui.said.push(basket(put(empty)), total, words.name, words.Word.name, one);
  ui.load = () => import("./screens/pay.js");
  ui.later = (id) => import(`./screens/${id}.js`);
};
""",
    "shop/basket/basket.js": """import { price } from "../price.js";

export const empty = [];
export function fill(items) {
  return [...items, price(1)];
}

export default (items) => `${items.length} in ${total()}`;

const total = () => "the basket";
""",
    "shop/price.js": """export const price = (count) => count * 3;

const total = 0;
globalThis.order?.push(`price ${total}`);
""",
    "shop/tax.js": "export const rate = 1, other = 2;\nexport const unit = 7;\n",
    "shop/words.js": 'export const name = "shop";\nexport class Word {}\nexport async function later() {}\n',
    "shop/effect.js": 'globalThis.order?.push("effect");\n',
}


def joined(**changes: str) -> str:
    """Join the shop with some modules changed, by the name of the file."""
    return join(SOURCES | {f"shop/{name}.js": text for name, text in changes.items()}, [ENTRY], AT)[0]


def refused(text: str) -> str:
    """What is said of a module of this text."""
    with pytest.raises(NotJoinable) as failure:
        joined(words=text)
    return str(failure.value)


def test_each_module_is_a_block_after_those_that_it_imports() -> None:
    text, modules = join(SOURCES, [ENTRY], AT)
    assert list(modules) == [
        "shop/price.js",
        "shop/basket/basket.js",
        "shop/words.js",
        "shop/effect.js",
        "shop/tax.js",
        ENTRY,
    ]
    assert re.findall(r"^// (\S+[.]js)$", text, re.MULTILINE) == list(modules)
    assert "const { default: basket, empty, fill: put } = $shop_basket_basket;" in text
    assert "const words = $shop_words;" in text
    assert "$shop_words = { name, Word, later };" in text
    assert 'import("../shop/screens/pay.js")' in text
    assert "import(`../shop/screens/${id}.js`)" in text
    assert text == join(SOURCES, [ENTRY], AT)[0]


def test_it_runs_as_the_modules_do(tmp_path: Path) -> None:
    """Run side by side: the files themselves, the joined file, and a file of its own that takes from the joined one."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    text, modules = join(SOURCES, [ENTRY], AT)
    told = {}
    for kind in ("files", "joined"):
        for name, source in {**SOURCES, "shop/screens/pay.js": PAY}.items():
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            module = modules.get(name)
            changed = alias(module, AT) if module else link(name, source, modules, AT)
            path.write_text(source if kind == "files" else changed)
        (tmp_path / kind / "package.json").write_text('{"type": "module"}')
        if kind == "joined":
            (tmp_path / kind / "dashboard").mkdir()
            (tmp_path / kind / AT).write_text(text)
        (tmp_path / kind / "main.js").write_text(MAIN)
        ran = subprocess.run([node, "main.js"], cwd=tmp_path / kind, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        told[kind] = ran.stdout
    assert told["files"] == told["joined"]
    assert told["files"].splitlines() == [
        '["1 in the basket",7,"shop","Word",7]',
        '["price 0","effect"]',
        "pays 3 true",
    ]


PAY = """import { empty } from "../basket/basket.js";
import { price } from "../price.js";

export default (same) => `pays ${price(1)} ${same === empty}`;
"""
MAIN = """globalThis.order = [];
const { default: shop } = await import("./shop/shop.js");
const ui = { said: [] };
shop(ui);
console.log(JSON.stringify(ui.said));
console.log(JSON.stringify(globalThis.order));
const { empty } = await import("./shop/basket/basket.js");
console.log((await ui.later("pay")).default(empty));
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("const a = 1;\rexport const name = 1;", "line ends of another kind"),
        ("\ufeffexport const name = 1;", "line ends of another kind"),
        ("var name = 1;", "has var"),
        ('import price, * as all from "./price.js";', "in two ways at once"),
        ('export * from "./price.js";', "another form"),
        ('export { price } from "./price.js";', "another form"),
        ("const name = 1;\nexport { name };", "another form"),
        ("export let name = 1;", "another form"),
        ("export const { name } = {};", "another form"),
        ("export default function words() {}", "another form"),
        ("export default class {}", "another form"),
        ('import words from "words";', "another form"),
        ("import words from './price.js';", "another form"),
        ('import { price } from "./price.js"', "another form"),
        ('const text = `\nexport const name = "";\n`;', "in a text or a template"),
        ('const name = await fetch("?");', "awaits at the top"),
        ("await 0;", "awaits at the top"),
        ("const f = async () => await 0;\nawait f();", "awaits at the top"),
        ("if (document) { var name = 1; }", "has var"),
        ("const $default = 1;", "begins with $"),
        ('const name = 1;\nimport { price } from "./price.js";', "an import behind other code"),
        ('const paths = `import("./a.js")`;', "in a text or a template"),
        ("export function name() {}\nname = () => 1;", "name seems to be assigned anew"),
        ("export class name {}\nconst off = () => { name ??= null; };", "name seems to be assigned anew"),
        ("export function name() {}\n[name] = [1];", "name seems to be assigned anew"),
        ("export function name() {}\n({ a: { name } } = { a: {} });", "name seems to be assigned anew"),
        ("export function name() {}\nfor (name of []) {}", "name seems to be assigned anew"),
        ("const a = {} / 1;", "cannot be read for sure: a slash behind }"),
        ("export const name = await 0;", "awaits at the top"),
        ("const here = import.meta.url;", "import.meta"),
        ("const load = (name) => import(name);", "import()"),
        ('const load = () => import("words");', "import()"),
        ('import { price } from "./price.js";\nimport * as all from "./price.js";', "twice"),
        ('import shop from "./shop.js";', "imports itself, by way of shop/shop.js, shop/words.js"),
        ('import { price } from "./gone.js";', "shop/gone.js, which is not there"),
        ('import { cost } from "./price.js";', "shop/price.js does not export cost"),
        ('import price from "./price.js";', "shop/price.js does not export default"),
    ],
)
def test_what_it_cannot_join_is_refused(text: str, reason: str) -> None:
    said = refused(f"{text}\n")
    assert re.match(r"shop/\w+[.]js: ", said)
    assert reason in said


def test_what_only_looks_like_an_import_is_none() -> None:
    """Backticks in a regular expression and an import in a comment; an import may be indented."""
    quoted = """export const name = "`".replace(/[`/]/, '"');"""
    text = joined(words=f'  import {{ price }} from "./price.js";\n/*\nexport const other = 1;\n*/\n{quoted}\n')
    assert f"const {{ price }} = $shop_price;\n{quoted[7:]}\n$shop_words = {{ name }};" in text


def test_comments_and_indentation_go_and_texts_stay() -> None:
    text = """export const name = `a // b
      ${ /* c */ ["  //", 1] /* d
      e */ }
    f` // g

    /* h */
    + "/* i */" /
    2 /* j */ /* k */ + 3;
"""
    kept = """const name = `a // b
      ${ ["  //", 1]
}
    f`
+ "/* i */" /
2 + 3;
"""
    assert kept in joined(words=text)


def test_a_second_name_of_one_export_is_missed_by_who_imports_it() -> None:
    """`export const a = 1, b = 2` offers only the first: nobody gets `undefined` without a word."""
    with pytest.raises(NotJoinable, match=r"shop/tax\.js does not export other"):
        joined(words='import { other } from "./tax.js";\nexport const name = other;\n')


def test_names_that_differ_in_punctuation_are_refused() -> None:
    entries = ["shop/a-b.js", "shop/a_b.js"]
    with pytest.raises(NotJoinable, match="punctuation"):
        join(dict.fromkeys(entries, ""), entries, AT)


def test_an_import_of_something_else_stays_as_it_is() -> None:
    _, modules = join(SOURCES, [ENTRY], AT)
    text = 'import form from "./form.js";\nconst text = `\nimport { price } from "../price.js";\n`;\n'
    assert link("shop/screens/pay.js", text, modules, AT) == text
    for text in (
        'pay();\nimport { price } from "../price.js";\n',
        'import { price } from "../price.js";\nprice++ / 2;\n',
    ):
        assert link("shop/screens/pay.js", text, modules, AT) == text


def test_the_dashboard_itself_can_be_joined() -> None:
    """Every module of every area of this project is written so that it could be in the joined file."""
    sources = {
        f"{path.relative_to(ROOT / 'plugins').parts[0]}/{path.relative_to(folder)}": path.read_text()
        for folder in sorted((ROOT / "plugins").glob("*/ui"))
        for path in sorted(folder.rglob("*.js"))
    }
    areas = sorted({name.split("/")[0] for name in sources})
    entries = ["dashboard/app.js", *(f"{area}/{area}.js" for area in areas if area != "dashboard")]
    text, modules = join(sources, entries, AT)
    assert len(modules) > 24
    for name in modules:
        assert f"\n// {name}\n{{\n" in text
    for name, source in sources.items():
        assert read(name, source).name == name

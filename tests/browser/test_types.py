"""The types for plugin authors say what they mean: `deno check` accepts good modules and refuses bad ones."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TYPES = ROOT / "schemas" / "dashboard.d.ts"
GOOD = """
  ui.page({ id: "sla", title: "SLA", nav: true, load: (query) => ui.api("sla", query),
    render: (data) => ui.html`<p>${data.total}</p>` });
  ui.panel("issue.side", { id: "sla", title: "Budget", render: (issue) => ui.html`${issue.count}` });
  ui.panel("issue.main", { id: "deploys", api: "deploys", query: (issue) => ({ id: issue.id }),
    columns: [{ name: "ref" }] });
  ui.action("issues.bulk", { id: "mail", label: "Mail",
    run: async (issues) => { await ui.api.post("mail", issues); } });
  ui.panel("chart.marks", { id: "outages", load: async ({ from }) => [{ at: from, text: "Outage" }] });
  const chart = ui.chart({ label: "Orders", unit: ["order", "orders"], starts: [], end: "",
    series: [{ id: "paid", label: "Paid", tone: "good", values: [] }],
    marks: ui.marks({ from: "", to: "" }), pick: ({ from, to }) => ui.go({ from, to }) });
  const box = ui.popover("Legend", ui.html`<ui-ago at="2026-11-28 07:00:12"></ui-ago>`,
    { icon: "help", opening: () => ui.copy("text") });
  const times = ui.dates();
  void times.open({ from: null, hint: "cut to full hours" }, (range) => ui.go(range));
  ui.panel("setup", { id: "times", title: "Times", render: () => times.view() });
  const stop: () => void = ui.watch("summary", {}, () => ui.refresh());
"""


def check(*modules: str | Path) -> tuple[bool, str]:
    deno = Path(sys.executable).with_name("deno")
    command = str(deno) if deno.exists() else shutil.which("deno")
    if command is None:
        pytest.skip("no deno: pip install deno")
    env = {**os.environ, "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}
    done = subprocess.run([command, "check", *map(str, modules)], env=env, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def module(folder: Path, body: str) -> Path:
    path = folder / "module.ts"
    path.write_text(f'import type {{ Setup }} from "{TYPES}";\nexport const setup: Setup = (ui) => {{{body}}};\n')
    return path


def test_icons_are_named() -> None:
    drawn = (ROOT / "plugins" / "dashboard" / "ui" / "widgets" / "elements.js").read_text()
    names = TYPES.read_text().split("export type IconName =")[1].split(";")[0]
    assert re.findall(r'"(\w+)"', names) == re.findall(r'^  (\w+): "M', drawn, re.M)


def test_good_modules_pass(tmp_path: Path) -> None:
    passed, output = check(module(tmp_path, GOOD))
    assert passed, output


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('ui.panel("issue.nowhere", { id: "x" });', "issue.nowhere"),
        ('ui.page({ id: "x", render: () => null });', "title"),
        ('ui.page({ id: "x", title: "X", render: () => ({}) });', "not assignable"),
        ('ui.action("issue.side", { id: "x", label: "X", run: () => {} });', "issue.side"),
        ('ui.panel("chart.marks", { id: "x", render: () => null });', "render"),
        ("ui.nothing();", "nothing"),
    ],
)
def test_bad_modules_are_refused(tmp_path: Path, body: str, problem: str) -> None:
    passed, output = check(module(tmp_path, body))
    assert not passed
    assert problem in output


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/**/*.js")), ids=lambda path: path.name)
def test_examples_fit_the_types(tmp_path: Path, path: Path) -> None:
    code = path.read_text()
    body = re.sub(r"export default ", "", code).strip().rstrip(";")
    typed = tmp_path / "example.ts"
    typed.write_text(
        f'import type {{ Setup }} from "{TYPES}";\nexport const setup: Setup = {body[body.index("(") :]};\n'
    )
    passed, output = check(typed)
    assert passed, output


def test_modules_of_the_areas_fit_the_types(tmp_path: Path) -> None:
    """Their JSDoc names the types; what is found in the page by a selector may be any element."""
    (tmp_path / "page.d.ts").write_text("interface ParentNode { querySelector(selectors: string): any }\n")
    options = {"checkJs": True, "strict": False, "lib": ["dom", "dom.iterable", "esnext"], "types": ["./page.d.ts"]}
    config = tmp_path / "deno.json"
    config.write_text(json.dumps({"compilerOptions": options}))
    modules = [path for path in ROOT.glob("plugins/*/ui/**/*.js") if "dashboard" not in path.relative_to(ROOT).parts]
    entries = [path for path in modules if path.parent.name == "ui" and path.stem == path.parent.parent.name]
    assert [path.stem for path in entries if 'schemas/dashboard.d.ts").Setup' not in path.read_text()] == []
    passed, output = check("--config", config, *modules)
    assert passed, output

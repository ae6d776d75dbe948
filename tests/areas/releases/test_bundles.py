"""Scripts minified by a real bundler, their traces thrown by Node: frames lead to the original places."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[3]
REQUIRED = os.environ.get("REQUIRE_SERVERS") == "1"
CART = """\
export interface Line { price: number; amount: number }

export function totalOf(lines: Line[]): number {
  if (lines.length === 0) {
    const face = '😀'; throw new RangeError(`the cart is empty ${face}`);
  }
  return lines.map((line) => line.price * line.amount).reduce((a, b) => a + b);
}
"""
MAIN = """\
import { totalOf } from "./cart";

function checkOut(lines: never[]): number {
  return totalOf(lines) + 1;
}

export function startShop(): void {
  try {
    checkOut([]);
  } catch (error) {
    console.log((error as Error).stack);
  }
}

startShop();
"""
# Function, file, line and column of the frames, the innermost first.
PLACES = [
    ("totalOf", "src/cart.ts", 5, CART.splitlines()[4].encode("utf-16-le").find("new".encode("utf-16-le")) // 2 + 1),
    ("checkOut", "src/main.ts", 4, MAIN.splitlines()[3].find("totalOf") + 1),
    ("startShop", "src/main.ts", 9, MAIN.splitlines()[8].find("checkOut") + 1),
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `dist/app.js`, minified, and its map."""
    esbuild = os.environ.get("ESBUILD") or shutil.which("esbuild") or str(ROOT / ".node/node_modules/.bin/esbuild")
    if not Path(esbuild).exists() or shutil.which("node") is None:
        told = "no esbuild: npm install --no-save --prefix .node esbuild@0.28.2"
        (pytest.fail if REQUIRED else pytest.skip)(told)
    folder = tmp_path_factory.mktemp("bundle")
    (folder / "src").mkdir()
    (folder / "src/cart.ts").write_text(CART, encoding="utf-8")
    (folder / "src/main.ts").write_text(MAIN, encoding="utf-8")
    command = [esbuild, "src/main.ts", "--bundle", "--minify", "--sourcemap", "--outfile=dist/app.js", "--charset=utf8"]
    subprocess.run([*command, "--source-root=", "--log-level=error"], cwd=folder, check=True, timeout=60)
    return folder


@pytest.fixture(scope="module")
def trace(bundle: Path) -> str:
    """The trace that Node prints."""
    ran = subprocess.run(["node", "dist/app.js"], cwd=bundle, capture_output=True, text=True, check=True, timeout=60)
    return ran.stdout.strip()


def test_frames_lead_to_the_original_places(sqlite_shop: Any, bundle: Path, trace: str) -> None:
    assert "totalOf" not in trace and "cart.ts" not in trace
    content = json.loads((bundle / "dist/app.js.map").read_text("utf-8"))
    content["sourceRoot"] = ""
    content["sources"] = [source.removeprefix("../") for source in content["sources"]]
    sqlite_shop.upload(file="dist/app.js", map=content)
    issue_id = sqlite_shop.push("RangeError", exception_class="RangeError", stack=trace, release="v1")
    assert sqlite_shop.frames(issue_id)[: len(PLACES)] == PLACES
    shown = sqlite_shop.stack(issue_id)
    for line, (function, file, row, column) in zip(shown, PLACES, strict=False):
        assert line.startswith(f"at {function} ({file}:{row}:{column}")
    assert sqlite_shop.issue(issue_id)["data"]["source_frame"] == "src/cart.ts:5"


def test_builds_that_name_functions_otherwise_make_one_issue(sqlite_shop: Any, bundle: Path, trace: str) -> None:
    """The minifier calls functions by other names in each build: after resolving they are the same."""
    content = (bundle / "dist/app.js.map").read_text("utf-8")
    issues = set()
    for release in ("v1", "v2"):
        sqlite_shop.upload(release=release, file="dist/app.js", map=content)
        stack = trace if release == "v1" else trace.replace("    at ", "    at z").replace("at z/", "at /")
        issues.add(sqlite_shop.push("RangeError", exception_class="RangeError", stack=stack, release=release))
    assert len(issues) == 1

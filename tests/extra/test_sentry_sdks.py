"""snaglist-sentry with the real SDKs: sentry-sdk in Python, @sentry/node in Node, @sentry/browser in Chromium."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

pytestmark = pytest.mark.whole

REQUIRED = os.environ.get("REQUIRE_SERVERS") == "1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "snaglist-tests" / "sentry"
PACKAGES = ("@sentry/node", "@sentry/browser")

PYTHON = """
import sys, sentry_sdk
sentry_sdk.init(sys.argv[1], release="shop@1.2", environment="test", server_name="web-1",
                _experiments={"transport_compression_algo": sys.argv[2]})
sentry_sdk.set_tag("region", "eu")
sentry_sdk.set_user({"id": "7", "password": "hidden"})
sentry_sdk.add_breadcrumb(message="card was read", category="pay")

def charge():
    try:
        {}["amount"]
    except KeyError as error:
        raise ValueError("declined") from error

try:
    charge()
except ValueError:
    print(sentry_sdk.capture_exception())
sentry_sdk.flush(20)
"""

NODE = """
const Sentry = require("@sentry/node");
Sentry.init({ dsn: process.argv[2], release: "shop@1.2", environment: "test" });
Sentry.setTag("region", "eu");
Sentry.addBreadcrumb({ message: "card was read" });
function charge() {
  throw new TypeError("declined", { cause: new RangeError("no amount") });
}
try { charge(); } catch (error) { Sentry.captureException(error); }
Sentry.flush(20000).then((done) => process.exit(done ? 0 : 1));
"""

PAGE = """<!doctype html><title>shop</title>
<script type="importmap">IMPORTS</script>
<script type="module">
import * as Sentry from "@sentry/browser";
Sentry.init({ dsn: "DSN", release: "shop@1.2", environment: "test" });
Sentry.setTag("region", "eu");
Sentry.addBreadcrumb({ message: "card was read" });
function charge() { throw new TypeError("declined"); }
setTimeout(charge, 0);
</script>"""


@pytest.fixture(scope="session")
def modules() -> Path:
    """The folder `node_modules` with the SDKs, kept from run to run."""
    missing = [name for name in ("node", "npm") if shutil.which(name) is None]
    if missing:
        (pytest.fail if REQUIRED else pytest.skip)(f"{' and '.join(missing)} not found: install Node 20 or newer")
    found = CACHE / "node_modules"
    if all((found / name / "package.json").is_file() for name in PACKAGES):
        return found
    # In a folder of its own, then moved: parallel processes, and runs that were stopped, leave none half made.
    making = CACHE / f"making-{os.getpid()}"
    making.mkdir(parents=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--no-package-lock", *PACKAGES]
    try:
        done = subprocess.run(command, cwd=making, capture_output=True, text=True, timeout=300)
        if done.returncode:
            (pytest.fail if REQUIRED else pytest.skip)(f"npm install failed: {done.stderr[-500:]}")
        if not found.exists():
            (making / "node_modules").rename(found)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return found


def check(server: Any, title: str) -> dict[str, Any]:
    """What all SDKs must bring."""
    (issue,) = server.wait_for_issues(1)
    assert (issue["title"], issue["environment"], issue["severity"]) == (title, "test", "ERROR")
    context = json.loads(issue["sample_context"])
    assert context["tags"]["region"] == "eu"
    assert "card was read" in [crumb.get("message") for crumb in context["breadcrumbs"]]
    detail: dict[str, Any] = server.get("error", id=issue["id"])
    (row,) = detail["occurrences"]
    assert row["release"] == "shop@1.2" and row["time_source"] == "event"
    assert detail["exceptions"][-1]["frames"][0]["function"].endswith("charge")
    return detail


@pytest.mark.parametrize("coding", ["gzip", "br"])
def test_python(server: Any, tmp_path: Path, coding: str) -> None:
    script = tmp_path / "shop.py"
    script.write_text(PYTHON)
    dsn = server.get("sentry-settings")["dsn"]
    done = subprocess.run([sys.executable, script, dsn, coding], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    detail = check(server, "ValueError: declined")
    assert [one["class"] for one in detail["exceptions"]] == ["KeyError", "ValueError"]
    assert detail["occurrences"][0]["event_id"] == done.stdout.strip()
    assert "hidden" not in json.dumps(detail)


def test_node(server: Any, tmp_path: Path, modules: Path) -> None:
    script = tmp_path / "shop.js"
    script.write_text(NODE)
    dsn = server.get("sentry-settings")["dsn"]
    done = subprocess.run(
        ["node", script, dsn], env={**os.environ, "NODE_PATH": str(modules)}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    detail = check(server, "TypeError: declined")
    assert [one["class"] for one in detail["exceptions"]] == ["RangeError", "TypeError"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@pytest.fixture
def shop(server: Any, tmp_path: Path, modules: Path) -> Iterator[str]:
    """The address of a page of another origin that uses the SDK."""
    (tmp_path / "modules").symlink_to(modules)
    page = PAGE.replace("IMPORTS", json.dumps({"imports": imports(modules)}))
    (tmp_path / "index.html").write_text(page.replace("DSN", server.get("sentry-settings")["dsn"]))
    serving = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=serving.serve_forever)
    thread.start()
    yield f"http://localhost:{serving.server_port}/"
    serving.shutdown()
    thread.join()
    serving.server_close()


def imports(modules: Path) -> dict[str, str]:
    """The addresses of the modules that the SDK's own modules name, as their packages say."""
    found = {}
    for about in [*modules.glob("*/package.json"), *modules.glob("@*/*/package.json")]:
        name, package = about.parent.relative_to(modules).as_posix(), json.loads(about.read_text())
        exports = package.get("exports")
        if not isinstance(exports, dict) or not any(path.startswith(".") for path in exports):
            exports = {".": exports or package.get("module")}
        for path, target in exports.items():
            chosen = None if "*" in path else _chosen(target)
            if chosen:
                found[name + path[1:]] = f"/modules/{name}/{chosen.removeprefix('./')}"
    return found


def _chosen(target: Any) -> str | None:
    while isinstance(target, dict):
        target = next((target[key] for key in ("browser", "production", "import", "default") if key in target), None)
    return target if isinstance(target, str) and target.endswith((".js", ".mjs")) else None


def test_browser(server: Any, shop: str, browser: Browser) -> None:
    """A page of another origin, an error that nobody caught."""
    with browser.new_context() as context:
        page = context.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("response", lambda answer: said.append(f"{answer.status} {answer.url}"))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(shop)
        try:
            check(server, "TypeError: declined")
        finally:
            print(said)

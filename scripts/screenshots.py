"""Take pictures of every screen of the dashboard: `python scripts/screenshots.py FOLDER`.

Every page of the rail, and what is behind them, in light and dark, 1280 and 390 pixels wide, as
`<screen>-<theme>-<width>.png`. The data are the sample logs of `snaglist demo`, spread over four weeks: about 5,000
events, requests, and some events that applications send. `--only NAME` (again and again) takes some screens, `--window`
what a window shows instead of the whole page. `python scripts/screenshots.py --readme` makes those of README anew.
Needs Chromium and the extra `test`.
"""

import argparse
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from snaglist.plugins.logs.show.samples import write_samples
from snaglist.testing import Client, running_service

WIDTHS = {1280: 900, 390: 844}
THEMES = ("light", "dark")
MACHINES = ("web-1", "web-2", "web-3", "web-4")
DAYS = 28
PLUGINS = ("access_analytics", "alerting", "ingest", "releases", "tracker")
# What applications send: message, exception class, level, channel, and how many hours ago.
SENT = (
    (
        "Cannot read properties of undefined (reading 'total')",
        "TypeError",
        "ERROR",
        "storefront",
        (0.3, 0.9, 2, 5, 9, 14),
    ),
    ("Image 5512 could not be resized: out of memory", "MemoryError", "ERROR", "media", (1.2, 1.7, 3, 20)),
    ("Deadlock while the stock of article 77 was reserved", "DeadlockDetected", "CRITICAL", "checkout", (0.1, 0.6, 7)),
    ("Coupon SPRING is used by 12 carts at once", None, "WARNING", "checkout", (4, 6, 11, 12, 18)),
)
STACKS = {
    "storefront": "TypeError: undefined\n    at showCart (https://shop.example/static/cart.js:41:17)",
    "media": """Traceback (most recent call last):
  File "/srv/shop/media/resize.py", line 88, in resize
    scale(image)
""",
    "checkout": """Traceback (most recent call last):
  File "/srv/shop/checkout/orders.py", line 112, in place
    stock.reserve(article)
  File "/srv/shop/checkout/stock.py", line 31, in reserve
    lock(row)
""",
}
DAYS_BACK = (0, 1, 2, 3, 5, 8, 13, 21)
# What the team did about some issues: a word of the title, the status.
TRIAGE = {"delivered": "in_progress", "temperature": "fixed", "Report": "in_progress", "Cart 903": "wont_fix"}
DOCS = Path(__file__).parents[1] / "docs"
# The pictures of README: their names, and in which theme, by the names of their screens.
README = {
    "issues": ("screenshot", "light"),
    "issue": ("screenshot-issue", "dark"),
    "access": ("screenshot-access", "light"),
    "setup": ("screenshot-setup", "light"),
}
COMMAND = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]


@dataclass(frozen=True)
class Screen:
    """A picture: the address of a screen, and what to do there first."""

    name: str
    query: str
    prepare: Callable[[Page], object] = lambda page: None


def click(name: str, role: str = "button") -> Callable[[Page], object]:
    """Return the step that presses something."""
    return lambda page: page.get_by_role(role, name=name).first.click()  # type: ignore[arg-type]


def open_first(page: Page) -> None:
    """Open the first issue of the list."""
    page.locator(".row-title").first.click()
    page.locator(".issue-head").wait_for()


def hide_key(page: Page) -> None:
    """Show what somebody sees who may not see the ingest key: no picture holds one."""
    shown = page.get_by_label("curl", exact=True)
    shown.wait_for()
    shown.evaluate("(text) => { text.textContent = text.textContent.replace(/svk_[0-9a-f]+/, 'svk_YOUR_KEY') }")


EXTRA = (
    Screen("issue", "q=deadlock", open_first),
    Screen("log", "view=sources", lambda page: page.locator("main td a").first.click()),
    Screen("connector", "view=connector&id=1", click("Preview")),
    Screen("setup", "view=setup", hide_key),
    Screen("tag-form", "view=tags", click("New tag")),
    Screen("connector-form", "view=connectors", click("New connector")),
    Screen("application-delete", "view=applications", click("Actions of Portal")),
    Screen("palette", "", lambda page: page.keyboard.press("Control+k")),
    Screen("help", "", lambda page: page.keyboard.press("?")),
    Screen("not-found", "view=nowhere"),
)
EMPTY = (
    Screen("empty-issues", "app=portal"),
    Screen("empty-overview", "app=portal&view=overview"),
    Screen("empty-logs", "app=portal&view=sources"),
)
LOCKED = (Screen("key-gate", ""),)


def write_logs(folder: Path) -> None:
    """Write the sample logs of some machines, each day of four weeks behind the one before, no two days alike."""
    now = datetime.now(UTC)
    chance = random.Random(4)
    with tempfile.TemporaryDirectory() as scratch:
        for at, machine in enumerate(MACHINES):
            (folder / machine).mkdir()
            for back in range(DAYS, -1, -1):
                write_samples(Path(scratch), now - timedelta(days=back, minutes=7 * at))
                for file in Path(scratch).iterdir():
                    if file.name == "access.log" or (back and chance.random() < 0.5):
                        continue  # requests come below; nothing went wrong there on that day
                    with (folder / machine / file.name).open("a", encoding="utf-8") as whole:
                        whole.write(file.read_text(encoding="utf-8"))
    (folder / MACHINES[0] / "access.log").write_text("".join(requests(now, chance)))


def requests(now: datetime, chance: random.Random) -> Iterator[str]:
    """Write the requests of four weeks: more by day than by night, fewer at weekends, one bad evening, scanners."""
    agents = (
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36",
        "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) Version/26.1 Mobile/15E148 Safari/604.1",
        "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0",
        "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    )
    paths = ("/", "/articles/77", "/articles/118", "/search?q=lamp", "/cart", "/checkout", "/api/stock", "/help")
    weights = (9, 12, 10, 6, 5, 3, 7, 1)
    referrers = ("-", "-", "-", "https://www.google.com/", "https://news.example/lamps", "https://shop.example/")
    bad = (now - timedelta(days=3)).replace(hour=19, minute=0)
    for hour in range(DAYS * 24, -1, -1):
        at = now - timedelta(hours=hour)
        busy = (
            (1.1 - math.cos((at.hour - 3) * math.pi / 12)) * (0.6 if at.weekday() > 4 else 1) * chance.uniform(0.8, 1.2)
        )
        for _ in range(round(14 * busy)):
            moment = at + timedelta(seconds=chance.uniform(0, 3599))
            if moment > now:
                continue
            path = chance.choices(paths, weights)[0]
            failing = path == "/checkout" and abs((moment - bad).total_seconds()) < 5400
            status = 502 if failing or chance.random() < 0.004 else 404 if chance.random() < 0.03 else 200
            yield request(
                moment,
                f"192.0.2.{chance.randrange(1, 90)}",
                path,
                status,
                chance.choice(referrers),
                chance.choice(agents),
                chance,
            )
        if chance.random() < 0.08:
            for path in ("/wp-login.php", "/.env", "/phpmyadmin/"):
                yield request(min(at, now), "203.0.113.9", path, 404, "-", "zgrab/0.x", chance)


def request(at: datetime, client: str, path: str, status: int, referrer: str, agent: str, chance: random.Random) -> str:
    """Write one line in the combined format."""
    size = chance.randrange(900, 60_000) if status == 200 else 512
    return f'{client} - - [{at:%d/%b/%Y:%H:%M:%S} +0000] "GET {path} HTTP/1.1" {status} {size} "{referrer}" "{agent}"\n'


def fill(data: Path, logs: Path) -> None:
    """Make a data directory with everything that the screens show."""
    others = [str(logs / machine) for machine in MACHINES[1:]]
    subprocess.run([*COMMAND, "import", *others], env=environment(data, logs), check=True, stdout=subprocess.DEVNULL)
    options: Any = {"ingestion__allowed_roots": [str(logs)], "outbound__allow_private": ["127.0.0.0/8"]}
    with running_service(data, jobs=False, **options) as service:
        client = Client(service)
        known = {plugin["id"] for plugin in client.get("plugins").json["data"]}
        for plugin in PLUGINS:
            if plugin in known:
                client.post("plugins", {"id": plugin, "enabled": True})
        for name, color, word in (
            ("Payments", "#0ea5e9", "payment"), ("Database", "#f59e0b", "database"), ("Mail", "#10b981", "smtp"),
        ):  # fmt: skip
            client.post("tags", {"name": name, "color": color, "match_word": word})
        client.post("modules", {"name": "Checkout", "color": "#7c3aed"})
        client.post("connectors", {"name": "web-1", "type": "local", "config": {"directory": str(logs / "web-1")}})
        remote = {
            "host": "web-2.example",
            "user": "deploy",
            "paths": ["/var/log/shop/*.log"],
            "use_agent": True,
        }
        body = {"name": "web-2", "type": "ssh", "enabled": False, "interval_minutes": 15, "config": remote}
        client.post("connectors", body)
        client.post("applications", {"name": "Portal"})
        client.post("alert-channels", {"name": "Operations", "type": "webhook", "url": "http://127.0.0.1:9/hook"})
        for name, trigger, severities in (
            ("Anything new", "new_error", ["CRITICAL", "ERROR"]),
            ("Much more", "spike", []),
        ):
            rule = {"name": name, "channel_id": 1, "trigger_type": trigger, "severities": severities}
            client.post("alert-rules", rule)
        send(client)
    subprocess.run([*COMMAND, "sync"], env=environment(data, logs), check=True, stdout=subprocess.DEVNULL)
    with running_service(data, jobs=False) as service:
        triage(Client(service))


def send(client: Client) -> None:
    """Send what applications send, and tell of the deploys that they ran."""
    now = datetime.now(UTC)
    for version, days in (("v2.4.0", 20), ("v2.4.1", 2)):
        at = f"{now - timedelta(days=days):%Y-%m-%d %H:%M:%S}"
        client.post("deploys", {"version": version, "ref": version, "deployed_at": at})
    events = [
        {
            "message": message,
            "exception_class": raised,
            "severity": level,
            "channel": channel,
            "stack": STACKS[channel] if raised else None,
            "release": "v2.4.1" if days <= 2 else "v2.4.0",
            "occurred_at": (now - timedelta(days=days, hours=hours)).isoformat(),
        }
        for message, raised, level, channel, times in SENT
        for days in DAYS_BACK
        for hours in times
    ]
    settings = client.get("ingest-settings").json
    headers = {settings["key_header"]: settings["key"], "Content-Type": "application/json"}
    client.request("POST", "/?api=ingest", json.dumps({"events": events}).encode(), headers)


def triage(client: Client) -> None:
    """Do what a team does: set statuses."""
    for word, status in TRIAGE.items():
        for issue in client.get("errors", q=word).json["data"]:
            client.post("issue-status", {"id": issue["id"], "status": status})


def environment(data: Path, logs: Path) -> dict[str, str]:
    """Return the environment of a server that reads no other configuration."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    return env | {
        "SERVICE_DATA": str(data),
        "SERVICE_INGESTION_ALLOWED_ROOTS": str(logs),
        "SERVICE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8",
    }


@contextmanager
def served(data: Path, logs: Path, **variables: str) -> Iterator[str]:
    """Run the server; gives its URL."""
    env = environment(data, logs) | variables
    with subprocess.Popen([*COMMAND, "serve", "--port", "0"], env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r" on (http://\S+/)", line)
        try:
            if not found:
                raise SystemExit(f"the server did not start: {line}")
            yield found[1]
        finally:
            process.terminate()


def rail(browser: Browser, url: str) -> list[Screen]:
    """Return every page of the rail."""
    page = browser.new_page()
    page.goto(url)
    page.locator(".rail nav a").first.wait_for()
    links = [link.get_attribute("href") or "" for link in page.locator(".rail nav a").all()]
    page.close()
    found = [(re.search(r"view=(\w+)", link), link) for link in links]
    return [Screen(match[1] if match else "issues", link.removeprefix("?")) for match, link in found]


def take(browser: Browser, url: str, screens: Sequence[Screen], options: argparse.Namespace) -> None:
    """Take the pictures of some screens of one server."""
    wanted = [screen for screen in screens if not options.only or screen.name in options.only]
    for theme in THEMES:
        for width, height in WIDTHS.items():
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=theme)  # type: ignore[arg-type]
            for screen in wanted:
                page = context.new_page()
                page.goto(f"{url}?{screen.query}")
                page.locator("h1, h2").first.wait_for()
                page.locator("#app:not([aria-busy])").wait_for()
                screen.prepare(page)
                page.wait_for_load_state("networkidle")
                # A dialog covers the window, not the page.
                whole = not options.window and page.locator("dialog[open]").count() == 0 and screen.name != "log"
                page.screenshot(path=options.folder / f"{screen.name}-{theme}-{width}.png", full_page=whole)
                page.close()
            context.close()


def main() -> None:
    """Fill, serve, take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--readme", action="store_true", help="make the pictures of README anew")
    parser.add_argument("--only", action="append", default=[], help="the name of a screen")
    parser.add_argument("--window", action="store_true", help="what a window shows, not the whole page")
    options = parser.parse_args()
    if options.readme == bool(options.folder):
        parser.error("name a folder, or --readme")
    with tempfile.TemporaryDirectory(prefix="snaglist-screens-") as scratch, sync_playwright() as playwright:
        if options.readme:
            options.folder, options.only, options.window = Path(scratch, "readme"), list(README), True
        options.folder.mkdir(parents=True, exist_ok=True)
        logs, data = Path(scratch, "shop"), Path(scratch, "data")
        logs.mkdir()
        write_logs(logs)
        fill(data, logs)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        with served(data, logs) as url:
            take(browser, url, [*rail(browser, url), *EXTRA, *EMPTY], options)
        with served(data, logs, SERVICE_TOKEN="screenshots-0123456789") as url:
            take(browser, url, LOCKED, options)
        browser.close()
        if options.readme:
            for screen, (name, theme) in README.items():
                shutil.copyfile(options.folder / f"{screen}-{theme}-1280.png", DOCS / f"{name}.png")
            sys.stdout.write(f"{len(README)} pictures in {DOCS}\n")
            return
    sys.stdout.write(f"{len(list(options.folder.glob('*.png')))} pictures in {options.folder}\n")


if __name__ == "__main__":
    main()

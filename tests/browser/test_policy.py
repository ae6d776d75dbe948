"""The page and its assets as HTTP: no data, strict policy, cached for ever, nothing outside."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from snaglist.testing import Client, running_service

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running_service(tmp_path_factory.mktemp("site") / "data", jobs=False) as service:
        yield Client(service)


@pytest.fixture(scope="module")
def html(client: Client) -> str:
    return client.request("GET", "/").text


def references(html: str) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]+)"', html)


def test_root_answers_the_page(client: Client) -> None:
    answer = client.request("GET", "/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    assert client.request("GET", "/?API=tags").text == answer.text
    assert client.request("POST", "/").status == 404
    head = client.request("HEAD", "/")
    assert (head.status, head.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_page_holds_no_inline_code_and_no_foreign_address(html: str) -> None:
    """Everything is served locally, and nothing needs an exception from the policy."""
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", html, re.S)
    assert all('src="' in attributes or "application/json" in attributes for attributes, _ in scripts)
    assert not re.search(r"\son\w+=|\sstyle=|<style", html)
    assert references(html)
    assert all(address.startswith("static/") for address in references(html))


def test_page_is_the_same_for_everybody(tmp_path: Path, html: str) -> None:
    """The sign-in page is this page, so it must not know the application."""
    with running_service(tmp_path / "data", jobs=False, auth__token="test-key-0123456789abcdef") as service:
        client = Client(service)
        refused = client.request("GET", "/", headers={"Accept": "text/html"})
        assert (refused.status, refused.headers["content-type"]) == (401, "text/html; charset=utf-8")
        assert refused.headers["www-authenticate"] == "Bearer"
        assert refused.text == html
        assert "Primary application" not in refused.text
        assert client.request("GET", "/", headers={"Accept": "application/json"}).error
        asset = references(html)[0]
        assert client.request("GET", f"/{asset}").status == 200


@pytest.mark.parametrize(
    ("accepted", "coding"),
    [
        ("gzip, br", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("zstd;q=0, gzip", "gzip"),
        ("br, gzip;q=0", None),
        ("", None),
    ],
)
def test_every_asset_is_there_and_cached_for_ever(client: Client, html: str, accepted: str, coding: str | None) -> None:
    types = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    unpack: dict[str | None, Callable[[bytes], bytes]] = {
        None: bytes,
        "gzip": gzip.decompress,
        "zstd": zstandard.decompress,
    }
    for address in references(html):
        plain = client.request("GET", f"/{address}")
        answer = client.request("GET", f"/{address}", headers={"Accept-Encoding": accepted})
        assert answer.status == 200, address
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["content-type"].startswith(types[Path(address).suffix])
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers.get("content-encoding") == coding
        assert unpack[coding](answer.content) == plain.content


@pytest.mark.parametrize(
    "path",
    [
        "static/000000000000/dashboard/app.js",
        "static/{hash}/dashboard/nothing.js",
        "static/{hash}/dashboard/../__init__.py",
        "static/{hash}/dashboard/%2e%2e/site.py",
        "static/{hash}/dashboard/",
        "static/{hash}/",
        "static/",
        "anything",
    ],
)
def test_other_paths_are_not_found(client: Client, html: str, path: str) -> None:
    digest = re.search(r"static/([0-9a-f]{12})/", html)
    assert digest
    assert client.request("GET", "/" + path.format(hash=digest[1])).error


IMPORTED = re.compile(r"""^(?:import|export)\s+(?:[\w*\s{},]+\s+from\s+)?["'](\.[^"']+)["'];""", re.MULTILINE)


def needed(entries: set[str]) -> set[str]:
    """Follow the static imports on disk."""
    found: set[str] = set()
    waiting = set(entries)
    while waiting:
        name = waiting.pop()
        found.add(name)
        folder, path = name.split("/", 1)
        place = ROOT / "plugins" / folder / "ui"
        for address in IMPORTED.findall((place / path).read_text()):
            target = ((place / path).parent / address).resolve().relative_to(place)
            waiting |= {f"{folder}/{target}"} - found
    return found


def test_modules_of_the_first_view_are_fetched_at_once(client: Client, html: str) -> None:
    """The page names what core areas import when they start, each behind what it imports, and nothing else."""
    boot = re.search(r'<script type="application/json" id="boot">(.*?)</script>', html)
    assert boot
    entries = {item["plugin"]: item for item in json.loads(boot[1])["modules"]}
    core = {plugin for plugin, item in entries.items() if item["core"]}
    assert {"issues", "tags", "logs", "connectors", "system"} == core
    assert {"alerting", "releases", "tracker"} <= set(entries) - core
    assert re.search(r'<script type="module" src="static/[0-9a-f]{12}/dashboard/app[.]js"></script>', html)
    preloaded = re.findall(r'<link rel="modulepreload" href="static/[0-9a-f]{12}/([^"]+)">', html)
    assert len(preloaded) == len(set(preloaded))
    assert set(preloaded) == needed({"dashboard/app.js"} | {f"{plugin}/{plugin}.js" for plugin in core})
    assert "issues/list.js" in preloaded
    assert not {name for name in preloaded if "/screens/" in name or "/widgets/form" in name}
    for name in preloaded:
        assert needed({name}) - {name} <= set(preloaded[: preloaded.index(name)]), name


def test_files_are_sent_as_they_are_written(client: Client, html: str) -> None:
    base = re.search(r"static/[0-9a-f]{12}/", html)
    assert base
    places = (ROOT / "plugins").glob("*/ui")
    files = [(place, path) for place in places for path in place.rglob("*") if path.suffix in (".js", ".css", ".svg")]
    assert len(files) > 60
    for place, path in files:
        address = f"{base[0]}{place.parent.name}/{path.relative_to(place).as_posix()}"
        assert client.request("GET", f"/{address}").content == path.read_bytes(), address


def test_styles_of_areas_are_two_files(client: Client, html: str) -> None:
    """One for the first view, and one of what is in `screens`, which the page does not name."""
    sheets = re.findall(r'<link rel="stylesheet" href="(static/[0-9a-f]{12}/[^"]+)">', html)
    assert [sheet.split("/", 2)[2] for sheet in sheets] == ["dashboard/first.css"]
    first = client.request("GET", f"/{sheets[0]}").text
    later = client.request("GET", f"/{sheets[0].replace('first.css', 'later.css')}").text
    written = [
        path
        for area in ("dashboard", "issues", "logs", "system", "access_analytics")
        for path in (ROOT / "plugins" / area / "ui").rglob("*.css")
    ]
    assert len(written) == 12
    for path in written:
        assert path.read_text() in (later if "screens" in path.parts else first), path
        # Such an address would be read relative to the joined file.
        assert not re.search(r"url\(|@import|@charset", path.read_text()), path
    # The shell's rules come first, so that an area may refine them.
    assert first.index(".late") < first.index(".rows-compact")
    assert later.index(".table") < later.index(".frames") < later.index(".plugin")


def test_a_class_has_its_style_in_one_area() -> None:
    """No two sheets say what the same thing looks like: one of them may only refine it where it stands."""
    found: dict[str, set[Path]] = {}
    for path in (ROOT / "plugins").glob("*/ui/**/*.css"):
        top = re.sub(r"/[*].*?[*]/|@media[^{]*{(?:[^{}]*{[^{}]*})*\s*}", "", path.read_text(), flags=re.S)
        for selectors in re.findall(r"([^{}]+){", top):
            for selector in selectors.split(","):
                if re.fullmatch(r"[.][\w-]+", selector.strip()):
                    found.setdefault(selector.strip(), set()).add(path)
    several = {name: paths for name, paths in found.items() if len(paths) > 1}
    # How it is sized as an element, and how it looks.
    assert set(several) == {".button", ".row"}


def test_browser_files_are_readable() -> None:
    """What is in the repository is what the browser runs: nothing minified, no long lines, no module over 200 lines."""
    files = [path for path in (ROOT / "plugins").rglob("ui/**/*") if path.suffix in (".js", ".css")]
    assert len(files) > 20
    for path in files:
        assert ".min." not in path.name
        assert max(len(line) for line in path.read_text().splitlines()) <= 400, path
        assert path.suffix != ".js" or len(path.read_text().splitlines()) <= 200, path


def test_dashboard_files_know_no_area() -> None:
    """Endpoints of areas are named by the areas' own files only."""
    kernel = {"plugins", "applications", "openapi", "jobs", "health"}
    for path in (ROOT / "plugins" / "dashboard" / "ui").rglob("*.js"):
        code = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text(), flags=re.M)
        named = set(re.findall(r'(?:api|post|put|patch|watch)\("([a-z-]+)"', code))
        assert named <= kernel, f"{path.name} names {named - kernel}"

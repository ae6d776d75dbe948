"""The page and its assets as HTTP: no data, strict policy, cached for ever, nothing outside."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from snaglist.plugins.dashboard.assets import plain
from snaglist.plugins.dashboard.lexing import compact, tokens
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
    """§2.5 and checks 2 and 125."""
    answer = client.request("GET", "/")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers
    assert client.request("GET", "/?API=tags").text == answer.text
    assert client.request("POST", "/").status == 404
    head = client.request("HEAD", "/")
    assert (head.status, head.headers["content-type"]) == (200, "text/html; charset=utf-8")


def test_page_holds_no_inline_code_and_no_foreign_address(html: str) -> None:
    """§34.1: everything is served locally, and nothing needs an exception from the policy."""
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", html, re.S)
    assert all('src="' in attributes or "application/json" in attributes for attributes, _ in scripts)
    assert not re.search(r"\son\w+=|\sstyle=|<style", html)
    assert references(html)
    assert all(address.startswith("static/") for address in references(html))


def test_page_is_the_same_for_everybody(tmp_path: Path, html: str) -> None:
    """§2.7 and check 19: the sign-in page is this page, so it must not know the application."""
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
    """§2.6 and §2.10."""
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


def test_modules_of_the_first_view_are_one_file(client: Client, html: str) -> None:
    """What core areas import at once is joined, and nothing else; the boot data names the entries in it."""
    boot = re.search(r'<script type="application/json" id="boot">(.*?)</script>', html)
    assert boot
    entries = {item["plugin"]: item for item in json.loads(boot[1])["modules"]}
    core = {plugin for plugin, item in entries.items() if item["core"]}
    assert {"issues", "tags", "logs", "connectors", "system"} == core
    assert {"alerting", "releases", "tracker"} <= set(entries) - core
    script = re.search(r'<script type="module" src="(static/[0-9a-f]{12}/dashboard/all[.]js)"></script>', html)
    assert script
    assert "modulepreload" not in html
    text = client.request("GET", f"/{script[1]}").text
    joined = re.findall(r"^// (\w+/\S+[.]js)$", text, re.MULTILINE)
    assert len(joined) == len(set(joined))
    assert set(joined) == needed({"dashboard/app.js"} | {f"{plugin}/{plugin}.js" for plugin in core})
    assert "issues/list.js" in joined
    assert not {name for name in joined if "/screens/" in name or "/widgets/form" in name}
    for plugin, entry in entries.items():
        if plugin in core:
            assert entry["module"] == script[1]
            assert re.search(rf"^export .*[{{ ]{re.escape(entry['part'])}[, }}]", text, re.MULTILINE)
        else:
            own = client.request("GET", f"/{entry['module']}").text
            assert own == (ROOT / "plugins" / plugin / "ui" / f"{plugin}.js").read_text()


def test_the_joined_file_holds_the_code_of_the_modules(client: Client, html: str) -> None:
    """Only imports, exports and the addresses of import() are written anew; comments and indentation are left out."""
    address = next(address for address in references(html) if address.endswith("all.js"))
    text = client.request("GET", f"/{address}").text
    names = re.findall(r"^// (\w+/\S+[.]js)$", text, re.MULTILINE)
    assert len(names) > 10
    for name in names:
        folder, path = name.split("/", 1)
        lines = compact(tokens((ROOT / "plugins" / folder / "ui" / path).read_text())).splitlines()
        kept = [line for line in lines if not re.match(r"import|export", line) and "import(" not in line]
        assert kept
        assert set(kept) <= set(text.splitlines()), name
    assert not re.search(r"^ *(//(?! \w+/\S+[.]js$)|/\*)", text, re.MULTILINE)


def test_styles_of_core_areas_are_two_files(client: Client, html: str) -> None:
    """One for the first view, and one of what is in `screens`, which the page does not name."""
    sheets = re.findall(r'<link rel="stylesheet" href="(static/[0-9a-f]{12}/[^"]+)">', html)
    assert [sheet.split("/", 2)[2] for sheet in sheets] == ["dashboard/all.css"]
    first = client.request("GET", f"/{sheets[0]}").text
    later = client.request("GET", f"/{sheets[0].replace('all.css', 'screens.css')}").text
    written = [
        path
        for area in ("dashboard", "issues", "logs", "system")
        for path in (ROOT / "plugins" / area / "ui").rglob("*.css")
    ]
    assert len(written) == 8
    for path in written:
        rules = re.sub(r"/[*].*?[*]/", "", path.read_text(), flags=re.DOTALL)
        joined = later if "screens" in path.parts else first
        assert "\n".join(line.strip() for line in rules.splitlines() if line.strip()) in joined, path
        # Such an address would be read relative to the joined file.
        assert not re.search(r"url\(|@import|@charset", path.read_text()), path
    # The shell's rules come first, so that an area may refine them.
    assert first.index(".late") < first.index(".rows-compact")
    assert later.index(".table") < later.index(".frames") < later.index(".plugin")


@pytest.mark.parametrize(
    ("sheet", "sent"),
    [
        ("/* a\n */\n\n.a {\n  color: red;\n}\n", ".a {\ncolor: red;\n}"),
        ('.a { content: "/* b"; } /* " */\n.c\n  .d {}\n', '.a { content: "/* b"; }\n.c\n.d {}'),
        ("a/**/b {}", "a/**/b {}"),
        ('.a { content: "\\\n  /* b */"; }\n', '.a { content: "\\\n  /* b */"; }\n'),
        (".a { background: url(//b/* c */) }", ".a { background: url(//b/* c */) }"),
    ],
)
def test_a_joined_sheet_means_the_same(sheet: str, sent: str) -> None:
    assert plain(sheet) == sent


def test_browser_files_are_readable() -> None:
    """What is in the repository is what the browser runs: nothing minified, nothing over 400 characters a line."""
    files = [path for path in (ROOT / "plugins").rglob("ui/**/*") if path.suffix in (".js", ".css")]
    assert len(files) > 20
    for path in files:
        assert ".min." not in path.name
        assert max(len(line) for line in path.read_text().splitlines()) <= 400, path
    runtime = ROOT / "plugins" / "dashboard" / "ui" / "dom.js"
    assert len(runtime.read_text().splitlines()) <= 200


def test_dashboard_files_know_no_area() -> None:
    """Endpoints of areas are named by the areas' own files only."""
    kernel = {"plugins", "applications", "openapi", "jobs", "health"}
    for path in (ROOT / "plugins" / "dashboard" / "ui").rglob("*.js"):
        code = re.sub(r"^\s*(//|\*|/\*).*$", "", path.read_text(), flags=re.M)
        named = set(re.findall(r'(?:api|post|put|patch|watch)\("([a-z-]+)"', code))
        assert named <= kernel, f"{path.name} names {named - kernel}"

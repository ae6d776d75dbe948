"""Frames of scripts through source maps, on the way in and on the way out."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.releases.maps.document import read_map
from snaglist.plugins.releases.maps.lookup import ParsedMap
from snaglist.plugins.releases.maps.names import closest, file_of
from snaglist.plugins.releases.maps.places import find_spot
from snaglist.plugins.releases.maps.recent import Recent

CASES = {
    case["id"]: case
    for line in (Path(__file__).parents[2] / "cases/sourcemaps.jsonl").read_text("utf-8").splitlines()
    if (case := json.loads(line))
}
ID = "85314830-023f-4cf1-a267-535f4e37bb17"
URL = "https://shop.example/app.js:1:9"


@pytest.mark.parametrize("case", [case for case in CASES.values() if "input" in case], ids=lambda case: case["id"])
def test_cases(case: dict[str, Any]) -> None:
    parsed = ParsedMap(read_map(case["input"]).content)
    for place, source, *rest in case["checks"]["lookups"]:
        found = parsed.find(*map(int, place.split(":")))
        if source is None:
            assert found is None, place
        else:
            assert found is not None and [found.source, found.line, found.column][: 1 + len(rest)] == [source, *rest]


def test_the_start_of_a_section_ends_what_is_mapped_before_it() -> None:
    section = {"version": 3, "sources": ["two.js"], "names": [], "mappings": "KAAA"}
    first = {"version": 3, "sources": ["one.js"], "names": [], "mappings": "AAAA"}
    offsets = ({"line": 0, "column": 0}, {"line": 0, "column": 100})
    sections = [{"offset": offset, "map": inner} for offset, inner in zip(offsets, (first, section), strict=True)]
    parsed = ParsedMap(read_map({"version": 3, "sections": sections}).content)
    sources = [found and found.source for found in (parsed.find(1, column) for column in (1, 100, 101, 105, 106))]
    assert sources == ["one.js", "one.js", None, None, "two.js"]


@pytest.mark.parametrize(
    ("root", "source", "shown"),
    [
        ("", "a.js", "a.js"), ("src", "a.js", "src/a.js"), ("src/", "a.js", "src/a.js"), ("/srv", "a.js", "/srv/a.js"),
        ("src", "/abs/a.js", "/abs/a.js"), ("src", "webpack:///a.js", "webpack:///a.js"),
        ("webpack:///", "a.js", "webpack:/a.js"), (None, "\0virtual.js", "\ufffdvirtual.js"), ("src", None, None),
    ],
)  # fmt: skip
def test_source_root(root: str | None, source: str | None, shown: str | None) -> None:
    given_map = {"version": 3, "sourceRoot": root, "sources": [source], "names": [], "mappings": "AAAA"}
    found = ParsedMap(read_map(given_map).content).find(1, 1)
    assert (found and found.source) == shown


@pytest.mark.parametrize(
    "change",
    [
        {"version": 4}, {"version": "3"}, {"mappings": "AAAA!"}, {"mappings": "ADAA"}, {"mappings": "g" * 50 + "A"},
        {"mappings": None}, {"mappings": ""}, {"mappings": "AAEA"}, {"mappings": ";" * 2_000_000},
        {"sections": []}, {"sections": [{"offset": {"line": 0, "column": 0}, "map": {"sections": []}}]},
        {"sections": [{"offset": {"line": 1, "column": 0}}, {"offset": {"line": 0, "column": 0}}]}, {"names": [None]},
    ],
    ids=lambda change: json.dumps(change)[:40],
)  # fmt: skip
def test_broken_maps_are_refused_or_resolve_nothing(
    sqlite_shop: Any, example: dict[str, Any], change: dict[str, Any]
) -> None:
    """Never a failure of the service."""
    answer = sqlite_shop.client.post("source-maps", {"release": "v1", "file": "app.js", "map": {**example, **change}})
    assert answer.status in (201, 422), answer.text
    issue_id = sqlite_shop.push_script()
    assert sqlite_shop.frames(issue_id)[0][1] in ("https://shop.example/app.js", "src/a.js")


def test_115_a_place_resolves_on_events_stored_before_and_after_the_upload(shop: Any, example: Any) -> None:
    """What came before is shown resolved, and keeps its grouping."""
    before = shop.push_script("app.js:1:9")
    assert shop.frames(before) == [("t", "app.js", 1, 9)]
    shop.upload(map=f")]}}'\n{json.dumps(example)}")
    assert shop.stack(before) == ["at t (src/a.js:2:3)"]
    assert shop.frames(before) == [(None, "src/a.js", 2, 3)]
    after = shop.push_script("app.js:1:9")
    assert after != before
    assert shop.stack(after) == ["at t (src/a.js:2:3)"]
    assert shop.issue(after)["data"]["source_frame"] == "src/a.js:2"
    shop.client.delete("source-maps", id=shop.maps()[0]["id"])
    assert shop.stack(after) == ["at t (src/a.js:2:3)"]  # stored text stays
    assert shop.stack(before) == ["at t (app.js:1:9)"]
    assert shop.push_script("app.js:1:9") == before


@pytest.mark.servers
def test_each_event_of_an_issue_is_read_back_resolved(shop: Any) -> None:
    shop.upload()
    stack = "Error: boom\n    at t (https://shop.example/app.js:1:9)\n    at n (https://shop.example/app.js:1:21)"
    issue_id = shop.push("Error: boom", exception_class="Error", stack=stack, release="v1")
    for _ in range(2):
        assert shop.push("Error: boom", exception_class="Error", stack=stack, release="v1") == issue_id
    oldest = shop.issue(issue_id)["occurrences"][-1]["id"]
    # The caller's place is exactly that of a name: so its callee is called.
    assert shop.stack(issue_id) == ["at b (src/a.js:2:3)", "at n (src/b.js:1:18 (b))"]
    assert shop.stack(issue_id, occurrence=oldest) == shop.stack(issue_id)
    wanted = [("src/a.js", 2, 3), ("src/b.js", 1, 18)]
    assert [frame[1:] for frame in shop.frames(issue_id)] == wanted
    assert shop.frames(issue_id)[0][0] == "b"
    assert [frame[1:] for frame in shop.frames(issue_id, occurrence=oldest)] == wanted
    assert shop.frames(issue_id, occurrence=oldest)[0][0] == "b"


CODE = {"pre": ["function a(){"], "line": "  throw new Error('x');", "post": ["}", ""]}


def contexts(shop: Any, issue_id: int, **query: Any) -> list[Any]:
    return [frame["context"] for frame in shop.issue(issue_id, **query)["exceptions"][-1]["frames"]]


def test_resolved_frames_have_their_code(shop: Any) -> None:
    """Of events that came before the map and after it, of each of them, and when the map is gone."""
    before = shop.push_script()
    assert contexts(shop, before) == [None]
    shop.upload()
    assert contexts(shop, before) == [CODE]
    after = shop.push_script()
    assert shop.push_script() == after
    for row in shop.issue(after)["occurrences"]:
        assert contexts(shop, after, occurrence=row["id"]) == [CODE]
    shop.client.delete("source-maps", id=shop.maps()[0]["id"])
    assert contexts(shop, before) == [None]
    for row in shop.issue(after)["occurrences"]:
        assert contexts(shop, after, occurrence=row["id"]) == [CODE]


@pytest.mark.servers
def test_a_new_map_brings_new_code(shop: Any, example: dict[str, Any]) -> None:
    shop.upload()
    issue_id = shop.push_script("app.js:1:9")
    changed = {**example, "sourcesContent": ["// 2026\n  fail(1);\n", None]}  # what is mapped is the same
    shop.upload(200, map=changed)
    assert shop.push_script("app.js:1:9") == issue_id
    assert contexts(shop, issue_id) == [{"pre": ["// 2026"], "line": "  fail(1);", "post": [""]}]
    map_id = shop.maps()[0]["id"]
    assert shop.client.patch("source-maps", {"id": map_id, "map": {**example, "sourcesContent": []}}).status == 200
    shop.push_script("app.js:1:9")
    assert contexts(shop, issue_id) == [None]


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([f"{'a' * 9}\r\n{'b' * 300}\rc"], ("a" * 9, "b" * 199 + "…", "c")),
        (["one line"], None),
        (["first\n   \nthird"], None),
        ([""], None),
        ([7], None),
        ("text", None),
        ([f"first\nsecond{'x' * 1024 * 1024}"], None),
        (["a\n\0\ud800b\n"], ("a", "\ufffd\ufffdb", "")),
    ],
)
def test_texts_of_sources(sqlite_shop: Any, example: dict[str, Any], given: Any, wanted: Any) -> None:
    sqlite_shop.upload(map=json.dumps({**example, "sourcesContent": given}))
    (found,) = contexts(sqlite_shop, sqlite_shop.push_script())
    assert found == (wanted and {"pre": [wanted[0]], "line": wanted[1], "post": [wanted[2]]})


def test_texts_of_libraries_and_of_names_with_two_texts_are_not_kept(example: dict[str, Any]) -> None:
    texts = ["one", "two", "three", "three"]
    for sources, kept in (
        (["src/a.js", "node_modules/b.js", "webpack/runtime/c", "src/d.js"], ["src/a.js", "src/d.js"]),
        (["src/a.js", "src/a.js", "src/b.js", "src/b.js"], ["src/b.js"]),
    ):
        found = read_map({**example, "sources": sources, "sourcesContent": texts}).texts
        assert [source for source, text in found.items() if text] == kept
    section = {**example, "sourcesContent": ["one", "two"]}
    offsets = ({"line": 0, "column": 0}, {"line": 9, "column": 0})
    sections = [{"offset": offset, "map": section} for offset in offsets]
    assert read_map({"version": 3, "sections": sections}).texts == {"src/a.js": "one", "src/b.js": "two"}


def test_a_source_that_is_a_script_is_not_resolved_again(shop: Any) -> None:
    shop.upload(file="dist/a.js")
    issue_id = shop.push_script("https://shop.example/dist/a.js:1:9")
    assert shop.stack(issue_id) == ["at t (src/a.js:2:3)"]
    assert shop.push_script("https://shop.example/dist/a.js:1:9") == issue_id


@pytest.mark.servers
def test_which_map_is_chosen(shop: Any, example: dict[str, Any]) -> None:
    def named(name: str) -> dict[str, Any]:
        return {**example, "sources": [name, "other.ts"]}

    shop.upload(file="js/app.js", map=named("long.ts"))
    shop.upload(file="other/app.js", map=named("other-folder.ts"))
    shop.upload(file="js/app.js", release="v2", map=named("release.ts"))
    shop.upload(release=None, file=None, debug_id=ID, map=named("by-id.ts"))

    def source(place: str, release: str | None = "v1", **more: Any) -> str:
        return str(shop.frames(shop.push_script(place, release, **more))[0][1])

    assert source("https://cdn.example/static/js/app.js:1:9") == "long.ts"
    assert source("https://cdn.example/static/js/app.js?v=3:1:9") == "long.ts"
    assert source("/srv/other/app.js:1:9") == "other-folder.ts"
    assert source("https://cdn.example/x/app.js:1:9").endswith("/x/app.js")  # a tie
    assert source("https://cdn.example/x/my-app.js:1:9").endswith("/my-app.js")
    assert source("https://cdn.example/js/app.js:1:9", "v2") == "release.ts"
    assert source("https://cdn.example/js/app.js:1:9", "v3").endswith("/app.js")
    assert source("https://cdn.example/js/app.js:1:9", None).endswith("/app.js")
    named_by = {"debug_meta": {"images": [{"code_file": "https://cdn.example/z/app.js", "debug_id": ID}]}}
    assert source("https://cdn.example/z/app.js:1:9", None, context=named_by) == "by-id.ts"
    assert source("https://cdn.example/z/app.js:1:9", "v1", context={"debug_id": ID}) == "by-id.ts"
    by_file = {"debug_ids": {"https://cdn.example/y/app.js": ID, "bad": 7}}
    assert source("https://cdn.example/y/app.js:1:9", None, context=by_file) == "by-id.ts"
    assert source("https://cdn.example/js/app.js:1:9", "v1", context={"debug_id": "8" * 32}) == "long.ts"


def test_a_replaced_map_is_asked_from_the_next_event_on(shop: Any, example: dict[str, Any]) -> None:
    shop.upload()
    shop.push_script()
    shop.upload(200, map={**example, "sources": ["new.ts", "b.ts"]})
    assert shop.frames(shop.push_script())[0][1] == "new.ts"


@pytest.mark.parametrize(
    ("line", "file", "place", "function"),
    [
        ("    at t (https://shop.example/app.js:1:9)", "https://shop.example/app.js", (1, 9), "t"),
        ("    at async e.t (/srv/a/app.mjs:10:2)", "/srv/a/app.mjs", (10, 2), "e.t"),
        ("    at new t (file:///srv/app.cjs:1:2)", "file:///srv/app.cjs", (1, 2), "t"),
        ("    at HTMLElement.t [as onclick] (app.js?v=1:1:2)", "app.js?v=1", (1, 2), "HTMLElement.t"),
        ("    at https://shop.example/app.js:1:9", "https://shop.example/app.js", (1, 9), None),
        ("    at C:\\shop\\app.js:1:9", "C:\\shop\\app.js", (1, 9), None),
        ("    at t (C:\\Program Files\\app.js:1:9)", "C:\\Program Files\\app.js", (1, 9), "t"),
        ("t@https://shop.example/app.js:1:9", "https://shop.example/app.js", (1, 9), "t"),
        ("@https://shop.example/app.js:1:9", "https://shop.example/app.js", (1, 9), None),
        ("    at t (/srv/node_modules/@scope/a.js:1:9)", "/srv/node_modules/@scope/a.js", (1, 9), "t"),
        ("    at /srv/node_modules/@scope/a.js:1:9", "/srv/node_modules/@scope/a.js", (1, 9), None),
        (
            "    at eval (eval at t (https://x.example/a.js:1:2), <anonymous>:1:1)",
            "https://x.example/a.js",
            (1, 2),
            None,
        ),
    ],
)
def test_places_in_traces(line: str, file: str, place: tuple[int, int], function: str | None) -> None:
    spot = find_spot(line)
    assert spot is not None and (spot.file, (spot.line, spot.column)) == (file, place)
    assert line[spot.start : spot.end] == f"{file}:{place[0]}:{place[1]}"
    if function:
        assert spot.function is not None and line[slice(*spot.function)] == function


@pytest.mark.parametrize(
    "line", ["", "at t (app.js)", "at t (app.js:1)", "app.json:1:2", "at t (app.ts:1:2)", "at t (src/a.js:2:3 (name))"]
)
def test_lines_without_a_place(line: str) -> None:
    assert find_spot(line) is None


@given(st.text("at (js:1./\\@?#\n\t", max_size=60))
def test_any_line_has_a_place_or_none(line: str) -> None:
    spot = find_spot(line)
    if spot:
        assert 0 <= spot.start < spot.end <= len(line)


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("https://cdn.example:8080/static/js/app.js?v=1", "static/js/app.js"), ("//cdn.example/a.js", "a.js"),
        ("/a.js", "a.js"), ("./b/./a.js", "b/a.js"), ("~/a.js", "a.js"), ("C:\\shop\\a.js", "C:/shop/a.js"),
        ("app:///main.js", "main.js"), ("a.js#x", "a.js"), ("https://cdn.example", ""), ("/", ""),
    ],
)  # fmt: skip
def test_names_of_files(text: str, file: str) -> None:
    assert file_of(text) == file


def test_the_longest_suffix_of_whole_segments_wins() -> None:
    files = [("app.js", 1), ("js/app.js", 2), ("x/js/app.js", 3), ("css/app.js", 4)]
    assert closest("static/x/js/app.js", files) == 3
    assert closest("js/app.js", files[:2]) == 2
    assert closest("my-app.js", files) is None
    assert closest("q/app.js", files) is None


def test_maps_in_memory_are_few(example: dict[str, Any]) -> None:
    kept: Recent[ParsedMap] = Recent(limit=1)
    content = read_map(example).content
    first = kept.get("a", lambda: ParsedMap(content))
    assert kept.get("a", lambda: ParsedMap(content)) is first
    kept.get("b", lambda: ParsedMap(content))
    assert kept.get("a", lambda: ParsedMap(content)) is not first


def test_114_releases_of_an_issue(shop: Any) -> None:
    assert shop.client.get("issue-releases", id=999).status == 404
    assert shop.client.get("issue-releases", id=0).status == 422
    times = {"v2": "2026-01-03 10:00:00", "v1": "2026-01-03 09:00:00", "v3": "2026-01-03 09:30:00"}
    for release, at in times.items():
        issue_id = shop.push("Disk full", release=release, occurred_at=at)
    issue_id = shop.push("Disk full", release="v1", occurred_at="2026-01-03 11:00:00")
    found = shop.releases(issue_id)
    assert [(one["release"], one["occurrences"]) for one in found["releases"]] == [("v1", 2), ("v2", 1), ("v3", 1)]
    assert found["releases"][0]["first_seen"] == "2026-01-03 09:00:00"
    assert (found["first_release"], found["last_release"], found["source_link"]) == ("v1", "v1", None)
    nothing = shop.releases(shop.push("Mail lost"))
    assert nothing == {"releases": [], "first_release": None, "last_release": None, "source_link": None}


def test_the_link_to_the_source(shop: Any) -> None:
    template = "https://git.example.com/shop/blob/{ref}/{path}#L{line}"
    shop.client.put("release-settings", {"repo_url_template": template, "path_prefixes": ["/srv/", "/srv/my shop/"]})
    trace = (
        'Traceback (most recent call last):\n  File "/srv/my shop/app/o rders.py", line 42, in charge\n    x()\nE: no'
    )
    issue_id = shop.push("E: no", exception_class="E", stack=trace, release="v1")

    def link() -> str:
        return str(shop.releases(issue_id)["source_link"])

    assert link() == "https://git.example.com/shop/blob/main/app/o%20rders.py#L42"
    shop.client.patch("release-settings", {"default_ref": "feature/x y"})
    assert link() == "https://git.example.com/shop/blob/feature/x%20y/app/o%20rders.py#L42"
    shop.deploy("v1", ref="old", deployed_at="2026-01-01 00:00:00")
    shop.deploy("v1", "staging", ref="abc123", deployed_at="2026-01-02 00:00:00")
    assert link() == "https://git.example.com/shop/blob/abc123/app/o%20rders.py#L42"
    assert shop.releases(shop.push("No frame"))["source_link"] is None


@pytest.mark.servers
def test_the_link_goes_through_a_map_that_came_late(shop: Any) -> None:
    shop.client.put("release-settings", {"repo_url_template": "https://git.example.com/{path}#L{line}"})
    issue_id = shop.push_script()
    assert shop.releases(issue_id)["source_link"] == "https://git.example.com/app.js#L1"
    shop.upload()
    assert shop.releases(issue_id)["source_link"] == "https://git.example.com/src/a.js#L2"


@pytest.mark.parametrize(
    ("source", "link"),
    [
        ("../../../../evil/repo/a.js", "evil/repo/a.js"),
        ("webpack:///./src/../../lib/./a.js", "lib/a.js"),
        ("javascript:alert(1)/../x", "x"),
        ("a/../../..", ""),
        ("%2e%2e/a.js", "%252e%252e/a.js"),
    ],
)
def test_the_link_to_a_source_stays_in_its_repository(sqlite_shop: Any, source: str, link: str) -> None:
    sqlite_shop.client.put("release-settings", {"repo_url_template": "https://git.example.com/shop/{ref}/{path}"})
    sqlite_shop.upload(map={"version": 3, "sources": [source], "names": [], "mappings": "AAAA"})
    issue_id = sqlite_shop.push_script("https://shop.example/app.js:1:1")
    assert sqlite_shop.releases(issue_id)["source_link"] == f"https://git.example.com/shop/main/{link}"


def test_names_of_a_map_put_no_lines_into_traces(sqlite_shop: Any) -> None:
    forged = {
        "version": 3,
        "sources": ["a.ts\n    at pay (bank.ts:1:1)"],
        "names": ["f\r\n\u2028g"],
        "mappings": "AAAAA",
    }
    sqlite_shop.upload(map=forged)
    issue_id = sqlite_shop.push_script("https://shop.example/app.js:1:1")
    assert sqlite_shop.stack(issue_id) == ["at t (a.ts     at pay (bank.ts:1:1):1:1 (f g))"]

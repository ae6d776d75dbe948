"""`source-maps`: what is taken, what replaces what, and what is refused."""

import gzip
import json
from typing import Any

import pytest

from snaglist.plugins.releases.maps import document, library

ID = "85314830-023f-4cf1-a267-535f4e37bb17"
OTHER_ID = "9d2c1b7e-1111-4222-8333-444455556666"


@pytest.mark.servers
def test_a_map_is_known_by_release_and_file(shop: Any, example: dict[str, Any]) -> None:
    made = shop.upload(file="https://cdn.example/static/./js/app.4f2a.js?v=1#x").json
    assert made["file"] == "static/js/app.4f2a.js"
    assert (made["release"], made["debug_id"], made["sources"]) == ("v1", None, 2)
    assert made["size"] == len(json.dumps(example, separators=(",", ":")))
    again = shop.upload(200, file="/static/js/app.4f2a.js", map=json.dumps(example)).json
    assert again["id"] == made["id"] and again["size"] == len(json.dumps(example))
    assert shop.upload(file="static/js/app.4f2a.js", release="v2").json["id"] != made["id"]
    assert [one["release"] for one in shop.maps()] == ["v2", "v1"]
    assert [one["id"] for one in shop.maps(release="v1")] == [made["id"]]
    assert shop.client.get("source-maps", limit=1).json["meta"] == {"total": 2, "page": 1, "limit": 1, "pages": 2}
    assert shop.client.delete("source-maps", id=made["id"]).json == {"id": made["id"], "deleted": True}
    assert shop.client.delete("source-maps", id=made["id"]).status == 404


def test_a_map_with_a_debug_id_keeps_its_row_and_moves(shop: Any, example: dict[str, Any]) -> None:
    made = shop.upload(map={**example, "debugId": ID}).json
    assert made["debug_id"] == ID
    moved = shop.upload(200, release="v2", file="js/app.js", map={**example, "debug_id": ID.upper().replace("-", "")})
    assert {name: moved.json[name] for name in ("id", "release", "file")} == {
        "id": made["id"], "release": "v2", "file": "js/app.js",
    }  # fmt: skip
    other = shop.upload(release="v3", file="js/app.js", debug_id=OTHER_ID).json
    onto = shop.upload(200, release="v3", file="js/app.js", debug_id=ID).json
    assert onto["id"] == made["id"] and other["id"] not in {one["id"] for one in shop.maps()}
    alone = shop.upload(release=None, file=None, debug_id=OTHER_ID).json
    assert (alone["release"], alone["file"]) == (None, None)
    assert shop.upload(200, release=None, file=None, debug_id=OTHER_ID).json["id"] == alone["id"]
    third = shop.upload(release="v3", file=None, map={**example, "debugId": "1" * 32}).json
    assert third["release"] == "v3" and len(shop.maps()) == 3


@pytest.mark.servers
def test_put_replaces_and_patch_changes(shop: Any, example: dict[str, Any]) -> None:
    first, second = shop.upload().json["id"], shop.upload(file="b.js").json["id"]
    put = {"release": "v2", "file": "c.js", "map": {**example, "names": [], "mappings": "AAAA"}}
    changed = shop.client.put("source-maps", put, id=first).json
    assert (changed["release"], changed["file"], changed["sources"]) == ("v2", "c.js", 2)
    assert shop.client.patch("source-maps", {"id": first, "release": "v3"}).json["file"] == "c.js"
    assert shop.client.patch("source-maps", {"id": first, "content": json.dumps(example)}).json["release"] == "v3"
    taken = shop.client.patch("source-maps", {"id": first, "release": "v1", "url": "b.js"})
    assert taken.status == 422 and taken.error.startswith("file: another map has this release and file")
    assert shop.client.put("source-maps", {**put, "id": 999}).status == 404
    assert shop.client.patch("source-maps", {"id": 999, "release": "v1"}).status == 404
    assert {one["id"] for one in shop.maps()} == {first, second}


@pytest.mark.parametrize("before", [")]}'\n", "\ufeff", "\ufeff)]}'\n", ")]}'\n\ufeff", ")]}'abc\r\n"])
def test_a_guard_line_and_a_byte_order_mark_are_skipped(sqlite_shop: Any, example: dict[str, Any], before: str) -> None:
    assert sqlite_shop.upload(map=before + json.dumps(example)).json["sources"] == 2


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"map": None}, "map: is required"),
        ({"map": 7}, "map: must be a source map, as an object or as text"),
        ({"map": "nothing"}, "map: is not JSON"),
        ({"map": ")]}'"}, "map: is not JSON"),
        ({"map": "[]"}, "map: must be a source map, an object"),
        ({"map": {"version": 3, "sources": []}}, "map: must have mappings or sections"),
        ({"map": {"version": 2, "mappings": ""}}, "map.version: must be 3"),
        ({"map": {"version": 3, "sources": 1, "mappings": ""}}, "map.sources: must be a list"),
        ({"map": {"version": 3, "sections": [{"map": {}}]}}, "map.sections[0].offset: must be a line and a column"),
        ({"map": '{"version":3,"sources":[],"mappings":"\\ud800"}'}, "map.mappings: must be base64 VLQ"),
        ({"release": None}, "release: is required for a map without a debug id"),
        ({"file": None}, "file: is required for a map without a debug id"),
        ({"file": "https://cdn.example/"}, "file: must name the generated file"),
        ({"file": "f" * 1_001}, "file: must be 1-1000 characters"),
        ({"release": "r" * 121}, "release: must be 1-120 characters"),
        ({"debug_id": "app"}, "debug_id: must be a UUID"),
    ],
)
def test_what_is_refused(sqlite_shop: Any, change: dict[str, Any], problem: str) -> None:
    answer = sqlite_shop.upload(422, **change)
    assert answer.error.startswith(problem)
    assert sqlite_shop.maps() == []


def _sent(shop: Any, content: bytes, **headers: str) -> Any:
    sent = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return shop.client.request("POST", "/?api=source-maps", content, sent)


def test_a_body_may_be_gzip(sqlite_shop: Any, example: dict[str, Any]) -> None:
    body = json.dumps({"release": "v1", "file": "app.js", "map": example}).encode()
    assert _sent(sqlite_shop, gzip.compress(body), Content_Encoding="gzip").status == 201
    assert _sent(sqlite_shop, body, Content_Encoding="gzip").status == 400
    assert _sent(sqlite_shop, body, Content_Encoding="br").status == 415
    bomb = gzip.compress(b" " * (97 * 1024 * 1024), compresslevel=1)
    assert _sent(sqlite_shop, bomb, Content_Encoding="gzip").status == 413


def test_the_limit_is_that_of_the_unpacked_map(
    sqlite_shop: Any, example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps({**example, "sourcesContent": ["ö" * 100, "\U0001f600"]}, ensure_ascii=False)
    monkeypatch.setattr(document, "MAX_SIZE", len(text.encode()))
    assert sqlite_shop.upload(map=text).json["size"] == len(text.encode())
    refused = sqlite_shop.upload(413, map=f"{text} ")
    assert refused.error.startswith("map: is over the limit")


def test_without_the_library_everything_but_maps_works(sqlite_shop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sqlite_shop.upload()
    monkeypatch.setattr(library, "find_spec", lambda name: None)
    refused = sqlite_shop.upload(422, file="b.js")
    assert refused.error == "map: source maps need an extra: pip install 'snaglist[sourcemaps]'"
    issue_id = sqlite_shop.push_script()
    assert sqlite_shop.frames(issue_id)[0][1] == "https://shop.example/app.js"
    sqlite_shop.deploy("v1")
    assert sqlite_shop.deploys() == {("v1", "production"): (1, 1)}
    assert len(sqlite_shop.maps()) == 1

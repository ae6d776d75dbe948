"""The links from frames to the repository, by release and module."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.system.dumping.dump import dump
from snaglist.plugins.system.dumping.load import Loader
from snaglist.testing import Client, running_service

FRAMES = (
    ("/srv/my shop/app/o rders.py", 42, "charge"),
    ("/usr/lib/python3/site-packages/web.py", 7, "dispatch"),
    ("/srv/my shop/app/a#b?.py", 3, "main"),
    ("/opt/tool/run.py", 1, "run"),
    ("relative/x.py", 9, "start"),
)
TRACE = "\n".join(
    ["Traceback (most recent call last):"]
    + [f'  File "{file}", line {line}, in {name}\n    {name}()' for file, line, name in reversed(FRAMES)]
    + ["E: no"]
)
TEMPLATE = "https://git.example.com/shop/blob/{release}/{path}#L{line}"
PREFIXES = ["/srv/", "/srv/my shop/"]


def push(shop: Any, **fields: Any) -> int:
    return int(shop.push("E: no", exception_class="E", stack=TRACE, **fields))


def links(shop: Any, issue_id: int, **query: Any) -> list[str | None]:
    return [frame["source_link"] for frame in shop.issue(issue_id, **query)["exceptions"][-1]["frames"]]


@pytest.mark.servers
def test_own_frames_lead_to_their_lines(shop: Any) -> None:
    """Libraries do not, nor does what lies in no folder of the repository."""
    issue_id = push(shop, release="shop@2.0/β")
    assert links(shop, issue_id) == [None] * 5
    shop.client.put("release-settings", {"repo_url_template": TEMPLATE, "path_prefixes": PREFIXES})
    base = "https://git.example.com/shop/blob/shop%402.0/%CE%B2"
    wanted = [
        f"{base}/app/o%20rders.py#L42", None, f"{base}/app/a%23b%3F.py#L3", None, f"{base}/relative/x.py#L9",
    ]  # fmt: skip
    assert links(shop, issue_id) == wanted
    group = shop.client.get("group", id=issue_id).json
    assert [frame["source_link"] for frame in group["exceptions"][0]["frames"]] == wanted
    assert shop.releases(issue_id)["source_link"] == wanted[0]
    shop.client.post("plugins", {"id": "releases", "enabled": False})
    assert links(shop, issue_id) == [None] * 5


def test_each_event_leads_to_its_own_release(sqlite_shop: Any) -> None:
    shop = sqlite_shop
    shop.client.put("release-settings", {"repo_url_template": TEMPLATE + "?{ref}", "path_prefixes": PREFIXES})
    for release in ("v1", "v2", None):
        issue_id = push(shop, release=release)
    shop.deploy("v2", ref="abc/1 2")
    rows = {row["release"]: row["id"] for row in shop.issue(issue_id)["occurrences"]}
    base = "https://git.example.com/shop/blob"
    rest = "app/o%20rders.py#L42"
    assert links(shop, issue_id, occurrence=rows["v1"])[0] == f"{base}/v1/{rest}?main"
    assert links(shop, issue_id, occurrence=rows["v2"])[0] == f"{base}/v2/{rest}?abc/1%202"
    assert links(shop, issue_id, occurrence=rows[None])[0] == f"{base}/main/{rest}?main"
    shop.client.patch("release-settings", {"default_ref": "develop"})
    assert links(shop, issue_id, occurrence=rows[None])[0] == f"{base}/develop/{rest}?develop"


def test_a_module_has_its_repository(sqlite_shop: Any) -> None:
    """Its frames are not looked for in the general one."""
    shop = sqlite_shop
    till, other = push(shop, release="v1", module="Till"), push(shop, release="v1")
    module_id = shop.client.get("modules").json["data"][0]["id"]
    of_till = {"module_id": module_id, "repo_url_template": "http://code.example/{path}?at={release}&n={line}"}
    assert shop.client.put("release-settings", {"modules": [of_till]}).status == 200
    assert links(shop, till)[0] == "http://code.example/srv/my%20shop/app/o%20rders.py?at=v1&n=42"
    assert shop.releases(till)["source_link"] == links(shop, till)[0]
    assert (links(shop, other), shop.releases(other)["source_link"]) == ([None] * 5, None)
    shop.client.patch("release-settings", {"modules": [{**of_till, "path_prefixes": PREFIXES}]})
    shop.client.patch("release-settings", {"repo_url_template": TEMPLATE})
    assert links(shop, till)[0] == "http://code.example/app/o%20rders.py?at=v1&n=42"
    assert links(shop, till)[3] is None
    assert links(shop, other)[3] == "https://git.example.com/shop/blob/v1/opt/tool/run.py#L1"


@pytest.mark.parametrize("release", ["..", "../../evil", "a/../..", "{path}", "x\\..\\y"])
def test_a_release_does_not_lead_out_of_the_repository(sqlite_shop: Any, release: str) -> None:
    shop = sqlite_shop
    shop.client.put("release-settings", {"repo_url_template": TEMPLATE, "path_prefixes": PREFIXES})
    found = links(shop, push(shop, release=release))[0]
    assert found is not None and found.startswith("https://git.example.com/shop/blob/")
    assert ".." not in found.split("/") and "{" not in found


def test_a_dump_carries_repositories_and_source_texts(
    sqlite_shop: Any, database_on: Callable[[str], dict[str, str]], tmp_path: Path
) -> None:
    """From SQLite to PostgreSQL; what came before its map is resolved there, with its code."""
    shop = sqlite_shop
    till = shop.push_script(module="Till")
    shop.upload()
    module_id = shop.client.get("modules").json["data"][0]["id"]
    of_till = {"module_id": module_id, "repo_url_template": TEMPLATE, "path_prefixes": ["src/"]}
    shop.client.put("release-settings", {"modules": [of_till]})
    frame = shop.issue(till)["exceptions"][-1]["frames"][0]
    assert frame["context"]["line"] == "  throw new Error('x');"
    assert frame["source_link"] == "https://git.example.com/shop/blob/v1/a.js#L2"
    service = shop.client.service
    dump(service, service.applications.refresh(), tmp_path / "file.dump", lambda *_: None)
    config = database_on("postgresql")
    given = {name.replace("__", "."): value for name, value in config.items()}
    other = Service(Settings({"server.data": str(service.settings.data), **given}, environ={}))
    try:
        Loader(other, tmp_path / "file.dump", lambda *_: None).load(None, replace=False)
    finally:
        other.close()
    with running_service(service.settings.data, jobs=False, **config) as loaded:
        client = Client(loaded)
        assert client.get("release-settings").json["modules"] == [of_till]
        assert client.get("error", id=till).json["exceptions"][-1]["frames"][0] == frame

"""Modules."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import Column, MetaData, Table, select, update

from snaglist.kernel import Invalid
from snaglist.plugins.issues import Event, change_status, find_or_create_module, grouping_key, tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import Client

pytestmark = pytest.mark.servers

UNKNOWN = 987_654


def event(minute: int, message: str = "Order 1 failed", **more: Any) -> Event:
    return Event(message, occurred_at=f"2026-01-03 10:{minute:02}:00", **more)


def names(client: Client) -> list[str]:
    return [module["name"] for module in client.get("modules").json["data"]]


def test_77_the_way_of_a_module(client: Client, desk: Any) -> None:
    answer = client.post("modules", {"name": " Billing "})
    assert answer.status == 201
    module = answer.json
    assert (module["name"], module["slug"], module["color"]) == ("Billing", "billing", "#6366f1")
    assert module["issue_count"] == 0 and module["created_at"] == module["updated_at"]
    assert client.post("modules", {"name": "BILLING"}).status == 422
    desk.store(event(0), source=desk.add_source("a.log", module["id"]))
    assert client.get("modules").json["data"][0]["issue_count"] == 1
    assert client.delete("modules", {"id": module["id"]}).status == 409
    assert client.delete("modules", {"id": module["id"], "move_to": None}).json == {
        "id": module["id"],
        "deleted": True,
        "moved_to": None,
    }
    assert names(client) == []
    assert desk.issue()["module_id"] is None
    assert {row["module_id"] for row in desk.rows(log_tables.sources)} == {None}


def test_the_list_is_sorted_by_key(client: Client) -> None:
    for name in ("beta", "Zeta", "Alpha", "Émile", "emil"):
        assert client.post("modules", {"name": name}).status == 201
    assert names(client) == ["Alpha", "beta", "emil", "Zeta", "Émile"]


@pytest.mark.parametrize(
    ("body", "slug"),
    [
        ({"name": "Order Desk / EU"}, "order-desk-eu"),
        ({"name": "x", "slug": "  My--Slug!  "}, "my-slug"),
        ({"name": "x", "slug": None}, "x"),
        ({"name": "x", "slug": "s" * 64}, "s" * 64),
    ],
)
def test_slugs(sqlite_client: Client, body: dict[str, Any], slug: str) -> None:
    """The rule of slugs, given or derived."""
    assert sqlite_client.post("modules", body).json["slug"] == slug


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "n" * 101}, "name"),
        ({"name": 5}, "name"),
        ({"name": "日本"}, "slug"),
        ({"name": "x", "slug": "!!"}, "slug"),
        ({"name": "x", "slug": ""}, "slug"),
        ({"name": "x", "slug": "s" * 65}, "slug"),
        ({"name": "x", "slug": 5}, "slug"),
        ({"name": "x", "color": "#12345"}, "color"),
        ({"name": "x", "color": "#12345g"}, "color"),
        ({"name": "x", "color": "#123456\n"}, "color"),
        ({"name": "x", "color": "red"}, "color"),
    ],
)
def test_refused_fields(sqlite_client: Client, body: dict[str, Any], field: str) -> None:
    answer = sqlite_client.post("modules", body)
    assert answer.status == 422 and answer.error.startswith(f"{field}:")
    assert field != "slug" or answer.error == "slug: must have 1-64 characters of a-z, 0-9 and dashes"


def test_put_takes_defaults_and_patch_keeps(client: Client) -> None:
    module = client.post("modules", {"name": "Shop", "slug": "web", "color": "#ABCDEF"}).json
    assert module["color"] == "#abcdef"
    module_id = module["id"]
    patched = client.patch("modules", {"name": "Web shop"}, id=module_id).json
    assert (patched["name"], patched["slug"], patched["color"]) == ("Web shop", "web", "#abcdef")
    assert client.patch("modules", {"id": module_id, "color": "#000000"}).json["color"] == "#000000"
    put = client.put("modules", {"id": module_id, "name": "Web Shop"}).json
    assert (put["name"], put["slug"], put["color"]) == ("Web Shop", "web-shop", "#6366f1")
    assert client.put("modules", {"id": module_id}).status == 422
    assert client.put("modules", {"id": UNKNOWN, "name": "x"}).status == 404
    assert client.patch("modules", {"name": "x"}).status == 422
    assert client.patch("modules", {"id": module_id, "name": "x"}, id=UNKNOWN).status == 422


def test_names_and_slugs_are_unique(client: Client) -> None:
    client.post("modules", {"name": "Straße"})
    second = client.post("modules", {"name": "Other"}).json
    assert client.post("modules", {"name": "STRASSE", "slug": "free"}).error.startswith("name:")
    assert client.post("modules", {"name": "Free", "slug": "other"}).error.startswith("slug:")
    assert client.patch("modules", {"id": second["id"], "name": "strasse"}).error.startswith("name:")
    assert client.patch("modules", {"id": second["id"], "name": "OTHER"}).json["name"] == "OTHER"


def test_parallel_creates_of_one_name(client: Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        statuses = sorted(pool.map(lambda _: client.post("modules", {"name": "Same"}).status, range(8)))
    assert statuses == [201] + [422] * 7


def test_a_rename_changes_no_fingerprint(client: Client, desk: Any) -> None:
    module_id = client.post("modules", {"name": "Shop"}).json["id"]
    source = desk.add_source("a.log", module_id)
    desk.store(event(0), source=source)
    client.patch("modules", {"id": module_id, "name": "Store", "slug": "store"})
    desk.store(event(1), source=source)
    assert desk.issue()["count"] == 2


def test_delete_is_checked_in_order(client: Client, desk: Any) -> None:
    module_id = client.post("modules", {"name": "Shop"}).json["id"]
    assert client.delete("modules", {"id": UNKNOWN}).status == 404
    assert client.delete("modules", {}).status == 422
    desk.add_source("a.log", module_id)
    assert client.delete("modules", id=module_id).status == 409
    assert client.delete("modules", {"id": module_id, "move_to": module_id}).error.startswith("move_to:")
    assert client.delete("modules", {"id": module_id, "move_to": UNKNOWN}).error.startswith("move_to:")
    assert client.delete("modules", {"id": module_id, "move_to": "x"}).status == 422
    empty = client.post("modules", {"name": "Empty"}).json["id"]
    assert client.delete("modules", id=empty).json == {"id": empty, "deleted": True, "moved_to": None}


def test_rows_of_areas_above_move_too(sqlite_client: Client, sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connectors; any area may register a column that refers to a module."""
    module_id = sqlite_client.post("modules", {"name": "Shop"}).json["id"]
    target = sqlite_client.post("modules", {"name": "Target"}).json["id"]
    holders = Table("holders", MetaData(), Column("module_id", tables.modules.c.id.type))
    service = sqlite_desk.service
    with service.database.transaction(service.applications.all()[0], write=True) as db:
        holders.create(db)
        db.execute(holders.insert(), {"module_id": module_id})
    added = sqlite_desk.service.plugins.find("connectors").added
    references = [*added["register_module_references"], (None, holders.c.module_id)]
    with monkeypatch.context() as more:
        more.setitem(added, "register_module_references", references)
        assert sqlite_client.delete("modules", id=module_id).status == 409
        assert sqlite_client.delete("modules", {"id": module_id, "move_to": target}).status == 200
    with sqlite_desk.call(write=False) as call:
        assert call.db.execute(select(holders)).scalars().all() == [target]


def test_moved_groupings_get_the_keys_of_the_target(client: Client, desk: Any) -> None:
    """Later events of the moved source find their issue."""
    source_module = client.post("modules", {"name": "From"}).json["id"]
    target = client.post("modules", {"name": "To"}).json["id"]
    source = desk.add_source("a.log", source_module)
    samples = [event(0), event(0, fingerprint="own"), event(0, "Other trouble")]
    desk.store(*samples, source=source)
    before = [issue["id"] for issue in desk.rows(tables.issues)]
    client.delete("modules", {"id": source_module, "move_to": target})
    issues = desk.rows(tables.issues)
    assert [issue["id"] for issue in issues] == before and {issue["module_id"] for issue in issues} == {target}
    expected = {grouping_key(sample, target).fingerprint for sample in samples}
    groupings = desk.rows(tables.groupings)
    assert {row["fingerprint"] for row in groupings} == expected == {issue["fingerprint"] for issue in issues}
    assert {row["module_id"] for row in groupings} == {row["parts"]["module"] for row in groupings} == {target}
    (moved,) = desk.rows(log_tables.sources, log_tables.sources.c.id == source.id)
    assert moved["module_id"] == target
    batch = desk.store(event(5), source=type(source)(source.id, target, source.path))
    assert batch.new_issues == set()
    desk.check_counters()


@pytest.mark.parametrize("target_is_older", [True, False])
def test_where_the_key_exists_issues_are_merged_into_the_older(
    client: Client, desk: Any, target_is_older: bool
) -> None:
    """The older issue keeps its triage, nothing is lost or counted twice."""
    source_module = client.post("modules", {"name": "From"}).json["id"]
    target = client.post("modules", {"name": "To"}).json["id"]
    sources = [desk.add_source("a.log", source_module), desk.add_source("b.log", target)]
    first, second = sources[::-1] if target_is_older else sources
    older = desk.store(event(0), event(1), source=first).stored[0].issue_id
    with desk.call() as call:
        change_status(call, older, "in_progress")
    younger = desk.store(event(1), event(59, "Order 3 failed"), source=second).stored[0].issue_id
    client.delete("modules", {"id": source_module, "move_to": target})
    issue = desk.issue()
    assert (issue["id"], issue["count"], issue["stored_occurrences"]) == (older, 4, 4)
    assert (issue["status"], issue["title"], issue["module_id"]) == ("in_progress", "Order 3 failed", target)
    (grouping,) = desk.rows(tables.groupings)
    assert (grouping["count"], grouping["last_seen"]) == (4, "2026-01-03 10:59:00")
    assert grouping["fingerprint"] == grouping_key(event(0), target).fingerprint == issue["fingerprint"]
    assert desk.rows(tables.issue_aliases) == [{"old_id": younger, "issue_id": older, "grouping_id": grouping["id"]}]
    assert desk.history(older)[-1]["event"] == "merge"
    desk.check_counters()


def test_groupings_of_one_issue_that_meet_become_one(client: Client, desk: Any) -> None:
    """Two modules' groupings that were merged before have the same key after the move."""
    source_module = client.post("modules", {"name": "From"}).json["id"]
    target = client.post("modules", {"name": "To"}).json["id"]
    desk.store(event(0), source=desk.add_source("a.log", source_module))
    desk.store(event(0), event(1), source=desk.add_source("b.log", target))
    older = min(issue["id"] for issue in desk.rows(tables.issues))
    with desk.call() as call:
        call.db.execute(update(log_tables.sources).values(status="ok"))
        from snaglist.plugins.issues.merging import merge_issues

        merge_issues(call, [issue["id"] for issue in desk.rows(tables.issues)], older)
    assert len(desk.rows(tables.groupings)) == 2
    client.delete("modules", {"id": source_module, "move_to": target})
    (grouping,) = desk.rows(tables.groupings)
    assert (grouping["count"], grouping["issue_id"]) == (3, older)
    desk.check_counters()


def test_find_or_create(desk: Any) -> None:
    """Found by slug or name, else created; names in any script get a slug of their own."""
    with desk.call() as call:
        billing = find_or_create_module(call, " Billing ")
        for known in ("billing", "BILLING", "Billing"):
            assert find_or_create_module(call, known) == billing
        plus = find_or_create_module(call, "C++")
        sharp = find_or_create_module(call, "C#")
        japanese = find_or_create_module(call, "日本")
        long = find_or_create_module(call, "long " * 40)
        assert find_or_create_module(call, "c") == plus
        assert find_or_create_module(call, "日本") == japanese
        assert find_or_create_module(call, "long " * 40) == long
        assert len({billing, plus, sharp, japanese, long}) == 5
        with pytest.raises(Invalid, match="module"):
            find_or_create_module(call, " \n")
    slugs = [module["slug"] for module in desk.rows(tables.modules)]
    assert slugs[:2] == ["billing", "c"] and slugs[2].startswith("c-") and len(set(slugs)) == 5
    assert all(1 <= len(slug) <= 64 for slug in slugs)


def test_parallel_find_or_create(desk: Any) -> None:
    def find(_: int) -> int:
        with desk.call() as call:
            return find_or_create_module(call, "Same")

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(find, range(6)))) == 1

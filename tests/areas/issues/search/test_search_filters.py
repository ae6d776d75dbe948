"""Filters of `errors` and `groups`, on all three databases."""

from typing import Any

import pytest

from snaglist.testing import Client

pytestmark = pytest.mark.servers


def titles(client: Client, **query: Any) -> list[str]:
    answer = client.get("errors", sort="oldest", **query)
    assert answer.status == 200, answer.text
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return [issue["title"] for issue in answer.json["data"]]


def test_text_is_a_literal_folded_substring_of_every_searched_field(client: Client, rows: Any) -> None:
    """No wildcards, quotes mean nothing, Straße = STRASSE."""
    billing = rows.module("Buchhaltung", "billing")
    rows.issue("a percent", ["2026-01-01 01:00:00"], message="disk is 100% full")
    rows.issue("b thousand", ["2026-01-01 02:00:00"], message="disk has 1000 files")
    rows.issue("c underscore", ["2026-01-01 03:00:00"], message="no account_id given")
    rows.issue("d Straße", ["2026-01-01 04:00:00"], exception_class="HTTPTimeout")
    rows.issue("e it's", ["2026-01-01 05:00:00"], source_frame="app/orders.py:42", module_id=billing)
    rows.issue("f", [{"at": "2026-01-01 06:00:00", "path": "/var/log/Zahlung/pay.log"}], channel="Kasse.log")
    assert titles(client, q="100%") == ["a percent"]
    assert titles(client, q="_") == ["c underscore"]
    assert titles(client, q="STRASSE") == ["d Straße"]
    assert titles(client, q="httptimeout") == ["d Straße"]
    assert titles(client, q="it's") == ["e it's"]
    assert titles(client, q="' OR 1=1 --") == []
    assert titles(client, q="Orders.PY") == ["e it's"]
    assert titles(client, q="buchHALT") == ["e it's"]
    assert titles(client, q="zahlung/") == ["f"]
    assert titles(client, q="kasse") == ["f"]
    assert titles(client, q="thousand") == ["b thousand"]
    assert titles(client, q="[a-z]*?") == []
    assert titles(client, q="\\") == []


def test_lists_mean_any_of_the_values(client: Client, rows: Any) -> None:
    """Severity, status, origin, kind, log_type; any case."""
    rows.issue("a", ["2026-01-01 01:00:00"], severity="ERROR", status="open", log_type="monolog")
    rows.issue("b", ["2026-01-01 02:00:00"], severity="WARNING", status="fixed", log_type="python")
    rows.issue("c", ["2026-01-01 03:00:00"], severity="INFO", status="wont_fix", log_type="text")
    rows.manual("d", "2026-01-01 04:00:00", kind="bug", severity="DEBUG", status="in_progress")
    assert titles(client, severity="error,warning") == ["a", "b"]
    assert titles(client, severity="Error") == ["a"]
    assert titles(client, status="open,FIXED") == ["a", "b"]
    assert titles(client, origin="MANUAL") == ["d"]
    assert titles(client, kind="bug,task") == ["d"]
    assert titles(client, log_type="python, text") == ["b", "c"]
    assert titles(client, log_type="unused") == []
    assert titles(client, severity="error,info", status="wont_fix") == ["c"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("severity", "loud"),
        ("status", "done"),
        ("origin", "files"),
        ("kind", "epic"),
        ("log_type", "Mono-log"),
        ("log_type", ",".join(["text"] * 21)),
        ("sort", "best"),
        ("date", "2026-02-30"),
        ("from", "yesterday"),
        ("format", "xml"),
        ("has_stack", "yes"),
        ("has_stack", "TRUE"),
        ("has_stack", "2"),
        ("page", "0"),
        ("page", "x"),
        ("page", "1000000000000000000"),
        ("limit", "201"),
        ("limit", "-1"),
        ("q", "x" * 501),
    ],
)
def test_bad_values_are_refused_by_name(sqlite_client: Client, name: str, value: str) -> None:
    answer = sqlite_client.get("errors", **{name: value})
    assert answer.status == 422
    assert answer.error.startswith(name)


def test_booleans_and_empty_values(sqlite_client: Client, sqlite_rows: Any) -> None:
    """True, false, 1, 0; an empty value counts as not given."""
    sqlite_rows.issue("with", ["2026-01-01 01:00:00"], stack="at here")
    sqlite_rows.issue("without", ["2026-01-01 02:00:00"])
    assert titles(sqlite_client, has_stack="true") == ["with"]
    assert titles(sqlite_client, has_stack="0") == ["without"]
    assert titles(sqlite_client, has_stack="") == ["with", "without"]
    assert titles(sqlite_client, unknown="x") == ["with", "without"]


def test_tags_by_id_and_name(client: Client, rows: Any) -> None:
    """Ids or names by `key()`, `none`, unknown matches nothing."""
    pay, slow = rows.tag("Groß, teuer"), rows.tag("Slow")
    rows.issue("a", ["2026-01-01 01:00:00"], tags={pay: "manual", slow: "rule"})
    rows.issue("b", ["2026-01-01 02:00:00"], tags={slow: "manual"})
    rows.issue("c", ["2026-01-01 03:00:00"])
    assert titles(client, tag="SLOW") == ["a", "b"]
    assert titles(client, tag=str(pay)) == ["a"]
    assert titles(client, tag=f"{pay},slow") == ["a", "b"]
    assert titles(client, tag="none") == ["c"]
    assert titles(client, tag=f"none,{pay}") == ["a", "c"]
    assert titles(client, tag="never") == []
    assert titles(client, tag="99999999999999999999") == []
    assert titles(client, tag="never,none") == ["c"]


def test_module_by_id_slug_and_name(client: Client, rows: Any) -> None:
    shop = rows.module("Der Laden", "shop")
    rows.issue("a", ["2026-01-01 01:00:00"], module_id=shop)
    rows.issue("b", ["2026-01-01 02:00:00"])
    for value in (str(shop), "shop", "DER laden"):
        assert titles(client, module=value) == ["a"]
    assert titles(client, module="none") == ["b"]
    assert titles(client, module="nowhere") == []


def test_facets_of_any_event(client: Client, rows: Any) -> None:
    """`environment`, `release`, `source`: what any event of the issue had."""
    old = {"at": "2026-01-01 01:00:00", "environment": "staging", "release": "v1", "channel": "old.log"}
    rows.issue("a", [{**old, "path": "/var/log/Archiv/old.log"}, "2026-01-01 02:00:00"])
    rows.issue("b", [{"at": "2026-01-01 03:00:00", "release": "v2", "path": "/var/log/new.log"}])
    assert titles(client, environment="staging") == ["a"]
    assert titles(client, environment="Staging") == []
    assert titles(client, environment="production") == ["a", "b"]
    assert titles(client, release="v2") == ["b"]
    assert titles(client, source="old.log") == ["a"]
    assert titles(client, source="old.lo") == ["a"]  # part of the path
    assert titles(client, source="archiv/") == ["a"]
    assert titles(client, source="app.log") == ["a", "b"]  # channel of both, path of one
    assert titles(client, source="/var/log") == ["a", "b"]
    assert titles(client, source="nothing") == []


def test_paths_that_an_actor_may_not_see_cannot_be_probed(sqlite_service: Any, sqlite_rows: Any) -> None:
    """Without `connectors.write` only the base name of an outside path exists."""
    from snaglist.kernel.call import Actor

    viewer = Client(sqlite_service, identify=lambda environ, application: Actor("v", "V", ("viewer",)))
    sqlite_rows.issue("a", [{"at": "2026-01-01 01:00:00", "path": "/srv/secret-customer/pay.log"}])
    assert titles(viewer, source="secret-customer") == []
    assert titles(viewer, q="secret-customer") == []
    assert titles(viewer, source="pay") == ["a"]
    detail = viewer.get("error", id=viewer.get("errors").json["data"][0]["id"]).json
    assert detail["occurrences"][0]["path"] == "pay.log"
    assert [item["value"] for item in detail["facets"]["source"]] == ["pay.log"]


def test_assignee_in_both_forms(client: Client, rows: Any) -> None:
    """Assignment or tracker mirror, by `key()`."""
    rows.issue("a", ["2026-01-01 01:00:00"], assigned_to_id="U-1", assigned_to_label="Ada")
    mirror = {"origin": "tracker", "kind": "task", "assignee": "Große Eva", "external_source": "jira"}
    rows.manual("b", "2026-01-01 02:00:00", external_id="X-1", **mirror)
    rows.issue("c", ["2026-01-01 03:00:00"])
    assert titles(client, assignee="u-1") == ["a"]
    assert titles(client, assignee="GROSSE eva") == ["b"]
    assert titles(client, assignee="none") == ["c"]
    assert titles(client, assignee="nobody") == []


def test_snoozed(client: Client, rows: Any) -> None:
    """A passed time is no snooze, and reads as null."""
    rows.issue("until", ["2026-01-01 01:00:00"], snoozed_until="2999-01-01 00:00:00")
    rows.issue("count", ["2026-01-01 02:00:00"], snooze_count=3)
    rows.issue("over", ["2026-01-01 03:00:00"], snoozed_until="2026-01-01 04:00:00")
    assert titles(client, snoozed=True) == ["until", "count"]
    assert titles(client, snoozed=False) == ["over"]
    shown = {issue["title"]: issue for issue in client.get("errors").json["data"]}
    assert shown["until"]["snoozed_until"] == "2999-01-01 00:00:00"
    assert shown["over"]["snoozed_until"] is None


def test_filters_combine_with_and(sqlite_client: Client, sqlite_rows: Any) -> None:
    """Every filter at once, and each of them decides."""
    module, tag = sqlite_rows.module("Shop", "shop"), sqlite_rows.tag("Hot")
    event = {"at": "2026-01-01 01:00:00", "release": "v1"}
    sqlite_rows.issue("hit", [event], stack="at x", module_id=module, tags={tag: "rule"}, assigned_to_id="ada")
    query = {
        "q": "HIT",
        "severity": "error",
        "status": "open",
        "origin": "ingested",
        "kind": "error",
        "log_type": "monolog",
        "tag": "hot",
        "module": "shop",
        "source": "app.log",
        "environment": "production",
        "release": "v1",
        "assignee": "ada",
        "has_stack": True,
        "snoozed": False,
        "date": "2026-01-01",
    }
    misses = {
        "q": "miss",
        "severity": "info",
        "status": "fixed",
        "origin": "manual",
        "kind": "bug",
        "log_type": "text",
        "tag": "none",
        "module": "none",
        "source": "no.log",
        "environment": "qa",
        "release": "v2",
        "assignee": "none",
        "has_stack": False,
        "snoozed": True,
        "date": "2026-01-02",
    }
    assert titles(sqlite_client, **query) == ["hit"]
    for name, miss in misses.items():
        assert titles(sqlite_client, **{**query, name: miss}) == [], name

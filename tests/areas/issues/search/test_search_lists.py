"""Lists: order, paging, cursors, totals, samples, ETag, export."""

import base64
import csv
import io
import json
import random
from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.plugins.issues.search import queries
from snaglist.testing import Client

pytestmark = pytest.mark.servers

SORTS = ("newest", "oldest", "first_seen", "occurrences", "trend")


def fill(rows: Any, number: int) -> None:
    """Add issues with many equal sort values, some of them in the last two days."""
    rnd = random.Random(3)
    now = times.hour(times.now())
    for n in range(number):
        recent = [times.add(now, seconds=-3600 * rnd.randint(0, 60)) for _ in range(rnd.choice([0, 0, 1, 2]))]
        old = [f"2026-01-0{rnd.randint(1, 9)} 10:00:00" for _ in range(rnd.randint(1, 3))]
        rows.issue(f"Issue {n}", [*old, *recent], status=rnd.choice(["open", "fixed"]))


def walk(client: Client, limit: int, api: str = "errors", **query: Any) -> tuple[list[int], list[int]]:
    """Return the ids and the page sizes of a walk by cursor."""
    ids, sizes, cursor = [], [], {}
    while True:
        answer = client.get(api, limit=limit, **query, **cursor)
        assert answer.status == 200, answer.text
        issues, meta = answer.json["data" if api == "errors" else "items"], answer.json["meta"]
        if cursor:
            assert (meta["total"], meta["page"], meta["pages"], meta["limit"]) == (None, None, None, limit)
        ids += [issue["id"] for issue in issues]
        sizes.append(len(issues))
        if meta["next_cursor"] is None:
            return ids, sizes
        cursor = {"cursor": meta["next_cursor"]}


def test_empty_application(client: Client) -> None:
    answer = client.get("errors").json
    assert answer["data"] == []
    assert (answer["meta"]["total"], answer["meta"]["pages"], answer["meta"]["next_cursor"]) == (0, 0, None)
    assert client.get("groups").json["items"] == []


def test_walks_and_pages_agree_in_every_sort(client: Client, rows: Any) -> None:
    """50, 50, 20, each id once; page mode gives the same order. Equal values go by id, newest first."""
    fill(rows, 120)
    for scope in ({}, {"from": "2026-01-02", "to": "2026-01-08 12:00:00"}):
        for sort in SORTS:
            ids, sizes = walk(client, 50, sort=sort, **scope)
            assert len(set(ids)) == len(ids)
            if not scope:
                assert sizes == [50, 50, 20]
            paged: list[dict[str, Any]] = []
            for page in (1, 2, 3, 4):
                answer = client.get("errors", sort=sort, limit=50, page=page, **scope).json
                paged += answer["data"]
                assert answer["meta"]["total"] == len(ids)
                assert answer["meta"]["pages"] == -(-len(ids) // 50)
            assert [issue["id"] for issue in paged] == ids
            if sort != "trend":
                field, sign = {
                    "newest": ("last_seen", -1),
                    "oldest": ("first_seen", 1),
                    "first_seen": ("first_seen", -1),
                    "occurrences": ("count", -1),
                }[sort]
                ordered = sorted(paged, key=lambda issue: issue["id"], reverse=True)
                ordered.sort(key=lambda issue: issue[field], reverse=sign < 0)
                assert [issue["id"] for issue in ordered] == ids


def test_trend_compares_the_last_two_days(client: Client, rows: Any) -> None:
    """Events of the last 24 h against those of the 24 h before."""
    now = times.hour(times.now())

    def ago(hours: int, number: int) -> list[str]:
        return [times.add(now, seconds=-3600 * hours)] * number

    rows.issue("steady", ago(1, 3) + ago(30, 3))
    rows.issue("falling", ago(1, 1) + ago(30, 4))
    rows.issue("rising", ago(2, 2))
    rows.issue("silent", ago(100, 9))
    found = client.get("errors", sort="trend").json["data"]
    assert [issue["title"] for issue in found] == ["rising", "silent", "steady", "falling"]
    assert found[0]["sparkline"] == [0] * 21 + [2, 0, 0]


def test_growth_ranks_above_size(client: Client, rows: Any) -> None:
    """A noisy warning that is as always comes after what grows, whatever its size; so it does in a range."""
    now = times.hour(times.now())

    def events(recent: int, before: int, hours: int) -> list[str]:
        return [now] * recent + [times.add(now, seconds=-3600 * hours)] * before

    def order(**query: str) -> list[str]:
        return [issue["title"] for issue in client.get("errors", sort="trend", **query).json["data"]]

    rows.issue("noisy warning", events(420, 400, 30))
    rows.issue("new burst", events(12, 0, 30))
    rows.issue("slow leak", events(90, 30, 30))
    rows.issue("repaired", events(1, 300, 30))
    growing = ["slow leak", "new burst", "noisy warning", "repaired"]
    assert order() == growing
    assert order(**{"from": times.add(now, seconds=-3600 * 23)}) == growing
    assert order(**{"from": times.add(now, seconds=-3600 * 200)}) == growing


def test_growth_in_a_short_range_is_against_as_many_hours_before(client: Client, rows: Any) -> None:
    """Jobs that run by the hour: what fails more often now than in the two hours before, not than yesterday."""
    hours = [f"2026-01-03 {hour:02}:00:00" for hour in range(24)]
    rows.issue("by the hour", hours * 40)
    rows.issue("since ten", hours[10:12] * 9)
    rows.issue("ebbing", hours[8:10] * 30 + hours[10:12])
    found = client.get("errors", sort="trend", **{"from": hours[10], "to": hours[12]}).json["data"]
    assert [issue["title"] for issue in found] == ["since ten", "by the hour", "ebbing"]


def test_defaults_of_the_two_endpoints(sqlite_client: Client, sqlite_rows: Any) -> None:
    """Sort, limit, shape and samples."""
    context = '{"order":1}'
    sqlite_rows.issue("once", ["2026-01-03 10:00:00"], stack="at x", context=context, message="once and long")
    sqlite_rows.issue("twice", ["2026-01-01 10:00:00", "2026-01-01 10:00:00"])
    errors, groups = sqlite_client.get("errors").json, sqlite_client.get("groups").json
    assert [issue["title"] for issue in errors["data"]] == ["once", "twice"]
    assert [issue["title"] for issue in groups["items"]] == ["twice", "once"]
    assert (errors["meta"]["sort"], groups["meta"]["sort"]) == ("newest", "occurrences")
    assert errors["meta"]["limit"] == 50
    assert not {"sample_stack", "sample_context", "sample_message"} & set(errors["data"][0])
    samples = {"sample_message": "once and long", "sample_stack": "at x", "sample_context": context}
    assert samples.items() <= groups["items"][1].items()
    stack = sqlite_client.get("errors", include_stack=1).json
    assert stack["data"][0]["sample_stack"] == "at x" and "sample_context" not in stack["data"][0]
    assert stack["meta"]["include_stack"] is True
    whole = sqlite_client.get("errors", include_context=True).json["data"][0]
    assert whole["sample_context"] == context and whole["sample_message"] == "once and long"
    assert sqlite_client.post("errors", {}).status == 405
    assert sqlite_client.put("groups", {}).status == 405


def test_issue_object_of_an_ingested_issue(client: Client, rows: Any) -> None:
    """Every field is there, with its type (the response schema checks the rest)."""
    module = rows.module("Billing", "billing")
    high, low = rows.tag("Übel", color="#ff0000", icon="bolt"), rows.tag("alt")
    now = times.hour(times.now())
    issue_id = rows.issue(
        "Order failed", [now, now, times.add(now, seconds=-86400)], tags={high: "rule", low: "manual"}, module_id=module
    )
    (issue,) = client.get("errors").json["data"]
    assert issue["id"] == issue_id
    assert issue["count"] == issue["count_total"] == issue["stored_occurrences"] == 3
    assert issue["sparkline"] == [0] * 23 + [2]
    assert (issue["module_name"], issue["module_slug"], issue["module_color"]) == ("Billing", "billing", "#6366f1")
    assert issue["has_stack"] is False
    assert issue["tags"] == [
        {"id": low, "name": "alt", "color": "#64748b", "icon": "tag", "source": "manual"},
        {"id": high, "name": "Übel", "color": "#ff0000", "icon": "bolt", "source": "rule"},
    ]


def test_fingerprint_is_that_of_the_newest_grouping(client: Client, rows: Any) -> None:
    issue_id = rows.issue("a")
    seen = {"first_seen": "2026-01-03 10:00:00", "last_seen": "2026-01-03 10:00:00", "count": 1}
    grouping = {"issue_id": issue_id, "module_id": None, "key": "k", "parts": {}, "created_at": "2026-01-04 00:00:00"}
    rows.insert("groupings", **grouping, **seen, fingerprint="f" * 64, fingerprint_version=2)
    (issue,) = client.get("errors").json["data"]
    assert (issue["fingerprint"], issue["fingerprint_version"]) == ("f" * 64, 2)


@pytest.mark.parametrize("change", [{"sort": "oldest"}, {"status": "open"}, {"q": "x"}, {"date": "2026-01-01"}])
def test_a_cursor_is_bound_to_filters_and_sort(sqlite_client: Client, sqlite_rows: Any, change: dict[str, str]) -> None:
    fill(sqlite_rows, 3)
    cursor = sqlite_client.get("errors", limit=1).json["meta"]["next_cursor"]
    assert sqlite_client.get("errors", limit=2, cursor=cursor).status == 200
    answer = sqlite_client.get("errors", cursor=cursor, **change)
    assert (answer.status, answer.error.split(":")[0]) == (422, "cursor")
    assert sqlite_client.get("errors", cursor=cursor, page=1).status == 422


def test_equal_lists_in_another_order_are_the_same_filter(sqlite_client: Client, sqlite_rows: Any) -> None:
    """Other filters are refused, the same ones in other words are not."""
    fill(sqlite_rows, 3)
    cursor = sqlite_client.get("errors", limit=1, status="open,fixed").json["meta"]["next_cursor"]
    assert sqlite_client.get("errors", limit=1, status="FIXED,open,open", cursor=cursor).status == 200


@pytest.mark.parametrize("sort", SORTS)
def test_made_up_cursors_are_refused(client: Client, rows: Any, sort: str) -> None:
    """422 whatever a cursor holds, never 500."""
    fill(rows, 2)
    cursor = client.get("errors", limit=1, sort=sort).json["meta"]["next_cursor"]
    digest, *values = json.loads(base64.urlsafe_b64decode(cursor + "=="))
    assert len(values) == 3
    for position in range(3):
        for wrong in (True, {}, [], 1.5, 2**70, "\x00", "\ud800", "2026-99-01 00:00:00"):
            if position == 2 and sort != "trend":
                continue  # only a trend reads it
            made = [digest, *values]
            made[position + 1] = wrong
            text = base64.urlsafe_b64encode(json.dumps(made).encode()).decode().rstrip("=")
            assert client.get("errors", limit=1, sort=sort, cursor=text).status == 422, (position, wrong)
    for text in ("abc", "", "ä", "x" * 501, cursor[:-3]):
        if text:
            assert client.get("errors", sort=sort, cursor=text).status == 422


def test_a_page_past_the_end_is_empty(sqlite_client: Client, sqlite_rows: Any) -> None:
    fill(sqlite_rows, 3)
    for query in ({}, {"q": "Issue"}, {"sort": "trend"}):
        answer = sqlite_client.get("errors", page=1_000_000, limit=200, **query)
        assert answer.status == 200 and answer.json["data"] == []
        assert (answer.json["meta"]["total"], answer.json["meta"]["next_cursor"]) == (3, None)


def test_totals_are_counted_up_to_a_bound(
    sqlite_client: Client, sqlite_rows: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exact from counters and indexes, else up to a bound."""
    for n in range(6):
        sqlite_rows.issue(f"Issue {n}", stack="at x")
    monkeypatch.setattr(queries, "COUNTED", 4)

    def total(**query: Any) -> tuple[int, bool]:
        meta = sqlite_client.get("errors", limit=2, **query).json["meta"]
        return meta["total"], meta["total_exact"]

    assert total() == (6, True)
    assert total(status="open", severity="error", log_type="monolog") == (6, True)
    assert total(environment="production") == (6, True)
    assert total(q="issue") == (4, False)
    assert total(has_stack=True, status="open") == (4, False)
    assert total(q="issue 1") == (1, True)
    monkeypatch.setattr(queries, "COUNTED", 6)
    assert total(q="issue") == (6, True)


def test_limits_come_from_the_configuration(tmp_path: Any) -> None:
    """`pagination.*`."""
    from snaglist.testing import running_service

    config = {"pagination__default_limit": 2, "pagination__max_limit": 3}
    with running_service(tmp_path / "data", jobs=False, **config) as service:
        client = Client(service)
        assert client.get("errors").json["meta"]["limit"] == 2
        assert client.get("groups", limit=3).status == 200
        assert client.get("groups", limit=4).status == 422


@pytest.mark.parametrize("api", ["errors", "groups", "summary"])
def test_unchanged_answers_are_304(sqlite_client: Client, sqlite_rows: Any, api: str) -> None:
    """A weak ETag that changes with any change of the result."""
    sqlite_rows.issue("a")
    first = sqlite_client.get(api)
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    again = sqlite_client.request("GET", f"/?api={api}", headers={"If-None-Match": tag})
    assert (again.status, again.content) == (304, b"")
    sqlite_rows.issue("b")
    changed = sqlite_client.request("GET", f"/?api={api}", headers={"If-None-Match": tag})
    assert changed.status == 200 and changed.headers["etag"] != tag


def table(text: str) -> list[list[str]]:
    assert text.endswith("\r\n")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_csv_export(client: Client, rows: Any) -> None:
    """Columns, quoting, formulas, all issues in the chosen sort."""
    module, hot, slow = rows.module("Billing", "billing"), rows.tag("hot"), rows.tag("Slow, old")
    rows.issue("=1+1", module_id=module, tags={slow: "rule", hot: "manual"})
    rows.issue('He said "no",\nthen left', ["2026-01-01 00:00:00"], source_frame="-x.py:1", exception_class="@E")
    rows.issue("plain", ["2026-01-02 00:00:00"], status="fixed", assigned_to_id="u", assigned_to_label="+Ada")
    answer = client.get("errors", format="csv")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    day = times.now()[:10].replace("-", "")
    assert answer.headers["content-disposition"] == f'attachment; filename="issues-default-{day}.csv"'
    header, *lines = table(answer.text)
    assert header == [
        *("id", "title", "severity", "status", "count", "first_seen", "last_seen", "environment", "log_type"),
        *("channel", "module_name", "exception_class", "source_frame", "assigned_to_label", "tags", "external_url"),
    ]
    found = [dict(zip(header, line, strict=True)) for line in lines]
    assert [line["title"] for line in found] == ["'=1+1", "plain", 'He said "no",\nthen left']
    assert (found[0]["tags"], found[0]["module_name"], found[0]["external_url"]) == ("hot; Slow, old", "Billing", "")
    assert found[1]["assigned_to_label"] == "'+Ada"
    assert (found[2]["source_frame"], found[2]["exception_class"]) == ("'-x.py:1", "'@E")
    assert '"He said ""no"",\nthen left"' in answer.text
    assert len(lines) == client.get("errors").json["meta"]["total"]
    oldest = table(client.get("errors", format="csv", sort="oldest", status="open").text)
    assert [line[1] for line in oldest[1:]] == ['He said "no",\nthen left', "'=1+1"]


def test_ndjson_export_is_the_list(client: Client, rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """One issue object per line; batches of any size give the same file."""
    from snaglist.plugins.issues.search import export

    fill(rows, 7)
    monkeypatch.setattr(export, "BATCH", 3)
    for sort in SORTS:
        answer = client.get("errors", format="ndjson", sort=sort)
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert answer.headers["content-disposition"].endswith('.ndjson"')
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert lines == client.get("errors", sort=sort).json["data"]


def test_an_export_holds_no_transaction_while_it_is_read(sqlite_service: Any, sqlite_rows: Any) -> None:
    """What is deleted meanwhile is left out, and nothing blocks the writer."""
    from snaglist.plugins.issues.search import export, listing
    from snaglist.plugins.issues.tables import issues

    ids = [sqlite_rows.issue(f"Issue {n}", [f"2026-01-0{n} 00:00:00"]) for n in (1, 2, 3)]
    call = sqlite_service.call()
    call.request.query = {}
    with call.transaction(write=False):
        reply = export.export(call, listing.prepare(call, "oldest", []), "ndjson")
    assert call.connection is None
    writer = sqlite_service.call()
    with writer.transaction() as db:
        db.execute(issues.delete().where(issues.c.id == ids[1]))
    body = b"".join(reply.body)
    assert [json.loads(line)["id"] for line in body.splitlines()] == [ids[0], ids[2]]
    assert call.connection is None


@pytest.mark.parametrize("name", ["page", "limit", "cursor"])
def test_an_export_has_no_pages(sqlite_client: Client, name: str) -> None:
    answer = sqlite_client.get("errors", format="csv", **{name: "1"})
    assert (answer.status, answer.error.split(":")[0]) == (422, name)


def test_reading_needs_the_ability(sqlite_service: Any) -> None:
    """`issues.read`."""
    from snaglist.kernel.call import Actor

    nobody = Client(sqlite_service, identify=lambda environ, application: Actor("x", "X", ("guest",)))
    viewer = Client(sqlite_service, identify=lambda environ, application: Actor("v", "V", ("viewer",)))
    for api, query in (("summary", {}), ("errors", {}), ("groups", {}), ("error", {"id": 1}), ("group", {"id": 1})):
        assert nobody.get(api, **query).status == 403
        assert viewer.get(api, **query).status in (200, 404)

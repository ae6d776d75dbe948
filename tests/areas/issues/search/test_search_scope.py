"""Answers scoped by `date`, `from` and `to`."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import Invalid, times
from snaglist.plugins.issues.search.scope import Scope, hours_until, read_scope
from snaglist.testing import Client

pytestmark = pytest.mark.servers

DAY = {"from": "2026-01-03 00:00:00", "to": "2026-01-04"}


def listed(client: Client, **query: Any) -> dict[str, dict[str, Any]]:
    answer = client.get("errors", **query)
    assert answer.status == 200, answer.text
    assert answer.json["meta"]["scoped"] is True
    assert answer.json["meta"]["total"] == len(answer.json["data"])
    return {issue["title"]: issue for issue in answer.json["data"]}


def test_counts_times_and_chart_are_those_of_the_range(client: Client, rows: Any) -> None:
    """`count` only of that day, `count_total` of all; so are `first_seen`, `last_seen`, `sparkline`."""
    long = ["2026-01-01 08:00:00", "2026-01-03 00:10:00", "2026-01-03 10:20:30", "2026-01-03 10:40:00"]
    rows.issue("long", [*long, "2026-01-05 01:00:00"])
    rows.issue("inside", ["2026-01-03 23:59:59"])
    rows.issue("around", ["2026-01-02 23:59:59", "2026-01-04 00:00:00"])
    rows.issue("before", ["2026-01-02 10:00:00"])
    rows.issue("after", ["2026-01-04 00:00:00"])
    found = listed(client, **DAY)
    assert set(found) == {"long", "inside"}
    assert (found["long"]["count"], found["long"]["count_total"]) == (3, 5)
    assert found["long"]["first_seen"] == "2026-01-03 00:10:00"
    assert found["long"]["last_seen"] == "2026-01-03 10:40:00"
    assert found["long"]["sparkline"] == [1] + [0] * 9 + [2] + [0] * 13
    assert found["inside"]["sparkline"] == [0] * 23 + [1]
    assert listed(client, date="2026-01-03") == found
    unscoped = client.get("errors", q="long").json
    assert unscoped["meta"]["scoped"] is False
    assert unscoped["data"][0]["count"] == 5


def test_open_ranges(client: Client, rows: Any) -> None:
    """`from` or `to` alone."""
    rows.issue("a", ["2026-01-01 10:00:00", "2026-01-03 10:00:00"])
    rows.issue("b", ["2026-01-02 10:00:00"])
    since, until = listed(client, **{"from": "2026-01-03"}), listed(client, to="2026-01-02 00:00:00")
    assert set(since) == set(until) == {"a"}
    assert (since["a"]["count"], since["a"]["first_seen"]) == (1, "2026-01-03 10:00:00")
    assert (until["a"]["count"], until["a"]["last_seen"]) == (1, "2026-01-01 10:00:00")


def test_manual_and_tracker_issues_list_by_creation(client: Client, rows: Any) -> None:
    """Or is a manual or tracker issue created that day."""
    rows.manual("made", "2026-01-03 09:00:00")
    rows.manual("earlier", "2026-01-02 09:00:00")
    rows.manual("mirrored", "2026-01-03 10:00:00", origin="tracker", first_seen="2025-01-01 00:00:00")
    found = listed(client, date="2026-01-03")
    assert set(found) == {"made", "mirrored"}
    assert found["made"]["count"] == 0


def test_sorts_refer_to_the_range(client: Client, rows: Any) -> None:
    """Count, times and sorts are of the range, not of all history."""
    rows.issue("busy later", ["2026-01-03 08:00:00", *[f"2026-01-05 0{n}:00:00" for n in range(9)]])
    rows.issue("busy now", ["2026-01-01 00:00:00", "2026-01-03 07:00:00", "2026-01-03 07:30:00"])
    rows.issue("first", ["2026-01-03 01:00:00", "2026-01-03 12:00:00", "2026-01-03 13:00:00", "2026-01-03 13:00:01"])

    def order(sort: str) -> list[str]:
        return list(listed(client, sort=sort, **DAY))

    assert order("newest") == ["first", "busy later", "busy now"]
    assert order("oldest") == ["first", "busy now", "busy later"]
    assert order("occurrences") == ["first", "busy now", "busy later"]
    assert order("trend") == ["first", "busy now", "busy later"]


def test_times_fall_back_to_the_hour_when_events_are_gone(sqlite_client: Client, sqlite_rows: Any) -> None:
    """Retention removes occurrences, never the counts."""
    from snaglist.plugins.issues.tables import occurrences

    sqlite_rows.issue("a", ["2026-01-01 00:00:00", "2026-01-03 10:20:30", "2026-01-05 00:00:00"])
    call = sqlite_rows.service.call()
    with call.transaction() as db:
        db.execute(occurrences.delete())
    (issue,) = listed(sqlite_client, **DAY).values()
    assert (issue["count"], issue["first_seen"], issue["last_seen"]) == (
        1,
        "2026-01-03 10:00:00",
        "2026-01-03 10:00:00",
    )


def test_range_is_raised_to_whole_hours() -> None:
    """`from` is cut down to its hour, `to` raised to the next full hour."""
    scope = read_scope({"from": "2026-01-03 10:59:59", "to": "2026-01-03 11:00:01"})
    assert scope == Scope("2026-01-03 10:00:00", "2026-01-03 12:00:00")
    assert read_scope({"to": "2026-01-03 11:00:00"}) == Scope(None, "2026-01-03 11:00:00")
    assert read_scope({"date": "2026-01-31"}) == Scope("2026-01-31 00:00:00", "2026-02-01 00:00:00")
    assert not read_scope({})


@pytest.mark.parametrize(
    "query",
    [
        {"date": "2026-01-03", "from": "2026-01-01 00:00:00"},
        {"date": "2026-01-03", "to": "2026-01-01 00:00:00"},
        {"from": "2026-01-03 00:00:00", "to": "2026-01-03 00:00:00"},
        {"from": "2026-01-04 00:00:00", "to": "2026-01-03 00:00:00"},
    ],
)
def test_contradicting_ranges_are_refused(query: dict[str, str]) -> None:
    with pytest.raises(Invalid):
        read_scope(query)


@pytest.mark.parametrize(
    "query",
    [{"date": "9999-12-31"}, {"date": "0001-01-01"}, {"to": "0001-01-01 00:00:01"}, {"to": "9999-12-31 23:00:01"}],
)
def test_the_ends_of_time_are_answered(sqlite_client: Client, query: dict[str, str]) -> None:
    """Every date that exists is good input."""
    for sort in ("newest", "trend"):
        answer = sqlite_client.get("errors", sort=sort, **query)
        assert answer.status == 200 and answer.json["meta"]["scoped"] is True


@given(st.datetimes(), st.datetimes())
def test_a_range_holds_what_was_asked_for_and_less_than_an_hour_more(start: Any, end: Any) -> None:
    """Scopes have the precision of an hour, for any two times."""
    first, last = sorted(f"{moment:%Y-%m-%d %H:%M:%S}".rjust(19, "0") for moment in (start, end))
    if first == last:
        return
    scope = read_scope({"from": first, "to": last})
    assert scope.start is not None and scope.start <= first and scope.start[:13] == first[:13]
    assert scope.end is None or last <= scope.end
    if scope.end is not None:
        assert scope.end[14:] == "00:00" and times.read(scope.end) - times.read(last) < times.read(
            "2026-01-01 01:00:00"
        ) - times.read("2026-01-01 00:00:00")
    hours = scope.chart_hours("2026-01-01 00:00:00")
    assert len(hours) == 24 and hours == sorted(hours)


def test_chart_hours_end_with_the_current_hour() -> None:
    hours = Scope().chart_hours("2026-01-03 10:20:30")
    assert (hours[0], hours[-1]) == ("2026-01-02 11:00:00", "2026-01-03 10:00:00")
    assert hours == hours_until("2026-01-03 10:00:00", 24)

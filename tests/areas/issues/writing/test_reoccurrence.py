"""When an event brings a fixed issue back: every combination of status, time, releases and reading."""

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from snaglist.kernel import Call
from snaglist.plugins.issues import STATUSES, Event, change_status, hookspecs, tables

FIXED_AT = "2026-01-03 12:00:00"
TIMES = {"before": "2026-01-03 11:59:59", "same second": FIXED_AT, "after": "2026-01-03 12:00:01"}
RELEASES = {"none": None, "older": "v1", "equal": "v2", "newer": "v3", "incomparable": "main"}
FIXED_IN = (None, "v2")
# What must hold, written out: the times and releases of events that bring a fixed issue back.
COMES_BACK = {("after", release) for release in RELEASES}
KEPT_AWAY_BY_ITS_RELEASE = {("after", "older")}


def compare(call: Call, one: str, other: str, environment: str) -> int | None:
    """The order of releases that a plugin knows."""
    return None if "main" in (one, other) else (one > other) - (one < other)


@pytest.mark.parametrize("ordered", [False, True], ids=["no order of releases", "order of releases"])
@pytest.mark.parametrize("again", [False, True], ids=["new event", "read again"])
def test_every_combination(sqlite_desk: Any, monkeypatch: pytest.MonkeyPatch, ordered: bool, again: bool) -> None:
    plugins, asking = sqlite_desk.service.plugins, "issues" if ordered else "absent"  # the second one is not enabled
    calls = plugins.calls
    found = [(SimpleNamespace(id=asking), compare)]
    monkeypatch.setattr(plugins, "calls", lambda hook: found if hook is hookspecs.compare_releases else calls(hook))
    cases = list(product(STATUSES, TIMES, RELEASES, FIXED_IN))
    events = [Event("x", occurred_at="2026-01-03 10:00:00", fingerprint=str(n)) for n in range(len(cases))]
    issue_ids = [one.issue_id for one in sqlite_desk.store(*events).stored]
    with sqlite_desk.call() as call:
        call.now = FIXED_AT
        for issue_id, (status, _, _, fixed_in) in zip(issue_ids, cases, strict=True):
            change_status(call, issue_id, "fixed", release=fixed_in)
            if status != "fixed":
                change_status(call, issue_id, status)
    later = [
        Event("x", occurred_at=TIMES[time], release=RELEASES[release], fingerprint=str(n))
        for n, (_, time, release, _) in enumerate(cases)
    ]
    batch = sqlite_desk.store(*later, reoccur=not again)
    issues = {row["id"]: row for row in sqlite_desk.rows(tables.issues)}
    for issue_id, (status, time, release, fixed_in) in zip(issue_ids, cases, strict=True):
        case = (status, time, release, fixed_in)
        back = status == "fixed" and not again and (time, release) in COMES_BACK
        if ordered and fixed_in and (time, release) in KEPT_AWAY_BY_ITS_RELEASE:
            back = False
        issue, history = issues[issue_id], sqlite_desk.history(issue_id)
        assert issue["status"] == ("reoccurred" if back else status), case
        assert issue["count"] == 2, case
        assert (issue_id in batch.reoccurred_issues) is back, case
        rows = [row for row in history if row["event"] == "reoccurrence"]
        assert len(rows) == back, case
        if back:
            (row,) = rows
            assert (row["from_status"], row["to_status"], row["actor"]) == ("fixed", "reoccurred", None), case
            assert TIMES[time] in row["note"] and (RELEASES[release] or "") in row["note"], case
            assert (issue["fixed_at"], issue["fixed_release"]) == (FIXED_AT, fixed_in), "reoccurred keeps both"
    sqlite_desk.check_counters()

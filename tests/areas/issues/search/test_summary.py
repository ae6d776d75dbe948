"""`summary`."""

from typing import Any

import pytest

from snaglist.kernel import times
from snaglist.testing import Client

pytestmark = pytest.mark.servers


def test_empty_application(client: Client) -> None:
    """Zeros, `last_seen` null, empty lists."""
    found = client.get("summary").json
    assert found["total"] == {"groups_count": 0, "occurrences": 0, "last_seen": None}
    assert found["hours"] == [0] * 24
    assert all(
        found[name] == [] for name in ("severity", "status", "types", "trend", "daily_severity", "files", "modules")
    )


def test_figures(client: Client, rows: Any) -> None:
    """Orders, sums of `count_total`, values without issues left out."""
    rows.issue("a", ["2026-01-01 08:00:00", "2026-01-03 10:00:00"], severity="ERROR", count=7)
    rows.issue("b", ["2026-01-03 09:00:00"], severity="WARNING", status="fixed", log_type="python")
    rows.issue("c", ["2026-01-02 09:00:00"], severity="CRITICAL", status="reoccurred", log_type="python")
    rows.manual("d", "2026-01-02 00:00:00", severity="INFO", status="in_progress")
    rows.total(status="open", severity="ALERT", log_type="gone", issues=0, occurrences=0)
    found = client.get("summary").json
    assert found["total"] == {"groups_count": 4, "occurrences": 9, "last_seen": "2026-01-03 10:00:00"}
    assert found["severity"] == [
        {"severity": "CRITICAL", "groups_count": 1, "occurrences": 1},
        {"severity": "ERROR", "groups_count": 1, "occurrences": 7},
        {"severity": "WARNING", "groups_count": 1, "occurrences": 1},
        {"severity": "INFO", "groups_count": 1, "occurrences": 0},
    ]
    assert [item["status"] for item in found["status"]] == ["open", "in_progress", "reoccurred", "fixed"]
    assert found["types"] == [
        {"log_type": "monolog", "groups_count": 1, "occurrences": 7},
        {"log_type": "python", "groups_count": 2, "occurrences": 2},
        {"log_type": "manual", "groups_count": 1, "occurrences": 0},
    ]
    assert found["trend"] == [
        {"day": "2026-01-01", "count": 1},
        {"day": "2026-01-02", "count": 1},
        {"day": "2026-01-03", "count": 2},
    ]
    assert found["daily_severity"] == [
        {"day": "2026-01-01", "severity": "ERROR", "count": 1},
        {"day": "2026-01-02", "severity": "CRITICAL", "count": 1},
        {"day": "2026-01-03", "severity": "ERROR", "count": 1},
        {"day": "2026-01-03", "severity": "WARNING", "count": 1},
    ]


def test_daily_severity_ends_with_the_newest_day_of_the_data(sqlite_client: Client, sqlite_rows: Any) -> None:
    """30 days up to the newest day, `trend` all of them."""
    sqlite_rows.issue("a", ["2025-01-01 00:00:00", "2025-01-02 00:00:00", "2025-01-31 00:00:00"])
    found = sqlite_client.get("summary").json
    assert [item["day"] for item in found["daily_severity"]] == ["2025-01-02", "2025-01-31"]
    assert [item["day"] for item in found["trend"]] == ["2025-01-01", "2025-01-02", "2025-01-31"]


def test_data_of_the_first_days_of_time(sqlite_client: Client, sqlite_rows: Any) -> None:
    """A log with absurd dates breaks nothing."""
    sqlite_rows.issue("a", ["0001-01-01 00:00:00"])
    assert sqlite_client.get("summary").json["daily_severity"][0]["day"] == "0001-01-01"
    assert sqlite_client.get("errors", date="0001-01-01").json["meta"]["total"] == 1


def test_hours_end_with_the_current_one(client: Client, rows: Any) -> None:
    now = times.hour(times.now())
    rows.issue("a", [now, now, times.add(now, seconds=-23 * 3600), times.add(now, seconds=-24 * 3600)])
    rows.issue("b", [now])
    assert client.get("summary").json["hours"] == [1] + [0] * 22 + [3]


def test_files_and_modules(client: Client, rows: Any) -> None:
    """The 12 sources imported last, then path; modules with their number of issues."""
    late, early = rows.module("über", "uber"), rows.module("Alpha", "alpha")
    rows.issue("a", module_id=late, events=[{"at": "2026-01-03 10:00:00", "path": "/srv/log/0.log"}])
    data = rows.service.settings.data
    for n in range(1, 13):
        rows.source(f"/srv/log/{n:02}.log", imported_at="2026-01-03 10:00:00")
    inside = str(data / "applications" / "default" / "processed" / "app.log")
    file_id = rows.source(
        inside,
        imported_at="2026-01-03 11:00:00",
        size=900,
        offset=900,
        module_id=late,
        modified_at="2026-01-03 09:00:00",
    )
    found = client.get("summary").json
    assert [item["path"] for item in found["files"][1:]] == [f"/srv/log/{n:02}.log" for n in range(1, 12)]
    assert found["files"][0] == {
        "id": file_id,
        "path": "applications/default/processed/app.log",
        "size": 900,
        "modified_at": "2026-01-03 09:00:00",
        "imported_at": "2026-01-03 11:00:00",
        "log_type": "monolog",
        "channel": "app.log",
        "occurrence_count": 0,
        "module_id": late,
        "module_name": "über",
        "module_slug": "uber",
        "module_color": "#6366f1",
        "connector_id": None,
        "offset": 900,
        "encoding": "utf-8",
        "timezone": "UTC",
        "status": "ok",
        "last_error": None,
        "layout": None,
        "reading": None,
        "filtered_as": None,
        "remarks": [],
    }
    assert [(item["id"], item["issue_count"]) for item in found["modules"]] == [(early, 0), (late, 1)]
    assert client.post("summary", {}).status == 405

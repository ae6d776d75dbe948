"""The report of a window, on all three databases."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel.plugins import Plugins
from snaglist.plugins.access_analytics import extra
from snaglist.plugins.access_analytics.tables import hours
from snaglist.plugins.system import hookspecs
from snaglist.testing import Client

pytestmark = pytest.mark.servers

Line = Callable[..., str]
Before = Callable[..., datetime]


def counts(rows: list[dict[str, Any]], name: str, count: str = "count") -> dict[Any, int]:
    return {row[name]: row[count] for row in rows}


def test_119_mixed_statuses(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    statuses = [200] * 78 + [204] * 2 + [301] * 8 + [404] * 10 + [502] * 2
    log.write_text("".join(line(f"/orders/{n}?page={n}", status) for n, status in enumerate(statuses, 1)))
    analytics.read(log)
    report = analytics.report()
    assert report["total"] == 100
    assert report["status_classes"] == [
        {"class": "2xx", "count": 80}, {"class": "3xx", "count": 8},
        {"class": "4xx", "count": 10}, {"class": "5xx", "count": 2},
    ]  # fmt: skip
    assert report["statuses"][0] == {"status": 200, "count": 78}
    assert counts(report["top_paths"], "path") == {"/orders/{id}": 100}
    assert (report["unique_paths"], report["unique_visitors"], report["error_rate"]) == (1, 1, 0.12)
    assert report["error_paths"] == [{"path": "/orders/{id}", "errors": 12}]
    assert report["bytes"] == 10_000
    assert report["response_time"] == {"measured": 0, "p50_ms": None, "p95_ms": None, "p99_ms": None}
    assert sum(day["count"] for day in report["by_day"]) == sum(hour["count"] for hour in report["by_hour"]) == 100


@pytest.mark.parametrize(
    "query",
    [
        {"days": 0}, {"days": 91}, {"days": "x"}, {"from": "2026-02-30"}, {"bots": "perhaps"},
        {"from": "2026-01-02", "to": "2026-01-01"}, {"from": "2026-01-01", "to": "2026-01-01"},
        {"from": "2025-01-01", "to": "2026-01-03"}, {"days": 7, "from": "2026-01-01"}, {"days": 7, "to": "2026-01-01"},
    ],
)  # fmt: skip
def test_119_what_is_no_window(sqlite_analytics: Any, query: dict[str, Any]) -> None:
    assert "error" in sqlite_analytics.client.get("access-analytics", **query).json
    assert sqlite_analytics.client.get("access-analytics", **query).status == 422


def test_an_empty_window_has_all_fields(analytics: Any) -> None:
    report = analytics.report(**{"from": "2024-02-28", "to": "2024-03-02"})
    assert (report["window_days"], report["total"], report["error_rate"], report["unique_paths"]) == (3, 0, 0, 0)
    assert [day["day"] for day in report["by_day"]] == ["2024-02-28", "2024-02-29", "2024-03-01"]
    assert [row["class"] for row in report["status_classes"]] == ["2xx", "3xx", "4xx", "5xx"]
    assert len(report["by_hour"]) == 48 and report["by_hour"][-1]["hour"] == "2024-03-01 23:00:00"


def test_windows_bots_and_channels(analytics: Any, line: Line, before: Before, tmp_path: Path) -> None:
    new, old = before(hours=3), before(days=2)
    (tmp_path / "shop.log").write_text(
        line("/a", when=new, rest=" 12")
        + line("/b", 404, when=old, rest=" 30", method="POST", referrer="https://www.search.example:8080/?q=x")
        + line("/c", 101, when=new, agent="SeoCrawlBot/1.0", rest=" 0.5")
    )
    (tmp_path / "api.log").write_text(line("/d", 500, when=new, address="192.0.2.8"))
    for name in ("shop.log", "api.log"):
        analytics.read(tmp_path / name)
    report = analytics.report(days=1)
    assert (report["total"], report["bots"]) == (3, 1)
    assert report["status_classes"][0] == {"class": "1xx", "count": 1}
    report = analytics.report(days=7, bots=False)
    assert (report["total"], report["bots"], report["unique_visitors"]) == (3, 1, 2)
    assert counts(report["methods"], "method") == {"GET": 2, "POST": 1}
    assert report["top_referrers"] == [{"referrer": "www.search.example", "count": 1}]
    assert report["top_agents"] == [{"agent": "Firefox", "count": 3, "bot": False}]
    assert report["response_time"]["measured"] == 2
    assert {row["path"]: row["p50_ms"] for row in report["top_paths"]} == {"/a": 12, "/b": 30, "/d": None}
    assert analytics.report(source="shop.log")["response_time"] == {
        "measured": 3, "p50_ms": 30, "p95_ms": 500, "p99_ms": 500,
    }  # fmt: skip
    assert analytics.report(source="api.log")["total"] == 1
    assert analytics.report(source="shop")["total"] == 0
    start, end = old.strftime("%Y-%m-%d %H:59:59"), old.strftime("%Y-%m-%d %H:59:59")
    assert analytics.client.get("access-analytics", **{"from": start, "to": end}).status == 422
    report = analytics.report(**{"from": old.strftime("%Y-%m-%d %H:00:00"), "to": old.strftime("%Y-%m-%d %H:00:01")})
    assert (report["total"], report["by_hour"][0]["count"]) == (1, 1)


def test_lists_are_cut_and_ties_go_by_name(sqlite_analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    names = [chr(ord("a") + n) for n in range(20)]
    log.write_text("".join(line(f"/{name}", 404, referrer=f"http://{name}.example/") for name in reversed(names)))
    sqlite_analytics.read(log)
    report = sqlite_analytics.report()
    assert [row["path"] for row in report["top_paths"]] == [f"/{name}" for name in names[:15]]
    assert [row["path"] for row in report["error_paths"]] == [f"/{name}" for name in names[:10]]
    assert [row["referrer"] for row in report["top_referrers"]] == [f"{name}.example" for name in names[:10]]
    assert report["unique_paths"] == 20


def test_distinct_counts_and_quantiles_are_close(sqlite_analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    paths = (f"/{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}" for n in range(8_000))
    lines = (line(path, address=f"10.0.{n // 250}.{n % 250}", rest=f" {n}") for n, path in enumerate(paths))
    log.write_text("".join(lines))
    sqlite_analytics.read(log)
    report = sqlite_analytics.report()
    assert report["unique_visitors"] == pytest.approx(8_000, rel=0.05)
    assert report["unique_paths"] == pytest.approx(8_000, rel=0.05)
    assert report["total"] == 8_000
    times = report["response_time"]
    for rank, name in ((0.5, "p50_ms"), (0.95, "p95_ms"), (0.99, "p99_ms")):
        assert times[name] == pytest.approx(rank * 8_000, abs=0.01 * 8_000)


def test_values_of_an_hour_are_bounded(analytics: Any, line: Line, tmp_path: Path) -> None:
    """1,000 values of a dimension, the rest as (other); the totals stay exact, also over several batches."""
    log = tmp_path / "access.log"
    when = datetime.now().astimezone()

    def word(n: int) -> str:
        return "".join(chr(97 + n // 26**digit % 26) for digit in range(3))

    log.write_text("".join(line(f"/{word(n)}", when=when) for n in range(6_000)) + line("/favourite", when=when) * 50)
    analytics.read(log)
    with log.open("a") as more:
        more.write("".join(line(f"/{word(n)}", 404, when=when) for n in range(7_000)))
    analytics.read(log)
    with analytics.client.service.call().transaction(write=False) as db:
        rows = db.execute(select(hours).where(hours.c.dim == "path", hours.c.source_id > 0)).all()
    assert len(rows) == 1_001
    report = analytics.report()
    assert (report["total"], sum(row.hits for row in rows)) == (13_050, 13_049)  # the last line is still open
    assert report["top_paths"][0]["path"] == "(other)"
    assert report["unique_paths"] == pytest.approx(7_001, rel=0.05)


def test_the_area_is_off_until_it_is_switched_on(sqlite_client: Client) -> None:
    answer = sqlite_client.get("access-analytics")
    assert answer.status == 404
    assert sqlite_client.put("access-analytics", {}).status == 404  # the plugin before the method
    sqlite_client.post("plugins", {"id": "access_analytics", "enabled": True})
    assert sqlite_client.put("access-analytics", {}).status == 405
    assert sqlite_client.get("access-analytics").status == 200


def test_without_the_extra_it_loads_and_says_what_is_missing(
    sqlite_analytics: Any, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "access.log"
    log.write_text(line("/before"))
    sqlite_analytics.read(log)
    with monkeypatch.context() as missing:
        missing.setattr(extra, "find_spec", lambda name: None)
        plugins = Plugins()
        plugins.load()
        loaded = plugins.find("access_analytics")
        assert loaded is not None and loaded.error is None and loaded.values(hookspecs.register_jobs) == []
        assert loaded.description.lacks == "access analytics needs an extra: pip install 'snaglist[analytics]'"
        refused = sqlite_analytics.client.get("access-analytics")
        assert (refused.status, refused.error) == (409, extra.MISSING)
        with log.open("a") as more:
            more.write(line("/meanwhile"))
        sqlite_analytics.read(log)  # which checks that no hook failed
    with log.open("a") as more:
        more.write(line("/after"))
    sqlite_analytics.read(log)
    assert counts(sqlite_analytics.report()["top_paths"], "path") == {"/before": 1, "/after": 1}
    sqlite_analytics.reindex()
    assert sqlite_analytics.report()["total"] == 3

"""Errors of the server and of clients, scanners, hosts, networks and systems told apart, and times compared."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import null, update

from snaglist.kernel import times
from snaglist.plugins.access_analytics.agents import describe_agent
from snaglist.plugins.access_analytics.clients import network_of
from snaglist.plugins.access_analytics.probes import is_probe
from snaglist.plugins.access_analytics.report import site_of
from snaglist.plugins.access_analytics.tables import hours
from snaglist.testing import running_service

pytestmark = pytest.mark.servers

Line = Callable[..., str]
Before = Callable[..., datetime]


def counts(rows: list[dict[str, Any]], name: str, count: str = "count") -> dict[Any, int]:
    return {row[name]: row[count] for row in rows}


def test_errors_of_the_server_and_of_clients(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    asked = [("/cart", 500)] * 2 + [("/cart", 200)] * 6 + [("/gone", 404)] * 3 + [("/cart", 403)]
    log.write_text("".join(line(path, status) for path, status in asked))
    analytics.read(log)
    report = analytics.report()
    assert (report["server_errors"], report["client_errors"]) == (2, 4)
    assert (report["server_error_rate"], report["client_error_rate"]) == (0.1667, 0.3333)
    assert report["failing_paths"] == [{"path": "/cart", "count": 9, "server_errors": 2}]
    assert report["missing_paths"] == [{"path": "/gone", "count": 3, "not_found": 3}]
    cart = report["top_paths"][0]
    assert (cart["errors"], cart["server_errors"], cart["client_errors"]) == (3, 2, 1)


def test_scanners_are_apart_from_people_and_bots(analytics: Any, line: Line, tmp_path: Path) -> None:
    """By the name of the tool, or by a path that such tools try when it is refused; bots are told by their agents."""
    log = tmp_path / "access.log"
    log.write_text(
        line("/a")
        + line("/robots.txt", agent="SeoCrawlBot/1.0")
        + line("/.env", 404)
        + line("/a", agent="Mozilla/5.0 zgrab/0.x")
        + line("/wp-login.php", 200)  # which belongs to this site
        + line("/wp-login.php", 500)
    )
    analytics.read(log)
    report = analytics.report()
    assert (report["total"], report["bots"], report["scanners"]) == (6, 2, 2)
    assert report["client_errors"] == 1
    without = analytics.report(scanners=False)
    assert (without["total"], without["bots"], without["scanners"], without["client_errors"]) == (4, 2, 2, 0)
    assert counts(without["top_paths"], "path") == {"/a": 1, "/robots.txt": 1, "/wp-login.php": 2}
    people = analytics.report(scanners=False, bots=False)
    assert (people["total"], people["unique_visitors"]) == (3, 1)
    assert [point for point in people["series"]["data"] if point["count"]][-1]["5xx"] == 1


@pytest.mark.parametrize(
    ("path", "probe"),
    [
        ("/.env", True), ("/app/.env", True), ("/.git/config", True), ("//wp-login.php", True),
        ("/wp/wp-admin/x", True), ("/a/../../etc/passwd", True), ("/${jndi:ldap://x}", True), ("/cgi-bin/luci", True),
        ("/backup.zip", True), ("/", False), ("/environment", False), ("/checkout.php", False), ("/git", False),
        ("/gallery/config", False), ("/blog/how-to-backup.html", False), ("/sdk", False),
    ],
)  # fmt: skip
def test_paths_that_scanners_try(path: str, probe: bool) -> None:
    assert is_probe(path) is probe


def test_scanners_by_their_names() -> None:
    named = ("Mozilla/5.00 (Nikto/2.1.6)", "sqlmap/1.7", "Mozilla/5.0 zgrab/0.x", "Fuzz Faster U Fool v2.1")
    assert all(describe_agent(agent).scanner for agent in named)
    assert not any(describe_agent(agent).scanner for agent in ("curl/8.0", "Googlebot/2.1", "", "Snmapper/1.0"))


def test_networks_and_no_address(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    addresses = ["192.0.2.7", "192.0.2.250", "198.51.100.4", "2001:db8:1:2::9", "unix:"]
    log.write_text("".join(line("/", 503 if n == 0 else 200, address=a) for n, a in enumerate(addresses)))
    analytics.read(log)
    found = analytics.report()["top_networks"]
    assert counts(found, "network") == {"192.0.2.0/24": 2, "198.51.100.0/24": 1, "2001:db8:1::/48": 1}
    assert found[0] == {
        "network": "192.0.2.0/24", "count": 2, "client_errors": 0, "server_errors": 1, "bytes": 200,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("192.0.2.7", "192.0.2.0/24"), ("::ffff:192.0.2.7", "192.0.2.0/24"), ("2001:db8:1:2::9", "2001:db8:1::/48"),
        # 6to4, Teredo and NAT64 addresses hold that of a single IPv4 client.
        ("2002:c633:6442::1", "198.51.100.0/24"), ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "192.0.2.0/24"),
        ("64:ff9b::c633:6442", "198.51.100.0/24"), ("host.example", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_network_of_a_client(client: str, network: str) -> None:
    assert network_of(client) == network


def test_networks_can_be_left_out(analytics_of: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(line("/"))
    with running_service(tmp_path / "data", jobs=False, access__networks=False) as service:
        analytics = analytics_of(service)
        analytics.read(log)
        report = analytics.report()
    assert (report["total"], report["unique_visitors"], report["top_networks"]) == (1, 1, [])


def test_hosts_systems_and_referrers(analytics_of: Any, line: Line, tmp_path: Path) -> None:
    """Own hosts are no referrers: those that the log names and those of the configuration."""
    log = tmp_path / "access.log"
    links = ["https://www.shop.example/", "https://till.example/x", "https://news.example/"]
    asked = [f"www.shop.example:443 {line('/', referrer=link)}" for link in links]
    log.write_text("".join(asked))
    with running_service(tmp_path / "data", jobs=False, access__own_hosts=["till.example"]) as service:
        analytics = analytics_of(service)
        analytics.read(log)
        report = analytics.report()
    assert counts(report["top_hosts"], "host") == {"www.shop.example": 3}
    assert counts(report["top_systems"], "system") == {"Linux": 3}
    assert report["top_referrers"] == [{"referrer": "news.example", "count": 1}]


def test_own_names_take_no_place_of_the_referrers(analytics_of: Any, line: Line, tmp_path: Path) -> None:
    """Of a host three names can be left out, and ten others are shown all the same."""
    log = tmp_path / "access.log"
    own = [f"https://{front}shop.example/" for front in ("", "www.", "m.")]
    others = [f"https://news{number:02}.example/" for number in range(12)]
    log.write_text("".join(line("/", referrer=link) for link in [*own, *own, *others]))
    with running_service(tmp_path / "data", jobs=False, access__own_hosts=["shop.example"]) as service:
        analytics = analytics_of(service)
        analytics.read(log)
        report = analytics.report()
    assert [row["referrer"] for row in report["top_referrers"]] == [f"news{number:02}.example" for number in range(10)]


@pytest.mark.parametrize(
    ("host", "site"), [("www.Shop.example", "shop.example"), ("m.shop.example", "shop.example"), ("m.de", "m.de")]
)
def test_the_site_of_a_host(host: str, site: str) -> None:
    assert site_of(host) == site


def test_numbers_of_each_hour_and_of_each_day(analytics: Any, line: Line, before: Before, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    now, old = before(hours=2), before(days=20)
    log.write_text(line("/", 404, when=old) + line("/", when=now) + line("/", 500, when=now, address="192.0.2.8"))
    analytics.read(log, final=True)
    hour = times.hour(f"{now:%Y-%m-%d %H:%M:%S}")
    report = analytics.report(**{"from": times.add(hour, seconds=-3600), "to": times.add(hour, seconds=7200)})
    assert report["series"]["unit"] == "hour"
    assert [point["start"] for point in report["series"]["data"]] == [
        times.add(hour, seconds=step * 3600) for step in (-1, 0, 1)
    ]
    expected = {"start": hour, "count": 2, "visitors": 2, "1xx": 0, "2xx": 1, "3xx": 0, "4xx": 0, "5xx": 1}
    assert report["series"]["data"][1] == expected
    assert report["hours_of_day"]["counts"][int(hour[11:13])] == 2
    month = analytics.report(days=30)
    assert (month["series"]["unit"], len(month["series"]["data"])) == ("day", 31)
    by_day = counts(month["series"]["data"], "start", "4xx")
    assert by_day[f"{old:%Y-%m-%d} 00:00:00"] == 1
    assert sum(month["hours_of_day"]["counts"]) == 2  # of the old day its hours are not known
    assert month["hours_of_day"]["from"] > month["from"]
    # A short time of long ago: of its day only the whole is known.
    start = f"{old:%Y-%m-%d} 01:00:00"
    long_ago = analytics.report(**{"from": start, "to": times.add(start, seconds=3600)})
    assert (long_ago["series"]["unit"], long_ago["total"]) == ("day", 1)


def test_a_time_is_compared_with_the_one_before(analytics: Any, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    hour = datetime.now(UTC).replace(minute=0, second=0) - timedelta(hours=5)
    log.write_text(
        line("/", 500, when=hour - timedelta(hours=2)) * 3 + line("/", when=hour) + line("/", when=hour, agent="bot/1")
    )
    analytics.read(log)
    window = {"from": f"{hour:%Y-%m-%d %H:%M:%S}", "to": f"{hour + timedelta(hours=2):%Y-%m-%d %H:%M:%S}"}
    assert "before" not in analytics.report(**window)
    report = analytics.report(**window, compare=True)
    earlier = report["before"]
    assert (earlier["from"], earlier["to"]) == (times.add(report["from"], seconds=-7200), report["from"])
    assert (report["total"], earlier["total"], earlier["server_errors"], earlier["server_error_rate"]) == (2, 3, 3, 1)
    assert [point["5xx"] for point in earlier["series"]["data"]] == [3, 0]
    people = analytics.report(**window, compare=True, bots=False)
    assert (people["total"], people["before"]["total"], people["before"]["bots"]) == (1, 3, 0)


def test_days_are_compared_with_days(analytics: Any) -> None:
    """A week that began at midnight and goes on with one that began at midnight: no half day on one side."""
    start = times.now()[:10] + " 00:00:00"
    start = times.add(start, days=-6)
    report = analytics.report(**{"from": start}, compare=True)
    assert report["before"]["from"] == times.add(start, days=-7)
    assert len(report["before"]["series"]["data"]) == len(report["series"]["data"]) == 7


def test_what_was_counted_before_they_were_detailed_from(
    analytics: Any, line: Line, before: Before, tmp_path: Path
) -> None:
    """Rows of an older release: totals are exact, and the report says from when on the rest is known."""
    log = tmp_path / "access.log"
    old, new = before(hours=4), before(hours=1)
    log.write_text(line("/cart", 500, when=old))
    analytics.read(log, final=True)
    call = analytics.client.service.call()
    with call.transaction() as db:
        db.execute(update(hours).values(failed=null(), missing=null()))
    assert analytics.report()["detailed_from"] == times.add(f"{old:%Y-%m-%d %H}:00:00", seconds=3600)
    with log.open("a") as more:
        more.write(line("/cart", 503, when=new))
    analytics.read(log)
    report = analytics.report()
    assert report["server_errors"] == 2  # by status, which was always kept
    assert report["failing_paths"] == [{"path": "/cart", "count": 2, "server_errors": 1}]
    later = analytics.report(**{"from": f"{new:%Y-%m-%d %H}:00:00"})
    assert later["detailed_from"] is None

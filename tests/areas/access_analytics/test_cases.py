"""Settled cases of access logs, from the bytes to the report: what the parsers' own tests do not look at."""

import json
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.service import Service
from snaglist.plugins.access_analytics.agents import describe_agent
from snaglist.plugins.access_analytics.clients import client_finder
from snaglist.plugins.access_analytics.command.gathering import Gathering
from snaglist.plugins.logs.read import requests
from snaglist.testing import running_service

CASES = {
    case["id"]: case
    for line in (Path(__file__).parents[2] / "cases/access.jsonl").read_text("utf-8").splitlines()
    if (case := json.loads(line))["id"] != "AC-20"  # an error log
}
TRUSTED = ["10.0.0.0/8", "198.51.100.0/24"]


def report_of(service: Service, case: dict[str, Any], folder: Path) -> dict[str, Any]:
    log = folder / f"{case['id']}.log"
    log.write_text(case["input"])
    gathering = Gathering(service)
    gathering.read(log, lambda *_: None)
    return gathering.report()


def taken_of(service: Service, case: dict[str, Any], folder: Path) -> list[tuple[Any, ...]]:
    log = folder / f"{case['id']}.log"
    log.write_text(case["input"])
    found: list[tuple[Any, ...]] = []
    requests.read_requests(service, log, lambda *request: found.append(request), lambda _: None, lambda _: None)
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_counts(case: dict[str, Any], sqlite_service: Service, tmp_path: Path) -> None:
    report = report_of(sqlite_service, case, tmp_path)
    checks = case["checks"]
    lines = len([line for line in case["input"].splitlines() if line and line[0] != "#"])
    assert report["total"] + report["not_understood"] == lines
    seen = {
        "parsed": report["total"],
        "malformed": report["malformed"],
        "not_understood": report["not_understood"],
        "lost": lines - report["total"] - report["not_understood"],
        "pages": {page: n for page, n in _pages(report).items() if page in checks.get("pages", ())},
        "statuses": sorted(status for row in report["statuses"] for status in [row["status"]] * row["count"]),
    }
    for name in seen.keys() & checks.keys():
        assert seen[name] == (sorted(checks[name]) if name == "statuses" else checks[name]), name


def _pages(report: dict[str, Any]) -> dict[str, int]:
    return {row["path"]: row["count"] for row in report["top_paths"]}


def test_ac_01_and_ac_08_clients(sqlite_service: Service, tmp_path: Path) -> None:
    for name in ("AC-01", "AC-08"):
        find = client_finder(TRUSTED)
        taken = taken_of(sqlite_service, CASES[name], tmp_path)
        assert [find(request[7], request[8]) for request in taken] == CASES[name]["checks"]["clients"]


def test_ac_08_nobody_is_trusted_unless_named(sqlite_service: Service, tmp_path: Path) -> None:
    find = client_finder([])
    assert {find(request[7], request[8]) for request in taken_of(sqlite_service, CASES["AC-08"], tmp_path)} == {
        "10.5.1.1"
    }
    report = report_of(sqlite_service, CASES["AC-08"], tmp_path)
    assert report["unique_visitors"] == 1
    with running_service(tmp_path / "data", jobs=False, access__trusted_proxies=TRUSTED) as service:
        assert report_of(service, CASES["AC-08"], tmp_path)["unique_visitors"] == 5


@pytest.mark.parametrize(
    ("address", "forwarded", "client"),
    [
        ("10.0.0.1", "203.0.113.9, 10.1.1.1, 10.1.1.2", "203.0.113.9"), ("10.0.0.1", "10.1.1.1", "10.1.1.1"),
        ("203.0.113.5", "192.0.2.1", "203.0.113.5"), ("10.0.0.1", "192.0.2.1, junk", "10.0.0.1"),
        ("10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"), ("10.0.0.1", "", "10.0.0.1"), ("unix:", "192.0.2.1", "unix:"),
    ],
)  # fmt: skip
def test_forwarded_for(address: str, forwarded: str, client: str) -> None:
    assert client_finder(TRUSTED)(address, forwarded) == client


def test_ac_09_and_ac_17_durations(sqlite_service: Service, tmp_path: Path) -> None:
    assert [request[9] for request in taken_of(sqlite_service, CASES["AC-09"], tmp_path)] == [16, 2]
    assert [request[9] for request in taken_of(sqlite_service, CASES["AC-17"], tmp_path)] == [15, 3, 7]


def test_ac_14_bots(sqlite_service: Service, tmp_path: Path) -> None:
    taken = taken_of(sqlite_service, CASES["AC-14"], tmp_path)
    checks = CASES["AC-14"]["checks"]
    assert [n for n, request in enumerate(taken) if describe_agent(request[6]).bot] == checks["bots"]
    assert report_of(sqlite_service, CASES["AC-14"], tmp_path)["bots"] == len(checks["bots"])


@pytest.mark.parametrize(
    ("agent", "family", "bot"),
    [
        ("", "-", True), ("-", "-", True), ("curl/8.0", "curl", True), ("kube-probe/1.29", "kube-probe", True),
        ("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "Googlebot", True),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox", False),
        ("Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/126.0 Safari/537.36", "HeadlessChrome", True),
        ("Mozilla/5.0 zgrab/0.x", "Mozilla", True), ("Zabbix", "Zabbix", True),
        ("Mozilla/5.0 (compatible; Shopper/1.0; +https://shop.example)", "Mozilla", True),
        ("UA/1", "UA", False), ("Shop\x00App/2", "Shop\ufffdApp", False),
    ],
)  # fmt: skip
def test_agents(agent: str, family: str, bot: bool) -> None:
    found = describe_agent(agent)
    assert (found.family, found.bot) == (family, bot)


def test_networks_that_are_none_are_a_warning(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", jobs=False, access__trusted_proxies=[*TRUSTED, "proxy"]) as service:
        assert service.settings["access.trusted_proxies"] == []
        assert service.settings.warnings() == [
            "access.trusted_proxies: must be a list of networks like 10.0.0.0/8; the default is used"
        ]

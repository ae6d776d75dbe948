"""Several processes on one database: nothing is lost, nothing fails with a lock, everybody sees a switch.

That a lease never runs a job twice at once is in tests/kernel/test_job_processes.py.
"""

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import running_service

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[2]
Config = dict[str, str]
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa")


def ask(node: Any, number: int, requests: int) -> Counter[int]:
    """Send mixed requests; every second one writes."""
    chance = random.Random(number)
    statuses: Counter[int] = Counter()
    made: list[int] = []

    def note(answer: Any) -> Any:
        statuses[answer.status] += 1
        assert answer.status < 500, (answer.status, answer.json)
        return answer.json

    for turn in range(requests):
        kind = turn % 8
        if kind == 0:
            made.append(note(node.post("issues", {"title": f"{chance.choice(WORDS)} of {number}"}))["data"]["id"])
        elif kind == 1:
            note(node.get("errors", q=chance.choice(WORDS), limit=5))
        elif kind == 2:
            note(node.post("issue-status", {"id": chance.choice(made), "status": chance.choice(["fixed", "open"])}))
        elif kind == 3:
            note(node.get("error", id=chance.choice(made)))
        elif kind == 4:
            note(node.post("tags", {"name": f"{chance.choice(WORDS)} {chance.randrange(5)}"}))  # 201, or 422: taken
        elif kind == 5:
            note(node.get("summary"))
        elif kind == 6:
            tags = note(node.get("tags"))["data"]
            note(node.post("issue-tags", {"group_id": chance.choice(made), "tag_id": chance.choice(tags)["id"]}))
        else:
            note(node.post("modules", {"name": f"{chance.choice(WORDS)} {number} {turn}"}))
    return statuses


@pytest.mark.parametrize(
    ("processes", "requests"), [(3, 40), pytest.param(8, 200, marks=pytest.mark.long)], ids=["short", "long"]
)
def test_writers_never_fail_with_a_lock(
    tmp_path: Path, own_database_config: Config, nodes: Callable[..., Any], processes: int, requests: int
) -> None:
    """Concurrent writers queue; not one answer is a 5xx, and what was answered 201 is there."""
    # One process makes the instance; a start of several at once has a test of its own.
    config = {**own_database_config, "database__busy_timeout_ms": "60000"} if processes > 3 else own_database_config
    first = nodes(1, tmp_path / "data", config)
    servers = first + nodes(processes - 1, tmp_path / "data", config)
    with ThreadPoolExecutor(processes) as pool:
        statuses = list(pool.map(lambda pair: ask(pair[1], pair[0], requests), enumerate(servers)))
    assert sum(statuses, Counter()).keys() <= {200, 201, 422}
    issues = processes * len(range(0, requests, 8))
    for server in servers:
        assert server.get("errors", limit=1).json["meta"]["total"] == issues
        assert len(server.get("modules").json["data"]) == processes * (requests // 8)


def test_unique_races_have_one_winner(tmp_path: Path, own_database_config: Config, nodes: Callable[..., Any]) -> None:
    """Of two creates of one name in two processes one is 201 and one 422."""
    pair = nodes(2, tmp_path / "data", own_database_config, "--no-jobs")
    with ThreadPoolExecutor(2) as pool:
        for api in ("tags", "modules"):
            for turn in range(15):
                names = [f"Name {turn}", f"NAME {turn}"]
                answers = list(pool.map(lambda node, name, api=api: node.post(api, {"name": name}), pair, names))
                assert sorted(answer.status for answer in answers) == [201, 422], [a.json for a in answers]
            assert len(pair[0].get(api).json["data"]) == 15
        answers = list(pool.map(lambda node: node.post("applications", {"name": "Twice"}), pair))
        assert sorted(answer.status for answer in answers) == [201, 422], [a.json for a in answers]
    for node in pair:
        assert node.get("tags", app="twice").status == 200


@pytest.fixture
def hello(tmp_path: Path) -> str:
    """A path on which the example plugin is found as if it was installed."""
    site = tmp_path / "site"
    info = site / "snaglist_hello-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: snaglist-hello\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[snaglist.plugins]\nhello = snaglist_hello\n")
    return f"{site}:{ROOT / 'examples' / 'snaglist-hello' / 'src'}"


def test_a_plugin_switch_is_seen_by_all_within_a_second(
    tmp_path: Path, own_database_config: Config, nodes: Callable[..., Any], hello: str
) -> None:
    """No restart, no wait: also of the process that did not switch it. A stranger's tables work everywhere."""
    pair = nodes(2, tmp_path / "data", own_database_config, "--no-jobs", PYTHONPATH=hello)
    for turn in range(4):
        switching, other = pair[turn % 2], pair[1 - turn % 2]
        for on, status in ((True, 200), (False, 404)):
            assert switching.post("plugins", {"id": "hello", "enabled": on}).status == 200
            switched = time.monotonic()
            while other.get("hello").status != status:
                assert time.monotonic() - switched < 1.0
            if on:
                assert other.post("hello", {"word": "timeout"}).status < 300
                assert switching.get("hello").json == other.get("hello").json


LINES = 400
OVERLAPPING = 50


def write_log(path: Path, number: int) -> None:
    """Write a log whose messages fall into groupings that all the logs share, in an order of its own."""
    chance = random.Random(number)
    kinds = [n % OVERLAPPING for n in range(LINES)]
    chance.shuffle(kinds)
    lines = [
        f"[2026-01-0{1 + turn % 9} 10:00:00] app.ERROR: {WORDS[kind % 10]} {WORDS[kind // 10]} failed for {turn}\n"
        for turn, kind in enumerate(kinds)
    ]
    path.write_text("".join(lines))


def totals(data: Path, config: Config) -> dict[str, int]:
    """Count the events in every way the database knows."""
    sums = {
        "issues": tables.issues.c["count"],
        "stored": tables.issues.c.stored_occurrences,
        "groupings": tables.groupings.c["count"],
        "hours": tables.event_hours.c["count"],
        "days": tables.event_days.c["count"],
        "totals": tables.issue_totals.c.occurrences,
        "sources": log_tables.sources.c.occurrence_count,
    }
    with running_service(data, jobs=False, **config) as service, service.call().transaction(write=False) as db:
        found = {name: int(db.execute(select(func.sum(column))).scalar_one() or 0) for name, column in sums.items()}
        found["occurrences"] = db.execute(select(func.count()).select_from(tables.occurrences)).scalar_one()
        one_each = select(tables.groupings.c.issue_id).group_by(tables.groupings.c.issue_id)
        assert len(db.execute(one_each).all()) == db.execute(select(func.count(tables.issues.c.id))).scalar_one()
    return found


@pytest.mark.parametrize("rounds", [1, pytest.param(8, marks=pytest.mark.long)], ids=["short", "long"])
def test_four_writers_of_overlapping_groupings_lose_no_batch(
    tmp_path: Path, own_database_config: Config, commands: Callable[..., Any], rounds: int
) -> None:
    """Deadlocks are repeated. Four nodes import at once; every counter is exact afterwards."""
    shared = tmp_path / "data"
    # Imports of one data directory wait for each other, so on a server each writer is a node with its own.
    folders = [shared] * 4 if not own_database_config else [shared, *(tmp_path / f"node-{n}" for n in range(3))]
    assert commands(shared, own_database_config, ["db", "upgrade"])[0][0] == 0
    for turn in range(rounds):
        logs = [tmp_path / f"{turn}-{number}.log" for number in range(4)]
        for number, log in enumerate(logs):
            write_log(log, turn * 4 + number)
        arguments = [
            ["import", "--quiet", "--data", str(folder), str(log)] for folder, log in zip(folders, logs, strict=True)
        ]
        outcomes = commands(shared, own_database_config, *arguments)
        assert [code for code, _, _ in outcomes] == [0] * 4, outcomes
        assert not any("Traceback" in err for _, _, err in outcomes), outcomes
    found = totals(shared, own_database_config)
    assert found == dict.fromkeys(found, rounds * 4 * LINES)

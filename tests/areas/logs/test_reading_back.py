"""Events read back from their files (`occurrence=`): each shows its own texts, after an unmerge too."""

import bz2
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.issues import tables
from snaglist.plugins.logs import tables as log_tables
from snaglist.testing import Client

Line = Callable[..., str]
TRACE = """\
2026-01-03 10:00:00,120 ERROR app.pay: Order {n} failed
Traceback (most recent call last):
  File "/srv/app/pay.py", line {n}, in charge
    gateway.send(order)
PayError: order {n} declined
"""


def detail(client: Client, occurrence: int) -> Any:
    issue_id = client.get("source", occurrence=occurrence).json["group_id"]
    return client.get("error", id=issue_id, occurrence=occurrence).json


def occurrences(store: Any) -> list[Any]:
    return store.rows(tables.occurrences)  # type: ignore[no-any-return]


def test_each_event_shows_its_own_stack(client: Client, store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("".join(TRACE.format(n=n) for n in (11, 22, 33)))
    assert store.read(log).events == 3
    for row, n in zip(occurrences(store), (11, 22, 33), strict=True):
        shown = detail(client, row.id)
        assert shown["data"]["sample_message"] == f"Order {n} failed"
        assert f'pay.py", line {n}' in shown["data"]["sample_stack"]
        (exception,) = shown["exceptions"]
        assert (exception["class"], exception["message"]) == ("PayError", f"order {n} declined")
        assert exception["frames"][0]["line"] == n


def test_what_is_not_stored_is_not_shown_of_a_file_either(
    sqlite_client: Client, sqlite_store: Any, tmp_path: Path
) -> None:
    """In message, stack, exceptions and code; a name that is given to a name is no secret."""
    log = tmp_path / "app.log"
    secret = TRACE.replace("gateway.send(order)", "send(token='hidden-1', password=form.password)")
    secret = secret.replace("Order {n} failed", "Order {n} failed, token=hidden-2").replace(
        "declined", "token: hidden-3"
    )
    log.write_text("".join(secret.format(n=n) for n in (11, 22)))
    sqlite_store.read(log)
    for row in occurrences(sqlite_store):
        shown = detail(sqlite_client, row.id)
        assert "hidden" not in str(shown)
        code = shown["exceptions"][0]["frames"][0]["context"]
        assert code["line"] == "send(token='[redacted]', password=form.password)"


def test_context_and_encodings(sqlite_client: Client, sqlite_store: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    lines = [f'[2026-01-03 10:00:0{n}] production.ERROR: Ärger {n} {{"order":{n}}}\n' for n in range(3)]
    log.write_text("".join(lines), encoding="utf-16")
    sqlite_store.read(log)
    for n, row in enumerate(occurrences(sqlite_store)):
        shown = detail(sqlite_client, row.id)["data"]
        assert (shown["sample_message"], shown["sample_context"]) == (f"Ärger {n}", f'{{"order":{n}}}')


def test_compressed_files(sqlite_client: Client, sqlite_store: Any, tmp_path: Path, line: Line) -> None:
    log = tmp_path / "app.log.bz2"
    log.write_bytes(bz2.compress("".join(line(f"Order {n} failed", seconds=n) for n in range(300)).encode()))
    sqlite_store.read(log)
    row = occurrences(sqlite_store)[150]
    assert detail(sqlite_client, row.id)["data"]["sample_message"] == "Order 150 failed"


@pytest.mark.parametrize("change", ["gone", "replaced", "cut"])
def test_a_file_that_is_not_the_same_any_more(
    sqlite_client: Client, sqlite_store: Any, tmp_path: Path, line: Line, change: str
) -> None:
    """The text of other bytes is never shown as this event's."""
    log = tmp_path / "app.log"
    log.write_text("".join(line(f"Order {n} failed", seconds=n) for n in range(300)))
    sqlite_store.read(log)
    row = occurrences(sqlite_store)[200]
    if change == "gone":
        log.unlink()
    elif change == "replaced":
        log.write_text("".join(line(f"Other {n} failed", seconds=n) for n in range(300)))
    else:
        log.write_text(log.read_text()[: 100 * 60])
    shown = sqlite_client.get("error", id=row.issue_id, occurrence=row.id).json
    assert (shown["data"]["sample_message"], shown["data"]["sample_stack"], shown["exceptions"]) == (None, None, [])


def test_an_event_of_a_sender_is_not_looked_for_in_files(
    sqlite_client: Client, sqlite_store: Any, tmp_path: Path
) -> None:
    log = tmp_path / "app.log"
    log.write_text("".join(TRACE.format(n=n) for n in (11, 22)))
    sqlite_store.read(log)
    with sqlite_store.service.call().transaction() as db:
        db.execute(log_tables.sources.update().values(log_type="http"))
    row = occurrences(sqlite_store)[0]
    shown = sqlite_client.get("error", id=row.issue_id, occurrence=row.id).json
    assert shown["data"]["sample_message"] is None


def test_unmerged_issues_show_their_own_texts(client: Client, store: Any, tmp_path: Path, line: Line) -> None:
    """The issue whose sample left reads its latest event back."""
    log = tmp_path / "app.log"
    log.write_text(line("Order 4711 failed: no stock", seconds=1) + line("Mail for 12 bounced", "CRITICAL", seconds=2))
    store.read(log)
    order, mail = (row.issue_id for row in occurrences(store))
    client.post("bulk-issues", {"action": "merge", "ids": [mail], "target_id": order})
    assert client.get("error", id=order).json["data"]["title"] == "Mail for 12 bounced"
    grouping = next(row for row in store.rows(tables.groupings) if "Mail" in row.key)
    parted = client.post("bulk-issues", {"action": "unmerge", "id": order, "grouping_id": grouping.id}).json
    old, new = (client.get("error", id=issue_id).json["data"] for issue_id in (order, parted["new_id"]))
    assert (old["title"], old["sample_message"]) == ("Order 4711 failed: no stock", "Order 4711 failed: no stock")
    assert (new["title"], new["severity"]) == ("Mail for 12 bounced", "CRITICAL")
    assert (old["log_type"], old["channel"], old["severity"]) == ("monolog", new["channel"], "ERROR")
    store.check_counters()

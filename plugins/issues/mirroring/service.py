"""Rules of mirrored issues: an item of a tracker becomes an issue, or is what an issue of another origin links to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from snaglist.kernel import Call, clip, digest
from snaglist.plugins.issues import history
from snaglist.plugins.issues.checking import tell_change
from snaglist.plugins.issues.events import RANK, IssueChange
from snaglist.plugins.issues.mirroring import queries
from snaglist.plugins.issues.row_updates import update_rows
from snaglist.plugins.issues.storing.samples import MAX_SAMPLE, search_text
from snaglist.plugins.issues.storing.texts import clean
from snaglist.plugins.issues.tables import issues
from snaglist.plugins.issues.totals import Totals

ORIGIN = "tracker"
MAX_TITLE, MAX_FRAME, MAX_CHANNEL, MAX_URL, MAX_PERSON = 500, 1000, 255, 1000, 200
_COLUMNS = (
    "severity", "severity_rank", "title", "source_frame", "channel", "search_text", "first_seen", "last_seen",
    *queries.EXTERNAL,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mirrored:
    """An item of a tracker as an issue shows it; texts of any length, times as the contract has them.

    `source` is the tracker's name and `external_id` what people call the item there; `status` is that of a new issue.
    """

    source: str
    external_id: str
    title: str
    description: str
    severity: str
    status: str
    url: str
    assignee: str | None
    channel: str
    first_seen: str
    last_seen: str


def create_mirrored(call: Call, items: Sequence[Mirrored]) -> dict[str, int]:
    """Create an issue for each item of one tracker in the open write transaction; returns ids by `external_id`."""
    if not items:
        return {}
    rows = [_row(item) | _new(item, call.now) for item in items]
    ids = queries.add_issues(call.db, items[0].source, rows)
    samples = [{"issue_id": ids[item.external_id], "message": _message(item)} for item in items]
    queries.add_samples(call.db, samples)
    entries, totals = [], Totals()
    for item in items:
        states = {"actor": item.source, "note": item.external_id, "to_status": item.status}
        entries.append(history.entry(ids[item.external_id], "created", call.now, **states))
        totals.add(item.status, item.severity, ORIGIN, 0)
    history.append(call.db, entries)
    totals.write(call.db)
    tell_change(call, IssueChange("created", tuple(sorted(ids.values()))))
    return ids


def update_mirrored(call: Call, items: Mapping[int, Mirrored]) -> tuple[set[int], set[int]]:
    """Let issues (id → item) show items as they are now, in the open write transaction; statuses stay.

    Issues of another origin take the address, name and assignee only. Returns the ids of issues that changed, and
    of those whose title or message did.
    """
    found = queries.lock_issues(call.db, items)
    told = queries.messages(call.db, [issue_id for issue_id, row in found.items() if row["origin"] == ORIGIN])
    rows, links, totals, messages = [], [], Totals(), {}
    retold: set[int] = set()
    for issue_id, before in sorted(found.items()):
        after = _row(items[issue_id])
        if before["origin"] != ORIGIN:
            columns = {name: after[name] for name in queries.EXTERNAL}
            if any(before[name] != value for name, value in columns.items()):
                links.append({"row_id": issue_id, **columns, "updated_at": call.now})
            continue
        message = _message(items[issue_id])
        if told[issue_id] != message:
            messages[issue_id] = message
        if before["title"] != after["title"] or issue_id in messages:
            retold.add(issue_id)
        if issue_id in messages or any(before[name] != after[name] for name in _COLUMNS):
            rows.append({"row_id": issue_id, **after, "updated_at": call.now})
            totals.remove(before["status"], before["severity"], before["log_type"], before["count"])
            totals.add(before["status"], after["severity"], before["log_type"], before["count"])
    update_rows(call.db, issues, rows)
    update_rows(call.db, issues, links)
    queries.update_messages(call.db, messages)
    totals.write(call.db)
    return {row["row_id"] for row in (*rows, *links)}, retold


def link_external(call: Call, issue_id: int, item: Mirrored, *, actor: str | None) -> None:
    """Let an issue name the item that was made for it, in the open write transaction, with a row of its history."""
    row = _row(item)
    columns = {name: row[name] for name in queries.EXTERNAL}
    update_rows(call.db, issues, [{"row_id": issue_id, **columns, "updated_at": call.now}])
    note = f"Linked to {item.source} {row['external_id']}"
    history.append(call.db, [history.entry(issue_id, "tracker", call.now, actor=actor, note=note)])


def move_external(call: Call, from_id: int, to_id: int | None) -> None:
    """Take the item off an issue and give it to another one, if any, in the open write transaction."""
    ids = {from_id} if to_id is None else {from_id, to_id}
    found = queries.lock_issues(call.db, ids)
    moved = {name: found[from_id][name] for name in queries.EXTERNAL} if from_id in found else {}
    update_rows(call.db, issues, [{"row_id": from_id, **dict.fromkeys(queries.EXTERNAL)}])
    if to_id in found and moved:
        update_rows(call.db, issues, [{"row_id": to_id, **moved, "updated_at": call.now}])


def _new(item: Mirrored, now: str) -> dict[str, Any]:
    return {
        "origin": ORIGIN,
        "kind": "issue",
        "environment": ORIGIN,
        "log_type": ORIGIN,
        "fingerprint": digest(f"{ORIGIN}|{uuid4()}"),
        "count": 0,
        "stored_occurrences": 0,
        "status": item.status,
        "fixed_at": now if item.status == "fixed" else None,
        "created_at": now,
        "updated_at": now,
    }


def _row(item: Mirrored) -> dict[str, Any]:
    title = clip(clean(" ".join(item.title.split())), MAX_TITLE) or "(no title)"
    frame, channel = clip(clean(item.external_id), MAX_FRAME), clip(clean(item.channel), MAX_CHANNEL) or ORIGIN
    url = item.url if item.url.startswith(("https://", "http://")) and len(item.url) <= MAX_URL else None
    return {
        "severity": item.severity,
        "severity_rank": RANK[item.severity],
        "title": title,
        "source_frame": frame,
        "channel": channel,
        "search_text": search_text(title, None, frame, channel, _message(item)),
        "first_seen": item.first_seen,
        "last_seen": item.last_seen,
        "external_source": item.source,
        "external_id": item.external_id,
        "external_url": url and clean(url),
        "assignee": clip(clean(item.assignee), MAX_PERSON) if item.assignee else None,
    }


def _message(item: Mirrored) -> str:
    return clean((item.description.strip() or item.title)[:MAX_SAMPLE])

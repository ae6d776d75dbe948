"""Brings the occurrences of a stretch of a source in line with its events as they are read today.

Nothing is counted twice, and nothing that people did is undone: an event that leads to another grouping, hour
or severity moves, with its id and its text; an event that was never counted is stored; one that is read no
more loses its row and stays counted.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from sqlalchemy import Connection, RowMapping, bindparam, delete, select, update

from snaglist.kernel import Call
from snaglist.kernel.database import chunks
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.events import Event, EventSource, StoredBatch
from snaglist.plugins.issues.facets import USER, Facet, Span, add_facets
from snaglist.plugins.issues.grouping import GroupingKey, grouping_key
from snaglist.plugins.issues.preparing import prepare_events
from snaglist.plugins.issues.storing import queries
from snaglist.plugins.issues.storing.batch import occurrence_row, store_prepared
from snaglist.plugins.issues.storing.removing import lose_occurrences, remove_occurrences
from snaglist.plugins.issues.storing.samples import sample_fields, sample_texts
from snaglist.plugins.issues.storing.taking import take_out
from snaglist.plugins.issues.tables import groupings, issues, occurrences
from snaglist.plugins.issues.totals import Totals
from snaglist.plugins.issues.values.storing import describe

NOTHING: Mapping[int, str] = {}
# Columns that decide where an event is counted; the others are only shown.
_COUNTED = ("severity", "environment", "release")
_COUNTED_SINCE_VALUES = ("server_name", "user_name")  # of events that were stored with their values
_SHOWN = (
    "occurred_at", "server_name", "user_name", "time_source", "level_source", "byte_end", "provisional", "truncated",
    "context_preview",
    "layout_id", "slots", "words",
)  # fmt: skip


class Unstored(Enum):
    """Why an event has no occurrence, and so what becomes of it when it is read again."""

    NEW = "it was never counted: it is stored like any other"
    COUNTED = "it was counted once: it gets a row where its grouping still exists"
    UNSURE = "it may never have been counted: COUNTED where its grouping exists, else NEW"
    DROPPED = "it was deleted or is too old: it stays away"


@dataclass(slots=True)
class Reread:
    """What reading a stretch again did; `added` less `removed` is what the source has more.

    `left`: issues that events went from.
    """

    issues: set[int] = field(default_factory=set)
    new_issues: set[int] = field(default_factory=set)
    left: set[int] = field(default_factory=set)
    by_type: Counter[str] = field(default_factory=Counter)
    added: int = 0
    moved: int = 0
    removed: int = 0

    def count(self, other: "Reread") -> None:
        """Count in what reading another stretch did."""
        self.issues |= other.issues
        self.new_issues |= other.new_issues
        self.left |= other.left
        self.by_type += other.by_type
        self.added += other.added
        self.moved += other.moved
        self.removed += other.removed


def reread_events(
    call: Call,
    source: EventSource,
    start: int,
    end: int,
    events: Sequence[Event],
    *,
    unstored: Callable[[Event], Unstored],
    untouched: Collection[int] = (),
    channels: Mapping[int, str] = NOTHING,
) -> Reread:
    """Replace what is stored of bytes `start` to `end` of a source, in the open write transaction.

    `events` are all events of the stretch that are to be stored, at most 1,000; `unstored` is asked about those
    without a row. Rows at the positions `untouched` stay as they are. `channels` are those that events were counted
    under, by position; of others it is taken for the same.
    """
    db = call.db
    events = prepare_events(call, events)
    keys = {event.byte_start: grouping_key(event, source.module_id) for event in events}
    rows = {place: row for place, row in _stored(db, source.id, start, end).items() if place not in untouched}
    fingerprints = _lock(db, rows, keys)
    done = Reread()
    same: list[tuple[Event, RowMapping]] = []
    moving: list[tuple[Event, RowMapping]] = []
    fresh: list[Event] = []
    back: list[Event] = []
    unsure: list[Event] = []
    for event in events:
        row = rows.pop(event.byte_start, None)
        if row is None:
            match unstored(event):
                case Unstored.NEW:
                    fresh.append(event)
                case Unstored.COUNTED:
                    back.append(event)
                case Unstored.UNSURE:
                    unsure.append(event)
            continue
        if event.time_source == row["time_source"] == "file":  # a guess by the file's age, which only gets worse
            event.occurred_at = row["occurred_at"]
        alike = fingerprints.get(row["grouping_id"]) == keys[event.byte_start].fingerprint and _alike(event, row)
        counted_here = alike and channels.get(event.byte_start, event.channel) == event.channel
        (same if counted_here else moving).append((event, row))
    if unsure:
        known = queries.find_places(db, {keys[event.byte_start].fingerprint for event in unsure})
        for event in unsure:
            (back if keys[event.byte_start].fingerprint in known else fresh).append(event)
    done.removed = len(rows)
    remove_occurrences(db, [row["id"] for row in rows.values()])
    _show_again(db, same)
    batch = _move_and_add(call, source, moving, fresh, channels)
    done.moved, done.left = len(moving), {row["issue_id"] for _, row in moving}
    given_back = _give_back(call, source, back, keys)
    done.added = len(fresh) + len(given_back)
    done.by_type.update(event.log_type for event in [*fresh, *given_back])
    changed = _refresh_samples(call, same)
    done.new_issues = batch.new_issues
    done.issues = {row["issue_id"] for _, row in same} | {one.issue_id for one in batch.stored}
    if changed:
        call.emit(hookspecs.events_stored, StoredBatch(source, changed_issues=changed, reread=True))
    return done


def _stored(db: Connection, source_id: int, start: int, end: int) -> dict[int, RowMapping]:
    here = (occurrences.c.source_id == source_id, occurrences.c.byte_start >= start, occurrences.c.byte_start < end)
    return {row["byte_start"]: row for row in db.execute(select(occurrences).where(*here)).mappings()}


def _lock(db: Connection, rows: Mapping[int, RowMapping], keys: Mapping[int, GroupingKey]) -> dict[int, str]:
    """Lock all groupings and issues that are concerned; returns the fingerprints of the rows' groupings."""
    fingerprints: dict[int, str] = {}
    for some in chunks(sorted({row["grouping_id"] for row in rows.values()}), queries.CHUNK):
        found = db.execute(select(groupings.c.id, groupings.c.fingerprint).where(groupings.c.id.in_(some)))
        fingerprints.update((row.id, row.fingerprint) for row in found)
    places = queries.find_places(db, {*fingerprints.values(), *(key.fingerprint for key in keys.values())})
    ids = {place.issue_id for place in places.values()} | {row["issue_id"] for row in rows.values()}
    queries.lock_issues(db, ids)
    return fingerprints


def _alike(event: Event, row: RowMapping) -> bool:
    """Tell whether an event is counted where its row is."""
    new = occurrence_row(event)
    names = _COUNTED if row["layout_id"] is None else (*_COUNTED, *_COUNTED_SINCE_VALUES)
    return new["occurred_at"][:13] == row["occurred_at"][:13] and all(new[name] == row[name] for name in names)


def _show_again(db: Connection, same: Sequence[tuple[Event, RowMapping]]) -> None:
    changes = []
    added: dict[int, dict[Facet, Span]] = {}
    described = describe(db, [(event, row["grouping_id"]) for event, row in same])
    for (event, row), texts in zip(same, described, strict=True):
        new = {**occurrence_row(event), **texts._asdict()}
        if any(new[name] != row[name] for name in _SHOWN):
            changes.append({"row_id": row["id"], **{name: new[name] for name in _SHOWN}})
        if row["layout_id"] is None:
            _count_since_values(added.setdefault(row["issue_id"], {}), new)
    add_facets(db, added)
    if changes:
        db.execute(update(occurrences).where(occurrences.c.id == bindparam("row_id")), changes)


def _count_since_values(facets: dict[Facet, Span], row: Mapping[str, Any]) -> None:
    for name, facet in zip(_COUNTED_SINCE_VALUES, ("host", USER), strict=True):
        if value := row[name]:
            span = facets.setdefault((facet, value), Span(0, row["occurred_at"], row["occurred_at"]))
            span.include(Span(1, row["occurred_at"], row["occurred_at"]))


def _move_and_add(
    call: Call,
    source: EventSource,
    moving: Sequence[tuple[Event, RowMapping]],
    fresh: Sequence[Event],
    channels: Mapping[int, str],
) -> StoredBatch:
    """Store events that are new or counted elsewhere now; a moved one keeps its row."""
    db = call.db
    if moving:
        # Out of the way, so that the event can be stored like any other; its text hangs on the row.
        parked = [{"row_id": row["id"], "byte_start": -1 - row["id"], "event_id": None} for _, row in moving]
        db.execute(update(occurrences).where(occurrences.c.id == bindparam("row_id")), parked)
        counted = [(row, channels.get(event.byte_start, event.channel)) for event, row in moving]
        take_out(db, counted, source.path)
    coming = sorted([*fresh, *(event for event, _ in moving)], key=lambda event: event.byte_start)
    if not coming:
        return StoredBatch(source)
    batch = store_prepared(call, source, coming, reoccur=False)
    if moving:
        _keep_rows(db, source, {event.byte_start: row for event, row in moving})
        _mend_left(db, {row["issue_id"] for _, row in moving})
    return batch


def _keep_rows(db: Connection, source: EventSource, kept: Mapping[int, RowMapping]) -> None:
    """Let the rows that events had before take the place of those that were stored for them now."""
    made: list[RowMapping] = []
    for some in chunks(sorted(kept), queries.CHUNK):
        here = (occurrences.c.source_id == source.id, occurrences.c.byte_start.in_(some))
        made.extend(db.execute(select(occurrences).where(*here)).mappings())
    for some_rows in chunks(made, queries.CHUNK):
        db.execute(delete(occurrences).where(occurrences.c.id.in_([row["id"] for row in some_rows])))
    changes = []
    samples = []
    for row in made:
        before = kept[row["byte_start"]]
        unchanged = {"received_at": before["received_at"], "event_id": before["event_id"]}
        changes.append({**row, **unchanged, "row_id": before["id"]})
        samples.append({"row_id": row["issue_id"], "made_id": row["id"], "kept_id": before["id"]})
    for change in changes:
        del change["id"]
    if changes:
        db.execute(update(occurrences).where(occurrences.c.id == bindparam("row_id")), changes)
        sample = (issues.c.id == bindparam("row_id"), issues.c.sample_occurrence_id == bindparam("made_id"))
        db.execute(update(issues).where(*sample).values(sample_occurrence_id=bindparam("kept_id")), samples)


def _mend_left(db: Connection, issue_ids: set[int]) -> None:
    """Let issues whose sample moved away point at their latest event that is left."""
    for some in chunks(sorted(issue_ids), queries.CHUNK):
        wrong = (
            select(issues.c.id)
            .join(occurrences, occurrences.c.id == issues.c.sample_occurrence_id)
            .where(issues.c.id.in_(some), occurrences.c.issue_id != issues.c.id)
        )
        for issue_id in db.execute(wrong).scalars().all():
            latest = (
                select(occurrences.c.id, occurrences.c.occurred_at)
                .where(occurrences.c.issue_id == issue_id)
                .order_by(occurrences.c.occurred_at.desc(), occurrences.c.id.desc())
                .limit(1)
            )
            left = db.execute(latest).first()
            values: dict[str, Any] = {"sample_occurrence_id": left.id if left else None}
            if left:
                values["last_seen"] = left.occurred_at
            db.execute(update(issues).where(issues.c.id == issue_id).values(values))


def _give_back(call: Call, source: EventSource, back: Sequence[Event], keys: Mapping[int, GroupingKey]) -> list[Event]:
    """Store rows of events that are counted already, where people did not remove the issue; returns those events."""
    places = queries.find_places(call.db, {keys[event.byte_start].fingerprint for event in back})
    stored = [event for event in back if keys[event.byte_start].fingerprint in places]
    rows = []
    more: Counter[int] = Counter()
    found = [places[keys[event.byte_start].fingerprint] for event in stored]
    described = describe(call.db, [(event, place.grouping_id) for event, place in zip(stored, found, strict=True)])
    for event, place, texts in zip(stored, found, described, strict=True):
        ids = {"issue_id": place.issue_id, "grouping_id": place.grouping_id, "source_id": source.id}
        rows.append({**occurrence_row(event), **texts._asdict(), **ids, "received_at": call.now})
        more[place.issue_id] -= 1
    if rows:
        queries.add_occurrences(call.db, rows)
        lose_occurrences(call.db, more)
    return stored


def _refresh_samples(call: Call, same: Sequence[tuple[Event, RowMapping]]) -> set[int]:
    """Show samples as their events are read today; returns the issues whose texts changed."""
    db = call.db
    events = {row["id"]: event for event, row in same}
    changed: set[int] = set()
    for some in chunks(sorted({row["issue_id"] for _, row in same}), queries.CHUNK):
        shown = db.execute(select(issues).where(issues.c.id.in_(some))).mappings().all()
        shown_here = {row["id"]: row for row in shown if row["sample_occurrence_id"] in events}
        messages = queries.sample_messages(db, shown_here)
        totals = Totals()
        for issue_id, issue in sorted(shown_here.items()):
            event = events[issue["sample_occurrence_id"]]
            fields, texts = sample_fields(event), sample_texts(event)
            if all(issue[name] == value for name, value in fields.items()) and messages[issue_id] == texts["message"]:
                continue
            changed.add(issue_id)
            totals.remove(issue["status"], issue["severity"], issue["log_type"], issue["count"])
            totals.add(issue["status"], fields["severity"], fields["log_type"], issue["count"])
            queries.update_issues(db, [{"row_id": issue_id, **fields}])
            queries.put_samples(db, [{"issue_id": issue_id, **texts}])
        totals.write(db)
    return changed

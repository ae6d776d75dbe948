"""The way of a batch: duplicates out, keys, places, occurrences, counters, issues, hooks."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, times
from snaglist.plugins.issues import hookspecs
from snaglist.plugins.issues.events import RANK, SEVERITIES, Event, EventSource, StoredBatch, StoredEvent
from snaglist.plugins.issues.facets import add_facets
from snaglist.plugins.issues.grouping import grouping_key
from snaglist.plugins.issues.preparing import prepare_events
from snaglist.plugins.issues.storing import queries
from snaglist.plugins.issues.storing.places import find_or_make
from snaglist.plugins.issues.storing.queries import Place
from snaglist.plugins.issues.storing.samples import MAX_CONTEXT, is_cut
from snaglist.plugins.issues.storing.tally import Group, tally
from snaglist.plugins.issues.storing.texts import clean, short
from snaglist.plugins.issues.storing.updating import update_issues
from snaglist.plugins.issues.values.storing import Described, describe

MAX_EVENTS = 1_000
ATTEMPTS = 5


def store_events(
    call: Call, source: EventSource, events: Sequence[Event], *, reoccur: bool = True, unseen: bool = False
) -> StoredBatch:
    """Store at most 1,000 events of one source in the open write transaction.

    Events whose place in the source or `event_id` is known already are counted as duplicates. `reoccur=False`
    is for events that are read again: they bring no fixed issue back, and `batch.reread` tells it to plugins.
    `unseen=True` is for events whose ids the caller looked up and whose places nobody used: they are looked up only
    when storing them fails, and the ids of their occurrences are given. The row of `sources` is the caller's: its
    `occurrence_count` grows by `len(batch.stored)`.
    """
    return store_prepared(call, source, prepare_events(call, events), reoccur=reoccur, unseen=unseen)


def store_prepared(
    call: Call, source: EventSource, events: Sequence[Event], *, reoccur: bool = True, unseen: bool = False
) -> StoredBatch:
    """Store events that went through the hook `events_storing`."""
    if len(events) > MAX_EVENTS:
        raise ValueError(f"at most {MAX_EVENTS} events a batch")
    for event in events:
        if not event.occurred_at:
            event.occurred_at, event.time_source = call.now, "received"
        elif not times.is_time(event.occurred_at):
            raise ValueError(f"occurred_at: must be like 2026-01-03 10:00:00, not {event.occurred_at!r}")
        if event.severity not in RANK:
            raise ValueError(f"severity: must be one of {', '.join(SEVERITIES)}, not {event.severity!r}")
    batch = _store_in_savepoint(call, source, events, reoccur, unseen)
    if batch.stored:
        call.emit(hookspecs.events_stored, batch)
    return batch


def _store_in_savepoint(
    call: Call, source: EventSource, events: Sequence[Event], reoccur: bool, unseen: bool
) -> StoredBatch:
    looked_up = not unseen
    attempts = 0
    while True:
        attempts += 1
        try:
            with call.db.begin_nested():
                fresh = _without_duplicates(call.db, source, events) if looked_up else events
                batch = StoredBatch(source, duplicates=len(events) - len(fresh), reread=not reoccur)
                if fresh:
                    _store(call, batch, fresh, with_ids=unseen)
                return batch
        except IntegrityError:  # another writer stored one of the events meanwhile: now it shows as a duplicate
            if attempts == ATTEMPTS:
                raise
            looked_up = True


def _store(call: Call, batch: StoredBatch, fresh: Sequence[Event], *, with_ids: bool) -> None:
    db, source = call.db, batch.source
    keys = [grouping_key(event, source.module_id) for event in fresh]
    counted = tally(fresh, keys, clean(source.path))
    places = find_or_make(call, source, counted.groups)
    batch.new_issues.update(places.new_issues)
    for event, key in zip(fresh, keys, strict=True):
        place = places.by_fingerprint[key.fingerprint]
        batch.stored.append(StoredEvent(event, place.issue_id, place.grouping_id))

    _update_groupings(db, counted.groups, places.by_fingerprint)
    by_issue = _by_issue(counted.groups, places.by_fingerprint)
    locked = queries.lock_issues(db, by_issue)
    described = describe(db, [(one.event, one.grouping_id) for one in batch.stored])
    queries.add_occurrences(db, _occurrence_rows(batch.stored, described, source.id, call.now))
    if with_ids:
        ids = queries.occurrence_ids(db, source.id, [event.byte_start for event in fresh])
        for one in batch.stored:
            one.occurrence_id = ids[one.event.byte_start]
    add_facets(db, {issue_id: group.facets for issue_id, group in by_issue.items()})
    update_issues(call, batch, by_issue, locked, reoccur=not batch.reread)
    days = [{"day": day, "severity": severity, "count": n} for (day, severity), n in sorted(counted.days.items())]
    queries.add_days(db, days)


def _without_duplicates(db: Connection, source: EventSource, events: Sequence[Event]) -> list[Event]:
    starts = queries.known_starts(db, source.id, [event.byte_start for event in events])
    known_ids = queries.known_event_ids(db, [event_id for event in events if (event_id := _event_id(event))])
    fresh = []
    for event in events:
        event_id = _event_id(event)
        if event.byte_start in starts or event_id in known_ids:
            continue
        starts.add(event.byte_start)
        if event_id is not None:
            known_ids.add(event_id)
        fresh.append(event)
    return fresh


def _event_id(event: Event) -> str | None:
    return clean(event.event_id[:64]) if event.event_id else None


def _by_issue(groups: Mapping[str, Group], places: Mapping[str, Place]) -> dict[int, Group]:
    """Join the groups that lead to one issue."""
    joined: dict[int, Group] = {}
    for fingerprint, group in groups.items():
        issue_id = places[fingerprint].issue_id
        if issue_id in joined:
            joined[issue_id].include(group)
        else:
            joined[issue_id] = group
    return joined


def _update_groupings(db: Connection, groups: Mapping[str, Group], places: Mapping[str, Place]) -> None:
    counters, hours = [], []
    for fingerprint, group in sorted(groups.items(), key=lambda item: places[item[0]].grouping_id):
        place = places[fingerprint]
        counters.append(
            {
                "row_id": place.grouping_id,
                "count": place.seen + group.span.count,
                "first_seen": min(place.first_seen, group.span.first),
                "last_seen": max(place.last_seen, group.span.last),
            }
        )
        hours += [
            {"grouping_id": place.grouping_id, "hour": hour, "issue_id": place.issue_id, "count": count}
            for hour, count in sorted(group.hours.items())
        ]
    queries.update_groupings(db, counters)
    queries.add_hours(db, hours)


def _occurrence_rows(
    stored: Sequence[StoredEvent], described: Sequence[Described], source_id: int, now: str
) -> list[dict[str, Any]]:
    return [
        {
            "issue_id": one.issue_id,
            "grouping_id": one.grouping_id,
            "source_id": source_id,
            "received_at": now,
            **occurrence_row(one.event),
            **texts._asdict(),
        }
        for one, texts in zip(stored, described, strict=True)
    ]


def occurrence_row(event: Event) -> dict[str, Any]:
    """Return the columns of an occurrence that come from its event."""
    preview = event.context if event.preview is None else event.preview
    return {
        "occurred_at": event.occurred_at,
        "time_source": event.time_source,
        "severity": event.severity,
        "level_source": event.level_source or None,
        "environment": short(event.environment, 100),
        "release": short(event.release, 120) if event.release else None,
        "server_name": short(event.server_name, 200) if event.server_name else None,
        "user_name": short(event.user, 200) if event.user else None,
        "event_id": _event_id(event),
        "byte_start": event.byte_start,
        "byte_end": event.byte_end,
        "provisional": event.provisional,
        "truncated": is_cut(event),
        "context_preview": clean(preview[:MAX_CONTEXT]) or None,
    }

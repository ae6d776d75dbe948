"""The job `tracker_sync`: pulling, pushing and making items, on demand and at an interval."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from sqlalchemy import Connection

from snaglist.kernel import Call, ServiceError, clip, times
from snaglist.plugins.system import JobCall
from snaglist.plugins.tracker import position
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.contract import Provider, Tracker, TrackerFailure
from snaglist.plugins.tracker.creating import create
from snaglist.plugins.tracker.pulling import pull
from snaglist.plugins.tracker.pushing import Pushed, push
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.storing import NotLinkable, Stored

_ERROR = 500


def run(call: JobCall) -> Mapping[str, Any]:
    """Do what `action` of the arguments says; how it ended is noted for the tracker's page."""
    action = call.args["action"]
    settings = call.read(stored.load)
    if not settings.enabled:
        raise TrackerFailure("The tracker was switched off meanwhile.")
    try:
        tracker, kind = stored.open_tracker(call, settings), stored.provider(call, settings)
        done = pull(call, settings, tracker) if action == "pull" else _each(call, settings, kind, tracker, action)
    except ServiceError as error:
        call.write(partial(_note_end, settings, error, action))
        raise
    call.write(partial(_note_end, settings, None, action))
    where = call.read(lambda db: position.load(db, settings.generation))
    pushed = sum(entry["ok"] for entry in done.get("results", ())) if action == "push" else 0
    shown: dict[str, Any] = {"synced_at": where.synced_through, "phase": where.phase, "has_more": False}
    shown |= {"backfill_complete": where.backfill_complete, "pushed": pushed, "results": []}
    ok = all(entry["ok"] for entry in done.get("results", ()))
    return {"ok": ok, "action": action, **asdict(Stored()), **shown, **done}


def due(call: Call) -> Mapping[str, Any] | None:
    """Return the arguments of a pull that is needed now; asked in a read transaction."""
    settings = stored.load(call.db)
    if not _is_pulled(call, settings):
        return None
    where = position.load(call.db, settings.generation)
    minutes = int(call.setting("tracker.interval_minutes"))
    rested = where.tried_at is None or times.add(where.tried_at, seconds=60 * minutes) <= call.now
    paused = where.paused_until is not None and call.now < where.paused_until
    return {"action": "pull"} if rested and not paused else None


def rests(call: Call) -> bool:
    """Tell whether nothing is ever pulled with the settings as they are."""
    return not _is_pulled(call, stored.load(call.db))


def _is_pulled(call: Call, settings: Settings) -> bool:
    try:
        return settings.enabled and settings.wanted.anything and stored.provider(call, settings).reads
    except TrackerFailure:
        return False


def _each(call: JobCall, settings: Settings, kind: Provider, tracker: Tracker, action: str) -> Mapping[str, Any]:
    """Do the action for each issue; when it fails for all of them the job does."""
    ids, results, created = call.args["ids"], list[dict[str, Any]](), 0
    failures: list[TrackerFailure] = []
    act: Callable[[Pushed], None]
    if action == "create":
        act = partial(_create, call, settings, tracker)
    else:
        act = partial(push, call, settings, kind, tracker, asked=True)
    for number, issue_id in enumerate(ids):
        call.check_cancelled()
        entry = Pushed(issue_id)
        stopped = failures[-1] if failures and not failures[-1].refused else None
        try:
            if stopped is not None:  # what hinders one hinders all: a wrong key, a limit, no answer
                raise stopped
            act(entry)
        except NotLinkable as error:
            entry.error = str(error)
        except TrackerFailure as error:
            failures.append(error)
            entry.error = error.message
        results.append(entry.result())
        created += action == "create" and entry.error is None
        call.progress(number + 1, len(ids))
    if len(failures) == len(ids):
        raise failures[0]
    return {"results": results, "created": created}


def _create(call: JobCall, settings: Settings, tracker: Tracker, entry: Pushed) -> None:
    entry.external_id = create(call, settings, tracker, entry.id)


def _note_end(settings: Settings, error: ServiceError | None, action: str, db: Connection) -> None:
    if stored.lock(db).generation != settings.generation:
        return
    now, wait = times.now(), error.wait if isinstance(error, TrackerFailure) else 0
    changes: dict[str, Any] = {"last_error": clip(error.message, _ERROR) if error else None}
    changes["paused_until"] = times.add(now, seconds=wait) if wait else None
    changes |= {"tried_at": now} if action == "pull" else {}
    position.save(db, replace(position.load(db, settings.generation), **changes))

"""The job `connectors_sync`: fetches what is new of remote files into mirrors, and reads it."""

import posixpath
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call, Conflict, ServiceError, Unavailable, digest, times
from snaglist.plugins.connectors import mirrors, planning, queries, runs, sealing
from snaglist.plugins.connectors import run_queries as sql
from snaglist.plugins.connectors.contract import ConnectorType, Remote, RemoteFailure
from snaglist.plugins.connectors.opening import kind_of, opened
from snaglist.plugins.connectors.planning import Item
from snaglist.plugins.connectors.tables import streams
from snaglist.plugins.issues import file_at, stored_path
from snaglist.plugins.logs import FileResult, read_file, read_rest
from snaglist.plugins.system import Cancelled, JobCall, rows

JOB = "connectors_sync"
STALE = "Snapshot is stale."
_SHOWN_FAILURES = 10


def due(call: Call) -> Mapping[str, Any] | None:
    """Return the connectors whose interval has passed; also asks for a run that only ends abandoned ones."""
    wanted: dict[str, None] = {}
    busy = {run.connector_id for run in sql.unfinished_runs(call.db)}
    for connector in queries.enabled_connectors(call.db, call.service.file_node):
        if connector.interval_minutes and connector.id not in busy:
            last = sql.last_started(call.db, connector.id)
            if last is None or times.add(last, seconds=60 * connector.interval_minutes) <= times.now():
                wanted[str(connector.id)] = None
    return {"connectors": wanted} if wanted or runs.abandoned(call) else None


def rests(call: Call) -> bool:
    """Tell whether there is neither a connector with an interval nor a run that may be abandoned."""
    connectors = queries.enabled_connectors(call.db, call.service.file_node)
    return not any(connector.interval_minutes for connector in connectors) and not sql.unfinished_runs(call.db)


def run(call: JobCall) -> dict[str, Any]:
    """Sync the connectors of the job, one after another; a single one that fails makes the job fail."""
    mine = call.write(lambda db: _runs(call, db))
    failures = []
    for done, each in enumerate(mine):
        call.check_cancelled()
        call.progress(done, len(mine), each.connector_name)
        if each.finished_at is None and (failure := _sync(call, each)):
            failures.append(failure)
    call.progress(len(mine), len(mine))
    if failures and len(mine) == 1:
        raise failures[0]
    return {"run_ids": [each.id for each in mine], "failed": len(failures)}


def _runs(call: JobCall, db: Connection) -> list[Row[Any]]:
    """Return the runs of the job; a scheduled or repeated one has none yet."""
    runs.settle(call)
    known = {each.connector_id for each in sql.runs_of_job(db, call.job_id)}
    wanted = sorted(map(int, call.args["connectors"]))
    queries.lock_connectors(db, wanted)
    missing = [row for row in queries.enabled_connectors(db, "") if row.id in wanted and row.id not in known]
    runs.begin(call, missing, call.job_id, {})
    return list(sql.runs_of_job(db, call.job_id))


def _sync(call: JobCall, each: Row[Any]) -> ServiceError | None:
    """Do one run and note how it ended; returns what it failed with."""
    connector = call.read(lambda db: queries.one_connector(db, each.connector_id))
    if connector is None:  # deleted since it was queued
        return None
    failure: ServiceError | None = None
    with runs.Pulse(call, each.id) as pulse:
        sync = _Sync(call, each, connector, pulse)
        try:
            failure = sync.work()
        except Cancelled:
            sync.end("cancelled", "The job was cancelled.")
            raise
        except Unavailable:
            raise  # the database: the job is taken up again
        except ServiceError as error:
            failure = error
    sync.end("failed" if failure else "success", failure.message if failure else None)
    return failure


class _Sync:
    """One run."""

    def __init__(self, call: JobCall, each: Row[Any], connector: Row[Any], pulse: runs.Pulse) -> None:
        self._call, self._run, self._connector, self._pulse = call, each, connector, pulse
        self._counters = pulse.counters
        self._failures: list[str] = []
        self._left: list[int] = []
        self._sources: dict[int, str] = {}  # source id → remote folder

    def work(self) -> ServiceError | None:
        """Plan anew and take in every file; returns what failed of it."""
        kind = kind_of(self._call, self._connector)
        try:
            sealing.unseal(self._call, self._connector)
        except Unavailable as error:  # no matter of waiting
            return RemoteFailure(error.message)
        with opened(self._call, self._connector, learning=True) as remote:
            plan = planning.make_plan(self._call, self._connector, kind, remote)
            if self._run.expected_snapshot not in (None, plan.snapshot):
                return Conflict(STALE)
            self._counters.files_discovered = len(plan.items)
            self._counters.bytes_total = plan.bytes_to_fetch
            self._note_sources()
            for item in plan.items:
                self._take(item, kind, remote)
            self._read_rest()
        mirrors.prune(self._call, self._connector.id)
        shown = "; ".join(self._failures[:_SHOWN_FAILURES])
        more = len(self._failures) - _SHOWN_FAILURES
        return RemoteFailure(f"{shown}; and {more} more" if more > 0 else shown) if shown else None

    def end(self, status: str, message: str | None) -> None:
        """Note how the run ended."""
        self._call.write(lambda _: runs.finish(self._call, self._run, status, message, **asdict(self._counters)))

    def _note_sources(self) -> None:
        for row in self._call.read(lambda db: queries.source_ids(db, self._connector.id)):
            self._sources[row.source_id] = posixpath.dirname(row.remote_path)

    def _watch(self, _: int = 0) -> None:
        self._call.check_cancelled()
        if self._pulse.lost:
            raise Cancelled

    def _take(self, item: Item, kind: ConnectorType, remote: Remote) -> None:
        self._watch()
        self._counters.current_file = item.file.path
        name = mirrors.base_name(item.file.path)
        self._call.progress(self._counters.files_completed, self._counters.files_discovered, name)
        try:
            if item.action == "already_ingested":
                self._remember(item)
            elif item.will_sync:
                result = self._read_in_place(item, remote) if kind.in_place else self._read_mirror(item, remote)
                if result.error is not None:
                    raise RemoteFailure(result.error)
                self._counters.files_updated += 1
            self._counters.files_completed += 1
        except RemoteFailure as error:
            self._failures.append(f"{name}: {error.message.removeprefix(f'{item.file.path}: ')}")

    # -- files on this machine

    def _read_in_place(self, item: Item, remote: Remote) -> FileResult:
        with remote.open(item.file.path) as read_at:
            head = read_at(0, planning.PREFIX_BYTES)
        stream_id = self._stream(item, None)
        result = self._read(item, file_at(self._call, item.file.path), stream_id, head)
        self._counters.bytes_fetched += item.bytes_to_fetch
        return result

    # -- files elsewhere

    def _read_mirror(self, item: Item, remote: Remote) -> FileResult:
        mirror = self._mirror(item)
        stream_id = self._stream(item, mirror)
        if item.action == "reconcile" and item.dropped and item.dropped.plain:
            self._copy_dropped(item, mirror)
        self._fetch(item, remote, mirror, stream_id)
        with mirror.open("rb") as stream:
            head = stream.read(planning.PREFIX_BYTES)
        return self._read(item, mirror, stream_id, head)

    def _mirror(self, item: Item) -> Path:
        stream, path = item.stream, item.file.path
        if stream is not None and stream.local_path and item.action != "rotation":
            return file_at(self._call, stream.local_path)
        generation = self._call.read(lambda db: queries.next_generation(db, self._connector.id, path))
        while (place := mirrors.place_of(self._call, self._connector.id, path, generation)).exists():
            generation += 1  # of a file that was here and was renamed: its mirror stays where it is
        return place

    def _copy_dropped(self, item: Item, mirror: Path) -> None:
        """Begin a mirror with the bytes that are here already."""
        assert item.dropped is not None
        chunk = self._call.setting("sync.chunk_bytes")
        with item.dropped.path.open("rb") as origin, mirrors.appending(mirror) as out:
            origin.seek(mirrors.held(mirror))
            while left := item.dropped.size - origin.tell():
                if not (data := origin.read(min(chunk, left))):
                    break
                mirrors.write_through(out, data)

    def _fetch(self, item: Item, remote: Remote, mirror: Path, stream_id: int) -> None:
        start = position = mirrors.held(mirror)
        chunk = self._call.setting("sync.chunk_bytes")
        with mirrors.appending(mirror) as out, remote.open(item.file.path) as read_at:
            while position < item.file.size:
                data = read_at(position, min(chunk, item.file.size - position))
                if not data:
                    raise RemoteFailure("the file ended early; the next sync looks at it again")
                mirrors.write_through(out, data)
                position += len(data)
                self._counters.bytes_fetched += len(data)
                with self._call.transaction() as db:
                    rows.change(db, streams, stream_id, fetched_offset=position)
                self._watch()
            with mirror.open("rb") as written:
                head = written.read(planning.PREFIX_BYTES)
            if read_at(0, len(head)) != head:  # rotated under our hands: what came may be of another file
                out.truncate(start)
                raise RemoteFailure("the file was replaced while it was fetched; the next sync looks at it again")

    # -- both

    def _stream(self, item: Item, mirror: Path | None) -> int:
        """Return the stream that the file's bytes belong to from now on; its bytes are not read yet."""
        file, connector_id = item.file, self._connector.id
        known = {
            "identity": file.identity,
            "local_path": stored_path(self._call, mirror) if mirror else None,
            "last_synced_at": None,
        }
        with self._call.transaction() as db:
            generation = queries.next_generation(db, connector_id, file.path)
            place = {"remote_path": file.path, "path_hash": digest(file.path), "generation": generation}
            if item.stream is not None and item.action != "rotation":
                moved = place if item.action == "rename" else {}
                rows.change(db, streams, item.stream.id, **known, **moved)
                return int(item.stream.id)
            empty = {"remote_size": 0, "fetched_offset": 0, "prefix_hash": "", "prefix_length": 0}
            row = {**known, **place, **empty, "connector_id": connector_id, "created_at": times.now()}
            return rows.add(db, streams, row)

    def _read(self, item: Item, path: Path, stream_id: int, head: bytes) -> FileResult:
        connector, folder = self._connector, posixpath.dirname(item.file.path)
        mirrored = path != file_at(self._call, item.file.path)
        result = read_file(
            self._call,
            path,
            connector_id=connector.id,
            module_id=connector.module_id,
            timezone=connector.timezone,
            name=mirrors.base_name(item.file.path),
            siblings={s for s, other in self._sources.items() if other == folder} if mirrored else None,
            watch=self._watch,
        )
        self._counters.events_indexed += result.events
        self._left += result.left
        if result.error is None:
            self._note(item, stream_id, head, result.source_id)
        return result

    def _note(self, item: Item, stream_id: int, head: bytes, source_id: int | None) -> None:
        file = item.file
        begin = head[: file.size]
        with self._call.transaction() as db:
            rows.change(
                db,
                streams,
                stream_id,
                source_id=source_id,
                remote_size=file.size,
                fetched_offset=file.size,
                remote_modified_at=file.modified_at,
                prefix_hash=mirrors.head_hash(begin),
                prefix_length=len(begin),
                last_synced_at=times.now(),
            )
        if source_id is not None:
            self._sources[source_id] = posixpath.dirname(file.path)

    def _remember(self, item: Item) -> None:
        """Note a file that was dropped before, so that it is not compared again while it stays as it is."""
        assert item.dropped is not None
        head = b""
        if item.dropped.plain:
            with item.dropped.path.open("rb") as stream:
                head = stream.read(planning.PREFIX_BYTES)
        self._note(item, self._stream(item, None), head, item.dropped.source_id)

    def _read_rest(self) -> None:
        connector = self._connector
        options = {"connector_id": connector.id, "module_id": connector.module_id, "timezone": connector.timezone}
        for result in read_rest(self._call, self._left, **options, watch=self._watch):
            self._counters.events_indexed += result.events

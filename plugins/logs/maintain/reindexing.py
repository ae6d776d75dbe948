"""Reading again what was read: with the parsers, the settings and the grouping of today.

Sources are read again one after another, in stretches that are each replaced in a transaction of their own,
which also saves how far the work is: a job that was killed goes on there. Imports get their turn between
stretches; what they add to a source in the meantime is read again too.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Conflict, Invalid, Unavailable
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.issues import (
    Event,
    EventSource,
    Reread,
    Unstored,
    file_at,
    learn_again,
    path_of,
    path_text,
    reread_events,
)
from snaglist.plugins.logs import hookspecs
from snaglist.plugins.logs.collect.discovery import reason
from snaglist.plugins.logs.collect.locking import import_turn
from snaglist.plugins.logs.handlers import IMPORT
from snaglist.plugins.logs.ingestion import Ingestion
from snaglist.plugins.logs.maintain import pushed
from snaglist.plugins.logs.maintain.retention import oldest_kept
from snaglist.plugins.logs.maintain.stretches import Stretch, Stretches
from snaglist.plugins.logs.own_formats.pattern import PREFIX
from snaglist.plugins.logs.parsers import PARSER_VERSION, Parser
from snaglist.plugins.logs.read.files import open_file
from snaglist.plugins.logs.read.importing import what_failed
from snaglist.plugins.logs.read.open_entries import Piece, Unfinished
from snaglist.plugins.logs.read.parsing import FileChanged, ParseFailure, read_with
from snaglist.plugins.logs.read.portions import LineBatch, Rules
from snaglist.plugins.logs.read.results import Run
from snaglist.plugins.logs.read.tally import Tally
from snaglist.plugins.logs.store import coverage, deletions, queries
from snaglist.plugins.system import Cancelled, JobCall, LeaseLost

JOB = "reindex"
SETTING = "reindex"  # how far the job is
SLICE_SECONDS = 2.0  # of work, then imports get their turn
PAUSE_SECONDS = 0.15  # longer than the time between two looks at the lock
ATTEMPTS = 3  # at a file that is rotated while it is read
_FOREVER = 10.0**9
_OF_IMPORTS = ("processed", "waiting", "waiting_files", "ignored", "duplicates")


def start(call: Call, source_id: int | None, module_id: int | None) -> int:
    """Queue the job, in the open write transaction; Conflict while an import or a reindex is not finished.

    Where machines do not share their files each has a job for its own.
    """
    if source_id is not None and queries.source_by_id(call.db, source_id) is None:
        raise Invalid("source_id: unknown source")
    if module_id is not None and queries.module_slug(call.db, module_id) is None:
        raise Invalid("module_id: unknown module")
    if call.service.jobs.unfinished(call, JOB, IMPORT):
        raise Conflict("An import or a reindex is queued or running.")
    args = {"source_id": source_id, "module_id": module_id}
    here = call.service.file_node
    for node in queries.nodes_of(call.db, source_id, module_id) if here else ():
        if node != here:
            call.enqueue(JOB, args, dedupe=JOB, node=node)
    return call.enqueue(JOB, args, dedupe=JOB)


def run(call: JobCall) -> Mapping[str, Any]:
    """Read the chosen sources again."""
    return Reindex(call).run()


class Reindex:
    """One run over the chosen sources."""

    def __init__(self, call: JobCall) -> None:
        self.call = call
        self.oldest = oldest_kept(call)
        with call.transaction(write=False) as db:
            self.ingestion = Ingestion.load(call)
            saved = get_setting(db, SETTING) or {}
            node = call.service.file_node
            self.sources = queries.chosen_sources(db, call.args["source_id"], call.args["module_id"], node)
        self.result = Run(self.ingestion.severities)
        self.kept = 0
        # Where the work goes on: a source, a byte in it, and what its reader had found out.
        self.at: dict[str, Any] = {"source_id": 0}
        if saved.get("job_id") == call.job_id:
            self.result.resume(saved["result"])
            self.kept, self.at = saved["kept"], saved["at"]
        self.done = 0
        self.total = sum(size for _, size in self.sources)

    def run(self) -> dict[str, Any]:
        """Read every source, going on where a killed run stopped."""
        for source_id, size in self.sources:
            if source_id >= self.at["source_id"]:
                self.call.check_cancelled()
                self._source(source_id)
            self.done += size
            self.call.progress(self.done, self.total)
        self._learn_again()
        with self.call.transaction() as db:
            put_setting(db, SETTING, {})
        document = self.result.document()
        return {name: value for name, value in document.items() if name not in _OF_IMPORTS} | {"kept": self.kept}

    def _learn_again(self) -> None:
        """Look again at the templates that grouping could not learn from."""
        grouping_id = 0

        def work() -> int:
            with self.call.transaction():
                return learn_again(self.call, grouping_id)

        while found := self.call.repeat(work):
            grouping_id = found
            self.call.check_cancelled()

    def _source(self, source_id: int) -> None:
        for _ in range(ATTEMPTS):
            with self.call.transaction(write=False) as db:
                row = queries.source_by_id(db, source_id)
            if row is None:
                return
            try:
                read_with(self.call.service, self.call, partial(self._read, row))
                return
            except FileChanged:  # rotated meanwhile: an import may have found where it went
                continue
            except ParseFailure as error:
                self.result.fail(path_text(path_of(row.path).name), str(error))
                break
            except FileNotFoundError:
                break
            except (OSError, ValueError) as error:
                self.result.fail(path_text(file_at(self.call, row.path).name), reason(error))
                break
            except (Cancelled, LeaseLost, Unavailable):
                raise
            except Exception as error:  # of this source alone: the others are read
                self.result.fail(path_text(file_at(self.call, row.path).name), what_failed(error))
                break
        self._keep(source_id)

    def _read(self, row: Row[Any], parsers: Sequence[Parser]) -> None:
        if row.log_type == queries.PUSHED:
            self._pushed(row)
            return
        at = self.at if self.at["source_id"] == row.id else {}
        known = {name: at[name] for name in ("log_type", "encoding") if name in at}
        with open_file(file_at(self.call, row.path)) as file:
            position = at.get("position", row.first_byte)
            rules = self.ingestion.rules
            zone = self._zone(row)
            stretches = Stretches(self.call, file, row, rules, *zone, parsers, start=position, **known)
            while not self._work(row.id, stretches):
                time.sleep(PAUSE_SECONDS)

    def _work(self, source_id: int, stretches: Stretches) -> bool:
        """Work for a while with no import beside it; True when the source is done."""
        folder = self.call.application.folder
        until = time.monotonic() + SLICE_SECONDS
        with import_turn(folder, wait=_FOREVER, waiting=self.call.check_cancelled):
            with self.call.transaction(write=False) as db:
                row = queries.source_by_id(db, source_id)
            if row is None:
                return True
            for stretch in stretches.up_to(row.offset, settled=_is_settled(row)):
                self._replace(row, stretch, stretches)
                self.call.progress(self.done + stretch.end, self.total, path_text(path_of(row.path).name))
                if stretch.last:
                    return True
                self.call.check_cancelled()
                if time.monotonic() >= until:
                    return False
        raise FileChanged

    def _replace(self, row: Row[Any], stretch: Stretch, stretches: Stretches) -> None:
        """Replace what is stored of a stretch, and save that."""
        source = EventSource(row.id, row.module_id, row.path)
        reader, portion, rules = stretches.reader, stretch.portion, self.ingestion.rules
        first = stretch.start == row.first_byte
        tally = portion.tally if first else Tally.read(self.at.get("reading")) + portion.tally
        at = {"source_id": row.id, "position": stretch.end, "log_type": reader.log_type, "encoding": reader.encoding}
        at["reading"] = tally.document()
        before = self.result

        def work() -> None:
            with self.call.transaction() as db:
                if portion.read or first:
                    batch = LineBatch(source, portion.read, reread=True, first=first, log_type=reader.log_type)
                    self.call.emit(hookspecs.lines_read, batch)
                deleted: list[Event] = []
                covers = deletions.deleted_of(db, row.id, stretch.start, stretch.end)
                unstored = partial(self._unstored, row, covers, deleted)
                done = reread_events(self.call, source, stretch.start, stretch.end, portion.kept, unstored=unstored)
                queries.take_off(db, {row.id: done.removed - done.added})
                self._count(before, done)
                self.result.deleted += len(deleted)
                self.result.tally += portion.tally
                self.result.access_lines += portion.access_lines
                if stretch.last:
                    self.result.files += 1
                    self.result.remark(path_text(path_of(row.path).name), tally.remarks())
                    found = {"log_type": reader.log_type, "encoding": reader.encoding, "layout": reader.layout}
                    last = {"open_event": _open(row, stretch, stretches.last, rules), "reading": tally.document()}
                    queries.change_source(db, row.id, **found, **last, **self._current(row))
                self._save({"source_id": row.id + 1} if stretch.last else at)

        self.call.repeat(work)

    def _pushed(self, row: Row[Any]) -> None:
        position = self.at.get("position", 0) if self.at["source_id"] == row.id else 0
        for page in pushed.pages(self.call, row, position):
            self.call.check_cancelled()
            before, kept = self.result, self.kept + page.without_text

            def work(page: pushed.Page = page, before: Run = before, kept: int = kept) -> None:
                with self.call.transaction():
                    self._count(before, pushed.regroup(self.call, row, page))
                    self.kept = kept
                    self._save({"source_id": row.id, "position": page.end})

            self.call.repeat(work)
        self.result.files += 1

    def _keep(self, source_id: int) -> None:
        """Leave a source as it is whose file cannot be read again."""
        with self.call.transaction() as db:
            row = queries.source_by_id(db, source_id)
            if row is not None:
                self.kept += row.occurrence_count
                self.result.skipped += 1
                queries.change_source(db, row.id, **self._current(row))
                self._save({"source_id": row.id + 1})

    def _count(self, before: Run, done: Reread) -> None:
        """Count what was done; from `before`, because a transaction may be repeated."""
        self.result = before.copy()
        self.result.events += done.added
        self.result.by_type.update(done.by_type)
        self.result.issues |= done.issues
        self.result.new_issues |= done.new_issues

    def _save(self, at: dict[str, Any]) -> None:
        """Save how far the work is, in the open transaction."""
        self.at = at
        saved = {"job_id": self.call.job_id, "at": at, "result": self.result.document(), "kept": self.kept}
        put_setting(self.call.db, SETTING, saved)

    def _zone(self, row: Row[Any]) -> tuple[str, bool]:
        """Return the zone of times without one, and whether somebody set it."""
        own = row.counted["own_zone"]
        return (str(row.timezone), True) if own else (self.ingestion.timezone, self.ingestion.zone_known)

    def _current(self, row: Row[Any]) -> dict[str, Any]:
        """Return the columns of a source that was read again under the settings of now."""
        rules, (zone, zone_known) = self.ingestion.rules, self._zone(row)
        return {
            "read_under": coverage.stamp(rules, None if row.counted["own_zone"] else zone),
            "counted": coverage.widen({**row.counted, "zone_known": zone_known}, rules),
            "timezone": zone,
            "parser_version": PARSER_VERSION,
        }

    def _unstored(self, row: Row[Any], was_deleted: deletions.Covers, deleted: list[Event], event: Event) -> Unstored:
        if was_deleted(event):
            deleted.append(event)
            return Unstored.DROPPED
        if event.occurred_at < self.oldest:
            return Unstored.DROPPED
        if not coverage.was_counted(row.counted, event):
            return Unstored.NEW
        # A format finds levels and entries that nobody knew of, so what it reads first may never have been counted.
        by_format = event.log_type.startswith(PREFIX)
        read_anew = by_format and not coverage.has_formats(row.read_under, self.ingestion.rules)
        return Unstored.UNSURE if read_anew else Unstored.COUNTED


def _is_settled(row: Row[Any]) -> bool:
    unfinished = Unfinished.of(row)
    return unfinished is None or unfinished.settled


def _open(row: Row[Any], stretch: Stretch, last: Sequence[Event], rules: Rules) -> dict[str, Any] | None:
    """Return what the source remembers of the entries at its end."""
    before = Unfinished.of(row)
    if before is None or not last:
        return None
    kept = {event.byte_start for event in stretch.portion.kept}
    pieces = [Piece.of(event, stored=event.byte_start in kept, rules=rules) for event in last]
    return replace(before, pieces=tuple(pieces)).column()

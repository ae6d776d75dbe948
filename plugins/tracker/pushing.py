"""Writing statuses to the tracker: the comment first, then the move, each only once however often it is repeated."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row

from snaglist.kernel import Call, Unavailable, times
from snaglist.plugins.system import JobCall
from snaglist.plugins.tags import tag_names
from snaglist.plugins.tracker import queries
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.contract import STATE_LENGTH, Item, Label, Note, Provider, Tracker, TrackerFailure
from snaglist.plugins.tracker.creating import SKEW_SECONDS
from snaglist.plugins.tracker.drafts import comment_of, mark_of
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.storing import PRIORITIES, store

NOT_LINKED = "The issue is not linked to an item of this tracker."
GONE = "The item is gone from the tracker, or hidden from this key."


@dataclass(slots=True)
class Pushed:
    """What was done for an issue."""

    id: int
    external_id: str | None = None
    commented: bool = False
    transitioned: bool = False
    error: str | None = None

    def result(self) -> dict[str, Any]:
        """Return it as an entry of `results`."""
        return {"id": self.id, "ok": self.error is None, "external_id": self.external_id, "error": self.error}


def run(call: JobCall) -> Mapping[str, Any]:
    """Job: write the statuses of issues out after they were changed here.

    What may pass by itself lets the job be repeated; what will not is told in its result and on the tracker's page.
    """
    settings = call.read(stored.load)
    if not settings.enabled or settings.provider != call.args["provider"]:
        return _answer([], "The tracker was switched off or changed meanwhile.")
    tracker, kind = stored.open_tracker(call, settings), stored.provider(call, settings)
    done: list[Pushed] = []
    passing: TrackerFailure | None = None
    for number, issue_id in enumerate(call.args["ids"]):
        call.check_cancelled()
        pushed = Pushed(issue_id)
        try:
            push(call, settings, kind, tracker, pushed, asked=False)
        except TrackerFailure as error:
            pushed.error = error.message
            if error.passing:
                passing = error
                break
        done.append(pushed)
        call.progress(number + 1, len(call.args["ids"]))
    if passing is not None:
        raise Unavailable(passing.message) from passing
    return _answer(done, next((pushed.error for pushed in done if pushed.error), None))


def _answer(done: list[Pushed], error: str | None) -> dict[str, Any]:
    return {
        "ok": error is None,
        "commented": any(pushed.commented for pushed in done),
        "transitioned": any(pushed.transitioned for pushed in done),
        "error": error,
        **({"results": [pushed.result() for pushed in done]} if len(done) > 1 else {}),
    }


def push(call: JobCall, settings: Settings, kind: Provider, tracker: Tracker, pushed: Pushed, *, asked: bool) -> None:
    """Let an issue's item have its status. `asked`: somebody asked for just that, whatever changed there since."""
    issue, link = call.read(lambda db: _read(db, settings, pushed.id))
    if issue is None or link is None:
        pushed.error = NOT_LINKED
        return
    pushed.external_id = issue.external_id
    item = tracker.item(link.external_id) if kind.reads else call.read(lambda db: _own_item(db, issue, link))
    if item is None:
        pushed.error = GONE
        return
    if not asked and _is_later(item, link, issue):
        call.write(partial(_take_over, call, settings, item))
        return
    if not asked and call.args.get("comment") and settings.status_writeback_comment:
        tracker.comment(item, _note(call, settings, pushed.id))
        pushed.commented = True
    if not kind.reads or not _fits(kind, item, issue.status):
        target = kind.targets[issue.status]
        item = tracker.move(item, target, mark_of(settings, pushed.id, str(call.job_id), issue.status))
        pushed.transitioned = True
    # What was written is the last known state, so that the tracker's notification of it changes nothing.
    state = item.state[:STATE_LENGTH]
    agreed = {"remote_state": state, "last_pushed_state": state, "agreed_at": issue.status_updated_at}
    call.write(lambda db: queries.update_links(db, [{"row_issue_id": link.issue_id, **agreed}]))


def _is_later(item: Item, link: Row[Any], issue: Row[Any]) -> bool:
    """Tell whether the item was changed there after the issue was here: the later one wins."""
    known = link.remote_state == item.state[:STATE_LENGTH]
    return not known and issue.status_updated_at is not None and item.updated_at > issue.status_updated_at


def _fits(kind: Provider, item: Item, status: str) -> bool:
    """Tell whether an item is where a status leads; what came back needs no more than that it is not closed."""
    return item.status == kind.targets[status] or (status == "reoccurred" and item.status == "in_progress")


def _note(call: JobCall, settings: Settings, issue_id: int) -> Note:
    args = call.args
    mark = mark_of(settings, issue_id, args["at"].replace(" ", "T"), args["status"])
    text = comment_of(call, issue_id, args["status"], args["note"], args["actor"])
    return Note(mark, text, times.add(args["at"], seconds=-SKEW_SECONDS))


def _read(db: Connection, settings: Settings, issue_id: int) -> tuple[Row[Any] | None, Row[Any] | None]:
    issue = queries.issues_of(db, [issue_id]).get(issue_id)
    return issue, queries.linked(db, [issue_id], settings.provider).get(issue_id)


def _take_over(call: Call, settings: Settings, item: Item, _: Connection) -> None:
    store(call, settings, [item], None)


def _own_item(db: Connection, issue: Row[Any], link: Row[Any]) -> Item:
    """Return the item of a tracker that cannot be read from, as it is known here."""
    texts, names = queries.sample(db, issue.id), tag_names(db, issue.id)
    return Item(
        id=link.external_id,
        identifier=issue.external_id or link.external_id,
        title=issue.title,
        description=texts.message if texts is not None else "",
        url=issue.external_url or "",
        state=link.remote_state or issue.status,
        status=issue.status,
        priority=PRIORITIES[issue.severity],
        labels=tuple(Label(name) for name in names),
        assignee=issue.assignee,
        created_at=issue.first_seen,
        updated_at=issue.status_updated_at or issue.updated_at,
    )

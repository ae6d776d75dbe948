"""Items become issues, and issues follow the states of their items."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.issues import (
    Mirrored,
    create_mirrored,
    follow_statuses,
    link_external,
    move_external,
    update_mirrored,
)
from snaglist.plugins.tags import mirror_tags, run_rules
from snaglist.plugins.tracker import queries
from snaglist.plugins.tracker.contract import STATE_LENGTH, Item, Viewer, Wanted
from snaglist.plugins.tracker.settings import Settings
from snaglist.plugins.tracker.texts import among

SEVERITIES = ("INFO", "CRITICAL", "ERROR", "WARNING", "NOTICE")  # by priority: none, urgent, high, medium, low
PRIORITIES = {"EMERGENCY": 1, "ALERT": 1, "CRITICAL": 1, "ERROR": 2, "WARNING": 3, "NOTICE": 4, "INFO": 0, "DEBUG": 0}
CLOSED = ("fixed", "wont_fix")
ORIGIN = "tracker"  # of the issues that mirror an item, and of their tags


class NotLinkable(Exception):
    """An issue cannot be linked to an item; the text says why."""


@dataclass(slots=True)
class Stored:
    """What storing items did."""

    pulled: int = 0
    created: int = 0
    updated: int = 0
    status_changed: int = 0
    tags_created: int = 0
    outdated: int = 0  # older than what is known of the item, so nothing was done with it

    def include(self, other: "Stored") -> None:
        """Add what storing more items did."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


def is_wanted(item: Item, wanted: Wanted, viewer: Viewer | None) -> bool:
    """Tell whether an item has one of the labels or people, and is of the team and the project."""
    places = [name for name in (wanted.team_key, wanted.project) if name]
    if not all(among([name], item.places) for name in places):
        return False
    if not (wanted.labels or wanted.assignees or wanted.assigned_to_me):
        return bool(places)
    mine = viewer.names if viewer and wanted.assigned_to_me else ()
    labels = [label.name for label in item.labels]
    return among(wanted.labels, labels) or among(wanted.assignees, item.people) or among(mine, item.people)


def mirrored(item: Item, provider: str) -> Mirrored:
    """Return an item as an issue shows it."""
    return Mirrored(
        source=provider,
        external_id=item.identifier[:200],
        title=item.title,
        description=item.description,
        severity=SEVERITIES[item.priority],
        status=item.status,
        url=item.url,
        assignee=item.assignee,
        channel=item.group,
        first_seen=min(item.created_at, item.updated_at),
        last_seen=item.updated_at,
    )


def store(
    call: Call, settings: Settings, items: Iterable[Item], viewer: Viewer | None, *, all_: bool = False
) -> Stored:
    """Store items in the open write transaction: those wanted (or `all_`), and those that issues are linked to.

    An item that is older than what is known of it changes nothing: it was overtaken on its way here, or sent again.
    """
    by_id = {item.id: item for item in items}
    links = queries.lock_links(call.db, settings.provider, by_id)
    done = Stored()
    known_at = queries.last_changes(call.db, settings.provider, links)
    for id_ in [id_ for id_, at in known_at.items() if by_id[id_].updated_at < at]:
        del by_id[id_], links[id_]
        done.outdated += 1
    new = [
        item for id_, item in by_id.items() if id_ not in links and (all_ or is_wanted(item, settings.wanted, viewer))
    ]
    new = _without_ours(call, settings, new, links)
    made = _make(call, settings, _adopted(call, settings, new, links))
    done.created = len(made)
    known = {link.issue_id: by_id[id_] for id_, link in links.items() if id_ in by_id}
    changed, retold = update_mirrored(call, {id_: mirrored(item, settings.provider) for id_, item in known.items()})
    issues = queries.issues_of(call.db, known)  # which are locked by now
    followed = _follow(call, settings, known, {link.issue_id: link for link in links.values()}, issues)
    mine = made | {issue_id: item for issue_id, item in known.items() if issues[issue_id].origin == ORIGIN}
    wanted = {issue_id: [label.name for label in item.labels] for issue_id, item in mine.items()}
    colors = {label.name: label.color for item in mine.values() for label in item.labels if label.color}
    done.tags_created = mirror_tags(call, wanted, ORIGIN, colors)
    run_rules(call, retold)
    # At most now: a time ahead, which somebody set wrong, would make all that follows look old.
    stored = [*known.values(), *made.values()]
    queries.note_changes(call.db, settings.provider, {item.id: min(item.updated_at, call.now) for item in stored})
    done.pulled, done.status_changed = len(made) + len(known), len(followed)
    done.updated = len(changed | followed)
    return done


def link_item(call: Call, settings: Settings, issue_id: int, item: Item, *, actor: str | None) -> None:
    """Link an issue to the item that was made for it, in the open write transaction; raises NotLinkable."""
    if issue_id not in queries.issues_of(call.db, [issue_id]):
        raise NotLinkable("The issue was deleted or merged meanwhile.")
    for link in queries.lock_links(call.db, settings.provider, [item.id]).values():
        if link.issue_id == issue_id:
            queries.end(call.db, issue_id)
            return
        # A notification was faster, and its text did not tell that the item is ours.
        move_external(call, link.issue_id, None)
        queries.remove_link(call.db, link.issue_id)
    pushed = {"last_pushed_state": item.state[:STATE_LENGTH]}
    queries.add_links(call.db, [_link(call, settings, item, issue_id) | pushed])
    queries.end(call.db, issue_id)
    link_external(call, issue_id, mirrored(item, settings.provider), actor=actor)


def _without_ours(call: Call, settings: Settings, new: Sequence[Item], links: dict[str, Row[Any]]) -> list[Item]:
    """Link the items that were just made for issues here, of which a notification came first; return the others."""
    mark = re.compile(re.escape(f"[snaglist:{settings.seed}-") + r"([0-9]{1,18})\]", re.ASCII)
    marked = {item.id: int(found[1]) for item in new if (found := mark.search(item.description))}
    begun = queries.begun_for(call.db, settings.provider, set(marked.values()))
    ours = [item for item in new if marked.get(item.id) in begun]
    for item in ours:
        link_item(call, settings, marked[item.id], item, actor=None)
    links |= queries.lock_links(call.db, settings.provider, [item.id for item in ours])
    return [item for item in new if item.id not in links]


def _adopted(call: Call, settings: Settings, new: Sequence[Item], links: dict[str, Row[Any]]) -> list[Item]:
    """Return the new items whose names no issue has.

    An issue without a link that names the item gets one; of an issue that is linked to another item, which must have
    been renamed there, the name is taken away.
    """
    named = queries.named_issues(call.db, settings.provider, [item.identifier for item in new])
    taken = queries.linked(call.db, named.values())
    rows = []
    for item in new:
        issue_id = named.get(item.identifier)
        if issue_id in taken:
            move_external(call, issue_id, None)
        elif issue_id is not None:
            rows.append(_link(call, settings, item, issue_id) | {"remote_state": None})
    queries.add_links(call.db, rows)
    links |= queries.lock_links(call.db, settings.provider, [row["external_id"] for row in rows])
    return [item for item in new if item.id not in links]


def _make(call: Call, settings: Settings, items: Sequence[Item]) -> dict[int, Item]:
    ids = create_mirrored(call, [mirrored(item, settings.provider) for item in items])
    made = {ids[item.identifier[:200]]: item for item in items}
    queries.add_links(call.db, [_link(call, settings, item, issue_id) for issue_id, item in made.items()])
    return made


def _link(call: Call, settings: Settings, item: Item, issue_id: int) -> dict[str, Any]:
    states = {"remote_state": item.state[:STATE_LENGTH], "last_pulled_at": call.now, "agreed_at": None}
    return {"issue_id": issue_id, "provider": settings.provider, "external_id": item.id, **states}


def _follow(
    call: Call,
    settings: Settings,
    known: Mapping[int, Item],
    links: Mapping[int, Row[Any]],
    issues: Mapping[int, Row[Any]],
) -> set[int]:
    """Let issues follow what changed there, and note what is known now."""
    wanted = {}
    if settings.status_pull:
        for issue_id, issue in issues.items():
            status = followed_status(known[issue_id], links[issue_id], issue)
            if status is not None:
                wanted[issue_id] = status
    changed = follow_statuses(call, wanted, actor=settings.provider)
    rows = [
        {
            "row_issue_id": issue_id,
            "remote_state": known[issue_id].state[:STATE_LENGTH],
            "last_pulled_at": call.now,
            "agreed_at": call.now if issue_id in changed else links[issue_id].agreed_at,
        }
        for issue_id in sorted(issues)
    ]
    queries.update_links(call.db, rows)
    return changed


def followed_status(item: Item, link: Any, issue: Any) -> str | None:
    """Return the status that an issue takes over from its item, None when it stays as it is.

    Only what changed there since it was seen last counts; where the issue was changed here since both sides agreed, the
    later change wins.
    """
    if link.remote_state == item.state[:STATE_LENGTH]:
        return None
    ours = issue.status_updated_at
    if ours is not None and ours != link.agreed_at and ours > item.updated_at:
        return None
    if item.status == "open" and issue.status not in CLOSED:
        return None
    return item.status if item.status != issue.status else None

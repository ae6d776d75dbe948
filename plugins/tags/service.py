"""Rules of tags: their fields, unique names, and assigning tags by name."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Row
from sqlalchemy.exc import IntegrityError

from snaglist.kernel import Call, Invalid, NotFound, clip, key
from snaglist.kernel.text import one_line
from snaglist.plugins.system import rows
from snaglist.plugins.tags import queries
from snaglist.plugins.tags.assignments import attach_automatic
from snaglist.plugins.tags.tables import tags

log = logging.getLogger("snaglist")

DEFAULT_COLOR = "#64748b"
DEFAULT_ICON = "tag"
NAME_LENGTH = 80
# Up to so many tags in all, senders and trackers make missing ones: a sender that puts numbers into tags must not drown
# the others. By hand there is no limit.
MAX_MADE = 1_000
SHOWN = 5
UNKNOWN = "Unknown tag."
NAME_TAKEN = "name: another tag has this name"


def list_tags(call: Call) -> list[dict[str, Any]]:
    """Return all tags by `key(name)`."""
    return [_show(row) for row in queries.all_tags(call.db)]


def get_tag(call: Call, tag_id: int) -> dict[str, Any]:
    """Return one tag."""
    row = queries.one_tag(call.db, tag_id)
    if row is None:
        raise NotFound(UNKNOWN)
    return _show(row)


def create_tag(call: Call, fields: Mapping[str, Any]) -> int:
    """Store a tag and its rule; returns its id. The rule is not applied yet."""
    row = {**_stored(fields), "created_at": call.now, "created_by": call.label, "updated_at": call.now}
    try:
        tag_id = rows.add(call.db, tags, row)
    except IntegrityError as error:
        raise Invalid(NAME_TAKEN) from error
    _make_rule(call, tag_id, fields)
    return tag_id


def update_tag(call: Call, tag_id: int, changes: Mapping[str, Any]) -> None:
    """Change the given fields of a tag and make its rule anew. The rule is not applied yet."""
    if not queries.lock_tag(call.db, tag_id):
        raise NotFound(UNKNOWN)
    fields = {**_fields(get_tag(call, tag_id)), **changes}
    try:
        rows.change(call.db, tags, tag_id, **_stored(fields), updated_at=call.now, updated_by=call.label)
    except IntegrityError as error:
        raise Invalid(NAME_TAKEN) from error
    queries.delete_rule(call.db, tag_id)
    _make_rule(call, tag_id, fields)


def delete_tag(call: Call, tag_id: int) -> None:
    """Delete a tag with its rule, assignments and removal memory."""
    if not rows.remove(call.db, tags, tag_id):
        raise NotFound(UNKNOWN)


def assign(call: Call, issue_id: int, names: Iterable[str], source: str) -> int:
    """Give an issue tags by name on behalf of `ingest` or `tracker`; see `assign_all`."""
    return assign_all(call, {issue_id: names}, source)


def assign_all(call: Call, names: Mapping[int, Iterable[str]], source: str) -> int:
    """Give issues (id → tag names) tags on behalf of `ingest` or `tracker`, in the open write transaction.

    Missing tags are created with the default look, up to `MAX_MADE` in all; returns how many. Names are trimmed and
    cut to their length, blank ones are skipped. What was removed by hand stays removed.
    """
    return _attach(call, names, source, {})[0]


def mirror_tags(call: Call, names: Mapping[int, Iterable[str]], source: str, colors: Mapping[str, str]) -> int:
    """Give issues (id → tag names) exactly these tags of a source, as `assign_all` does, and take off its others.

    `colors` holds `#rrggbb` by tag name for tags that are made now. Returns how many were.
    """
    made, pairs = _attach(call, names, source, {key(one_line(name)): color for name, color in colors.items()})
    queries.clear_assignments(call.db, queries.assignments(call.db, sorted(names), source) - pairs, source)
    return made


def _attach(
    call: Call, names: Mapping[int, Iterable[str]], source: str, colors: Mapping[str, str]
) -> tuple[int, set[tuple[int, int]]]:
    spelling: dict[str, str] = {}
    wanted: set[tuple[int, str]] = set()
    for issue_id, given in names.items():
        for name in given:
            if shown := clip(one_line(name), NAME_LENGTH):
                spelling.setdefault(key(shown), shown)
                wanted.add((issue_id, key(shown)))
    ids = queries.tag_ids(call.db, sorted(spelling))
    missing = _within_limit(call, sorted(spelling.keys() - ids.keys()), source)
    if missing:
        look = {"icon": DEFAULT_ICON, "created_by": call.label, "created_at": call.now, "updated_at": call.now}
        made = [{"name": spelling[k], "name_key": k, "color": colors.get(k, DEFAULT_COLOR), **look} for k in missing]
        queries.insert_missing_tags(call.db, made)
        ids |= queries.tag_ids(call.db, missing)
    pairs = {(issue_id, ids[name_key]) for issue_id, name_key in wanted if name_key in ids}
    attach_automatic(call.db, sorted(pairs), source, now=call.now)
    return len(missing), pairs


def _within_limit(call: Call, missing: list[str], source: str) -> list[str]:
    """Return those of the missing tags that there is room for; the log names some of the others."""
    room = max(0, MAX_MADE - queries.count_tags(call.db)) if missing else 0
    if len(missing) > room:
        log.warning(
            "application %s has %d tags, so %d of %s are not made: %s",
            call.application.id, MAX_MADE, len(missing) - room, source, ", ".join(missing[room : room + SHOWN]),
        )  # fmt: skip
    return missing[:room]


def _stored(fields: Mapping[str, Any]) -> dict[str, Any]:
    name = fields["name"]
    return {"name": name, "name_key": key(name), "color": fields["color"].lower(), "icon": fields["icon"]}


def _make_rule(call: Call, tag_id: int, fields: Mapping[str, Any]) -> None:
    word = fields["match_word"]
    if word:
        row = {"tag_id": tag_id, "match_word": word, "match_key": key(word), "enabled": fields["rule_enabled"]}
        queries.insert_rule(call.db, {**row, "created_at": call.now})


def _fields(tag: Mapping[str, Any]) -> dict[str, Any]:
    enabled = all(rule["enabled"] for rule in tag["rules"])
    return {**{name: tag[name] for name in ("name", "color", "icon", "match_word")}, "rule_enabled": enabled}


def _show(row: Row[Any]) -> dict[str, Any]:
    word = row.match_word or ""
    return {
        "id": row.id,
        "name": row.name,
        "color": row.color,
        "icon": row.icon,
        "match_word": word,
        "issue_count": row.issue_count,
        "rules": [{"id": row.rule_id, "match_word": word, "enabled": bool(row.rule_enabled)}] if word else [],
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "created_by": row.created_by,
        "updated_by": row.updated_by,
    }

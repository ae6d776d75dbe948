"""What tags add to the search for issues and to each issue that is shown."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import exists, not_, or_, select

from snaglist.kernel import Call, key
from snaglist.plugins.issues import Condition, ListColumn, SearchField, as_id, stored
from snaglist.plugins.tags.tables import issue_tags as _links
from snaglist.plugins.tags.tables import tags as _tags

NONE = "none"


def _has_tag(call: Call, values: Sequence[str]) -> Condition:
    wanted = [value for value in values if value != NONE]
    named = _tags.c.name_key.in_([key(value) for value in wanted])
    numbered = _tags.c.id.in_([number for number in map(as_id, wanted) if number])
    ids = call.db.execute(select(_tags.c.id).where(or_(named, numbered))).scalars().all()
    tagged = select(_links.c.issue_id).where(_links.c.tag_id.in_(ids))
    if NONE not in values:
        return tagged
    issue_id = stored.issues.id
    bare = not_(exists(_links.c.issue_id).where(_links.c.issue_id == issue_id).correlate_except(_links))
    return or_(bare, issue_id.in_(tagged)) if ids else bare


def _tags_of(call: Call, issue_ids: Sequence[int]) -> Mapping[int, list[dict[str, Any]]]:
    statement = (
        select(_links.c.issue_id, _tags.c.id, _tags.c.name, _tags.c.color, _tags.c.icon, _links.c.source)
        .join_from(_links, _tags, _tags.c.id == _links.c.tag_id)
        .where(_links.c.issue_id.in_(issue_ids))
        .order_by(_tags.c.name_key)
    )
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for issue_id, tag_id, name, color, icon, source in call.db.execute(statement):
        found[issue_id].append({"id": tag_id, "name": name, "color": color, "icon": icon, "source": source})
    return found


FIELD = SearchField(
    "tag",
    _has_tag,
    {
        "title": "Any of these tags, by id or name; `none`: without tags",
        "type": "array",
        "maxItems": 20,
        "items": {"type": "string"},
    },
    indexed=True,
)
COLUMN = ListColumn(
    "tags",
    _tags_of,
    {"description": "By folded name.", "type": "array", "items": {"$ref": "/definitions/issue.json#/$defs/tag"}},
    missing=(),
)

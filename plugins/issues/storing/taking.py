"""Takes events out of all counters, as if they had never come: the inverse of counting a batch."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, and_, bindparam, delete, select, update

from snaglist.kernel import digest
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.facets import OTHER, USER, count_users
from snaglist.plugins.issues.storing.queries import CHUNK, lock_issues
from snaglist.plugins.issues.storing.texts import clean, short
from snaglist.plugins.issues.tables import event_days, event_hours, groupings, issue_facets, issues
from snaglist.plugins.issues.totals import Totals

_Facet = tuple[int, str, str]


def take_out(db: Connection, taken: Sequence[tuple[RowMapping, str]], path: str) -> None:
    """Count occurrences of one source out, given as rows with their channels; the rows themselves stay.

    Groupings and issues are locked by the caller, in the order in which storing locks them.
    """
    rows = [row for row, _ in taken]
    by_issue = Counter(row["issue_id"] for row in rows)
    count_fewer(db, groupings, ("id",), Counter((row["grouping_id"],) for row in rows))
    count_fewer(db, event_hours, ("grouping_id", "hour"), Counter((row["grouping_id"], _hour(row)) for row in rows))
    _take_out_facets(db, taken, clean(path))
    before = lock_issues(db, by_issue)
    totals = Totals()
    for issue_id, issue in before.items():
        totals.remove(issue.status, issue.severity, issue.log_type, issue.seen)
        totals.add(issue.status, issue.severity, issue.log_type, issue.seen - by_issue[issue_id])
    fewer = {name: issues.c[name] - bindparam("fewer") for name in ("count", "stored_occurrences")}
    changes = [{"row_id": issue_id, "fewer": number} for issue_id, number in sorted(by_issue.items())]
    db.execute(update(issues).where(issues.c.id == bindparam("row_id")).values(fewer), changes)
    totals.write(db)
    count_fewer(
        db, event_days, ("day", "severity"), Counter((row["occurred_at"][:10], row["severity"]) for row in rows)
    )


def _hour(row: RowMapping) -> str:
    return str(row["occurred_at"][:13]) + ":00:00"


def _take_out_facets(db: Connection, taken: Sequence[tuple[RowMapping, str]], path: str) -> None:
    wanted: Counter[_Facet] = Counter()
    for row, channel in taken:
        values = {
            "environment": row["environment"],
            "release": row["release"],
            "channel": short(channel, 255),
            "source": path,
        }
        if row["layout_id"] is not None:  # an event of a version before these were counted
            values |= {"host": row["server_name"], "user": row["user_name"]}
        wanted.update((row["issue_id"], facet, digest(value)) for facet, value in values.items() if value)
    known = set(_known_facets(db, wanted))
    counted: Counter[_Facet] = Counter()
    for key, number in wanted.items():  # a value that is not counted by itself is among the others
        counted[key if key in known else (key[0], key[1], digest(OTHER))] += number
    count_fewer(db, issue_facets, ("issue_id", "facet", "value_hash"), counted)
    count_users(db, {issue_id for issue_id, facet, _ in counted if facet == USER})


def _known_facets(db: Connection, facets: Iterable[_Facet]) -> Iterable[_Facet]:
    keys = sorted(facets)
    for issue_ids in chunks(sorted({key[0] for key in keys}), CHUNK):
        for hashes in chunks(sorted({key[2] for key in keys}), CHUNK):
            columns = select(issue_facets.c.issue_id, issue_facets.c.facet, issue_facets.c.value_hash)
            here = columns.where(issue_facets.c.issue_id.in_(issue_ids), issue_facets.c.value_hash.in_(hashes))
            yield from ((row[0], row[1], row[2]) for row in db.execute(here))


def count_fewer(db: Connection, table: Table, key: tuple[str, ...], numbers: Mapping[tuple[Any, ...], int]) -> None:
    """Lower counts; rows that reach 0 go, except groupings, which lead to their issue."""
    if not numbers:
        return
    same = and_(*(table.c[name] == bindparam(f"key_{name}") for name in key))
    rows = [
        {"fewer": number, **{f"key_{name}": part for name, part in zip(key, value, strict=True)}}
        for value, number in sorted(numbers.items())
    ]
    db.execute(update(table).where(same).values(count=table.c["count"] - bindparam("fewer")), rows)
    if table is not groupings:
        keys = [{name: value for name, value in row.items() if name != "fewer"} for row in rows]
        db.execute(delete(table).where(same, table.c["count"] <= 0), keys)

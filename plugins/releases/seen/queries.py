"""SQL of issues and releases."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, func, select

from snaglist.kernel.database import chunks, insert_ignore
from snaglist.plugins.issues import stored
from snaglist.plugins.releases.tables import OTHER, release_issues
from snaglist.plugins.system import rows

_facets, _occurrences = stored.facets, stored.occurrences


class Sighting(NamedTuple):
    """An issue has an event of a release (its name's digest) in an environment."""

    version_hash: str
    environment: str
    issue_id: int


def add(db: Connection, sightings: Collection[Sighting]) -> None:
    """Add what is not known yet: of a busy application nearly everything is."""
    known: set[Sighting] = set()
    issue_ids = {one.issue_id for one in sightings}
    for versions in chunks(sorted({one.version_hash for one in sightings}), rows.MOST):
        here = select(release_issues).where(release_issues.c.version_hash.in_(versions))
        known |= set(map(_sighting, rows.among(db, here, release_issues.c.issue_id, issue_ids)))
    missing = sorted(set(sightings) - known)
    insert_ignore(db, release_issues, [one._asdict() for one in missing])


def of_issues(db: Connection, issue_ids: Collection[int]) -> Iterable[Sighting]:
    """Return the rows of issues."""
    return map(_sighting, rows.among(db, select(release_issues), release_issues.c.issue_id, issue_ids))


def occurring(db: Connection, issue_id: int) -> Sequence[tuple[str, str]]:
    """Return the versions and environments of an issue's stored events."""
    wanted = select(_occurrences.release, _occurrences.environment).distinct()
    here = (_occurrences.issue_id == issue_id, _occurrences.release.is_not(None))
    return [(row.release, row.environment) for row in db.execute(wanted.where(*here))]


def occurring_between(db: Connection, after: int, last: int) -> Sequence[tuple[int, str, str]]:
    """Return issue, version and environment of stored events by their ids, `after` not included."""
    columns = (_occurrences.issue_id, _occurrences.release, _occurrences.environment)
    here = (_occurrences.id > after, _occurrences.id <= last, _occurrences.release.is_not(None))
    return [(row[0], row[1], row[2]) for row in db.execute(select(*columns).distinct().where(*here))]


def last_occurrence(db: Connection) -> int:
    """Return the id of the newest stored event, 0 without any."""
    return int(db.execute(select(func.max(_occurrences.id))).scalar() or 0)


def releases_of(db: Connection, issue_id: int) -> list[Row[Any]]:
    """Return the releases of an issue as `value`, `count`, `first_seen` and `last_seen`, the last seen first."""
    here = (_facets.issue_id == issue_id, _facets.facet == "release", _facets.value != OTHER)
    found = select(*_facets).where(*here).order_by(_facets.last_seen.desc(), _facets.value.desc())
    return list(db.execute(found).all())


def module_of(db: Connection, issue_id: int) -> int | None:
    """Return the module of an issue, None without one."""
    return db.execute(select(stored.issues.module_id).where(stored.issues.id == issue_id)).scalar()


def shown_event(db: Connection, issue_id: int) -> Any:
    """Return the row that is needed to show the stack of an issue's sample, None without the issue."""
    issues, samples = stored.issues, stored.samples
    release = select(_occurrences.release).where(_occurrences.id == issues.sample_occurrence_id).scalar_subquery()
    columns = (issues.source_frame, samples.stack, samples.context, samples.exceptions, release.label("release"))
    return db.execute(stored.with_sample(select(*columns)).where(issues.id == issue_id)).first()


def _sighting(row: Row[Any]) -> Sighting:
    return Sighting(row.version_hash, row.environment, row.issue_id)

"""SQL of deploys."""

from collections.abc import Collection

from sqlalchemy import Connection, and_, case, exists, func, or_, select, tuple_

from snaglist.plugins.issues import stored
from snaglist.plugins.releases.tables import OTHER, release_issues, releases


def issue_counts(db: Connection, deployed: Collection[tuple[str, str]]) -> dict[tuple[str, str], tuple[int, int]]:
    """Return for pairs of a version's digest and an environment: the issues seen there, and those first seen in it.

    An issue that has lost all events of the release to another issue has lost that facet, too, and does not count.
    """
    if not deployed:
        return {}
    here, facets = release_issues, select(*stored.facets)
    facet, other = facets.subquery("facet"), facets.subquery("other")
    earlier = exists().where(
        other.c.issue_id == here.c.issue_id,
        other.c.facet == "release",
        other.c.value_hash != facet.c.value_hash,
        other.c.value != OTHER,
        or_(
            other.c.first_seen < facet.c.first_seen,
            and_(other.c.first_seen == facet.c.first_seen, other.c.value < facet.c.value),
        ),
    )
    same = and_(
        facet.c.issue_id == here.c.issue_id, facet.c.facet == "release", facet.c.value_hash == here.c.version_hash
    )
    counted = (
        select(here.c.version_hash, here.c.environment, func.count(), func.sum(case((earlier, 0), else_=1)))
        .join(facet, same)
        .where(tuple_(here.c.version_hash, here.c.environment).in_(sorted(deployed)))
        .group_by(here.c.version_hash, here.c.environment)
    )
    return {(row[0], row[1]): (int(row[2]), int(row[3])) for row in db.execute(counted)}


def deploy_times(db: Connection, versions: Collection[str]) -> dict[str, dict[str, str]]:
    """Return when versions were deployed, by version and environment."""
    found: dict[str, dict[str, str]] = {}
    for row in db.execute(select(releases).where(releases.c.version.in_(sorted(versions)))):
        found.setdefault(row.version, {})[row.environment] = row.deployed_at
    return found


def newest_ref(db: Connection, version: str) -> str | None:
    """Return the ref of the newest deploy of a version."""
    newest = select(releases.c.ref).where(releases.c.version == version)
    return db.execute(newest.order_by(releases.c.deployed_at.desc(), releases.c.id.desc()).limit(1)).scalar()

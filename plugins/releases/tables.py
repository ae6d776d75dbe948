"""Tables of the area: deploys, which issues were seen in which release, and source maps."""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from snaglist.kernel.columns import data, id_column, metadata, moment, number, reference, text

OTHER = "(other)"  # stands for the facet values of an issue that has very many

releases = Table(
    "releases",
    metadata,
    id_column(),
    text("version", 120),
    text("environment", 100),
    text("ref", 200, nullable=True),
    text("notes", nullable=True),
    moment("deployed_at"),
    moment("created_at"),
    UniqueConstraint("version", "environment", name="uq_releases_version_environment"),
)
Index("ix_releases_deployed_at", releases.c.deployed_at.desc(), releases.c.id.desc())
Index("ix_releases_environment", releases.c.environment, releases.c.deployed_at.desc(), releases.c.id.desc())

# Which issues have an event of a release in an environment, written with the events: asking the occurrences would
# read the whole history of a release. The facets of the issues know releases and environments, but not together.
release_issues = Table(
    "release_issues",
    metadata,
    text("version_hash", 64),
    text("environment", 100),
    reference("issue_id", "issues.id"),
    PrimaryKeyConstraint("version_hash", "environment", "issue_id"),
    Index("ix_release_issues_issue_id", "issue_id"),
)

# `content`: what resolving needs of the map, see `maps/document.py`; `content_hash` names it in caches. `size` is that
# of the map as it was sent. `name_hash`: the base name of `file`. A map without a file has a debug id.
source_maps = Table(
    "source_maps",
    metadata,
    id_column(),
    text("release", 120, nullable=True),
    text("file", 1000, nullable=True),
    text("file_hash", 64, nullable=True),
    text("name_hash", 64, nullable=True),
    text("debug_id", 36, nullable=True),
    number("size"),
    number("sources"),
    data("content"),
    text("content_hash", 64),
    moment("created_at"),
    moment("updated_at"),
    UniqueConstraint("release", "file_hash", name="uq_source_maps_release_file"),
    UniqueConstraint("debug_id", name="uq_source_maps_debug_id"),
    Index("ix_source_maps_release_name", "release", "name_hash"),
)

# The text of one's own sources, compressed; `source_hash`: of the name that the map gives the source.
source_texts = Table(
    "source_texts",
    metadata,
    reference("map_id", "source_maps.id"),
    text("source_hash", 64),
    data("content"),
    PrimaryKeyConstraint("map_id", "source_hash"),
)

TABLES = (releases, release_issues, source_maps, source_texts)

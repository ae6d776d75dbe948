"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection, Index, PrimaryKeyConstraint, UniqueConstraint, literal_column

from snaglist.kernel.columns import data, id_column, moment, number, reference, text
from snaglist.kernel.ddl import create_table


def s001(db: Connection) -> None:
    """Create the tables of the area."""
    create_table(
        db,
        "releases",
        id_column(),
        text("version", 120),
        text("environment", 100),
        text("ref", 200, nullable=True),
        text("notes", nullable=True),
        moment("deployed_at"),
        moment("created_at"),
        UniqueConstraint("version", "environment", name="uq_releases_version_environment"),
        Index("ix_releases_deployed_at", literal_column("deployed_at DESC"), literal_column("id DESC")),
        Index("ix_releases_environment", "environment", literal_column("deployed_at DESC"), literal_column("id DESC")),
    )
    create_table(
        db,
        "release_issues",
        text("version_hash", 64),
        text("environment", 100),
        reference("issue_id", "issues.id"),
        PrimaryKeyConstraint("version_hash", "environment", "issue_id"),
        Index("ix_release_issues_issue_id", "issue_id"),
    )
    create_table(
        db,
        "source_maps",
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


def add_source_texts(db: Connection) -> None:
    """Create the table of source texts."""
    create_table(
        db,
        "source_texts",
        reference("map_id", "source_maps.id"),
        text("source_hash", 64),
        data("content"),
        PrimaryKeyConstraint("map_id", "source_hash"),
    )


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (
    ("s001", s001),
    ("add_source_texts", add_source_texts),
)

"""Schema steps of the area: append only, a step never changes after release."""

from collections.abc import Callable

from sqlalchemy import Connection, ForeignKeyConstraint, Index, PrimaryKeyConstraint, UniqueConstraint

from snaglist.kernel.columns import moment, reference, text
from snaglist.kernel.ddl import create_table


def s001(db: Connection) -> None:
    """Create the first tables of the area."""
    create_table(
        db,
        "tracker_links",
        reference("issue_id", "issues.id"),
        text("provider", 20),
        text("external_id", 200),
        text("remote_state", 40, nullable=True),
        text("last_pushed_state", 40, nullable=True),
        moment("last_pulled_at", nullable=True),
        moment("agreed_at", nullable=True),
        PrimaryKeyConstraint("provider", "external_id"),
        UniqueConstraint("issue_id", name="uq_tracker_links_issue_id"),
    )
    create_table(
        db,
        "tracker_begun",
        reference("issue_id", "issues.id", primary_key=True, autoincrement=False),
        text("provider", 20),
        moment("begun_at"),
    )
    create_table(
        db,
        "tracker_deliveries",
        text("digest", 64, primary_key=True),
        moment("received_at"),
        Index("ix_tracker_deliveries_received_at", "received_at"),
    )


def s002(db: Connection) -> None:
    """Create the table of when items were changed last."""
    create_table(
        db,
        "tracker_changes",
        text("provider", 20),
        text("external_id", 200),
        moment("changed_at"),
        PrimaryKeyConstraint("provider", "external_id"),
        ForeignKeyConstraint(
            ("provider", "external_id"), ("tracker_links.provider", "tracker_links.external_id"), ondelete="CASCADE"
        ),
    )


STEPS: tuple[tuple[str, Callable[[Connection], None]], ...] = (("s001", s001), ("s002", s002))

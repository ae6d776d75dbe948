"""Tables of the area: which issue is which item, items that are being made, and deliveries that came already."""

from sqlalchemy import ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, UniqueConstraint

from snaglist.kernel.columns import metadata, moment, reference, text

# `external_id` is how the tracker's API names the item. `agreed_at` is `issues.status_updated_at` when both sides
# agreed last: an issue with another one was changed here since.
links = Table(
    "tracker_links",
    metadata,
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

# Written before an item is made and removed when it is linked: what is left over may have an item already.
begun = Table(
    "tracker_begun",
    metadata,
    reference("issue_id", "issues.id", primary_key=True, autoincrement=False),
    text("provider", 20),
    moment("begun_at"),
)

deliveries = Table(
    "tracker_deliveries",
    metadata,
    text("digest", 64, primary_key=True),
    moment("received_at"),
    Index("ix_tracker_deliveries_received_at", "received_at"),
)

# When a linked item was changed last, as far as it is known here: what is older than that says nothing new.
changes = Table(
    "tracker_changes",
    metadata,
    text("provider", 20),
    text("external_id", 200),
    moment("changed_at"),
    PrimaryKeyConstraint("provider", "external_id"),
    ForeignKeyConstraint(
        ("provider", "external_id"), ("tracker_links.provider", "tracker_links.external_id"), ondelete="CASCADE"
    ),
)

TABLES = (links, begun, deliveries, changes)

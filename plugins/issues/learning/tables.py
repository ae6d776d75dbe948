"""Tables of what is learned: templates and open slots, the slots that are not open yet, and what people took apart.

And of what is not learned yet because looking at it failed.
"""

from sqlalchemy import Index, PrimaryKeyConstraint, Table, UniqueConstraint

from snaglist.kernel.columns import document, id_column, metadata, moment, number, reference, text

# `role` says what the row is: a template of `events` and its grouping; a slot that is `open`, or that is `joining` its
# members, and the grouping of one of them. So a row always leads to the issue, whatever is merged.
learned_templates = Table(
    "learned_templates",
    metadata,
    id_column(),
    text("digest", 32),
    text("role", 10),
    text("context"),
    text("template"),
    reference("grouping_id", "groupings.id"),
    UniqueConstraint("digest", "role", name="uq_learned_templates_digest"),
    Index("ix_learned_templates_grouping_id", "grouping_id"),
)

learned_slots = Table(
    "learned_slots",
    metadata,
    text("digest", 32),
    reference("template_id", "learned_templates.id"),
    document("words"),
    PrimaryKeyConstraint("digest", "template_id"),
    Index("ix_learned_slots_template_id", "template_id"),
)

learned_apart = Table(
    "learned_apart",
    metadata,
    reference("grouping_id", "groupings.id", primary_key=True, autoincrement=False),
    moment("created_at"),
    text("actor", 200, nullable=True),
)

# Groupings whose templates could not be learned, `tries` times so far; `version` is that of the program that tried.
learned_later = Table(
    "learned_later",
    metadata,
    reference("grouping_id", "groupings.id", primary_key=True, autoincrement=False),
    number("tries"),
    moment("due_at"),
    text("version", 40),
    Index("ix_learned_later_due_at", "due_at"),
    Index("ix_learned_later_version", "version"),
)

LATER = (learned_later,)
TABLES = (learned_templates, learned_slots, learned_apart)

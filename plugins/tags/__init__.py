"""Tags: names that issues carry, by hand, by rule, or from senders and trackers."""

from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files

from sqlalchemy import Table

from snaglist.kernel import Assets, Call, Description, Endpoint, hookimpl, own, read, write
from snaglist.plugins.issues import IssueChange, ListColumn, SearchField, StoredBatch, Tagging
from snaglist.plugins.system import Job
from snaglist.plugins.tags import handlers, rebuild
from snaglist.plugins.tags.assignments import attach_automatic, attach_by_hand, copy_tags, detach_by_hand, move_tags
from snaglist.plugins.tags.on_issues import OnIssues, tag_name, tag_names, tag_pairs, tagged
from snaglist.plugins.tags.queries import hold_tags
from snaglist.plugins.tags.rules import run_rules
from snaglist.plugins.tags.searching import COLUMN, FIELD
from snaglist.plugins.tags.service import assign, assign_all, mirror_tags
from snaglist.plugins.tags.tables import TABLES

__all__ = [
    "assign",
    "assign_all",
    "attach_automatic",
    "attach_by_hand",
    "detach_by_hand",
    "hold_tags",
    "mirror_tags",
    "run_rules",
    "tag_name",
    "tag_names",
    "tag_pairs",
    "tagged",
]


@hookimpl
def describe() -> Description:
    """Describe the area."""
    text = "Tags on issues and rules that assign them"
    return Description("tags", "Tags", text, "core", version("snaglist"), core=True, after=("issues",))


@hookimpl
def register_endpoints() -> Sequence[Endpoint]:
    """Register `tags` and `issue-tags`."""
    return [
        Endpoint(
            "tags",
            get=read(handlers.get_tags, "tags.read"),
            post=own(handlers.post_tag, "tags.write", 201),
            put=own(handlers.change_tag, "tags.write"),
            patch=own(handlers.change_tag, "tags.write"),
            delete=write(handlers.delete_tag, "tags.write"),
        ),
        Endpoint("issue-tags", post=write(handlers.post_issue_tag, "issues.write")),
    ]


@hookimpl
def register_tables() -> Sequence[Table]:
    """Declare the tables."""
    return TABLES


@hookimpl
def register_jobs() -> Sequence[Job]:
    """Register the job that applies the rest of a rule."""
    return [Job(rebuild.JOB, rebuild.run, unit="issues")]


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Run the rules on issues that are new or whose text changed."""
    run_rules(call, batch.new_issues | batch.changed_issues)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> None:
    """Join or copy tags; run the rules on issues that somebody made, merged or took apart, and anew on edited ones."""
    changed: Collection[int] = change.issue_ids
    target, new_id = (change.details.get(name) for name in ("target_id", "new_id"))
    if change.kind == "merge" and isinstance(target, int):  # the merged issues go, the target may show another text
        changed = [target]
        move_tags(call.db, change.issue_ids, target)
    if change.kind == "unmerge" and isinstance(new_id, int):
        copy_tags(call.db, change.issue_ids[0], new_id)
    if change.kind in ("created", "merge", "unmerge", "edit"):
        run_rules(call, changed, rebuild=change.kind == "edit")


@hookimpl
def register_tagging() -> Mapping[str, Tagging]:
    """Show and change the tags of issues."""
    return {"tags": OnIssues()}


@hookimpl
def register_search_fields() -> Sequence[SearchField]:
    """Let issues be found by their tags."""
    return [FIELD]


@hookimpl
def register_list_columns() -> Sequence[ListColumn]:
    """Show the tags of issues."""
    return [COLUMN]


@hookimpl
def dashboard_assets() -> Sequence[Assets]:
    """Offer the page of tags."""
    return [Assets("tags", files("snaglist.plugins.tags") / "ui", "tags.js")]

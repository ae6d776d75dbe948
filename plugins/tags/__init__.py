"""Tags: names that issues carry, by hand, by rule, or from senders and trackers (api.md §16)."""

from collections.abc import Collection, Sequence
from importlib.metadata import version
from importlib.resources import files

from snaglist.kernel import Assets, Call, Description, Endpoint, Job, hookimpl, own, read, write
from snaglist.plugins.issues import IssueChange, ListColumn, SearchField, StoredBatch
from snaglist.plugins.tags import handlers, rebuild
from snaglist.plugins.tags.rules import run_rules
from snaglist.plugins.tags.searching import COLUMN, FIELD
from snaglist.plugins.tags.service import assign, assign_all, mirror_tags

__all__ = ["assign", "assign_all", "mirror_tags", "run_rules"]


@hookimpl
def describe() -> Description:
    """Describe the area."""
    return Description(
        "tags", "Tags", "Tags on issues and rules that assign them", "core", version("snaglist"), core=True
    )


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
def register_jobs() -> Sequence[Job]:
    """Register the job that applies the rest of a rule."""
    return [Job(rebuild.JOB, rebuild.run, unit="issues")]


@hookimpl
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Run the rules on issues that are new or whose text changed."""
    run_rules(call, batch.new_issues | batch.changed_issues)


@hookimpl
def issue_changed(call: Call, change: IssueChange) -> None:
    """Run the rules on issues that somebody made or merged, and anew on edited ones."""
    changed: Collection[int] = change.issue_ids
    if change.kind == "merge":  # the merged issues go, the target may show another text
        changed = [target] if isinstance(target := change.details.get("target_id"), int) else []
    if change.kind in ("created", "merge", "unmerge", "edit"):
        run_rules(call, changed, rebuild=change.kind == "edit")


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

"""The hooks that this area calls."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Column

from snaglist.kernel import Call, hookspec
from snaglist.plugins.issues.contract import ListColumn, SearchField, ShownStack, Sources, Tagging
from snaglist.plugins.issues.events import Event, IssueChange, StoredBatch


@hookspec
def events_storing(call: Call, events: Sequence[Event]) -> Sequence[Event] | None:
    """Chain. May change events (`snaglist.plugins.issues.Event`) before they are grouped. Since 0.1.

    Return a list of the events to go on with, or None; changing them in place counts too. At most 1,000 events, from
    files or pushed. Events may be left out; each that stays keeps its `byte_start`. A result with anything else in it
    is a failure of the hook.
    """


@hookspec
def events_stored(call: Call, batch: StoredBatch) -> None:
    """Robust. After a batch was stored (`snaglist.plugins.issues.StoredBatch`), same transaction. Since 0.1.

    At most 1,000 events. `batch.new_issues`, `changed_issues`, `reoccurred_issues` and `counts` say what it did.
    """


@hookspec
def stack_showing(call: Call, event: Event) -> Event | None:
    """Chain. May resolve the exceptions of an event when it is shown. Since 0.1.

    In a transaction that cannot write. Return the changed event, or None; changing it in place counts too. Failures
    are only in the log.
    """


@hookspec
def link_frames(call: Call, shown: ShownStack) -> Sequence[Sequence[str | None]] | None:
    """Robust. Say where the code of an event that is shown can be read. Since 0.4.

    In a transaction that cannot write. Return for each exception the http(s) addresses of its frames, None for those
    that have none, or None. Of several plugins the first that has an address of a frame counts. Failures are only in
    the log.
    """


@hookspec
def issue_changed(call: Call, change: IssueChange) -> Mapping[str, Any] | None:
    """Robust. After status, assignment, comment, merge or the like (`snaglist.plugins.issues.IssueChange`). Since 0.1.

    Return a JSON object or None; anything else is a failure of the hook. It is added under the plugin's id to the
    answers of `issue-status`, `assign-issue` and `bulk-issues` (for status, assignment and snooze); with other changes
    it is dropped.
    """


@hookspec
def read_occurrence(call: Call, occurrence_id: int) -> Event | None:
    """Direct. Read an event back from where its text is kept, None when this plugin does not keep it. Since 0.2.

    In an open transaction; the first event is taken. For whoever stores events whose text lies elsewhere.
    """


@hookspec
def register_search_fields() -> Sequence[SearchField]:  # type: ignore[empty-body]
    """Collect. Return words of the search for issues; a name already taken is refused. Since 0.2."""


@hookspec
def register_list_columns() -> Sequence[ListColumn]:  # type: ignore[empty-body]
    """Collect. Return fields of each issue that is shown; a name that it has already is refused. Since 0.2."""


@hookspec
def register_tagging() -> Mapping[str, Tagging]:  # type: ignore[empty-body]
    """Collect. Return what shows and changes the tags of issues, as `tags`: for the area that has them. Since 0.2."""


@hookspec
def register_sources() -> Mapping[str, Sources]:  # type: ignore[empty-body]
    """Collect. Return what events came from, as `sources`: for the area that reads them. Since 0.2."""


@hookspec
def register_module_references() -> Sequence[Column[int]]:  # type: ignore[empty-body]
    """Collect. Return the columns that refer to a module, so that it is not deleted under them. Since 0.2."""


@hookspec
def compare_releases(call: Call, one: str, other: str, environment: str) -> int | None:
    """Direct. Say how two releases follow each other, which decides whether a fixed issue is back. Since 0.2.

    Negative when `one` is older, 0 when equal, positive when newer, None when they do not compare; the first answer of
    a plugin that is on counts. Deploys to `environment` come first. In an open transaction; a failure ends it.
    """

"""What a provider is: the contract of `register_trackers()`.

A provider speaks a tracker's API and knows its webhooks. Everything else is the same for all of them: settings,
secrets, when to pull, storing, statuses, repeating.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from re import Pattern
from typing import Any, Protocol

from snaglist.kernel import BadGateway, Call, hookspec
from snaglist.plugins.issues import clean

STATE_LENGTH = 40
MAX_NAME = 16  # of a type, as long as its column


class TrackerFailure(BadGateway):
    """The tracker refused or did not answer; the text is shown, so it holds no secret.

    `passing`: it may be well later. `refused`: the tracker did not like this very request. `wait`: the seconds that
    the tracker asks for.
    """

    def __init__(self, message: str, *, passing: bool = False, refused: bool = False, wait: float = 0) -> None:
        super().__init__(clean(message))
        self.passing = passing
        self.refused = refused
        self.wait = wait


class AnswerTooLong(TrackerFailure):
    """An answer is over the limit of the outbound guard; fewer items at a time may fit."""


@dataclass(frozen=True, slots=True)
class Label:
    """A label of an item; `color` is `#rrggbb` or None."""

    name: str
    color: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a tracker.

    `id` is how the API names it, `identifier` how people do. `state` is what the tracker says, at most 40
    characters, and `status` what that means here. `group` is shown as the channel; `places` are the names that team
    and project go by, `people` those of who it is assigned to. `priority`: 0 none, 1 urgent, 2 high, 3 medium, 4 low.
    Times are `YYYY-MM-DD HH:MM:SS`, UTC.
    """

    id: str
    identifier: str
    title: str
    state: str
    status: str
    created_at: str
    updated_at: str
    description: str = ""
    url: str = ""
    group: str = ""
    places: tuple[str, ...] = ()
    priority: int = 0
    labels: tuple[Label, ...] = ()
    assignee: str | None = None
    people: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """Items in the order of their last change, and where the next page begins: a JSON value, None at the end."""

    items: list[Item]
    cursor: Any = None


@dataclass(frozen=True, slots=True)
class Viewer:
    """Whose key it is; `names` are all names that items may be assigned to."""

    id: str
    name: str
    email: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """An item to make. `mark` is unique and the same for all attempts; its `texts.token` ends the description."""

    mark: str
    title: str
    description: str
    priority: int
    status: str
    labels: tuple[str, ...]
    url: str


@dataclass(frozen=True, slots=True)
class Note:
    """A comment to write. `mark` is the same for all attempts; none is older than `since`."""

    mark: str
    text: str
    since: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which items are pulled: those with one of the labels or people, of the team and the project."""

    team_key: str = ""
    project: str = ""
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    assigned_to_me: bool = False

    @property
    def anything(self) -> bool:
        """True when something is asked for: a whole workspace is never pulled."""
        return bool(self.team_key or self.project or self.labels or self.assignees or self.assigned_to_me)


@dataclass(frozen=True, slots=True)
class Opening:
    """What `Provider.open` gets. `patient`: short pauses that the tracker asks for may be waited out."""

    call: Call
    endpoint: str
    account: str
    api_key: str
    webhook_secret: str
    wanted: Wanted
    patient: bool = True


class Tracker(Protocol):
    """A tracker that is spoken to. Every method raises TrackerFailure, and none is called in a transaction."""

    def viewer(self) -> Viewer | None:
        """Return whose key it is; None where the tracker does not say."""
        ...

    def page(self, since: str | None, cursor: Any, size: int) -> Page:
        """Return items that changed at or after a time, at least those wanted; `cursor` of the page before."""
        ...

    def item(self, item_id: str) -> Item | None:
        """Return an item; None when it is gone."""
        ...

    def create(self, draft: Draft) -> Item:
        """Make an item."""
        ...

    def find(self, draft: Draft, since: str) -> Item | None:
        """Return the item that an earlier attempt made for the draft at or after a time."""
        ...

    def comment(self, item: Item, note: Note) -> None:
        """Write a comment, unless an earlier attempt did."""
        ...

    def move(self, item: Item, status: str, mark: str) -> Item:
        """Move an item to the state that fits a status best; returns it as it is then."""
        ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook as it came: `header(name)` is "" for one that is missing."""

    header: Callable[[str], str]
    body: bytes


_SAME = {status: status for status in ("open", "in_progress", "fixed", "wont_fix")} | {"reoccurred": "open"}


def _no(*_: Any) -> bool:
    return False


def _none(*_: Any) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Provider:
    """A kind of tracker.

    `endpoint` is the vendor's public API, "" when each site has its own; `default_path` is added to an address
    without a path. `project` is the form of the setting where the provider needs it, `project_form` says it in words.
    `targets` tells to which status (as `Item.status`) each of ours leads. `reads` is False for one that only sends and
    gets items by webhook. `signed(delivery, secret)` checks the vendor's own signature, `sent_at(delivery, document)`
    returns when it was sent, in seconds since 1970; `timed`: it always says so. `token_header` names a header
    that holds the secret itself, taken only where the configuration allows it. `schemas` is the folder that holds
    `definitions/tracker-<name>.json`, the schema of those of the settings `endpoint_url`, `project`, `team_key` and
    `account` that the provider uses, from which the dashboard makes its form. `concerns(document)` returns the id of
    the item that a webhook is about, None when it is about something else.
    """

    open: Callable[[Opening], Tracker]
    concerns: Callable[[Mapping[str, Any]], str | None]
    endpoint: str = ""
    default_path: str = ""
    project: Pattern[str] | None = None
    project_form: str = ""
    targets: Mapping[str, str] = field(default_factory=lambda: _SAME)
    reads: bool = True
    timed: bool = False
    signed: Callable[[Delivery, str], bool] = _no
    sent_at: Callable[[Delivery, Mapping[str, Any]], float | None] = _none
    token_header: str = ""
    schemas: Traversable = field(default_factory=lambda: files("snaglist.schemas"))


def targets(**other: str) -> Mapping[str, str]:
    """Return the targets of a provider whose states are fewer than ours."""
    return {**_SAME, **other}


@hookspec
def register_trackers() -> Mapping[str, Provider]:  # type: ignore[empty-body]
    """Collect. Return kinds of trackers by name, like `my_type`, at most 16 characters. Since 0.2.

    Of an optional area: mark it `hookimpl(optionalhook=True)`.
    """


def providers(call: Call) -> Mapping[str, Provider]:
    """Return the providers of all plugins by name."""
    return call.service.plugins.types(register_trackers)


def check_added(name: str, value: Any) -> None:
    """Look at a type that a plugin adds; raises for what does not fit."""
    if len(name) > MAX_NAME:
        raise ValueError(f"{name}: the name must have at most {MAX_NAME} characters")
    if not (callable(value.open) and callable(value.concerns)):
        raise TypeError(f"{name}: must be a Provider with the functions open and concerns, not {value!r:.60}")
    if not isinstance(value.project, Pattern | None):
        raise TypeError(f"{name}: project: must be a compiled pattern or None")
    if lacking := set(_SAME) - set(value.targets):
        raise ValueError(f"{name}: targets: must say where {min(lacking)} leads")

"""The hooks that this area calls."""

import base64
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from snaglist.kernel import Call, Installation, hookspec
from snaglist.plugins.system.jobs.job import Job

Metric = Callable[[Call], Iterable[tuple[Mapping[str, str], float]]]


def _always(service: Installation) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One check of the health. `check(service)` returns True when all is well; it is asked often, so it is quick.

    `asked(service)` says whether there is something to ask; `hint` says what to do when the check fails.
    """

    name: str
    check: Callable[[Installation], bool]
    hint: str = "see its plugin"
    asked: Callable[[Installation], bool] = _always


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the page Health, below the heading `section`.

    `kind` says how the value is shown: `number`, `bytes`, `time` (a time of the contract), `text`, or `hours` (a list
    of numbers, one an hour, up to now). `view` is the page to look at: the parameters of its address.
    """

    section: str
    label: str
    value: Any
    kind: str = "number"
    view: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not well, on the page Health: what it is, and what to do, each a sentence.

    `view` is the page where that is done: the parameters of its address.
    """

    text: str
    step: str
    view: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class StoredSecret:
    """A sealed value where an area keeps it. `label` is what people know it by; `replace` stores it sealed anew."""

    field: str
    label: str
    sealed: bytes
    replace: Callable[[bytes], object]


def decoded(text: str) -> bytes:
    """Return a sealed value that a setting holds in base64; what is damaged opens with no key."""
    try:
        return base64.b64decode(text)
    except ValueError:
        return b""


@hookspec
def health_checks() -> Sequence[HealthCheck]:  # type: ignore[empty-body]
    """Collect. Return checks, asked with every `?api=health`. Since 0.1.

    Anything but True, or an exception, makes the health `degraded`; the names of snaglist's own checks are not
    replaced.
    """


@hookspec
def health_details(  # type: ignore[empty-body]
    call: Call,
) -> Iterable[Figure | Problem | Callable[[], Iterable[Figure | Problem]]]:
    """Direct. Give figures of the application of the open transaction, and what is not well in it. Since 0.5.

    The page Health shows them where the plugin is on and asks again every ten seconds, so they come from counters and
    indexes, and lists are short. What has to look elsewhere, such as in a folder, is given as a function that returns
    more of them: it is called after the transaction. A failure is in the log.
    """


@hookspec
def register_metrics() -> Mapping[str, Metric]:  # type: ignore[empty-body]
    """Collect. Return figures of an application by name, shown by the plugin `prometheus`. Since 0.2.

    Each is a function of a call in an open transaction for reading; it returns pairs of labels and a value, and its
    docstring says what it counts. A name that ends in `_total` is a counter. All names are shown as `snaglist_<name>`,
    with the label `app`.
    """


@hookspec
def stored_secrets(call: Call) -> Iterable[StoredSecret]:  # type: ignore[empty-body]
    """Direct. Give each sealed secret that the plugin keeps in the application of the open transaction. Since 0.2.

    They are sealed anew with a new first key, and `snaglist doctor` names those that no key opens. What it raises is
    the plugin's `last_error`.
    """


@hookspec
def doctor_warnings(call: Call) -> Iterable[str]:  # type: ignore[empty-body]
    """Direct. Give what an operator should know of the application of the open transaction, a line each. Since 0.3.

    `snaglist doctor` prints them; they are no failure. What it raises is the plugin's `last_error`.
    """


@hookspec
def register_jobs() -> Sequence[Job]:  # type: ignore[empty-body]
    """Collect. Return a `Job(kind, run, ...)` for each kind of background work, with its schedule. Since 0.1.

    `kind` has at most 40 characters and begins with the plugin's id. `run(call)` gets a `JobCall` and returns a JSON
    object or None. What it raises makes the job failed (after a ServiceError with that message, else with a reference
    into the log). Scheduled jobs run where the plugin is on. Jobs of an uninstalled plugin wait until it is back.
    """


@hookspec
def run_beside_worker(service: Installation, stop: threading.Event) -> None:
    """Direct. Work that waits for its own news, in a thread beside each worker until `stop` is set. Since 0.2.

    In processes that run jobs, whether the plugin is on anywhere or not. A failure is in the log, and the thread ends.
    """

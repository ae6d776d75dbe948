"""Answers of trackers that are not as documented: a failure of theirs that is told, not an error in here."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from snaglist.plugins.tracker.contract import Tracker, TrackerFailure
from snaglist.plugins.tracker.texts import UNEXPECTED

_MISREAD = (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError)


class Guarded:
    """A tracker whose methods raise TrackerFailure where they stumble over an answer."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method: Callable[..., Any] = getattr(self._tracker, name)

        @wraps(method)
        def guarded(*arguments: Any) -> Any:
            try:
                return method(*arguments)
            except _MISREAD as error:
                raise TrackerFailure(UNEXPECTED) from error

        return guarded

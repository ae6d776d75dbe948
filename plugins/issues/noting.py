"""Failures that stop nothing: each kind of them is logged once."""

import logging
import threading
import traceback

log = logging.getLogger("snaglist")

_noted: set[str] = set()
_guard = threading.Lock()


def note_failure(what: str, error: Exception, about: str) -> None:
    """Log a failure with where it happened; a kind that this process has seen before only at the level debug.

    `what` failed, for `about`: a short text that names the event without showing it. The kind is what failed, the
    class of the error and the line that raised it, so there are never many.
    """
    places = traceback.extract_tb(error.__traceback__, limit=-1)
    kind = f"{what} {type(error).__name__} {places[-1].filename}:{places[-1].lineno}" if places else what
    with _guard:
        seen = kind in _noted
        _noted.add(kind)
    if seen:
        log.debug("%s failed for %s: %s", what, about, type(error).__name__)
    else:
        log.error("%s failed for %s; further failures of this kind are not logged", what, about, exc_info=error)

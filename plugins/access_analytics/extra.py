"""The libraries of the extra `analytics`: without them nothing is counted and no report is made."""

from importlib.util import find_spec

from snaglist.kernel import Conflict

MISSING = "access analytics needs an extra: pip install 'snaglist[analytics]'"
_LIBRARIES = ("datasketches", "ua_parser", "crawleruseragents")


def is_installed() -> bool:
    """Tell whether requests can be counted."""
    return all(find_spec(name) is not None for name in _LIBRARIES)


def require() -> None:
    """Raise Conflict, which names the extra, unless requests can be counted."""
    if not is_installed():
        raise Conflict(MISSING)

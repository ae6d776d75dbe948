"""The order of releases: by semantic version, else by the times they were deployed."""

import re
from collections.abc import Mapping

from snaglist.kernel import Call
from snaglist.plugins.releases.deploys import deploy_times

# The grammar of semver.org 2.0.0, with the leading `v` that tags have.
_VERSION = re.compile(
    r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?",
    re.ASCII,
)


# What versions are ordered by: the numbers, whether it is no pre-release, and the parts of the pre-release.
Version = tuple[tuple[int, ...], bool, tuple[tuple[int, int, str], ...]]


def parse_version(text: str) -> Version | None:
    """Return the semantic version that a release's name is, to be compared; None when it is another kind of name.

    Build metadata plays no part (semver.org 2.0.0, rules 10 and 11).
    """
    found = _VERSION.fullmatch(text.strip())
    if not found:
        return None
    # A version comes after its pre-releases; numbers come before words, a shorter list before a longer one.
    before = found[4].split(".") if found[4] else []
    parts = tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in before)
    return tuple(int(found[number]) for number in (1, 2, 3)), not before, parts


def compare(call: Call, one: str, other: str, environment: str) -> int | None:
    """Return -1, 0 or 1 as `one` is older than, equal to or newer than `other`; None when they do not compare.

    Deploys to `environment` decide before those to others. Needs an open transaction.
    """
    if one == other:
        return 0
    first, second = parse_version(one), parse_version(other)
    if first is not None and second is not None:
        return (first > second) - (first < second)
    deployed = deploy_times(call.db, (one, other))
    ours, theirs = deployed.get(one, {}), deployed.get(other, {})
    if not ours or not theirs:
        return None
    return _by_time(ours, theirs, environment)


def _by_time(ours: Mapping[str, str], theirs: Mapping[str, str], environment: str) -> int:
    """Compare times of deploys by environment: in the given one, else in the one both were in last, else the newest."""
    shared = ours.keys() & theirs.keys()
    place = environment if environment in shared else max(shared, key=lambda name: (ours[name], name), default=None)
    a, b = (ours[place], theirs[place]) if place is not None else (max(ours.values()), max(theirs.values()))
    return (a > b) - (a < b)

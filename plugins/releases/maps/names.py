"""Names of generated files: how a place in a stack and the file of a map find each other."""

import re
from collections.abc import Collection
from itertools import takewhile
from typing import TypeVar

from snaglist.kernel import digest

# A scheme has two letters or more: `C:` is a drive.
_ADDRESS = re.compile(r"(?:[a-zA-Z][a-zA-Z0-9+.-]+:)?//[^/?#]*")
_BEHIND = re.compile(r"[?#].*\Z", re.DOTALL)
_LIBRARY = re.compile(r"(?:\A|/)node_modules/|webpack/(?:bootstrap|runtime)|\(webpack\)|\Anode:")
T = TypeVar("T")


def file_of(text: str) -> str:
    """Return a path or URL without host, query and leading slash; empty when nothing is left."""
    text = _ADDRESS.sub("", text.strip().replace("\\", "/"), count=1) if "/" in text or "\\" in text else text.strip()
    return "/".join(part for part in _BEHIND.sub("", text).split("/") if part not in ("", ".", "~"))


def name_hash(file: str) -> str:
    """Return the digest of the base name, under which maps are found."""
    return digest(file.rpartition("/")[2])


def is_library(source: str) -> bool:
    """Tell whether a source of a map is somebody else's code."""
    return _LIBRARY.search(source) is not None


def closest(path: str, files: Collection[tuple[str, T]]) -> T | None:
    """Return what belongs to the file that shares most of its last segments with the path; None for a tie or none."""
    shared = [(_shared(path, file), value) for file, value in files]
    most = max((count for count, _ in shared), default=0)
    best = [value for count, value in shared if count == most]
    return best[0] if most and len(best) == 1 else None


def _shared(one: str, other: str) -> int:
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))

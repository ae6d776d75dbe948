"""The links from an issue and from frames to the lines of source that they come from."""

import re
from typing import NamedTuple
from urllib.parse import quote

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, Frame, ShownStack, culprit_frame, stored_exceptions
from snaglist.plugins.releases import settings
from snaglist.plugins.releases.deploys import newest_ref
from snaglist.plugins.releases.maps import resolve_shown
from snaglist.plugins.releases.seen import queries

DEFAULT_REF = "main"
_LINE = re.compile(r"(.+):(\d+)")
_ABSOLUTE = re.compile(r"/|[a-zA-Z]:/")
_PLACEHOLDER = re.compile(rf"\{{({'|'.join(settings.PLACEHOLDERS)})\}}")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://[^/]*")  # of pages and bundlers; two letters: `C:` is a drive


class Version(NamedTuple):
    """What stands for a release in addresses: itself, and the commit, tag or branch that it was made from."""

    release: str
    ref: str


def shown_frame(call: Call, issue_id: int) -> tuple[str, int | None] | None:
    """Return file and line of an issue's culprit, through source maps as its page shows it; None without one."""
    row = queries.shown_event(call.db, issue_id)
    if row is None or row.source_frame is None:
        return None
    exceptions = stored_exceptions(row.exceptions)
    event = Event("", exceptions=exceptions, stack=row.stack or "", context=row.context or "", release=row.release)
    event = resolve_shown(call, event) or event
    culprit = culprit_frame(event)
    if culprit is not None and culprit.file:
        return culprit.file, culprit.line
    found = _LINE.fullmatch(row.source_frame)
    return (found[1], int(found[2])) if found else (row.source_frame, None)


def link_frames(call: Call, shown: ShownStack) -> list[list[str | None]] | None:
    """Return where the code of one's own frames is; None where nobody says where the repository is."""
    chosen = settings.load(call)
    repository = chosen.repository(shown.module_id)
    if repository is None:
        return None
    version = version_of(call, chosen, shown.event.release)
    return [[_of_frame(repository, version, frame) for frame in one.frames] for one in shown.event.exceptions]


def version_of(call: Call, chosen: settings.ReleaseSettings, release: str | None) -> Version:
    """Return what stands for a release in addresses."""
    deployed = newest_ref(call.db, release) if release is not None else None
    default = chosen.default_ref or DEFAULT_REF
    return Version(release or default, deployed or default)


def link(repository: settings.Repository, version: Version, file: str, line: int | None) -> str | None:
    """Return the address of a line of source; None for a file that is in no repository."""
    path = file.replace("\\", "/")
    prefixes = [prefix.replace("\\", "/") for prefix in repository.path_prefixes]
    matching = [prefix for prefix in prefixes if path.startswith(prefix)]
    if prefixes and not matching and _ABSOLUTE.match(path):
        return None
    path = _quoted(_ADDRESS.sub("", path[max(map(len, matching), default=0) :], count=1))
    values = {"path": path, "line": str(line or 1), "release": _quoted(version.release), "ref": _quoted(version.ref)}
    return _PLACEHOLDER.sub(lambda found: values[found[1]], repository.template)


def _of_frame(repository: settings.Repository, version: Version, frame: Frame) -> str | None:
    return link(repository, version, frame.file, frame.line) if frame.in_app and frame.file else None


def _quoted(path: str) -> str:
    """Return a path for a URL. It is resolved before: browsers would let `..` lead out of the repository."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    return quote("/".join(segments), safe="/")

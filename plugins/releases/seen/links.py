"""The link from an issue to the line of source that it comes from."""

import re
from urllib.parse import quote

from snaglist.kernel import Call
from snaglist.plugins.issues import Event, culprit_frame, stored_exceptions
from snaglist.plugins.releases.maps import resolve_shown
from snaglist.plugins.releases.seen import queries
from snaglist.plugins.releases.settings import ReleaseSettings

_LINE = re.compile(r"(.+):(\d+)")
_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]+://[^/]*")  # of pages and bundlers; two letters: `C:` is a drive


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


def link(settings: ReleaseSettings, ref: str, file: str, line: int | None) -> str:
    """Return the address of a line of source in a commit, tag or branch."""
    path = file.replace("\\", "/")
    matching = [prefix for prefix in settings.path_prefixes if path.startswith(prefix.replace("\\", "/"))]
    path = _ADDRESS.sub("", path[max(map(len, matching), default=0) :], count=1)
    values = {"path": _quoted(path), "ref": _quoted(ref), "line": str(line or 1)}
    return re.sub(r"\{(path|ref|line)\}", lambda found: values[found[1]], settings.repo_url_template)


def _quoted(path: str) -> str:
    """Return a path for a URL. It is resolved before: browsers would let `..` lead out of the repository."""
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del segments[-1:]
        elif segment not in ("", "."):
            segments.append(segment)
    return quote("/".join(segments), safe="/")

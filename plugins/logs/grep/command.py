"""`snaglist grep`: the steps of a search one after the other, printed as they come."""

import json
import re
import sys
from typing import Any, Final

import click

from snaglist.kernel import ServiceError, clip, times
from snaglist.kernel.text import harmless
from snaglist.plugins.issues import RANK
from snaglist.plugins.system import Session, command, told

NOT_FOUND, FAILED = 1, 2
LIMIT: Final = 1000  # hits of a step
_AGO: Final = re.compile(r"(\d{1,6})([smhd])", re.ASCII)
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NAMED: Final = 10  # files that are named one by one


class Failed(click.ClickException):
    """What went wrong, as `grep` tells it by its exit code: 1 means that nothing was found."""

    exit_code = FAILED


@command(None, "grep")
@click.option("--since", metavar="TIME", help="Only entries from this time on (UTC), or like 90m, 12h, 7d ago.")
@click.option("--until", metavar="TIME", help="Only entries before this time, given as above.")
@click.option("--source", metavar="TEXT", help="Only logs of this channel, or with this text in their path.")
@click.option(
    "--level",
    type=click.Choice(tuple(RANK), case_sensitive=False),
    metavar="LEVEL",
    help="Only entries of this level or a worse one, like ERROR.",
)
@click.option("-C", "--context", metavar="N", type=click.IntRange(0, 20), default=0, help="Lines around each hit.")
@click.option("-i", "--ignore-case", is_flag=True, help="Upper and lower case are the same.")
@click.option("--regex/--fixed", help="PATTERN is a regular expression (RE2), or a text as it is (default).")
@click.argument("pattern", metavar="PATTERN")
def grep_command(session: Session, pattern: str, context: int, **asked: Any) -> None:
    """Search in the raw lines of the logs that were read and are still there, compressed ones too.

    Each hit is PATH:LINE: and the line, the newest log first. Where the number of a line is not known it is the
    place in the file, like @304494. With --json each hit is an object on a line.

    Exit codes are those of grep: 0 found, 1 nothing found, 2 failed. Logs that are gone, or on another node, cannot
    be searched; how many is said at the end.

    \b
    snaglist grep 52045
    snaglist grep "connection refused" --since 12h --level ERROR -C 3
    snaglist grep --regex "took \\d{4,} ms" --source checkout.log
    """
    query: dict[str, Any] = {
        **{name: value for name, value in asked.items() if value is not None},
        **{name: _time(f"--{name}", asked[name]) for name in ("since", "until") if asked[name] is not None},
        "pattern": pattern, "context": context, "limit": LIMIT,
    }  # fmt: skip
    try:
        found, unsearched = _search(session, query)
    except ServiceError as error:
        raise Failed(told(error)) from error
    _tell(session, unsearched)
    session.exit(0 if found else NOT_FOUND)


def _search(session: Session, query: dict[str, Any]) -> tuple[int, list[dict[str, Any]]]:
    """Print the hits; returns how many, and the files that could not be searched."""
    found, unsearched = 0, []
    query = {name: str(value).lower() if isinstance(value, bool) else value for name, value in query.items()}
    cursor: str | None = ""
    shown = not session.as_json and not session.quiet and sys.stderr.isatty()
    while cursor is not None:
        answer = session.request("source-search", **query, cursor=cursor or None)
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)
        for hit in answer["hits"]:
            click.echo(json.dumps(hit) if session.as_json else harmless(_lines(hit, first=not found)))
            found += 1
        unsearched += answer["unsearched"]
        cursor = answer["cursor"]
        if shown and cursor is not None:
            click.echo(harmless(_progress(answer["progress"])), nl=False, err=True)
    return found, unsearched


def _lines(hit: dict[str, Any], *, first: bool) -> str:
    """Return a hit as text; with lines around, groups stand apart."""
    place = hit["line"] if hit["line"] is not None else f"@{hit['offset']}"
    cut = " [cut]" if hit["cut"] else ""
    line = f"{hit['path']}:{place}:{hit['text']}{cut}"
    if not hit["before"] and not hit["after"]:
        return line
    around = [[f"{hit['path']}-{text}" for text in hit[side]] for side in ("before", "after")]
    return "\n".join([*([] if first else ["--"]), *around[0], line, *around[1]])


def _progress(progress: dict[str, Any]) -> str:
    share = 100 * progress["bytes"] // max(1, progress["all_bytes"])
    files = f"file {progress['files'] + 1} of {progress['all_files']}"
    return f"{share}% of {progress['all_bytes'] / 1e6:,.0f} MB, {files}: {clip(progress['path'] or '', 40)}"


def _tell(session: Session, unsearched: list[dict[str, Any]]) -> None:
    if session.as_json:
        for one in unsearched:
            click.echo(json.dumps({"unsearched": one}))
        return
    for one in unsearched[:_NAMED]:
        session.note(f"not searched: {one['path']}: {one['reason']}")
    if len(unsearched) > _NAMED:
        session.note(f"not searched: {len(unsearched) - _NAMED:,} more logs (--json names all)")


def _time(option: str, text: str) -> str:
    """Return the time of an option: one that is given, or that long ago."""
    ago = _AGO.fullmatch(text)
    if ago is not None:
        return times.add(times.now(), seconds=-int(ago[1]) * _SECONDS[ago[2]])
    try:
        return times.parse(f"{text} 00:00:00" if len(text) == 10 else text)
    except ValueError as error:
        raise click.UsageError(f"{option}: must be a time like 2026-01-03 10:00:00, a date, or like 12h") from error


COMMANDS = (grep_command,)

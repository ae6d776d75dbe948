"""The commands `formats list`, `add`, `remove` and `try`."""

from pathlib import Path
from typing import Any

import click

from snaglist.kernel import Invalid, NotFound
from snaglist.plugins.issues import path_text
from snaglist.plugins.logs.own_formats.preview import LINES, LONGEST
from snaglist.plugins.logs.parsers.lines import Lines, sniff
from snaglist.plugins.logs.read.files import open_file
from snaglist.plugins.system import Session, command, group, table

HEAD_BYTES = 256 * 1024

formats = group(None, "formats", "Formats of your own for logs that are not read well.")


@command(formats, "list")
def formats_list(session: Session) -> None:
    """List the formats in the order in which they are tried."""
    answer = session.request("log-formats")
    session.print(answer, _table(answer["data"]))


@command(formats, "add")
@click.option("--zone", metavar="ZONE", help="Zone of its times without offset, like Europe/Berlin.")
@click.argument("name", metavar="NAME")
@click.argument("pattern", metavar="PATTERN")
def formats_add(session: Session, name: str, pattern: str, zone: str | None) -> None:
    """Add a format, or give the one with this name another pattern.

    PATTERN is a regular expression (RE2) from the beginning of a line, with the named groups message, time, level,
    logger, thread, pid and host; other names are context: (?P<time>\\S+ \\S+) (?P<level>\\w+) (?P<message>.*)
    """
    body: dict[str, Any] = {"name": name, "pattern": pattern, "zone": zone}
    known = [one for one in session.request("log-formats")["data"] if one["name"] == name]
    made = session.request("log-formats", "POST", body | ({"id": known[0]["id"]} if known else {}))
    session.print(
        made, _table([made]) + "\nIt holds for logs read from now on; `snaglist` reads others again by a reindex."
    )


@command(formats, "remove")
@click.argument("name", metavar="NAME")
def formats_remove(session: Session, name: str) -> None:
    """Remove a format."""
    found = _named(session, name)
    session.print(session.request("log-formats", "DELETE", {"id": found["id"]}), f"{name} is removed.")


@command(formats, "try")
@click.option("--pattern", metavar="PATTERN", help="The pattern to try; default: each format of the application.")
@click.option("--name", metavar="NAME", help="The format to try.")
@click.argument("file", metavar="FILE")
def formats_try(session: Session, file: str, pattern: str | None, name: str | None) -> None:
    """Show what a format gives of the first lines of a file; stores nothing."""
    if pattern is not None and name is not None:
        raise click.UsageError("give --pattern or --name, not both")
    text = _first_lines(Path(file))
    if pattern is not None:
        tried: list[dict[str, Any]] = [{"name": "the pattern", "pattern": pattern, "zone": None}]
    else:
        tried = [_named(session, name)] if name is not None else session.request("log-formats")["data"]
    if not tried:
        raise Invalid("there is no format yet: give --pattern, or add one with `snaglist formats add`")
    results = []
    for one in tried:
        body = {"pattern": one["pattern"], "text": text} | ({"zone": one["zone"]} if one["zone"] else {})
        results.append({"name": one["name"], **session.request("log-formats-preview", "POST", body)})
    session.print({"data": results}, "\n\n".join(map(_report, results)))


def _named(session: Session, name: str) -> dict[str, Any]:
    for one in session.request("log-formats")["data"]:
        if one["name"] == name:
            return dict(one)
    raise NotFound(f"{name}: there is no such format; see `snaglist formats list`")


def _first_lines(path: Path) -> str:
    if not path.is_file():
        raise NotFound(f"{path_text(path)}: no such file")
    with open_file(path) as file:
        head = file.head(HEAD_BYTES)
    encoding, mark = sniff(head, "latin-1")
    reader = Lines(encoding, start=0, mark=mark, limit=HEAD_BYTES, fallback="latin-1")
    lines = [line.text for line in reader.feed(head)]
    last = reader.close()
    return "\n".join(line[:LONGEST] for line in [*lines, *([last.text] if last else [])][:LINES])


def _table(listed: list[dict[str, Any]]) -> str:
    rows = [(one["name"], "on" if one["enabled"] else "off", one["zone"] or "", one["pattern"]) for one in listed]
    return table(("NAME", "STATE", "ZONE", "PATTERN"), rows)


def _report(result: dict[str, Any]) -> str:
    rows = [
        (number, one["time"] or "", one["level"] or "", one["channel"] or "", one["message"][:100])
        if one["matched"]
        else (number, "", "", "", ("… " if one["continuation"] else "? ") + one["parts"][0]["text"][:100])
        for number, one in enumerate(result["lines"], 1)
    ]
    lines = len(result["lines"])
    said = f"{result['name']}: {result['matched']} of {lines} lines begin an entry, {result['with_time']} have a time, "
    return f"{said}{result['with_level']} a level\n" + table(("LINE", "TIME", "LEVEL", "LOGGER", "MESSAGE"), rows)


COMMANDS = (formats,)

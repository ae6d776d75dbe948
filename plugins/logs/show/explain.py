"""`snaglist explain`: what becomes of each entry of a log, and why entries are one issue. Nothing is stored."""

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from snaglist.kernel import NotFound, ServiceError, clip, times
from snaglist.plugins.issues import Event, GroupingModel, grouping_key, path_text
from snaglist.plugins.logs.collect.command import STANDARD_INPUT
from snaglist.plugins.logs.collect.discovery import reason
from snaglist.plugins.logs.ingestion import machine_zone
from snaglist.plugins.logs.parsers import Parser, Reader, Watched
from snaglist.plugins.logs.read.files import open_file
from snaglist.plugins.logs.read.parsing import ParseFailure, make_reader, parse, read_with
from snaglist.plugins.logs.read.tally import Tally, share
from snaglist.plugins.system import Session

CHUNK_BYTES = 256 * 1024
MAX_SHOWN = 160
_FIELDS = (
    "occurred_at", "time_source", "severity", "level_source", "channel", "environment", "release", "server_name",
    "event_id",
)  # fmt: skip


def explain(session: Session, name: str, zone: str | None) -> dict[str, Any]:
    """Read a file, or standard input, and return what becomes of it; raises NotFound or ServiceError."""
    shown = path_text(name)
    try:
        if name == STANDARD_INPUT:
            given = sys.stdin.buffer.read()
            return _explain(session, lambda: io.BytesIO(given), "stdin", times.now(), zone)
        path = Path(name)
        if name and path.is_dir():
            raise NotFound(f"{shown}: is a folder; name one of its files")
        if not path.is_file():
            raise NotFound(f"{shown or 'FILE'}: no such file")
        with open_file(path) as file:
            damage = file.find_damage()
            if damage is not None:
                session.note(f"{damage.place}; {damage.counted} explained")
            return _explain(session, file.content, file.state.name, file.state.modified_at, zone)
    except ParseFailure as error:
        raise ServiceError(f"{shown}: {error}") from error
    except OSError as error:
        raise ServiceError(f"{shown}: {reason(error)}") from error


def _explain(
    session: Session, opened: Callable[[], BinaryIO], name: str, modified_at: str, zone: str | None
) -> dict[str, Any]:
    service = session.open(start=False)  # for its configuration and parsers; no database is made or opened

    def read(parsers: Sequence[Parser]) -> tuple[Reader, Tally, list[dict[str, Any]]]:
        with opened() as stream:
            head = stream.read(service.settings["ingestion.sample_bytes"])
            reader = make_reader(
                service,
                head,
                parsers=parsers,
                start=0,
                zone=zone or machine_zone(),
                zone_known=zone is not None,
                modified_at=modified_at,
                channel=name,
            )
            tally = Tally()
            return reader, tally, [_entry(event, tally) for event in _events(reader, head, stream)]

    # Which plugins are on is not known without a database, so all of them take part.
    reader, tally, entries = read_with(service, None, read)
    if isinstance(reader.primary, Watched):
        plugin = reader.primary.plugin
        session.note(f"{reader.log_type} is a format of the plugin {plugin}: an application reads it where that is on")
    model = GroupingModel()
    model.add([entry["key"] for entry in entries])
    for entry in entries:
        key = entry["key"]
        entry |= {
            "template": key.parts["template"],
            "parts": key.parts,
            "key": key.key,
            "fingerprint": key.fingerprint,
            "fingerprint_version": key.version,
            "group": model.group(key),
        }
    groups = len({entry["group"] for entry in entries})
    return {
        "log_type": reader.log_type,
        "encoding": reader.encoding,
        "layout": reader.layout,
        "reading": {name: number for name, number in tally.document().items() if name != "filtered"},
        "remarks": tally.remarks(),
        "groups": groups,
        "entries": entries,
    }


def _events(reader: Reader, head: bytes, stream: BinaryIO) -> Iterator[Event]:
    data = head
    while data:
        yield from parse(partial(reader.feed, data))
        data = stream.read(CHUNK_BYTES)
    yield from parse(reader.close)


def _entry(event: Event, tally: Tally) -> dict[str, Any]:
    access = event.access
    tally.add(event, filtered=False)  # what an application keeps is its own setting
    return {
        "byte_start": event.byte_start,
        "byte_end": event.byte_end,
        "log_type": event.log_type,
        **{name: getattr(event, name) for name in _FIELDS},
        "message": event.message,
        "context": event.context,
        "stack": event.stack,
        "exceptions": [
            {"class": exception.type, "message": exception.message, "frames": len(exception.frames)}
            for exception in event.exceptions
        ],
        "access": None if access is None else {"method": access.method, "path": access.path, "status": access.status},
        "truncated": event.truncated,
        "key": grouping_key(event, None),
    }


def report(found: dict[str, Any]) -> str:
    """Return the result as a table for each entry."""
    blocks = [_block(number, entry) for number, entry in enumerate(found["entries"], 1)]
    entries = "1 entry" if len(blocks) == 1 else f"{len(blocks)} entries"
    groups = "1 group" if found["groups"] == 1 else f"{found['groups']} groups"
    first = [found["layout"]["sentence"]] if found["layout"] else []
    numbers = found["reading"]
    with_time, with_level = (share(numbers[name], numbers["entries"]) for name in ("with_time", "with_level"))
    last = [f"{found['log_type']}, {found['encoding']}: {entries}, {groups}"]
    if numbers["entries"]:
        last.append(f"with a time: {with_time}, with a level: {with_level}")
    last += [f"{remark['kind']}: {remark['text']}" for remark in found["remarks"]]
    return "\n\n".join([*first, *blocks, "\n".join(last)])


def _block(number: int, entry: dict[str, Any]) -> str:
    head = f"#{number}  bytes {entry['byte_start']}-{entry['byte_end']}  {entry['log_type']}"
    rows = [
        ("time", f"{entry['occurred_at']} ({entry['time_source']})"),
        ("severity", f"{entry['severity']} ({entry['level_source']})"),
        *((name, entry[name]) for name in _FIELDS[4:]),
        ("message", entry["message"]),
        ("exceptions", " < ".join(_raised(one) for one in entry["exceptions"])),
        ("context", entry["context"]),
        ("template", entry["template"]),
        ("parts", _parts(entry["parts"])),
        ("key", entry["key"]),
        ("fingerprint", entry["fingerprint"]),
        ("group", "" if entry["group"] in (entry["template"], entry["key"]) else entry["group"]),
    ]
    shown = [f"    {name:<12} {clip(' '.join(str(value).split()), MAX_SHOWN)}" for name, value in rows if value]
    return "\n".join([head, *shown])


def _raised(exception: dict[str, Any]) -> str:
    frames = exception["frames"]
    return f"{exception['class']} (1 frame)" if frames == 1 else f"{exception['class']} ({frames} frames)"


def _parts(parts: dict[str, Any]) -> str:
    named: Sequence[tuple[str, Any]] = [
        ("family", parts["family"]),
        ("custom", parts["custom"]),
        ("exceptions", "; ".join(f"{one['class']} {' > '.join(one['frames'])}".strip() for one in parts["exceptions"])),
        ("request", " ".join(map(str, parts["access"].values())) if parts.get("access") else None),
        ("template", "yes" if parts["template"] is not None else None),
    ]
    return ", ".join(f"{name} {value}" for name, value in named if value)

"""The requests of an access log, one after another, without making events: for sums over whole files.

Most lines have the combined layout with nothing unusual in it; one expression takes those apart. Every other line
goes to the parser, and both say the same of a line. Files of other formats that hold requests, wrapped by a
container runtime or syslog, go through the `Reader`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from snaglist.kernel import Installation, ServiceError, times
from snaglist.plugins.issues import Event
from snaglist.plugins.logs.collect.discovery import reason
from snaglist.plugins.logs.parsers import DIRECTIVE, AccessLine, Clock, ParserFailed, Reader
from snaglist.plugins.logs.parsers.access import Access
from snaglist.plugins.logs.parsers.access_line import plain_address
from snaglist.plugins.logs.parsers.lines import clean
from snaglist.plugins.logs.read.files import open_file
from snaglist.plugins.logs.read.parsing import ParseFailure, make_reader, parsers_of

CHUNK_BYTES = 1024 * 1024
_MEMO = 4096
# Address, minute, zone, method, path, status, size, referrer, agent, forwarded-for, duration.
_USUAL = re.compile(
    r'([^\s"]{1,100}) \S{1,100} \S{1,100} \[(\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:[0-5]\d):[0-5]\d ([+-]\d{4})\] '
    r'"([A-Z]{3,12}) (/[^"\\\s?#]*)(?:[?#][^"\\\s]*)? HTTP/[\d.]{1,5}" ([1-5]\d\d) (\d{1,18}|-)'
    r'(?: "([^"\\]*)" "([^"\\]*)"(?: "([^"\\]*)")?(?: (\d{1,9}(?:\.\d{1,9})?))?)?'
)

# hour, method, path, status, size, referrer, agent, address, forwarded-for, milliseconds, host
Take = Callable[[str, str, str, int, int, str, str, str, str, float | None, str], None]
Miss = Callable[[str], None]


def read_requests(
    service: Installation, path: Path, take: Take, miss: Miss, watch: Callable[[int], None]
) -> str | None:
    """Read a file to its end: `take` gets each request, `miss` the hour of each line that is none.

    Hours are `YYYY-MM-DD HH:00:00` in UTC; a line without a usable time has that of the line before. Times without
    a zone are UTC. `watch` is called with the number of (uncompressed) bytes read so far. Returns what is to be said
    of an archive that could be read to a part only. Raises ServiceError when the file cannot be read, or when a
    parser of a plugin fails at it, which it names.
    """
    try:
        with open_file(path) as file:
            damage = file.find_damage()
            with file.content() as stream:
                _read(service, stream, file.state.modified_at, take, miss, watch)
    except ParserFailed as error:  # what was taken cannot be taken back, so that it is not read again without it
        way = f"SERVICE_DISABLED_PLUGINS={error.plugin} reads without it"
        raise ServiceError(f"{path}: {error}; {way}") from error
    except ParseFailure as error:
        raise ServiceError(f"{path}: {error}") from error
    except OSError as error:
        raise ServiceError(f"{path}: {reason(error)}") from error
    return None if damage is None else f"{path}: {damage.place}; {damage.counted} counted"


def _read(
    service: Installation, stream: BinaryIO, modified_at: str, take: Take, miss: Miss, watch: Callable[[int], None]
) -> None:
    head = stream.read(service.settings["ingestion.sample_bytes"])
    parsers = parsers_of(service, None)
    reader = make_reader(service, head, parsers=parsers, start=0, zone="UTC", zone_known=False, modified_at=modified_at)
    pieces = _pieces(head, stream, watch)
    if reader.log_type != Access.log_type or reader.encoding.startswith("utf-16"):
        _read_events(reader, pieces, take, miss)
        return
    lines = _Lines(modified_at, service.settings["ingestion.fallback_encoding"], take, miss)
    limit = service.settings["ingestion.capture_limit"]
    rest = b""
    for piece in pieces:
        end = piece.rfind(b"\n") + 1
        if end:
            lines.read(rest + piece[:end])
            rest = piece[end:]
        else:
            rest += piece
        rest = rest[:limit]
    lines.read(rest)


def _pieces(head: bytes, stream: BinaryIO, watch: Callable[[int], None]) -> Iterator[bytes]:
    piece, done = head, 0
    while piece:
        yield piece
        done += len(piece)
        watch(done)
        piece = stream.read(CHUNK_BYTES)


def _read_events(reader: Reader, pieces: Iterable[bytes], take: Take, miss: Miss) -> None:
    for piece in pieces:
        _give_events(reader.feed(piece), take, miss)
    _give_events(reader.close(), take, miss)


def _give_events(events: Iterable[Event], take: Take, miss: Miss) -> None:
    for event in events:
        hour = times.hour(event.occurred_at)
        if isinstance(event.access, AccessLine):
            _give(take, hour, event.access)
        else:
            miss(hour)


def _give(take: Take, hour: str, line: AccessLine) -> None:
    take(
        hour, line.method, line.path, line.status, line.size, line.referrer, line.agent, line.client, line.forwarded,
        line.duration_ms, line.host,
    )  # fmt: skip


class _Lines:
    """The lines of one access log."""

    def __init__(self, modified_at: str, fallback_encoding: str, take: Take, miss: Miss) -> None:
        self._fallback = fallback_encoding
        self._take = take
        self._miss = miss
        self._parser = Access()
        self._clock = Clock("UTC", modified_at, times.now())
        self._hours: dict[str, str] = {}  # minute and zone as written → hour
        self._hour = times.hour(modified_at)

    def read(self, data: bytes) -> None:
        """Read whole lines."""
        take, match, hours = self._take, _USUAL.fullmatch, self._hours
        for line in self._texts(data):
            found = match(line)
            if found is None:
                self._unusual(line)
                continue
            address, minute, zone, method, path, status, size, referrer, agent, forwarded, duration = found.groups()
            hour = hours.get(minute + zone) or self._hour_of(minute, zone)
            self._hour = hour
            if ":" in address or "%" in address or "[" in address:
                address = plain_address(address)
            milliseconds = None
            if duration is not None:
                milliseconds = float(duration) * 1000 if "." in duration else float(duration)
            take(
                hour,
                method,
                path,
                int(status),
                0 if size == "-" else int(size),
                "" if referrer is None or referrer == "-" else referrer,
                "" if agent is None or agent == "-" else agent,
                address,
                "" if forwarded is None or forwarded == "-" else forwarded,
                milliseconds,
                "",
            )

    def _texts(self, data: bytes) -> list[str]:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            text = "\n".join(self._decode(line) for line in data.split(b"\n"))
        if "\x1b" in text or "\0" in text or "\ufeff" in text:
            text = clean(text)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.split("\n")

    def _decode(self, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            return line.decode(self._fallback, "replace")

    def _hour_of(self, minute: str, zone: str) -> str:
        """Return the hour of a time as the log has it; it is remembered."""
        time = self._clock.read("named", f"{minute}:00 {zone}")
        if not time:
            return self._hour
        if len(self._hours) >= _MEMO:
            self._hours.clear()
        self._hours[minute + zone] = hour = times.hour(time)
        return hour

    def _unusual(self, line: str) -> None:
        """Ask the parser what a line is."""
        header = self._parser.header(line)
        if header is DIRECTIVE or not line.strip():
            return
        time = self._clock.read(header.form, header.stamp) if header is not None and header.form else ""
        self._hour = times.hour(time) if time else self._hour
        if header is None or header.line is None:
            self._miss(self._hour)
        else:
            _give(self._take, self._hour, header.line)

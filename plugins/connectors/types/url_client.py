"""The part of the type `url` that runs in the guarded child process: it alone imports fsspec."""

import re
import warnings
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import Any

import fsspec

from snaglist.kernel import times
from snaglist.plugins.system import Refused

_PIECE = 1024 * 1024
_TIMES = ("LastModified", "last_modified", "mtime", "modified", "updated", "Last-Modified", "modify")


class Client:
    """A file system and the file that is open on it."""

    def __init__(self, url: str = "", options: Mapping[str, Any] | None = None) -> None:
        warnings.simplefilter("ignore")
        self._url = url
        self._options = dict(options or {})
        self._file_system: Any = None
        self._root = ""
        self._path = ""
        self._stream: Any = None
        self._streaming = False

    def check(self, url: str) -> None:
        """Raise when no file system of the scheme is installed."""
        scheme = _scheme(url)
        try:
            fsspec.get_filesystem_class(scheme)
        except (ImportError, ValueError) as error:
            raise ValueError(f"there is no file system {scheme}:// here: {error}") from error

    def files(self, limit: int, pattern: str, flags: int) -> list[tuple[str, int, str | None, None]]:
        """List path, size, time of change and identity of at most `limit` + 1 files whose base name matches."""
        wanted = re.compile(pattern, flags)
        found = (
            (path, info) for path, info in self._entries() if path == self._root or wanted.fullmatch(_base_name(path))
        )
        listed = []
        try:
            for path, info in islice(found, limit + 1):
                if info.get("size") is None:  # web servers tell it of single files only
                    info = self._fs.info(path)
                if info.get("size") is None:
                    raise ValueError(f"{_base_name(path)}: the server does not tell its size")
                listed.append((path, int(info["size"]), _modified(info), None))
        except FileNotFoundError as error:
            raise ValueError("there is nothing at the URL") from error
        return sorted(listed)

    def open(self, path: str) -> None:
        """Open a file; nothing is read ahead, because what is asked for is all that is wanted."""
        self._path, self._streaming = path, False
        self._open(cache_type="none")

    def read(self, offset: int, size: int) -> bytes:
        """Read bytes of the open file, fewer at its end only."""
        if not self._streaming:
            try:
                self._stream.seek(offset)
                return self._all_of(size)
            except ValueError:
                if not self._is_web:
                    raise
                self._stream_anew()  # the server knows no ranges: whatever is asked for, it sends everything
        if self._stream.tell() > offset:
            self._stream_anew()
        while (left := offset - self._stream.tell()) > 0 and self._stream.read(min(left, _PIECE)):
            pass
        return self._all_of(size)

    def _stream_anew(self) -> None:
        self._streaming = True
        self._open(block_size=0)

    def _open(self, **how: Any) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream = self._fs.open(self._path, "rb", **how)

    @property
    def _is_web(self) -> bool:
        return self._url.startswith(("http://", "https://"))

    @property
    def _fs(self) -> Any:
        if self._file_system is None:
            options = {**self._options, "skip_instance_cache": True}
            if self._is_web:
                # A redirect would lead past the check of the URL; and positions are those of the file as it is.
                options |= {"allow_redirects": False, "client_kwargs": {"raise_for_status": _refuse_redirects}}
                options["headers"] = {"Accept-Encoding": "identity"}
            # By the scheme alone: fsspec's own way from a URL lets an option `protocol` choose another file system.
            kind = fsspec.get_filesystem_class(_scheme(self._url))
            self._file_system = kind(**{**options, **kind._get_kwargs_from_urls(self._url)})
            self._root = kind._strip_protocol(self._url)
        return self._file_system

    def _entries(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Give path and description of each file below the URL; of the one that it names, whatever its name is."""
        fs = self._fs
        if not self._url.endswith("/") and fs.isfile(self._root):
            yield self._root, fs.info(self._root)
            return
        for folder, _, files in fs.walk(self._root, on_error="raise", detail=True):
            yield from ((f"{folder.rstrip('/')}/{name}", info) for name, info in files.items() if name)

    def _all_of(self, size: int) -> bytes:
        pieces, left = [], size
        while left and (piece := self._stream.read(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)


async def _refuse_redirects(answer: Any) -> None:
    if 300 <= answer.status < 400 and answer.status != 304:
        raise Refused(f"the server answers with a redirect ({answer.status}), which is not followed")


def _scheme(url: str) -> str:
    return url.partition("://")[0]


def _base_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _modified(info: Mapping[str, Any]) -> str | None:
    """Return the time of the last change in the contract's form; file systems name and write it differently."""
    value = next((info[name] for name in _TIMES if info.get(name)), None)
    try:
        if isinstance(value, str):
            value = parsedate_to_datetime(value) if "," in value else _from_text(value)
        if isinstance(value, datetime):
            return times.show(value if value.tzinfo else value.replace(tzinfo=UTC))
        return times.from_stamp(value) if isinstance(value, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _from_text(text: str) -> datetime:
    if re.fullmatch(r"\d{14}(\.\d+)?", text):  # MLST of FTP
        return datetime.strptime(text[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return datetime.fromisoformat(text)

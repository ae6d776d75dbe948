"""The type `url`: files of any file system that fsspec knows, such as `s3://`, `gs://`, `ftp://` or `https://`.

The clients behind fsspec resolve and connect by themselves, so they run in a guarded child process.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from snaglist.kernel import BadGateway, Call, Invalid
from snaglist.plugins.connectors.contract import Config, Opening, ReadAt, RemoteFailure, RemoteFile
from snaglist.plugins.connectors.names import wanted_names
from snaglist.plugins.system import GuardedChild, Refused

SECRETS = ("secret_options",)
ASK_SECONDS = 60.0
READ_SECONDS = 300.0
_CLIENT = "snaglist.plugins.connectors.types.url_client:Client"
_GUARDED = ("http", "https", "ftp")
# What reads files of this machine, wraps another file system that could, goes to a host without a check of its key,
# or connects from C code, which the guard does not see (hdfs, root).
_LOCAL = frozenset(
    (
        "", "file", "local", "asynclocal", "memory", "sftp", "ssh", "data", "dir", "generic", "reference", "cached",
        "blockcache", "filecache", "simplecache", "zip", "tar", "libarchive", "git", "dvc", "dask",
        "async_wrapper", "asyncwrapper", "pyscript", "hdfs", "arrow_hdfs", "root",
    )
)  # fmt: skip


def check(call: Call, config: Config, secrets: Config) -> Config:
    """Look for a file system of the scheme, and at the hosts that it would go to."""
    if importlib.util.find_spec("fsspec") is None:
        raise Invalid("type: url needs an extra: pip install 'snaglist[url]'")
    url = config["url"]
    try:
        parts = urlsplit(url)
        refused = "::" in url or parts.scheme in _LOCAL or ("@" in parts.netloc and parts.scheme in _GUARDED)
        refused = refused or parts.username is not None or parts.password is not None
    except ValueError as error:
        raise Invalid("config.url: must be a URL like s3://bucket/folder/") from error
    if refused:
        raise Invalid(
            "config.url: must be of a remote file system, without user name, password or ::; for SFTP take the type ssh"
        )
    _check_host(call, "config.url", url if parts.scheme in _GUARDED else "")
    for name, options in (("options", config["options"]), ("secret_options", secrets.get("secret_options") or {})):
        _check_host(call, f"config.{name}.endpoint_url", str(options.get("endpoint_url") or ""))
    try:
        with GuardedChild(_CLIENT, call.service.outbound.allowed) as client:
            client.call("check", url=url, timeout=ASK_SECONDS)
    except BadGateway as error:
        raise Invalid(f"config.url: {error.message}") from error
    return config


def _check_host(call: Call, field: str, url: str) -> None:
    if url:
        try:
            call.service.outbound.check_url(url, schemes=_GUARDED)
        except Refused as error:
            raise Invalid(f"{field}: {error.message}") from error


@contextmanager
def connect(opening: Opening) -> Iterator["Files"]:
    """Start the client."""
    config = opening.config
    options = {**config["options"], **(opening.secrets.get("secret_options") or {})}
    with _failures():
        client = GuardedChild(_CLIENT, opening.call.service.outbound.allowed, url=config["url"], options=options)
    with client:
        yield Files(client, wanted_names(opening.call, config["pattern"]))


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except BadGateway as error:
        raise RemoteFailure(error.message) from error


class Files:
    """The files of a file system."""

    def __init__(self, client: GuardedChild, wanted: Any) -> None:
        self._client = client
        self._wanted = wanted

    def files(self, limit: int) -> list[RemoteFile]:
        """List the log files below the URL, or the one file that it names."""
        pattern = {"pattern": self._wanted.pattern, "flags": self._wanted.flags}
        with _failures():
            listed = self._client.call("files", limit=limit, timeout=READ_SECONDS, **pattern)
        return [RemoteFile(*entry) for entry in listed]

    @contextmanager
    def open(self, path: str) -> Iterator[ReadAt]:
        """Open a file; each read asks for a range of what is there then."""

        def read_at(offset: int, size: int) -> bytes:
            with _failures():
                data: bytes = self._client.call("read", offset=offset, size=size, timeout=READ_SECONDS)
            return data

        with _failures():
            self._client.call("open", path=path, timeout=ASK_SECONDS)
        yield read_at

"""What a sync would do: each listed file compared with what is held of it. Changes nothing."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call, Invalid, digest
from snaglist.plugins.connectors import mirrors, queries
from snaglist.plugins.connectors.content import RemoteContent
from snaglist.plugins.connectors.contract import ConnectorType, Remote, RemoteFile
from snaglist.plugins.issues import file_at, show_path
from snaglist.plugins.logs import Dropped, find_dropped, holds_source

ACTIONS = ("new", "append", "unchanged", "rotation", "rename", "reconcile", "already_ingested", "index_local")
PREFIX_BYTES = 4096
_AT_REST = ("unchanged", "already_ingested")


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a plan. `stream` is what is known of it; `dropped` the dropped file that it equals or goes on."""

    file: RemoteFile
    action: str
    bytes_to_fetch: int
    stream: Row[Any] | None = None
    dropped: Dropped | None = None

    @property
    def will_sync(self) -> bool:
        """Tell whether a sync has anything to do."""
        return self.action not in _AT_REST


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sync of a connector would do, file by file in the order of their paths."""

    connector: Row[Any]
    items: Sequence[Item]

    @property
    def snapshot(self) -> str:
        """Digest of listing and plan."""
        lines = [
            [i.file.path, i.file.identity, i.file.size, i.file.modified_at, i.action, i.bytes_to_fetch]
            for i in self.items
        ]
        return digest(json.dumps([self.connector.id, lines]))

    @property
    def bytes_to_fetch(self) -> int:
        """The sum over all files."""
        return sum(item.bytes_to_fetch for item in self.items)


def discover(call: Call, remote: Remote) -> list[RemoteFile]:
    """List the files of a remote by path; Invalid when there are too many."""
    limit = call.setting("sync.max_discovered_files")
    found = remote.files(limit)
    if len(found) > limit:
        raise Invalid(f"More than {limit} files match; name fewer, or raise sync.max_discovered_files.")
    return sorted(found, key=lambda file: file.path)


def make_plan(call: Call, connector: Row[Any], kind: ConnectorType, remote: Remote) -> Plan:
    """Compare the files of a remote with what is held of them, outside a transaction."""
    files = discover(call, remote)
    streams = call.read(lambda db: queries.newest_streams(db, connector.id))
    planner = _Planner(call, connector, kind, remote, files, streams)
    return Plan(connector, [planner.look_at(file) for file in files])


class _Planner:
    def __init__(
        self,
        call: Call,
        connector: Row[Any],
        kind: ConnectorType,
        remote: Remote,
        files: Iterable[RemoteFile],
        streams: Iterable[Row[Any]],
    ) -> None:
        self._call, self._connector, self._kind, self._remote = call, connector, kind, remote
        self._listed: Mapping[str, RemoteFile] = {file.path: file for file in files}
        self._by_path: Mapping[str, Row[Any]] = {stream.remote_path: stream for stream in streams}
        self._by_identity: Mapping[str, Row[Any]] = {s.identity: s for s in self._by_path.values() if s.identity}

    def look_at(self, file: RemoteFile) -> Item:
        """Return what is to be done with one file: the first situation of the contract that fits."""
        stream = self._by_path.get(file.path)
        if moved := self._renamed(file, stream):
            return Item(file, "rename", self._missing(file, moved), moved)
        if stream is None:
            return self._first_seen(file)
        if self._is_another(file, stream):
            return Item(file, "rotation", file.size, stream)
        if file.size > self._known(stream):
            return Item(file, "append", self._missing(file, stream), stream)
        return Item(file, "unchanged" if stream.last_synced_at else "index_local", 0, stream)

    def _renamed(self, file: RemoteFile, stream: Row[Any] | None) -> Row[Any] | None:
        other = self._by_identity.get(file.identity or "")
        if other is None or other.remote_path == file.path or (stream is not None and stream.identity == file.identity):
            return None
        still = self._listed.get(other.remote_path)
        if (still is not None and still.identity == other.identity) or file.size < self._known(other):
            return None
        return other if self._same_content(file, other) else None

    def _same_content(self, file: RemoteFile, stream: Row[Any]) -> bool:
        if self._kind.in_place:
            return stream.source_id is None or holds_source(
                self._call, file_at(self._call, file.path), stream.source_id
            )
        if stream.local_path is None:
            return self._same_head(file, stream)
        size = self._held(stream)
        with self._remote.open(file.path) as read_at, file_at(self._call, stream.local_path).open("rb") as mirror:
            for at in range(0, size, chunk := self._call.setting("sync.chunk_bytes")):
                if read_at(at, min(chunk, size - at)) != mirror.read(chunk):
                    return False
        return True

    def _first_seen(self, file: RemoteFile) -> Item:
        with RemoteContent(self._remote, file) as content:
            found = find_dropped(
                self._call,
                file_at(self._call, file.path) if self._kind.in_place else content,
                module_id=self._connector.module_id,
                name=mirrors.base_name(file.path),
            )
        if found is None:
            return Item(file, "new", file.size)
        if found.whole:
            return Item(file, "already_ingested", 0, dropped=found)
        return Item(file, "reconcile", max(0, file.size - (found.size if found.plain else 0)), dropped=found)

    def _is_another(self, file: RemoteFile, stream: Row[Any]) -> bool:
        if file.identity and stream.identity and file.identity != stream.identity:
            return True
        return file.size < self._known(stream) or not self._same_head(file, stream)

    def _same_head(self, file: RemoteFile, stream: Row[Any]) -> bool:
        # A change in the second of the last sync does not show in the modification time: look closer then.
        at_rest = (
            (file.size, file.modified_at) == (stream.remote_size, stream.remote_modified_at)
            and file.modified_at is not None
            and stream.last_synced_at is not None
            and file.modified_at < stream.last_synced_at
        )
        if at_rest or not stream.prefix_length:
            return True
        with self._remote.open(file.path) as read_at:
            return bool(mirrors.head_hash(read_at(0, stream.prefix_length)) == stream.prefix_hash)

    def _known(self, stream: Row[Any]) -> int:
        """How far the file was fetched: the mirror's length, which is right also after a crash."""
        return int(stream.fetched_offset) if stream.local_path is None else self._held(stream)

    def _missing(self, file: RemoteFile, stream: Row[Any]) -> int:
        if self._kind.in_place:
            return max(0, file.size - int(stream.fetched_offset))
        return max(0, file.size - (self._held(stream) if stream.local_path else 0))

    def _held(self, stream: Row[Any]) -> int:
        return mirrors.held(file_at(self._call, stream.local_path))


def show(call: Call, plan: Plan, kind: ConnectorType) -> dict[str, Any]:
    """Return a plan as `connectors-preview` shows it."""
    files = [
        {
            "path": show_path(call, item.file.path) if kind.in_place else item.file.path,
            "identity": item.file.identity,
            "size": item.file.size,
            "modified_at": item.file.modified_at,
            "action": item.action,
            "bytes_to_fetch": item.bytes_to_fetch,
            "will_sync": item.will_sync,
        }
        for item in plan.items
    ]
    actions = [item.action for item in plan.items]
    to_sync = sum(item.will_sync for item in plan.items)
    return {
        "connector_id": plan.connector.id,
        "connector_name": plan.connector.name,
        "snapshot": plan.snapshot,
        "files": files,
        "summary": {
            "files": len(files),
            "files_to_sync": to_sync,
            "already_current": len(files) - to_sync,
            "bytes_to_fetch": plan.bytes_to_fetch,
            "actions": {action: actions.count(action) for action in ACTIONS},
        },
    }

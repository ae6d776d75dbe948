"""The endpoint `uploads`, and the job that reads what came."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from snaglist.kernel import Call, Conflict, Endpoint, Invalid, Reply, TooLarge, UnsupportedMedia, own, read, times
from snaglist.kernel.bodies import media_type
from snaglist.kernel.endpoints import DEFAULT_BODY_LIMIT
from snaglist.plugins.issues import path_text
from snaglist.plugins.logs.collect.drop_folder import Incoming
from snaglist.plugins.logs.collect.locking import import_turn
from snaglist.plugins.logs.read.results import FileResult
from snaglist.plugins.logs.read.tally import left_out
from snaglist.plugins.logs.store import queries
from snaglist.plugins.logs.uploading import parts
from snaglist.plugins.logs.uploading.names import safe_name
from snaglist.plugins.system import Job, JobCall

UPLOAD = "upload"
PIECE_BYTES = DEFAULT_BODY_LIMIT  # what proxies let through that nobody told anything
WAIT_SECONDS = 3600.0  # for a large import that runs already
OCTETS = "application/octet-stream"  # no form of another site can send that
ABILITY = "connectors.write"
_OFF = "Uploads are switched off on this service (ingestion.max_upload_bytes)."
_NOT_ALLOWED = "Your role does not allow adding logs. Ask an owner or an editor."


def show(call: Call) -> Mapping[str, Any]:
    """Tell whether and how files are taken, and where the folder is that they come into."""
    limit, may = call.setting("ingestion.max_upload_bytes"), call.may(ABILITY)
    reason = None if may and limit else _OFF if may else _NOT_ALLOWED
    folder = path_text(call.application.logs) if may else None
    return {"reason": reason, "folder": folder, "max_bytes": limit, "piece_bytes": PIECE_BYTES}


def take(call: Call) -> Reply:
    """Take a piece of a file; with the last one the file goes into the folder `logs` and is read."""
    if media_type(call.environ) != OCTETS:
        raise UnsupportedMedia(f"Content-Type: must be {OCTETS}")
    query, piece = call.query, call.read_body()
    limit, size = call.setting("ingestion.max_upload_bytes"), query["size"]
    if not limit:
        raise Conflict(_OFF)
    if size > limit:
        raise TooLarge(f"The file is over the limit of {limit} bytes.")
    modified_at = query.get("modified_at")
    if modified_at is not None and not times.is_time(modified_at):
        raise Invalid("modified_at: there is no such time")
    name = safe_name(query["name"], call.setting("ingestion.log_file_pattern"))
    token = parts.add_piece(call, query.get("upload"), query["offset"], size, piece)
    received = query["offset"] + len(piece)
    answer = {"upload": token, "received": received, "size": size}
    if received < size:
        return Reply(answer)
    place, equal = parts.finish(call, token, size, name, modified_at)
    with call.transaction():
        job_id = call.enqueue(UPLOAD, {"file": place.name})
    return Reply({**answer, "file": place.name, "equal": equal, "job_id": job_id}, 202)


def cancel(call: Call) -> Mapping[str, Any]:
    """Forget a file of which not all has come."""
    parts.discard(call, call.query["upload"])
    return {"upload": call.query["upload"], "deleted": True}


def read_uploaded(call: JobCall) -> dict[str, Any]:
    """Read a file that was handed over; its result tells what was found in it."""
    name = call.args["file"]
    with import_turn(call.application.folder, wait=WAIT_SECONDS, waiting=call.check_cancelled):
        incoming = Incoming(call)
        result = incoming.read_file(incoming.folder / name)
        incoming.prune()
    if result is None:  # a scheduled import was first
        result = _read_already(call, name)
    return _document(result, left_out(incoming.ingestion.severities))


def _read_already(call: JobCall, name: str) -> FileResult:
    result = FileResult(Path(name), state="unchanged")
    with call.transaction(write=False) as db:
        began = call.service.jobs.find(call, call.job_id)["created_at"]
        found = [source for source in queries.imported_since(db, began) if source.channel == name]
    if found:
        result.source_id = found[-1].id
    return result


def _document(result: FileResult, filtered_as: str) -> dict[str, Any]:
    return {
        "file": path_text(result.path.name),
        "state": result.state,
        "source_id": result.source_id,
        **result.tally.document(),
        "filtered_as": filtered_as,
        "access_lines": result.access_lines,
        "events": result.events,
        "groups": len(result.issues),
        "new_groups": len(result.new_issues & result.issues),
        "group_id": min(result.issues, default=None),
        "waiting": result.waiting,
        "error": result.error,
        "remarks": result.remarks,
    }


ENDPOINTS = (
    Endpoint(
        "uploads",
        get=read(show, "issues.read"),
        post=own(take, ABILITY, 200, 202),
        delete=own(cancel, ABILITY),
        body_limit=PIECE_BYTES,
        raw=True,
    ),
)
JOBS = (Job(UPLOAD, read_uploaded, "bytes", local=True),)

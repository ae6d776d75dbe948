"""`snaglist releases sourcemaps upload`."""

from pathlib import Path
from typing import Any

import click

from snaglist.plugins.releases.command.client import Client, Refused, connect, with_server
from snaglist.plugins.releases.command.folder import Lonely, Pair, find_maps
from snaglist.plugins.system import Session, command, table

FAILED, PARTLY_DONE = 1, 3
_STATES = {200: "replaced", 201: "new"}


def add_upload(parent: click.Group) -> None:
    """Add the command."""

    @command(parent, "upload")
    @click.argument("folder", metavar="DIR", type=click.Path(exists=True, file_okay=False, path_type=Path))
    @click.option("--release", required=True, help="The release that the scripts belong to.")
    @with_server
    def upload_command(session: Session, url: str | None, folder: Path, release: str) -> None:
        """Upload the source maps of the scripts below DIR; doing so again changes nothing."""
        client = connect(session, url)
        found = list(find_maps(folder))
        if not found:
            raise click.ClickException(f"{folder}: no script with a source map; does the build write maps?")
        results: list[dict[str, Any]] = []
        with session.progress("uploading") as move:
            for done, one in enumerate(found, 1):
                results.append(_upload(client, release, one))
                move(done, len(found), one.file)
        failed = [result for result in results if result["state"] == "failed"]
        rows = [(one["file"], one["size"], one["sources"], one["state"]) for one in results]
        session.print({"release": release, "maps": results}, table(("FILE", "SIZE", "SOURCES", "STATE"), rows))
        for result in failed:
            session.note(f"{result['file']}: {result['error']}")
        if failed:
            session.exit(FAILED if len(failed) == len(results) else PARTLY_DONE)


def _upload(client: Client, release: str, one: Pair | Lonely) -> dict[str, Any]:
    """Upload a map; BadGateway when there is no server, so that the rest is not tried."""
    result = {"file": one.file, "id": None, "debug_id": None, "size": None, "sources": None, "error": None}
    if isinstance(one, Lonely):
        return {**result, "state": "failed", "error": one.problem}
    try:
        text = one.map if isinstance(one.map, str) else one.map.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return {**result, "state": "failed", "error": "the map is not UTF-8"}
    body = {"release": release, "file": one.file, "map": text} | ({"debug_id": one.debug_id} if one.debug_id else {})
    try:
        status, made = client.post("source-maps", body)
    except Refused as error:
        return {**result, "state": "failed", "error": error.message}
    return {**result, **{name: made[name] for name in ("id", "debug_id", "size", "sources")}, "state": _STATES[status]}

"""HTTP in, HTTP out: `log-formats` and `log-formats-preview`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, Invalid, own, read, write
from snaglist.plugins.logs.ingestion import Ingestion
from snaglist.plugins.logs.own_formats import store
from snaglist.plugins.logs.own_formats.preview import LINES, preview
from snaglist.plugins.logs.show import raw_text


def list_formats(call: Call) -> Mapping[str, Any]:
    """List the formats in the order in which they are tried."""
    return {"data": [store.show(row) for row in store.listed(call.db)]}


def save_format(call: Call) -> Mapping[str, Any]:
    """Make a format, or change the one with the given id."""
    return store.save(call, call.body)


def delete_format(call: Call) -> Mapping[str, Any]:
    """Delete a format."""
    store.remove(call, call.body["id"])
    return {"id": call.body["id"], "deleted": True}


def preview_format(call: Call) -> Mapping[str, Any]:
    """Show what a pattern gives of the first lines of a source, or of a text."""
    given = call.body
    if ("source_id" in given) == ("text" in given):
        raise Invalid("text: exactly one of text and source_id must be given")
    if "text" in given:
        lines = given["text"].splitlines()
    else:
        page = raw_text.whole_source(call, given["source_id"], offset=0, lines=LINES, tail=False)
        lines = [line["text"] for line in page["lines"]]
    with call.transaction(write=False):
        zone = given.get("zone") or Ingestion.load(call).timezone
    return preview(given["pattern"], zone, lines)


ENDPOINTS = (
    Endpoint(
        "log-formats",
        get=read(list_formats, "settings.read"),
        post=write(save_format, "settings.write"),
        delete=write(delete_format, "settings.write"),
    ),
    Endpoint("log-formats-preview", post=own(preview_format, "settings.read")),
)

"""The script that web pages include from here to send their errors: one file, the same for everybody."""

from collections.abc import Mapping
from importlib.resources import files

from snaglist.kernel import Call, Reply

PATTERN = r"ingest\.js"
_SECONDS = 3600  # a page that includes it asks again that often


def show(match: Mapping[str, str], call: Call) -> Reply:
    """Answer the script; pages of every origin may use it."""
    script = (files("snaglist.plugins.ingest") / "browser" / "ingest.js").read_bytes()
    headers = {"Cache-Control": f"public, max-age={_SECONDS}", "Cross-Origin-Resource-Policy": "cross-origin"}
    return Reply(script, headers=headers, content_type="text/javascript; charset=utf-8")

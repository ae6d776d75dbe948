"""Request bodies and query strings: read within limits and parsed strictly."""

import gzip
import io
import json
import re
import string
import zlib
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO
from urllib.parse import parse_qsl, quote

from snaglist.kernel.errors import BadRequest, TooLarge, UnsupportedMedia

__all__ = ["MAX_DEPTH", "check_json_type", "media_type", "parse_json", "read_body"]

MAX_DEPTH = 128
_BROKEN_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")
_NOT_UTF8 = "The query is not valid percent-encoded UTF-8."


def parse_query(text: str) -> dict[str, str]:
    """Return the parameters of a query string; BadRequest for a repeated name, bad UTF-8 or U+0000."""
    if _BROKEN_ESCAPE.search(text):
        raise BadRequest(_NOT_UTF8)
    try:
        # WSGI hands bytes over as latin-1 text: what is no ASCII is escaped like the rest.
        escaped = quote(text, safe=string.punctuation, encoding="latin-1")
        pairs = parse_qsl(escaped, keep_blank_values=True, errors="strict")
    except UnicodeError as error:
        raise BadRequest(_NOT_UTF8) from error
    values = dict(pairs)
    if len(values) != len(pairs):
        raise BadRequest("A query parameter is given twice.")
    if any("\x00" in part for pair in pairs for part in pair):
        raise BadRequest("The query holds U+0000.")
    return values


def read_body(environ: Mapping[str, Any], limit: int) -> bytes:
    """Return the body; TooLarge when it is over the limit, BadRequest for a bad Content-Length."""
    declared = environ.get("CONTENT_LENGTH") or ""
    if declared and not (declared.isascii() and declared.isdigit() and len(declared) < 20):
        raise BadRequest("Content-Length: must be a number")
    stream: BinaryIO = environ["wsgi.input"]
    if declared:
        if int(declared) > limit:
            raise _too_large(limit)
        body = stream.read(int(declared))
        if len(body) < int(declared):
            raise BadRequest("The body ended before its Content-Length.")
        return body
    if not environ.get("wsgi.input_terminated"):
        return b""
    body = stream.read(limit + 1)
    if len(body) > limit:
        raise _too_large(limit)
    return body


def _too_large(limit: int) -> TooLarge:
    return TooLarge(f"The body is over the limit of {limit} bytes.")


def decode(environ: Mapping[str, Any], body: bytes, unpacked: int = 0) -> bytes:
    """Return a body without its coding: gzip where `unpacked` allows that many bytes; UnsupportedMedia for others."""
    coding = (environ.get("HTTP_CONTENT_ENCODING") or "").strip().lower()
    if not body or coding in ("", "identity"):
        return body
    if coding != "gzip" or not unpacked:
        raise UnsupportedMedia(f"Content-Encoding: must be {'gzip or ' if unpacked else ''}identity")
    try:
        plain = gzip.GzipFile(fileobj=io.BytesIO(body)).read(unpacked + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BadRequest("The body is not gzip.") from error
    if len(plain) > unpacked:
        raise _too_large(unpacked)
    return plain


def media_type(environ: Mapping[str, Any]) -> str:
    """Return the content type in lower case, without parameters; UnsupportedMedia for a charset but UTF-8."""
    kind, *parameters = [part.strip().lower() for part in (environ.get("CONTENT_TYPE") or "").split(";")]
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset" and value.strip().strip('"') != "utf-8":
            raise UnsupportedMedia("Content-Type: charset must be utf-8")
    return kind


def check_json_type(environ: Mapping[str, Any]) -> None:
    """Raise UnsupportedMedia when the body is not declared as JSON."""
    kind = media_type(environ)
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMedia("Content-Type: must be application/json")


def parse_json(body: bytes, cut: Callable[[str], int] | None = None) -> Any:
    """Return the JSON value of a body; BadRequest for what is not strict JSON in UTF-8."""
    try:
        return json.loads(body.decode("utf-8-sig"), object_pairs_hook=_object, parse_constant=no_number, parse_int=cut)
    except UnicodeDecodeError as error:
        raise BadRequest("The body is not UTF-8.") from error
    except RecursionError as error:
        raise BadRequest("The body nests too deeply.") from error
    except ValueError as error:
        if not cut and not isinstance(error, json.JSONDecodeError):
            # Python converts no more than 4,300 digits. Their beginning is beyond 64 bits too: refused with its field.
            return parse_json(body, lambda digits: int(digits[:4000]))
        raise BadRequest(f"The body is not JSON: {_reason(error)}.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object holds a key twice")
    return found


def no_number(name: str) -> Any:
    """Refuse NaN and Infinity, which Python takes for JSON; raises ValueError."""
    raise ValueError(f"{name} is not a JSON number")


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return str(error)[:100]

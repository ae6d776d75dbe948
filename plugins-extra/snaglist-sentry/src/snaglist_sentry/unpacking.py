"""The body of a request without its coding: gzip, deflate or br, never more than is allowed to come out."""

import base64
import binascii
import gzip
import io
import zlib

import brotli

from snaglist.kernel import BadRequest, Call, TooLarge, UnsupportedMedia, bodies

_AUTOMATIC = zlib.MAX_WBITS | 32  # a head of gzip or of zlib
_RAW = -zlib.MAX_WBITS
_GZIP = b"\x1f\x8b"


def read_plain(call: Call) -> bytes:
    """Return what was sent, at most `sentry.max_unpacked_bytes`.

    Raises TooLarge, UnsupportedMedia and BadRequest.
    """
    body = bodies.read_body(call.environ, call.request.body_limit)
    return unpack(body, (call.environ.get("HTTP_CONTENT_ENCODING") or "").strip().lower(), _limit(call))


def unpack(body: bytes, coding: str, limit: int) -> bytes:
    """Return a body without its coding."""
    if coding in ("", "identity") or not body:
        plain = body
    elif coding in ("gzip", "x-gzip", "deflate"):
        plain = _inflate(body, limit, coding)
    elif coding == "br":
        plain = _brotli(body, limit)
    else:
        raise UnsupportedMedia("Content-Encoding: must be gzip, deflate, br or identity")
    if len(plain) > limit:
        raise TooLarge(f"The body is over the limit of {limit} bytes.")
    return plain


def unpack_old(call: Call, body: bytes) -> bytes:
    """Return the JSON of a store request: old SDKs send base64 of zlib and call it neither."""
    if body.lstrip()[:1] in (b"{", b""):
        return body
    try:
        packed = base64.b64decode(body, validate=True)
    except binascii.Error:
        return body  # whatever it is: the reader of JSON says so
    return unpack(packed, "deflate", _limit(call))


def _limit(call: Call) -> int:
    return int(call.setting("sentry.max_unpacked_bytes"))


def _inflate(body: bytes, limit: int, coding: str) -> bytes:
    if body.startswith(_GZIP):  # may have several members, of which none may get lost
        try:
            return gzip.GzipFile(fileobj=io.BytesIO(body)).read(limit + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise BadRequest("The body is not gzip.") from error
    kinds = (_AUTOMATIC, _RAW) if coding == "deflate" else (_AUTOMATIC,)  # some send deflate without zlib's head
    for kind in kinds:
        unpacker = zlib.decompressobj(kind)
        try:
            plain = unpacker.decompress(body, limit + 1)
        except zlib.error:
            continue
        if unpacker.eof or len(plain) > limit:
            return plain
    raise BadRequest(f"The body is not {coding}.")


def _brotli(body: bytes, limit: int) -> bytes:
    unpacker = brotli.Decompressor()
    try:
        plain = bytes(unpacker.process(body, output_buffer_limit=limit + 1))
    except brotli.error as error:
        raise BadRequest("The body is not br.") from error
    if len(plain) <= limit and not unpacker.is_finished():
        raise BadRequest("The body is not br.")
    return plain

"""The Falcon application: hands every request to the gate and sends what comes back, headers and envelope included."""

import gzip
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

import falcon
import zstandard

from snaglist.kernel.containment import contained
from snaglist.kernel.endpoints import Reply
from snaglist.kernel.gate import Gate, Identify, encode_json, failure
from snaglist.kernel.origin import scheme_of
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings

__all__ = ["create_app", "security_headers"]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_DENIED = (
    "accelerometer", "camera", "display-capture", "geolocation", "gyroscope",
    "magnetometer", "microphone", "midi", "payment", "usb",
)  # fmt: skip
COMPRESS_FROM = 1024
_ANY = re.compile("")  # also what is no path: `OPTIONS *`, `CONNECT host:443`
_REFUSED = re.compile(r"\s*q\s*=\s*0(\.0*)?\s*")
# Of about the same speed; browsers take zstd over TLS and from the machine they run on.
_PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gzip": lambda body: gzip.compress(body, compresslevel=6, mtime=0),
    "zstd": lambda body: zstandard.compress(body, 9),
}
_COMPRESSIBLE = ("application/json", "text/", "application/x-ndjson")
WsgiApp = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def create_app(service: Service, identify: Identify | None = None) -> WsgiApp:
    """Return the WSGI application of a service that was started.

    `identify(environ, application id or None)` returns the actor of a request or None; by default
    everybody is the local owner.
    """
    app: falcon.App[falcon.Request, falcon.Response] = falcon.App()
    gate = Gate(service, identify)

    def handle(req: falcon.Request, resp: falcon.Response, **_: Any) -> None:
        _send(service, req, resp, gate.answer(req.env))

    def refuse(request: falcon.Request, response: falcon.Response, error: Exception, *_: Any) -> None:
        _send(service, request, response, failure(error))  # an answer that cannot be encoded, for one

    app.add_sink(handle, prefix=_ANY)
    app.add_error_handler(Exception, refuse)
    return app


def _send(service: Service, request: falcon.Request, response: falcon.Response, reply: Reply) -> None:
    response.status = reply.status
    headers = security_headers(service.settings, scheme_of(request.env, service.proxies))
    for name, value in {**headers, **reply.headers}.items():
        response.set_header(name, value)
    if reply.body is None:
        return
    response.content_type = reply.content_type
    if "Cache-Control" not in reply.headers:
        response.set_header("Cache-Control", "no-store")
    body = reply.body
    if not isinstance(body, bytes | Iterator):
        body = encode_json(body)
    coding = _coding(request, response, body, reply.content_type)
    if isinstance(body, bytes):
        response.data = _PACKERS[coding](body)
    elif request.method == "HEAD":
        getattr(body, "close", lambda: None)()
        response.stream = iter(())  # a stream has no length, so neither has its head
    else:
        pieces = _contained_pieces(body)
        response.stream = _gzip(pieces) if coding else pieces


def _coding(request: falcon.Request, response: falcon.Response, body: bytes | Iterator[bytes], kind: str) -> str:
    """Choose how to compress a body, and set the headers that say so; streams count as large, and are sent as gzip."""
    if isinstance(body, bytes) and len(body) <= COMPRESS_FROM:
        return ""
    if not kind.startswith(_COMPRESSIBLE) or response.get_header("Content-Encoding") is not None:
        return ""
    response.set_header("Vary", "Accept-Encoding")
    offers = [part.partition(";") for part in (request.get_header("Accept-Encoding") or "").lower().split(",")]
    taken = {name.strip(): not _REFUSED.fullmatch(quality) for name, _, quality in offers}
    coding = "gzip" if taken.get("gzip", taken.get("*")) else ""
    if taken.get("zstd") and isinstance(body, bytes):
        coding = "zstd"
    if coding:
        response.set_header("Content-Encoding", coding)
    return coding


def _contained_pieces(body: Iterator[bytes]) -> Generator[bytes]:
    """Give the pieces of a streamed body: what makes it may be code of a plugin, and runs when the gate is passed."""
    end = object()
    try:
        while (piece := contained(next, body, end)) is not end:
            yield piece  # type: ignore[misc]
    finally:
        getattr(body, "close", lambda: None)()


def _gzip(body: Generator[bytes]) -> Iterator[bytes]:
    packer = zlib.compressobj(1, wbits=zlib.MAX_WBITS | 16)
    with closing(body):
        yield from filter(None, map(packer.compress, body))
        yield packer.flush()


def security_headers(settings: Settings, scheme: str) -> dict[str, str]:
    """Return the headers for an answer over `http` or `https`."""
    headers = {"X-Content-Type-Options": "nosniff"}
    if not settings["security.headers_enabled"]:
        return headers
    headers |= {
        "Content-Security-Policy": settings["security.content_security_policy"] or POLICY,
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Permissions-Policy": ", ".join(f"{feature}=()" for feature in _DENIED),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if settings["security.hsts_max_age"] and scheme == "https":
        value = f"max-age={settings['security.hsts_max_age']}"
        value += "; includeSubDomains" if settings["security.hsts_include_subdomains"] else ""
        headers["Strict-Transport-Security"] = value + ("; preload" if settings["security.hsts_preload"] else "")
    return headers

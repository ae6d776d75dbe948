"""The client of the commands: they talk to a server, and need no data directory."""

import gzip
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.client import HTTPException
from typing import Any
from urllib.parse import urlencode, urlsplit

import click

from snaglist.kernel import BadGateway, Invalid
from snaglist.plugins.system import Session

SECONDS = 300
COMPRESS_FROM = 4_096


class Refused(BadGateway):
    """The server answered with a failure."""


class Client:
    """Sends requests to the API of a server."""

    def __init__(self, url: str, app: str | None, token: str) -> None:
        try:
            parts = urlsplit(url)
        except ValueError:  # half an IPv6 address
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise Invalid("--url: must be the http(s) address of the server, or set SERVICE_URL")
        self._url, self._app, self._token = url.rstrip("/"), app, token

    def post(self, api: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        """Send a body; returns status and answer. Refused with the server's words, BadGateway when it is not there."""
        query = {"api": api} | ({"app": self._app} if self._app else {})
        content = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token:
            headers["X-Service-Token"] = self._token
        if len(content) > COMPRESS_FROM and api == "source-maps":
            content = gzip.compress(content, compresslevel=6, mtime=0)
            headers["Content-Encoding"] = "gzip"
        request = urllib.request.Request(f"{self._url}/?{urlencode(query)}", content, headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(_said(error)) from error
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            reason = getattr(reason, "strerror", None) or reason
            if isinstance(error, HTTPException):
                reason = "what came back is not HTTP"
            raise BadGateway(f"{self._url} does not answer: {reason}") from error


def with_server(function: Callable[..., None]) -> Callable[..., None]:
    """Add `--url` to a command."""
    text = "Address of the server (default: SERVICE_URL). The key comes from SERVICE_TOKEN."
    return click.option("--url", metavar="URL", help=text)(function)


def connect(session: Session, url: str | None) -> Client:
    """Return the client of a command. Its address and key are configured as for the service itself."""
    settings = session.settings()
    return Client(url or settings["server.url"], session.app, os.environ.get("SERVICE_TOKEN") or settings["auth.token"])


def _said(error: urllib.error.HTTPError) -> str:
    try:
        message = json.loads(error.read(100_000))["error"]
    except (ValueError, KeyError, TypeError, OSError, HTTPException):
        message = "this is no snaglist server"
    hint = ": set SERVICE_TOKEN to the key of the server" if error.code == HTTPStatus.UNAUTHORIZED else ""
    return f"{message} ({error.code}){hint}"

"""What stderr is told when events do not arrive: once for each reason, with what to do about it."""

import logging
import re
import socket
import ssl
import sys
import threading
import urllib.error
from urllib.parse import urlsplit

_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")
_LONGEST = 300


class Voice:
    """Says each reason once. Never raises, and never speaks where `logging.raiseExceptions` is off."""

    def __init__(self, url: str) -> None:
        self.place = shown(url)
        self._said: set[str] = set()
        self._lock = threading.Lock()

    def say(self, reason: str, text: str) -> None:
        """Write a line, unless one was written for this reason before. It may block: not for the logging call."""
        with self._lock:
            if reason in self._said:
                return
            self._said.add(reason)
        if logging.raiseExceptions and sys.stderr:
            try:
                sys.stderr.write(f"snaglist_client: {text} (said once)\n")
                sys.stderr.flush()
            except Exception:  # stderr is closed, or somebody else's: there is nobody left to tell
                return

    def refused(self, status: int, target: str | None) -> None:
        """Say that a request was refused for good."""
        if status in (401, 403):
            text = f"{self.place} refuses the key or the application ({status}): see the page Sending events"
        elif status == 404:
            text = (
                f"{self.place} takes no events (404): is it the address on the page Sending events, is the plugin on?"
            )
        elif 300 <= status < 400:
            to = f" to {shown(target)}" if target else ""
            text = f"{self.place} redirects{to} ({status}), which is not followed: give the final address"
        elif status == 413:
            text = f"{self.place} takes no request of this size (413): is there a limit in front of it?"
        else:
            text = f"{self.place} refuses events ({status})"
        self.say(str(status), f"{text}; what is logged meanwhile is dropped")

    def unreachable(self, error: Exception) -> None:
        """Say that nobody answered; the events wait and are sent again."""
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, socket.gaierror):
            reason, text = "name", "its host name is not known: is the address right?"
        elif isinstance(cause, ssl.SSLError):
            reason, text = "tls", f"no trusted connection: {getattr(cause, 'reason', None) or cause}"
        elif isinstance(cause, TimeoutError):
            reason, text = "time", "no answer in time"
        else:
            reason, text = "connection", str(getattr(cause, "strerror", None) or type(cause).__name__)
        self.say(reason, f"{self.place} cannot be reached: {_plain(text)}; events wait, as many as the queue holds")


def shown(url: str) -> str:
    """Return an address without what may be secret: no user, no query."""
    try:
        parts = urlsplit(url)
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    except ValueError:
        place = "an address that is none"
    return _plain(place)


def _plain(text: str) -> str:
    return _UNPRINTABLE.sub("?", text)[:_LONGEST]

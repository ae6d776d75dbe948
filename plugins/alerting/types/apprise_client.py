"""The part of the type `apprise` that runs in the guarded child process: it alone imports Apprise."""

import logging
import socket
from contextlib import suppress
from typing import Any

import apprise

from snaglist.plugins.alerting.channels.contract import CONNECT_SECONDS, TOTAL_SECONDS


class Client:
    """Sends through Apprise."""

    def check(self, url: str) -> None:
        """Raise when Apprise makes nothing of a URL, or when the host that it names is not public."""
        host = _host(self._service(url))
        # A host may be a mail domain, which nothing connects to: that a name leads nowhere shows when it is used.
        with suppress(OSError, UnicodeError):
            if host:
                socket.getaddrinfo(host, None)  # the guarded one

    def notify(self, url: str, title: str, body: str) -> None:
        """Send a text; raises with what Apprise says about a failure."""
        told = _Told()
        logger = logging.getLogger("apprise")
        logger.addHandler(told)
        try:
            if not self._service(url).notify(title=title, body=body, body_format=apprise.NotifyFormat.TEXT):
                raise RuntimeError(told.text or "Apprise could not deliver the message")
        finally:
            logger.removeHandler(told)

    def _service(self, url: str) -> Any:
        # Nothing is kept on disk. Texts of logs are sent as they are: no escapes, no emoji, no templates.
        asset = apprise.AppriseAsset(
            storage_mode=apprise.PersistentStoreMode.MEMORY,
            interpret_escapes=False,
            interpret_emojis=False,
            http_redirects=False,
            app_id="snaglist",
            app_desc="snaglist",
            app_url="",
        )
        service = apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)
        if service is None:
            raise ValueError("Apprise does not know such a URL, or it is not complete")
        if getattr(service, "enabled", True) is False:
            raise ValueError("Apprise cannot use this service here: a library of it is missing")
        service.redirects = False  # the URL itself could ask for them
        service.socket_connect_timeout, service.socket_read_timeout = CONNECT_SECONDS, TOTAL_SECONDS
        return service


def _host(service: Any) -> str:
    """Return the host that a service is asked at, empty where the URL names none: there a token has its place."""
    named = "host" in service.template_tokens
    return str(getattr(service, "smtp_host", None) or (service.host if named else None) or "").strip("[]")


class _Told(logging.Handler):
    """Keeps the last warning, which says why a message was not sent."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self.text = " ".join(record.getMessage().split())

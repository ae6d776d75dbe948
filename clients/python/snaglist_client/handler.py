"""The `logging` handler: turns records into events and leaves them to the sender."""

import json
import logging
import platform
import socket
import time
import traceback
import uuid
from typing import Any

from snaglist_client.sending import Sender

# What every record has; anything else came with `extra` and is context.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class SnaglistHandler(logging.Handler):
    """Sends records to the address of snaglist's `ingest` endpoint.

    `key` is the ingest key. `channel` names the program, by default the name of the record's logger. At most `queue`
    events wait; further ones are counted in `dropped`. What keeps events from arriving (a refused key, a redirect, an
    unknown host …) is said on stderr, once for each reason. Exceptions of records become class and stack, their
    `extra` becomes context.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        level: int = logging.WARNING,
        environment: str | None = None,
        release: str | None = None,
        channel: str | None = None,
        queue: int = 10_000,
        timeout: float = 10.0,
    ) -> None:
        super().__init__(level)
        self._common = {"environment": environment, "release": release, "server_name": socket.gethostname()}
        self._common["runtime"] = f"{platform.python_implementation()} {platform.python_version()}"
        self._channel = channel
        self._sender = Sender(url, key, queue, timeout)

    @property
    def dropped(self) -> int:
        """How many events were given up: the queue was full, or snaglist refused them."""
        return self._sender.dropped

    def handle(self, record: logging.LogRecord) -> Any:
        """Filter and queue a record without the handler's lock: `logging.shutdown` holds it while it waits."""
        found = self.filter(record)
        if found:
            self.emit(found if isinstance(found, logging.LogRecord) else record)
        return found

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record; problems are reported as `logging` does for all handlers, and never raised."""
        if record.name.startswith("snaglist_client"):
            return
        try:
            self._sender.put(json.dumps(self._event(record), default=_shown))
        except Exception:
            self.handleError(record)

    def flush(self, timeout: float = 5.0) -> None:
        """Wait until everything is sent, or the time in seconds is over."""
        self._sender.flush(timeout)

    def close(self) -> None:
        """Send what waits, for up to 5 seconds with a flush just before, and end the thread."""
        self._sender.close()
        super().close()

    def _event(self, record: logging.LogRecord) -> dict[str, Any]:
        context = {name: value for name, value in vars(record).items() if name not in _OWN}
        event: dict[str, Any] = {
            **{name: value for name, value in self._common.items() if value is not None},
            "event_id": uuid.uuid4().hex,
            "timestamp": int(record.created * 1000) if record.created else int(time.time() * 1000),
            "message": record.getMessage() or record.levelname,
            "level": record.levelname if record.levelname.isupper() else record.levelno,
            "channel": self._channel or record.name,
            "context": {**context, "logger": record.name, "thread": record.threadName, "process": record.process},
        }
        if record.exc_info and record.exc_info[0] is not None:
            event["exception_class"] = record.exc_info[0].__qualname__
            event["stack"] = "".join(traceback.format_exception(*record.exc_info))
        elif record.stack_info:
            event["stack"] = record.stack_info
        return event


def _shown(value: object) -> str:
    """Show what JSON has no form for."""
    try:
        return repr(value)[:1000]
    except Exception:
        return f"<{type(value).__name__}>"

"""The background thread: batches, gzip, and repetition with growing pauses."""

import atexit
import gzip
import os
import random
import threading
import time
import urllib.error
import urllib.request
from collections import deque

BATCH = 100  # events of a request
BATCH_BYTES = 1_000_000
GATHER_SECONDS = 1.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
CLOSE_SECONDS = 5.0
_PASSING = (408, 425, 429)  # refusals that a later request need not get; so are all 5xx


class Sender:
    """Sends JSON texts of events from a queue of bounded length. Made once, used by any thread."""

    def __init__(self, url: str, key: str, queue: int, timeout: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError("url: must begin with http:// or https://")
        self.dropped = 0
        self._url, self._key, self._timeout, self._most = url, key, timeout, queue
        self._reset()
        atexit.register(self.close)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)  # the parent sends what the parent queued

    def put(self, event: str) -> None:
        """Queue an event; it is counted as dropped when the queue is full."""
        with self._changed:
            if len(self._waiting) >= self._most or self._closing:
                self.dropped += 1
                return
            self._waiting.append(event)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="snaglist_client", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until the queue is empty; False when the time in seconds is over before."""
        until = time.monotonic() + timeout
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            while self._waiting or self._busy:
                left = until - time.monotonic()
                if left <= 0 or self._thread is None:
                    return False
                self._changed.wait(min(left, 0.1))
            return True

    def close(self) -> None:
        """Send what waits, for up to 5 seconds, and take nothing more."""
        with self._changed:
            started, done = self._thread is not None, self._closing
            self._closing = True
        if started and not done:
            self.flush(CLOSE_SECONDS)
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        atexit.unregister(self.close)

    def _reset(self) -> None:
        self._waiting: deque[str] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._busy = self._hurry = self._closing = self._ended = False

    def _run(self) -> None:
        pause = 0.0
        while True:
            batch = self._take(pause)
            if not batch:
                return
            pause = self._send(batch, pause)

    def _take(self, pause: float) -> list[str]:
        """Return the next events, after the pause that a failure asks for; none at the end."""
        with self._changed:
            if pause:
                self._changed.wait_for(lambda: self._ended, pause)
            while not self._waiting:
                if self._ended:
                    return []
                self._hurry = False
                self._changed.wait()
            self._changed.wait_for(self._is_time, GATHER_SECONDS)
            if self._ended:
                return []
            batch: list[str] = []
            size = 0
            while self._waiting and len(batch) < BATCH and (not batch or size + len(self._waiting[0]) < BATCH_BYTES):
                batch.append(self._waiting.popleft())
                size += len(batch[-1])
            self._busy = True
            return batch

    def _is_time(self) -> bool:
        return self._hurry or self._ended or len(self._waiting) >= BATCH

    def _send(self, batch: list[str], pause: float) -> float:
        """Send a batch; returns the pause before the next one."""
        after = 0.0
        try:
            body = gzip.compress(("[" + ",".join(batch) + "]").encode(), 1)
            headers = {
                "Content-Type": "application/json",
                "Content-Encoding": "gzip",
                "X-Service-Ingest-Key": self._key,
            }
            request = urllib.request.Request(self._url, body, headers, method="POST")
            with urllib.request.urlopen(request, timeout=self._timeout):
                pass
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _PASSING or error.code >= 500:
                    after = self._again(batch, pause, error.headers.get("Retry-After"))
                else:
                    self.dropped += len(batch)
        except Exception:  # the program that logs must not suffer from any failure of the network
            after = self._again(batch, pause, None)
        with self._changed:
            self._busy = False
            self._changed.notify_all()
        return after

    def _again(self, batch: list[str], pause: float, asked: str | None) -> float:
        """Put a batch back; returns the pause. What was sent meanwhile by others waits behind it."""
        with self._changed:
            room = max(0, self._most - len(self._waiting))
            self.dropped += max(0, len(batch) - room)
            self._waiting.extendleft(reversed(batch[:room]))
        longer = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * pause)) * random.uniform(0.8, 1.2)
        return max(longer, float(asked)) if asked and asked.isdigit() else longer

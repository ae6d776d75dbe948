"""The background thread: batches, gzip, and repetition with growing pauses."""

import atexit
import gzip
import os
import random
import re
import threading
import time
import urllib.error
import urllib.request
import weakref
from collections import deque
from http.client import HTTPMessage
from typing import IO

from snaglist_client.saying import Voice

BATCH = 100  # events of a request
BATCH_BYTES = 1_000_000
QUEUE_BYTES = 64_000_000  # characters of all events that wait
GATHER_SECONDS = 1.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
LONGEST_ASKED = 3600  # seconds that a `Retry-After` is followed
CLOSE_SECONDS = 5.0
_PASSING = (408, 425, 429)  # refusals that a later request need not get; so are all 5xx
_ONE_MOMENT = 0.5


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the key would go to wherever it leads, and the events would be left behind."""

    def http_error_302(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> None:
        """Leave a redirect what it is: a refusal."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class Sender:
    """Sends JSON texts of events from a queue of bounded length. Made once, used by any thread."""

    def __init__(self, url: str, key: str, queue: int, timeout: float) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError("url: must begin with http:// or https://")
        self.dropped = 0
        if not (key.isascii() and key.strip().isprintable()):
            raise ValueError("key: must be visible ASCII characters")
        self._url, self._key, self._timeout, self._most = url, key.strip(), timeout, queue
        self._opener = urllib.request.build_opener(_Stay)
        self._voice = Voice(url)
        self._reset()
        _senders.add(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)  # the parent sends what the parent queued

    def put(self, event: str) -> None:
        """Queue an event; it is counted as dropped when the queue is full. Waits for nothing but other calls."""
        with self._changed:
            if len(self._waiting) >= self._most or self._size + len(event) > QUEUE_BYTES or self._closing:
                self.dropped += 1
                self._full = not self._closing
                return
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="snaglist_client", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # the program is at its end, or has too many threads
                    self.dropped += 1
                    return
                self._thread = thread
            self._waiting.append(event)
            self._size += len(event)
            self._changed.notify_all()

    def flush(self, timeout: float) -> bool:
        """Wait until the queue is empty; False when the time in seconds is over before."""
        begun = time.monotonic()
        emptied = self._wait(begun + timeout)
        if not emptied:
            self._in_vain = (begun, time.monotonic())
        return emptied

    def hurry(self) -> None:
        """Take nothing more, and send what waits now, whatever pause a failure asked for."""
        with self._changed:
            self._closing = self._at_once = True
            self._changed.notify_all()

    def close(self, until: float | None = None) -> None:
        """Send what waits, for up to 5 seconds or until a moment of the monotonic clock, and take nothing more.

        A flush that ended in vain just before, as `logging.shutdown` does it, counts: 5 seconds in all.
        """
        begun, ended = self._in_vain
        now = time.monotonic()
        if until is None:
            until = (begun if now - ended < _ONE_MOMENT else now) + CLOSE_SECONDS
        self.hurry()
        self._wait(until)
        with self._changed:
            lost = len(self._waiting) + self._sending
            self._ended = True
            self._waiting.clear()
            self._size = self._sending = 0
            self.dropped += lost
            self._changed.notify_all()
        self._tell_full()
        if lost:
            self._voice.say(
                "end", f"{lost} events could not be sent to {self._voice.place} before the end of the program"
            )

    def _reset(self) -> None:
        self._waiting: deque[str] = deque()
        self._size = self._sending = 0  # characters that wait; events of the request on its way
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._hurry = self._at_once = self._closing = self._ended = self._full = False
        self._in_vain = (0.0, 0.0)

    def _wait(self, until: float) -> bool:
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            while (self._waiting or self._sending) and not self._ended:
                left = until - time.monotonic()
                if left <= 0 or self._thread is None:
                    return False
                self._changed.wait(min(left, 0.1))
            return not self._waiting

    def _run(self) -> None:
        pause = 0.0
        while True:
            batch = self._take(pause)
            if not batch:
                return
            self._tell_full()
            pause = self._send(batch, pause)

    def _tell_full(self) -> None:
        if self._full:
            self._voice.say("full", f"the queue for {self._voice.place} is full: events are dropped, and counted")

    def _take(self, pause: float) -> list[str]:
        """Return the next events, after the pause that a failure asks for; none at the end."""
        with self._changed:
            if pause:
                self._changed.wait_for(lambda: self._ended or self._at_once, pause)
                self._at_once = False
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
            self._size -= size
            self._sending = len(batch)
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
            with self._opener.open(request, timeout=self._timeout):
                pass
        except urllib.error.HTTPError as error:
            with error:
                if error.code in _PASSING or error.code >= 500:
                    after = self._again(batch, pause, error.headers.get("Retry-After"))
                else:
                    after = self._drop(batch)
                    self._voice.refused(error.code, error.headers.get("Location"))
        except Exception as error:  # the program that logs must not suffer from any failure of the network
            after = self._again(batch, pause, None)
            self._voice.unreachable(error)
        with self._changed:
            self._sending = 0
            self._changed.notify_all()
        return after

    def _drop(self, batch: list[str]) -> float:
        with self._changed:
            self.dropped += len(batch) if not self._ended else 0  # else `close` has counted them
        return 0.0

    def _again(self, batch: list[str], pause: float, asked: str | None) -> float:
        """Put a batch back; returns the pause. What was sent meanwhile by others waits behind it."""
        with self._changed:
            if not self._ended:
                room = max(0, self._most - len(self._waiting))
                self.dropped += max(0, len(batch) - room)
                self._waiting.extendleft(reversed(batch[:room]))
                self._size += sum(map(len, batch[:room]))
        longer = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * pause)) * random.uniform(0.8, 1.2)
        wanted = min(int(asked), LONGEST_ASKED) if asked and re.fullmatch("[0-9]{1,9}", asked) else 0
        return max(longer, wanted)


_senders: "weakref.WeakSet[Sender]" = weakref.WeakSet()


@atexit.register  # after that of `logging`, so it runs before it
def _close_all() -> None:
    """Give what waits 5 seconds at the end of the program: all handlers together."""
    until = time.monotonic() + CLOSE_SECONDS
    open_ones = list(_senders)
    for sender in open_ones:
        sender.hurry()
    for sender in open_ones:
        sender.close(until)

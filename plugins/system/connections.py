"""Connections of the server: what a client may make it wait for, and who gives way when there are too many.

waitress bounds neither how long a client reads its answer, nor a request that never ends, nor how many requests
wait on one connection. It offers these places for it: channels and servers are classes to be derived from.
"""

import errno
import logging
import os
import select
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from snaglist.kernel.settings import Settings

log = logging.getLogger("snaglist")

LEAST_CONNECTIONS = 10
TAKEN_AT_ONCE = 16
OTHER_FILES = 48  # of the process itself, at the least
WITHOUT_POLL = 400  # select() takes no more than 512 on Windows
UNSENT_BYTES = 128 * 1024  # in the kernel, or a slow reader would seem to rest until megabytes are taken from there
NO_FILES_SECONDS = 0.1
YOUNG_SECONDS = 1.0
NOTE_SECONDS = 60
DRAIN_SECONDS = 9  # of the ten that an end may take
TAKING_SECONDS = 2  # a client that took something so short ago is still taking its answer
_NO_FILES = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_CUT_OFF = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)  # `struct linger`: on, for no second
_TOLD = {
    "server.connection_limit": "server.connection_limit: connections that waited for their client, closed for others",
    "all at work": "server.connection_limit: times that none could be closed, as the requests of all were at work",
    "large bodies": "connections closed for the body of another, as large ones on their way wait in files",
    "server.idle_timeout": "server.idle_timeout: connections closed on which no request came",
    "server.header_timeout": "server.header_timeout: connections closed on which the head of a request did not end",
    "server.body_timeout": "server.body_timeout: connections closed on which the body of a request did not end",
    "server.stall_timeout": "server.stall_timeout: connections closed whose client took or sent too little",
    "open files": "connections closed because the process may open no more files (ulimit -n)",
}
_USUAL = {"server.idle_timeout"}


class Pace:
    """Bytes within a span of time. It counts from `restart`; a span in which enough moved is followed by the next."""

    def __init__(self) -> None:
        self.restart(0)

    def restart(self, moved: int) -> None:
        """Begin a span; `moved` is what was moved in all until now, in bytes."""
        self.since, self._moved = monotonic(), moved

    def advance(self, moved: int, least: int) -> None:
        """Begin the next span when at least `least` bytes moved in this one."""
        if moved - self._moved >= least:
            self.restart(moved)

    def stalled(self, moved: int, now: float, least: int, seconds: float) -> bool:
        """Tell whether fewer than `least` bytes moved in the last `seconds`; asked about once a second."""
        self.advance(moved, least)
        return now - self.since > seconds


class Connection(HTTPChannel):
    """waitress's channel, with one request at a time and an end to waiting."""

    server: Any
    request: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.idle_since = monotonic()
        self.in_file = False
        self._rest = b""  # what came behind the request that is answered now
        self._sent = 0
        self._answer_pace = Pace()
        super().__init__(*arguments, **named)
        self.sendbuf_len = min(self.sendbuf_len, UNSENT_BYTES)

    def keep(self, rest: bytes) -> None:
        """Take what came behind a request; it is parsed when the answer was sent."""
        self._rest = rest

    @property
    def _next_is_due(self) -> bool:
        waits = self.requests or self.total_outbufs_len or self.will_close or self.close_when_flushed
        return bool(self._rest) and not waits and not self.server.ending

    def owes(self, now: float) -> bool:
        """Tell whether a request is at work here, or its client still takes the answer."""
        return bool(self.requests or (self.total_outbufs_len and now - self.idle_since < TAKING_SECONDS))

    def readable(self) -> bool:
        """Tell whether more may be received."""
        return self.socket is not None and not self._rest and not self.server.ending and super().readable()

    def writable(self) -> bool:
        """Tell whether something is to be done once the client takes bytes: the next request too waits for that."""
        return self.socket is not None and bool(super().writable() or self._next_is_due)

    def handle_write(self) -> None:
        """Send what waits, then go on with what was received."""
        if self.socket is None:  # closed by what was read just now
            return
        super().handle_write()
        if self.socket is not None and self._next_is_due:
            rest, self._rest = self._rest, b""
            self.received(rest)

    def received(self, data: bytes) -> bool:
        """Take in what was received; a body that goes on in a file may need the place of another."""
        taken = super().received(data)
        request = self.request
        was, self.in_file = self.in_file, request is not None and request.body_bytes_received > self.adj.inbuf_overflow
        if self.in_file and not was:
            self.server.bound_files()
        if self.in_file:  # who goes on is not who waits longest
            request.body_pace.advance(request.body_bytes_received, self.server.stall_bytes)
        return taken

    def write_soon(self, data: bytes) -> int:
        """Queue a part of an answer; waits in a handler's thread while too much is queued."""
        if not self.total_outbufs_len:
            self._answer_pace.restart(self._taken)
        return super().write_soon(data)

    def send(self, data: bytes, do_close: bool = True) -> int:
        """Send what the client takes now."""
        sent = super().send(data, do_close)
        if sent:
            self._sent += sent
            self.idle_since = monotonic()
        return sent

    @property
    def _taken(self) -> int:
        """How much was sent and, where the system tells, has arrived: it takes more only once much of that did."""
        return self._sent - _on_its_way(self.socket)

    def service(self) -> None:
        """Answer the request, in a handler's thread."""
        super().service()
        self.idle_since = monotonic()

    def overstepped(self, now: float, limits: Settings) -> str:
        """Return the setting whose limit the client overstepped, empty for none."""
        least, seconds = limits["server.stall_bytes"], limits["server.stall_timeout"]
        if self.total_outbufs_len or self._next_is_due:
            slow = self._answer_pace.stalled(self._taken, now, least, seconds)
            return "server.stall_timeout" if slow else ""
        if self.requests:  # a handler is at work
            return ""
        request = self.request
        if request is None:
            return "server.idle_timeout" if now - self.idle_since > limits["server.idle_timeout"] else ""
        if not request.headers_finished:
            return "server.header_timeout" if now - request.began > limits["server.header_timeout"] else ""
        if now - request.body_began > limits["server.body_timeout"]:
            return "server.body_timeout"
        slow = request.body_pace.stalled(request.body_bytes_received, now, least, seconds)
        return "server.stall_timeout" if slow else ""

    def dispensable(self, now: float) -> tuple[int, float]:
        """Return a sort key: who gives way first to a new connection.

        Idle ones, then those whose request is on its way, then those that take an answer; of each kind who waits
        longest: for some bytes of a body, not for its end. Last come all that began a moment ago: what they want may
        not have been received yet.
        """
        if self.total_outbufs_len:
            order, since = 2, self._answer_pace.since
        else:
            order, since = (0, self.idle_since) if self.request is None else (1, self.request.body_pace.since)
        return (order if now - since > YOUNG_SECONDS else 3), since

    def drop(self) -> None:
        """Close at once, what was not sent is lost; a handler that waits for the client goes on.

        A client that does not take its answer is cut off (RST): after a plain close the operating system would keep
        what is in its buffers, and offer it, for minutes.
        """
        if self.request is not None:
            self.request.close()
        if self.socket is not None and (self.total_outbufs_len or self._rest):
            with suppress(OSError):  # some systems refuse when the client has gone already
                self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _CUT_OFF)
        self.handle_close()


class Server(TcpWSGIServer):
    """waitress's server on an open socket, that lasts through clients who hold what they have.

    `urgent` tells requests that a thread of their own answers, so that they do not wait for slow handlers.
    """

    active_channels: Any
    _map: Any

    def __init__(
        self,
        application: Any,
        listener: socket.socket,
        settings: Settings,
        urgent: Callable[[Any], bool],
        **adjustments: Any,
    ) -> None:
        limit = settings["server.connection_limit"]
        self._limit = min(limit, _room_for())
        if self._limit < limit:
            said = "server.connection_limit: %d in place of %d: the process may open too few files (ulimit -n)"
            log.warning(said, self._limit, limit)
        self._settings, self._urgent = settings, urgent
        self.stall_bytes = settings["server.stall_bytes"]
        self._notes = Notes()
        self._full = False
        self._wanted = 1  # places for new connections in the next round
        self._full_until = 0.0
        self.ending = False
        self._urgent_tasks = ThreadedTaskDispatcher()
        self._urgent_tasks.set_thread_count(1)
        adj = Adjustments(
            sockets=[listener],
            asyncore_use_poll=True,
            cleanup_interval=1,
            connection_limit=2**31,  # readable() below has another
            **adjustments,
        )
        where: Any = (listener.family, listener.type, listener.proto, listener.getsockname())
        super().__init__(application, None, True, listener, adj=adj, sockinfo=where, bind_socket=False)

    def run(self) -> None:
        """Serve until `end`, then send what is owed: answers wait in this process until their clients take them."""
        while not self.ending:
            self._turn(self.adj.asyncore_loop_timeout)
        log.info("stopping")
        until = monotonic() + DRAIN_SECONDS
        while (now := monotonic()) < until and any(channel.owes(now) for channel in self.active_channels.values()):
            self._turn(0.1)

    def _turn(self, seconds: float) -> None:
        self.asyncore.loop(timeout=seconds, map=self._map, use_poll=self.adj.asyncore_use_poll, count=1)

    def end(self) -> None:
        """Take no more requests. Handlers of signals call this: raising there could send a part of an answer twice."""
        self.ending = True
        self.pull_trigger()

    def readable(self) -> bool:
        """Tell whether a connection may be taken: there is room for one, or one gives way."""
        accepting = super().readable()  # sees to `maintenance` too
        if self.ending:
            return False
        room = self._limit - len(self.active_channels)
        while room < self._wanted and self._make_room("server.connection_limit"):
            room += 1
        full = room <= 0
        if full and not self._full:
            self._notes.count("all at work")
        self._full = full
        return accepting and not full and monotonic() >= self._full_until

    def handle_accept(self) -> None:
        """Take those who wait to be connected: one at a time would leave them behind a crowd for seconds.

        Nobody gives way meanwhile: what is ready in this round is known by file descriptors, and one that came free
        would be a new connection's.
        """
        room = self._limit - len(self.active_channels)
        for _ in range(min(room, TAKEN_AT_ONCE)):
            number = len(self.active_channels)
            super().handle_accept()
            if len(self.active_channels) <= number:
                self._wanted = 1
                return
        self._wanted = min(2 * self._wanted, TAKEN_AT_ONCE, max(1, self._limit // 8))

    def accept(self) -> Any:
        """Take a connection; without a free file descriptor the next one has to wait."""
        try:
            return super().accept()
        except OSError as error:
            if error.errno not in _NO_FILES:
                raise
            if not self._make_room("open files"):
                self._full_until = monotonic() + NO_FILES_SECONDS
            return None

    def set_socket_options(self, conn: socket.socket) -> None:
        """Keep little in the kernel of what a client does not take."""
        super().set_socket_options(conn)
        if hasattr(socket, "TCP_NOTSENT_LOWAT"):
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)

    def add_task(self, task: Any) -> None:
        """Queue a connection whose request is complete."""
        tasks = self._urgent_tasks if self._urgent(task.requests[0]) else self.task_dispatcher
        tasks.add_task(task)

    def maintenance(self, now: float) -> None:
        """Close the connections that overstepped a limit; once a second."""
        at = monotonic()
        for channel in list(self.active_channels.values()):
            if name := channel.overstepped(at, self._settings):
                self._notes.count(name)
                channel.drop()
        self._notes.tell(at)

    def bound_files(self) -> None:
        """See that no more bodies on their way have files than a quarter of the connections."""
        large = [channel for channel in self.active_channels.values() if channel.in_file]
        if len(large) > max(1, self._limit // 4):
            self._drop_one(large, "large bodies")

    def close(self) -> None:
        """Close what the server itself has open."""
        self._urgent_tasks.shutdown(timeout=1)
        super().close()

    def _make_room(self, reason: str) -> bool:
        """Close the connection that can best be done without; False when handlers are at work for all of them."""
        others = list(self.active_channels.values())[:-1]  # nothing was received yet of the one taken last
        waiting = [channel for channel in others if not channel.requests]
        if waiting:
            self._drop_one(waiting, reason)
        return bool(waiting)

    def _drop_one(self, channels: list[Any], reason: str) -> None:
        now = monotonic()
        self._notes.count(reason)
        min(channels, key=lambda channel: channel.dispensable(now)).drop()


class Notes:
    """Tells in the log what limits did: at once, then a line a minute for each with what happened meanwhile."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._next: dict[str, float] = {}

    def count(self, name: str) -> None:
        """Count what a limit did."""
        self._counts[name] += 1

    def tell(self, now: float) -> None:
        """Write the lines that are due."""
        for name in [name for name in self._counts if now >= self._next.get(name, now)]:
            level = logging.DEBUG if name in _USUAL else logging.WARNING
            log.log(level, "%s: %d", _TOLD[name], self._counts.pop(name))
            self._next[name] = now + NOTE_SECONDS


def _on_its_way(connection: socket.socket | None) -> int:
    """Return how many bytes the system has taken for a connection that the other side did not confirm; 0 if unknown."""
    try:
        import fcntl  # neither is there on Windows
        import termios

        return int.from_bytes(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)), sys.byteorder)  # type: ignore[arg-type]
    except (ImportError, AttributeError, OSError, TypeError, ValueError):  # the last three: it is closed
        return 0


def _room_for() -> int:
    """Return for how many connections there are files: the other half is for databases, logs and large bodies."""
    if not hasattr(select, "poll"):
        return WITHOUT_POLL
    import resource  # not on Windows

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 2**31 if most == resource.RLIM_INFINITY else max(LEAST_CONNECTIONS, min(most // 2, most - OTHER_FILES))

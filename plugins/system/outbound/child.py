"""Other people's network clients: run in a child process in which every connection is checked.

A client that resolves and connects by itself cannot be given a checked address. In the child an audit hook of the
interpreter looks at each connection just before it is made and refuses those to addresses that are not public,
however the client came to them: by name, redirect or spelling. Another process would not be watched, so none can
be started. Clients that connect from C code of their own are not seen: do not run those here.

Parent and child speak over the child's standard input and output: a line of JSON, then the bytes it announces.
"""

import importlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, Any, Self

from snaglist.kernel import BadGateway
from snaglist.kernel.origin import Network, parse_networks
from snaglist.plugins.system.outbound.addresses import Refused, check_address

START_SECONDS = 60.0
_MESSAGE = 500
_HIDDEN = ("SERVICE_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY")
_PROCESSES = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")


class GuardedChild:
    """An object of `factory` (`module:callable`, called with `arguments`) that lives in a guarded child process.

    Its methods are called with `call`. Close it, or use it as a context manager.
    """

    def __init__(self, factory: str, allowed: Sequence[Network], **arguments: Any) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "snaglist.plugins.system.outbound.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a client's log could hold what it was given as a secret
            env={name: value for name, value in os.environ.items() if not name.upper().startswith(_HIDDEN)},
        )
        try:
            networks = [str(network) for network in allowed]
            self._exchange({"factory": factory, "allowed": networks, "arguments": arguments}, START_SECONDS)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, method: str, *, timeout: float, **arguments: Any) -> Any:
        """Call a method with JSON arguments; returns its JSON value, or the bytes it returned.

        Raises BadGateway for whatever it raises, and when it is not done after `timeout` seconds; then the child
        is gone.
        """
        return self._exchange({"method": method, "arguments": arguments}, timeout)

    def close(self) -> None:
        """End the child."""
        self._child.kill()
        for stream in (self._child.stdin, self._child.stdout):
            if stream:
                with suppress(OSError):  # what was not sent yet does not matter any more
                    stream.close()
        self._child.wait()

    def _exchange(self, request: dict[str, Any], timeout: float) -> Any:
        assert self._child.stdin and self._child.stdout
        late = threading.Timer(timeout, self._child.kill)
        late.daemon = True
        late.start()
        try:
            _send(self._child.stdin, json.dumps(request))
            answer, content = _receive(self._child.stdout)
        except (OSError, EOFError, ValueError) as error:
            raise BadGateway("No answer in time." if late.finished.is_set() else "The client ended.") from error
        finally:
            late.cancel()
        if "error" in answer:
            raise BadGateway(answer["error"])
        return content if "size" in answer else answer["value"]


def _send(stream: IO[bytes], document: str, content: bytes = b"") -> None:
    stream.write(document.encode() + b"\n")
    stream.write(content)
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[dict[str, Any], bytes]:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    document = json.loads(line)
    size = document.get("size", 0)
    content = stream.read(size)
    if len(content) != size:
        raise EOFError
    return document, content


# -- inside the child


def guard(allowed: Sequence[Network]) -> None:
    """Refuse, from here on and for good, what would leave the guard; for child processes only."""

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            if arguments[1] is not None:  # else it goes where the socket is connected to
                _check_peer(arguments[0], arguments[1], allowed)
        elif event in _PROCESSES:
            raise Refused(f"{event} is not allowed here")

    sys.addaudithook(look)
    original = socket.getaddrinfo

    def resolve(*arguments: Any, **named: Any) -> Any:
        found = original(*arguments, **named)
        for entry in found:
            check_address(str(entry[4][0]), allowed)
        return found

    socket.getaddrinfo = resolve


def _check_peer(connection: socket.socket, address: Any, allowed: Sequence[Network]) -> None:
    if connection.family not in (socket.AF_INET, socket.AF_INET6) or not isinstance(address, tuple):
        raise Refused("only connections over IP are allowed here")
    try:
        check_address(str(address[0]), allowed)
    except ValueError:  # a name: it would be resolved behind our back
        raise Refused("connections by name are not allowed here") from None


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    served: Any = None
    while True:
        try:
            request, _ = _receive(requests)
        except EOFError:
            return
        try:
            if "factory" in request:
                module, _, name = request["factory"].partition(":")
                factory = getattr(importlib.import_module(module), name)
                guard(parse_networks(request["allowed"]))
                served = factory(**request["arguments"])
                value = None
            else:
                value = getattr(served, request["method"])(**request["arguments"])
            content = value if isinstance(value, bytes) else b""
            answer = json.dumps({"size": len(content)} if isinstance(value, bytes) else {"value": value})
        except Exception as error:  # clients raise what they like
            answer, content = json.dumps({"error": _told(error)}), b""
        _send(answers, answer, content)


def _told(error: BaseException) -> str:
    """Return in a line what went wrong; of a refusal deep below, the refusal."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, Refused):
        cause = cause.__cause__ or cause.__context__
    text = (not cause and _unreached(error)) or " ".join(str(cause or error).split()) or type(error).__name__
    return text[:_MESSAGE]


def _unreached(error: BaseException) -> str:
    """Return that a host could not be connected to, where a client says so in words of its own."""
    cause: BaseException | None = error
    while cause is not None:
        host, port, number = (getattr(cause, name, None) for name in ("host", "port", "errno"))
        if isinstance(cause, OSError) and host and port and number:
            return f"Could not connect to {host}:{port}: {os.strerror(number).lower()}"
        cause = cause.__cause__ or cause.__context__
    return ""


def main() -> None:
    """Serve one parent; what libraries print goes nowhere."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()

"""The production server: waitress, with the service's own envelope for what waitress refuses, and a clean end.

What a client may keep waiting is in `connections`, what a request may look like in `wire`.
"""

import errno
import logging
import signal
import socket
import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

from falcon import code_to_http_status
from waitress.task import ErrorTask, WSGITask

from snaglist.kernel import Reply, ServiceError, UriTooLong, internal_error
from snaglist.kernel.app import create_app, security_headers
from snaglist.kernel.endpoints import DEFAULT_BODY_LIMIT
from snaglist.kernel.gate import MAX_URL, TOO_LONG, Gate, encode_json
from snaglist.kernel.service import Service
from snaglist.kernel.settings import ConfigurationError
from snaglist.plugins.system.connections import Connection, Server
from snaglist.plugins.system.jobs.worker import Worker
from snaglist.plugins.system.wire import StrictParser

log = logging.getLogger("snaglist")

# Bodies over an endpoint's limit are read this far and refused by the gate: waitress closes the connection while
# the client still sends, which then sees a reset in place of the answer.
BODY_MARGIN = 8 * 1024 * 1024
MAX_HEADERS = 96 * 1024
RECEIVED_BYTES = 64 * 1024  # at once; waitress's 8 KiB cost most bodies several rounds of its loop
BODY_IN_MEMORY = 128 * 1024  # of each connection; the rest waits in a file


def serve(
    service: Service,
    host: str,
    port: int,
    *,
    threads: int = 8,
    run_jobs: bool = True,
    ready: Callable[[str], None] = print,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what runs.

    `ready` gets the base URL once the port is open; port 0 takes a free one. ConfigurationError when the
    port cannot be had.
    """
    if not host:  # would be every address, without a word
        raise ConfigurationError("server.host: must not be empty: 0.0.0.0 is every address of this machine")
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigurationError(_not_open(host, port, error)) from error
    largest = max(service.body_limit(endpoint) for endpoint, _ in service.endpoints().values())
    channel_class, urgent = _channel_class(service)
    server = Server(
        create_app(service),
        listener,
        service.settings,
        urgent,
        threads=threads,
        ident="snaglist",
        server_name=_shown(host),  # what HTTP/1.0 clients without a Host speak to
        max_request_body_size=largest + BODY_MARGIN,
        max_request_header_size=MAX_HEADERS,
        recv_bytes=RECEIVED_BYTES,
        inbuf_overflow=BODY_IN_MEMORY,
        clear_untrusted_proxy_headers=False,
    )
    server.channel_class = channel_class
    workers = [Worker(service, "serve") for _ in range(service.settings["jobs.workers"])] if run_jobs else []
    end_on_signals(server.end)
    try:
        for worker in workers:
            worker.start()
        ready(f"http://{_shown(host)}:{listener.getsockname()[1]}/")
        server.run()
    finally:
        server.task_dispatcher.shutdown(timeout=1)
        server.close()
        for worker in workers:
            worker.stop()
        service.close()


def _not_open(host: str, port: int, error: OSError) -> str:
    """Say which setting keeps the port from being opened, and what to do."""
    if error.errno == errno.EADDRINUSE:
        return f"server.port: port {port} on {host} is in use: end what listens there, or choose another --port"
    if error.errno == errno.EACCES:
        return f"server.port: port {port} needs more rights than this user has: choose another --port, from 1024 on"
    if error.errno == errno.EADDRNOTAVAIL or (error.errno or 0) < 0:  # the resolver's failures have negative numbers
        return f"server.host: {host} is no address of this machine: choose another --host, like 127.0.0.1 or 0.0.0.0"
    return f"server.port: cannot listen on {host} port {port}: {error.strerror or error}"


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def end_on_signals(end: Callable[[], None]) -> None:
    """Call `end` in the main thread at the first SIGTERM or SIGINT, which would cut requests and jobs off.

    It sets a mark and raises nothing: Python drops what is raised while a finalizer happens to run. It sets no event
    either, which would lock itself up while the main thread is about to wait for it.
    """

    def stop(*_: Any) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)  # once is enough; a second one must not cut the end short
        end()

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)


def _refusal(request: StrictParser) -> ServiceError:
    """Return the failure that stands for what waitress refused."""
    refusal: Any = request.error
    if refusal.code == 500:
        return internal_error(None, "internal error in the server")
    # waitress stops reading at its limit for headers, be it the URL that is too long.
    if refusal.code == 431 and len(request.header_plus.partition(b"\r\n")[0]) > MAX_URL:
        return UriTooLong(TOO_LONG)
    failed = ServiceError(f"{refusal.reason}.")
    failed.status = refusal.code
    return failed


def _channel_class(service: Service) -> tuple[type[Connection], Callable[[Any], bool]]:
    """Connections with an error page that is the service's envelope, and what tells requests that must not wait."""
    gate = Gate(service)
    own_keys = [endpoint for endpoint, _ in service.endpoints().values() if endpoint.authenticate]
    small = max(DEFAULT_BODY_LIMIT, *map(service.body_limit, own_keys)) + BODY_MARGIN

    class EnvelopeTask(ErrorTask):
        def execute(self) -> None:
            request: Any = self.request
            refused = request.refusal if request.error.code == 413 else None
            reply = refused or gate.refuse(
                {"PATH_INFO": request.path, "QUERY_STRING": request.query}, _refusal(request)
            )
            body = encode_json(reply.body)
            self.status = code_to_http_status(reply.status)
            self.close_on_finish = True
            self.response_headers = [
                ("Content-Length", str(len(body))),
                ("Content-Type", reply.content_type),
                ("Cache-Control", "no-store"),
                ("Connection", "close"),
                *{**security_headers(service.settings, "http"), **reply.headers}.items(),
            ]
            self.write(body)

    class Channel(Connection):
        error_task_class = EnvelopeTask

        def parser_class(self, adjustments: Any) -> StrictParser:  # type: ignore[override]
            return StrictParser(adjustments, small, self.ask, self.keep)

        def ask(self, request: Any) -> Reply | None:
            return gate.may_send_body(WSGITask(self, request).get_environment())

    def urgent(request: Any) -> bool:
        query = dict(parse_qsl(request.query))
        endpoint = gate.target({"PATH_INFO": request.path}, query).endpoint
        return endpoint is not None and endpoint.name == "health"

    return Channel, urgent

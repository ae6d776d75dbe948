"""Reading requests from the wire: waitress's parser, with what it leaves open closed."""

import logging
import re
from collections.abc import Callable
from time import monotonic
from types import SimpleNamespace
from typing import Any

from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import BadRequest, InternalServerError, RequestEntityTooLarge

from snaglist.kernel import Reply
from snaglist.plugins.system.connections import Pace

log = logging.getLogger("snaglist")

MAX_CHUNK_LINE = 4096  # size and extensions of a chunk; waitress keeps and searches a line of any length
MAX_TRAILER = 16 * 1024
_TRANSFER_CODING = re.compile(rb"^transfer-encoding:[ \t]*(.*?)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class StrictParser(HTTPRequestParser):
    """waitress's parser, that also refuses what a proxy in front may see end elsewhere (request smuggling).

    `ask` is the gate's word on a large body: no more than `small` bytes are taken where it answers, because a body is
    received as a whole before the request is answered. What comes behind a complete request is handed to `keep`:
    it is parsed when the answer was sent, or one client could make any number of requests wait.
    """

    refusal: Reply | None = None
    path = query = ""  # until the first line was read

    def __init__(
        self,
        adjustments: Any,
        small: int,
        ask: Callable[["StrictParser"], Reply | None],
        keep: Callable[[bytes], None],
    ) -> None:
        super().__init__(adjustments)
        self._small, self._ask, self._keep = small, ask, keep
        self.began = monotonic()
        self.body_began = self.began  # right when `headers_finished`
        self.body_pace = Pace()

    def received(self, data: bytes) -> int:
        """Take in what was received; returns how much of it is done with."""
        in_head = not self.headers_finished
        try:
            taken = super().received(data)
        except OSError as error:  # the file that a large body waits in
            log.error("a request could not be received: %s", error.strerror or error)
            self.error, self.completed, taken = InternalServerError(""), True, len(data)
        if in_head and self.headers_finished:
            self.body_began = monotonic()
            self.body_pace.restart(0)
        if self.chunked and not self.completed:
            self._bound_chunks()
        if self.completed:
            self.expect_continue = False  # waitress would ask for a body that does not come or was refused
            if not self.empty:
                self._keep(data[taken:])
                return len(data)
        return taken

    def parse_header(self, header_plus: bytes) -> None:
        """Refuse a request with two statements of its length, chunks in HTTP/1.0, and what cannot be read at all."""
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # of urlsplit and int, which waitress lets pass: the client gets no answer
            raise ParsingError("The request cannot be read") from error
        codings = _TRANSFER_CODING.findall(header_plus)
        if codings and (
            [coding.lower() for coding in codings] != [b"chunked"]
            or not self.chunked  # HTTP/1.0
            or "CONTENT_LENGTH" in self.headers
        ):
            raise ParsingError("The length of the body is ambiguous")
        if self.chunked or self.content_length >= self._small:
            self.refusal = self._ask(self)
            if self.refusal:
                self.adj: Any = SimpleNamespace(max_request_body_size=self._small)

    def _bound_chunks(self) -> None:
        """Refuse a chunk that will be too large before it comes, and lines that have no end."""
        receiver: Any = self.body_rcv
        limit = self.adj.max_request_body_size
        if len(receiver) + receiver.chunk_remainder >= limit:
            self.error, self.completed = RequestEntityTooLarge(f"exceeds max_body of {limit}"), True
        elif len(receiver.control_line) > MAX_CHUNK_LINE or len(receiver.trailer) > MAX_TRAILER:
            self.error, self.completed = BadRequest("A line between the chunks is too long"), True

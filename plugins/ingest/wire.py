"""The wire to a broker: NATS with JetStream, spoken by a thread with an event loop of its own.

An application has one stream: batches that wait for a worker, the parts of those that are larger than a message of the
server may be, and what could not be stored. A message leaves the stream when a worker has acknowledged it.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from snaglist.kernel import TooLarge, Unavailable, clip
from snaglist.kernel.settings import Option, Value

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg

log = logging.getLogger("snaglist")
T = TypeVar("T")

MISSING = "used with an extra: pip install 'snaglist[broker]'"
CONSUMER = "workers"
BATCH, PART, FAILED = "batch", "part", "failed"  # the subjects of a stream
MESSAGE_ID = "Nats-Msg-Id"
REASON = "Snaglist-Reason"
PARTS = "Snaglist-Parts"
CONNECT_SECONDS = 2
ANSWER_SECONDS = 5
LONGEST_SECONDS = 20  # of all that one call does
ACK_SECONDS = 60  # then another worker gets what was taken
RETRY_AFTER = 5
HEADER_ROOM = 1_024
MAX_REASON = 200
_IN_USE = 10058  # a stream of this name has another configuration: an operator's, who may
_REPLICAS = (3, 1)  # a server that stands alone keeps one


class BrokerOption(Option):
    """A configuration key that is empty or the URLs of the servers of a NATS cluster."""

    @property
    def wanted(self) -> str:
        """What is missing: the client library, or a URL."""
        return "a URL like nats://broker.example:4222" if find_spec("nats") else MISSING

    def read(self, raw: Any) -> Value:
        """Return the URLs; raises ValueError when one of them is none, or when nothing here can speak to it."""
        text = str(Option.read(self, raw)).strip()
        if text and not (find_spec("nats") and all(map(_is_broker, servers(text)))):
            raise ValueError(self.name)
        return text


def servers(urls: str) -> list[str]:
    """Return the URLs of a cluster's servers."""
    return [url.strip() for url in urls.split(",")]


def _is_broker(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("nats", "tls") and bool(parts.hostname) and (parts.port or 1) > 0


@dataclass(slots=True)
class Taken:
    """A message that a worker took and has not acknowledged yet."""

    message: "Msg"
    parts: Sequence[int] = ()

    @property
    def attempts(self) -> int:
        """How often it was handed out."""
        return int(self.message.metadata.num_delivered)


class Broken(Exception):
    """A message that no longer holds what was published."""


class Wire:
    """One connection, made when it is needed and made anew when it is lost. Raises Unavailable.

    The URL may hold a password: what goes wrong is told by its kind alone.
    """

    def __init__(self, urls: str) -> None:
        self._servers = servers(urls)
        self._guard = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: Client | None = None
        self._ready: set[str] = set()  # streams whose consumer is there: who asks one that is not gets no answer
        self._connecting: asyncio.Lock

    def publish(self, stream: str, body: bytes, message_id: str) -> bool:
        """Add a batch, whole or not at all; False when the stream had one of this id in the last minutes."""
        return self._run(self._publish(stream, BATCH, body, {MESSAGE_ID: message_id}))

    def take(self, stream: str, most: int) -> list[Taken]:
        """Take batches that nobody else has, without waiting for any."""
        return self._run(self._take(stream, most))

    def body(self, stream: str, taken: Taken) -> bytes:
        """Return the body of a batch; raises Broken when parts of it are gone."""
        return self._run(self._body(stream, taken))

    def finish(self, stream: str, taken: Sequence[Taken]) -> None:
        """Acknowledge batches: they are gone from the stream when this returns."""
        self._run(self._finish(stream, taken))

    def put_back(self, taken: Sequence[Taken], seconds: float = 0) -> None:
        """Let batches be taken again after a while."""
        self._run(self._put_back(taken, seconds))

    def set_aside(self, stream: str, body: bytes, reason: str) -> None:
        """Keep in the stream what could not be stored, and why; no worker takes it."""
        self._run(self._publish(stream, FAILED, body, {REASON: clip(" ".join(reason.split()), MAX_REASON)}))

    def remove(self, stream: str) -> None:
        """Remove a stream with all that is in it."""
        self._run(self._remove(stream))

    def check(self) -> None:
        """Raise Unavailable when no server with JetStream answers."""
        self._run(self._check())

    def close(self) -> None:
        """Close the connection; the next use makes another."""
        with self._guard:
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is None or thread is None:
            return
        with suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._disconnect(), loop).result(ANSWER_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    # -- what runs in the loop

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        from nats.errors import Error

        try:
            return asyncio.run_coroutine_threadsafe(_limited(work), self._started()).result()
        except (Error, OSError, ValueError) as error:
            kind = type(error).__name__
            log.warning("broker unavailable: %s", f"{kind}: {getattr(error, 'description', None) or ''}".rstrip(": "))
            message = "The broker is not available now; try again."
            raise Unavailable(message, retry_after=RETRY_AFTER) from None  # causes may hold the URL

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._guard:
            if self._loop is None:
                self._loop, self._connecting = asyncio.new_event_loop(), asyncio.Lock()
                self._thread = threading.Thread(target=self._loop.run_forever, name="snaglist-broker", daemon=True)
                self._thread.start()
            return self._loop

    async def _connected(self) -> "Client":
        async with self._connecting:
            if self._client is None or not self._client.is_connected:
                await self._disconnect()
                self._client = await _connect(self._servers)
            return self._client

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        self._ready.clear()
        if client is not None:
            with suppress(Exception):  # it is of no use any more, whatever state it is in
                await client.close()

    async def _check(self) -> None:
        await (await self._connected()).jetstream(timeout=ANSWER_SECONDS).account_info()

    async def _publish(self, stream: str, subject: str, body: bytes, headers: dict[str, str]) -> bool:
        room = (await self._connected()).max_payload - HEADER_ROOM
        if len(body) <= room:
            return not (await self._put(stream, subject, body, headers)).duplicate
        if room <= 0:
            raise TooLarge("The batch is larger than the broker takes.")
        parts: list[int] = []
        try:
            for start in range(0, len(body), room):
                parts.append((await self._put(stream, PART, body[start : start + room], {})).seq)
            listed = json.dumps(parts, separators=(",", ":")).encode()
            if len(listed) > room:
                raise TooLarge("The batch is larger than the broker takes.")
        except BaseException:
            with suppress(Exception):  # without the message that names them nobody reads them
                await self._forget(stream, parts)
            raise
        # When no answer comes the message may be there, so its parts must stay.
        duplicate = (await self._put(stream, subject, listed, headers | {PARTS: str(len(parts))})).duplicate
        if duplicate:
            await self._forget(stream, parts)
        return not duplicate

    async def _put(self, stream: str, subject: str, body: bytes, headers: dict[str, str]) -> Any:
        from nats.errors import TimeoutError as NoAnswer
        from nats.js.errors import NoStreamResponseError

        context = (await self._connected()).jetstream(timeout=ANSWER_SECONDS)
        unsure = False
        for last in (False, False, True):  # a stream that has to be made, and an answer that is lost
            try:
                answer = await context.publish(f"{stream}.{subject}", body, headers=dict(headers))
                answer.duplicate = answer.duplicate and not unsure  # or it is the one that got no answer
                return answer
            except NoStreamResponseError:
                if last:
                    raise
                await self._make(stream)
            except NoAnswer:  # it may be there: with an id it can be sent again
                if last or MESSAGE_ID not in headers:
                    raise
                unsure = True
        raise AssertionError

    async def _make(self, stream: str) -> None:
        """Make the stream and its consumer where they are missing."""
        from nats.js import api, errors

        context = (await self._connected()).jetstream(timeout=ANSWER_SECONDS)
        for replicas in _REPLICAS:
            config = api.StreamConfig(
                name=stream,
                subjects=[f"{stream}.{subject}" for subject in (BATCH, PART, FAILED)],
                retention=api.RetentionPolicy.WORK_QUEUE,
                storage=api.StorageType.FILE,
                discard=api.DiscardPolicy.NEW,  # a full stream refuses, and the sender keeps what it has
                num_replicas=replicas,
            )
            try:
                await context.add_stream(config)
                break
            except errors.APIError as error:
                if error.err_code == _IN_USE:
                    break
                if replicas == _REPLICAS[-1]:
                    raise
        consumer = api.ConsumerConfig(
            durable_name=CONSUMER,
            filter_subject=f"{stream}.{BATCH}",
            ack_policy=api.AckPolicy.EXPLICIT,
            ack_wait=ACK_SECONDS,
            max_deliver=-1,
        )
        await context.add_consumer(stream, consumer)

    async def _find(self, stream: str) -> None:
        """See that the stream and its consumer are there."""
        from nats.js.errors import NotFoundError

        context = (await self._connected()).jetstream(timeout=ANSWER_SECONDS)
        try:
            await context.consumer_info(stream, CONSUMER)
        except NotFoundError:
            await self._make(stream)
        self._ready.add(stream)

    async def _take(self, stream: str, most: int) -> list[Taken]:
        client = await self._connected()
        if stream not in self._ready:
            await self._find(stream)
        inbox = client.new_inbox()
        answers = await client.subscribe(inbox)
        found: list[Taken] = []
        try:
            wanted = json.dumps({"batch": most, "no_wait": True}).encode()
            await client.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{CONSUMER}", wanted, reply=inbox)
            while len(found) < most:
                message = await answers.next_msg(timeout=ANSWER_SECONDS)
                if (message.headers or {}).get("Status"):  # there are no more
                    break
                found.append(Taken(message))
        except TimeoutError:  # what did not come comes again
            self._ready.discard(stream)
            if not found:
                raise
        finally:
            await answers.unsubscribe()
        return found

    async def _body(self, stream: str, taken: Taken) -> bytes:
        from nats.js.errors import NotFoundError

        if PARTS not in (taken.message.headers or {}):
            return taken.message.data
        context = (await self._connected()).jetstream(timeout=ANSWER_SECONDS)
        try:
            taken.parts = [int(part) for part in json.loads(taken.message.data)]
            return b"".join([(await context.get_msg(stream, part)).data or b"" for part in taken.parts])
        except (NotFoundError, ValueError, TypeError) as error:
            raise Broken("parts of the batch are gone") from error

    async def _finish(self, stream: str, taken: Sequence[Taken]) -> None:
        await asyncio.gather(*(one.message.ack_sync(timeout=ANSWER_SECONDS) for one in taken))
        # Only now: a worker that ends between storing and here must find them again.
        await self._forget(stream, [part for one in taken for part in one.parts])

    async def _put_back(self, taken: Sequence[Taken], seconds: float) -> None:
        for one in taken:
            await one.message.nak(delay=seconds or None)
        await (await self._connected()).flush(ANSWER_SECONDS)

    async def _forget(self, stream: str, parts: Sequence[int]) -> None:
        from nats.js.errors import APIError

        context = (await self._connected()).jetstream(timeout=ANSWER_SECONDS)
        for part in parts:
            with suppress(APIError):  # gone already
                await context.delete_msg(stream, part)

    async def _remove(self, stream: str) -> None:
        from nats.js.errors import NotFoundError

        with suppress(NotFoundError):
            await (await self._connected()).jetstream(timeout=ANSWER_SECONDS).delete_stream(stream)


async def _limited(work: Coroutine[Any, Any, T]) -> T:
    return await asyncio.wait_for(work, LONGEST_SECONDS)


async def _connect(urls: Sequence[str]) -> "Client":
    """Connect to the first server that answers; raises what the last one said."""
    from nats.aio.client import Client

    for url in urls:
        client = Client()

        async def told(error: Exception, client: Client = client) -> None:
            """End the first attempt at once: the library would try on. Later whoever needs the connection tells."""
            if not client.is_connected:
                raise error

        try:
            await client.connect(
                [url], name="snaglist", allow_reconnect=False, connect_timeout=CONNECT_SECONDS, error_cb=told
            )
            return client
        except Exception:
            with suppress(Exception):
                await client.close()
            if url == urls[-1]:
                raise
    raise AssertionError

"""The wire to a broker: NATS with JetStream, spoken by a thread with an event loop of its own.

An application has one stream: batches that wait for a worker, and what could not be stored. A message leaves the stream
when a worker has acknowledged it. snaglist 0.1 published a batch that was larger than a message in parts, with one
message that lists them; those that still lie there are read.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from snaglist.kernel import Option, Unavailable, clip
from snaglist.kernel.settings import Value

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.js.client import JetStreamContext

log = logging.getLogger("snaglist")
T = TypeVar("T")

MISSING = "used with an extra: pip install 'snaglist[broker]'"
CONSUMER = "workers"
BATCH, PART, FAILED = "batch", "part", "failed"  # the subjects of a stream; only 0.1 publishes parts
MESSAGE_ID = "Nats-Msg-Id"
REASON = "Snaglist-Reason"
PARTS = "Snaglist-Parts"
CONNECT_SECONDS = 2
ANSWER_SECONDS = 5
LONGEST_SECONDS = 20  # of all that one call does
TAKE_SECONDS = 0.2  # for what another worker took in between
ACK_SECONDS = 60  # then another worker gets what was taken
RETRY_AFTER = 5
HEADER_ROOM = 1_024  # of a message, left to its headers
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
        self._pulls: dict[str, JetStreamContext.PullSubscription] = {}  # by stream
        self._connecting: asyncio.Lock

    def room(self) -> int:
        """Return how many bytes a batch may have."""
        return self._run(self._room())

    def publish(self, stream: str, body: bytes, message_id: str) -> bool:
        """Add a batch; False when the stream had one of this id in the last minutes."""
        return self._run(self._publish(stream, BATCH, body, {MESSAGE_ID: message_id}))

    def take(self, stream: str, most: int) -> list["Msg"]:
        """Take batches that nobody else has, without waiting for any."""
        return self._run(self._take(stream, most))

    def body(self, stream: str, taken: "Msg") -> bytes:
        """Return the body of a batch; raises Broken when parts of it are gone."""
        return self._run(self._body(stream, taken))

    def finish(self, stream: str, taken: Sequence["Msg"]) -> None:
        """Acknowledge batches: they are gone from the stream when this returns."""
        self._run(self._finish(stream, taken))

    def put_back(self, taken: Sequence["Msg"], seconds: float = 0) -> None:
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
        self._pulls.clear()
        if client is not None:
            with suppress(Exception):  # it is of no use any more, whatever state it is in
                await client.close()

    async def _jetstream(self) -> "JetStreamContext":
        return (await self._connected()).jetstream(timeout=ANSWER_SECONDS)

    async def _check(self) -> None:
        await (await self._jetstream()).account_info()

    async def _room(self) -> int:
        return (await self._connected()).max_payload - HEADER_ROOM

    async def _publish(self, stream: str, subject: str, body: bytes, headers: dict[str, str]) -> bool:
        from nats.errors import TimeoutError as NoAnswer
        from nats.js.errors import NoStreamResponseError

        context = await self._jetstream()
        unsure = False
        for last in (False, False, True):  # a stream that has to be made, and an answer that is lost
            try:
                answer = await context.publish(f"{stream}.{subject}", body, headers=dict(headers))
                return unsure or not answer.duplicate  # a duplicate of the one that got no answer is none
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

        context = await self._jetstream()
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

    async def _take(self, stream: str, most: int) -> list["Msg"]:
        from nats.errors import TimeoutError as NoAnswer
        from nats.js.errors import NotFoundError

        context = await self._jetstream()
        try:
            found = await context.consumer_info(stream, CONSUMER)
        except NotFoundError:
            await self._make(stream)
            return []
        # What another worker did not acknowledge comes again some time, so it may be there.
        waiting = found.num_pending or found.num_ack_pending
        if not waiting:
            return []
        if stream not in self._pulls:
            self._pulls[stream] = await context.pull_subscribe_bind(CONSUMER, stream)
        try:
            return await self._pulls[stream].fetch(min(most, waiting), TAKE_SECONDS)
        except NoAnswer:
            return []

    async def _body(self, stream: str, taken: "Msg") -> bytes:
        from nats.js.errors import NotFoundError

        if PARTS not in (taken.headers or {}):
            return taken.data
        context = await self._jetstream()
        try:
            return b"".join([(await context.get_msg(stream, part)).data or b"" for part in _parts(taken)])
        except NotFoundError as error:
            raise Broken("parts of the batch are gone") from error

    async def _finish(self, stream: str, taken: Sequence["Msg"]) -> None:
        from nats.js.errors import APIError

        await asyncio.gather(*(one.ack_sync(timeout=ANSWER_SECONDS) for one in taken))
        context = await self._jetstream()
        # Only now: a worker that ends between storing and here must find them again.
        for part in (part for one in taken for part in _parts(one)):
            with suppress(APIError):  # gone already
                await context.delete_msg(stream, part)

    async def _put_back(self, taken: Sequence["Msg"], seconds: float) -> None:
        for one in taken:
            await one.nak(delay=seconds or None)
        await (await self._connected()).flush(ANSWER_SECONDS)

    async def _remove(self, stream: str) -> None:
        from nats.js.errors import NotFoundError

        with suppress(NotFoundError):
            await (await self._jetstream()).delete_stream(stream)


def _parts(taken: "Msg") -> list[int]:
    """Return where the parts of a batch lie in its stream; none of one that is whole, or is no list of them."""
    try:
        return [int(part) for part in json.loads(taken.data)] if PARTS in (taken.headers or {}) else []
    except (ValueError, TypeError):
        return []


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

"""The gate: every check of a request, in order, then the handler.

Read `Gate.answer` from top to bottom: a caller without the key learns nothing, no database is opened
before the application is known, no body is read for a caller without the ability, and the first failing check
decides the answer.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import quote

from snaglist.kernel import bodies, hookspecs
from snaglist.kernel.applications import Application
from snaglist.kernel.auth import presented_key
from snaglist.kernel.call import LOCAL, Actor, Call, Request
from snaglist.kernel.containment import contained
from snaglist.kernel.endpoints import Endpoint, Operation, Path, Reply
from snaglist.kernel.errors import (
    BadRequest,
    Forbidden,
    HeadersTooLarge,
    Invalid,
    MethodNotAllowed,
    NotFound,
    ServiceError,
    TooLarge,
    Unauthorized,
    UriTooLong,
    internal_error,
)
from snaglist.kernel.origin import WRITING, Peer, read_peer
from snaglist.kernel.plugin import Plugin
from snaglist.kernel.schemas import unsafe
from snaglist.kernel.service import Service

__all__ = ["MAX_URL", "TOO_LONG", "Gate", "encode_json"]

MAX_URL = 16 * 1024
MAX_HEADERS = 64 * 1024
TOO_LONG = "The URL is over 16 KiB."
READING = ("GET", "HEAD")
Environ = Mapping[str, Any]
Identify = Callable[[Environ, str | None], Actor | None]


@dataclass(frozen=True, slots=True)
class _Target:
    """What a request wants: an endpoint, a page or file beside `?api=`, or nothing that exists."""

    name: str | None
    endpoint: Endpoint | None = None
    plugin: Plugin | None = None
    page: Path | None = None
    match: Mapping[str, str] | None = None


class Gate:
    """Turns a WSGI request into a reply."""

    def __init__(self, service: Service, identify: Identify | None = None) -> None:
        self._service = service
        self._identify = identify or (lambda environ, application: LOCAL)
        self._endpoints: dict[str, tuple[Endpoint, Plugin]] = service.endpoints()
        self._pages = [(re.compile(path.pattern), path) for _, path in service.plugins.added(hookspecs.register_paths)]
        self._observers = service.plugins.calls(hookspecs.request_answered)

    def answer(self, environ: Environ) -> Reply:
        """Check the request and answer it, be it with the envelope of a failure."""
        started = time.perf_counter()
        query, malformed = self._read_query(environ)
        target = self.target(environ, query)
        try:
            reply = self._answer(environ, target, query, malformed)
        except Exception as error:
            reply = failure(error, target.plugin)
        reply = _with_cross_origin(target.endpoint, reply)
        api, method = target.endpoint.name if target.endpoint else None, environ["REQUEST_METHOD"]
        for plugin, observe in self._observers:
            try:
                contained(observe, api, method, reply.status, started)
            except Exception as error:
                internal_error(error, f"an observer of requests failed, plugin {plugin.id}")
        return reply

    def may_send_body(self, environ: Environ) -> Reply | None:
        """Answer a request before its large body is received, when that must not come; None when it may.

        Nobody without the key sends one, nor does anybody to endpoints that ask for keys of their own.
        """
        endpoint = self.target(environ, self._read_query(environ)[0]).endpoint
        try:
            peer = self._check_transport(environ)
            if endpoint and endpoint.authenticate:
                raise TooLarge(f"The body is over the limit of {self._service.body_limit(endpoint)} bytes.")
            self._service.keys.check(_presented(environ), peer.address)
        except ServiceError as error:
            return self.refuse(environ, error)
        return None

    def refuse(self, environ: Environ, error: ServiceError) -> Reply:
        """Return the answer to a request that fails before it is one."""
        return _with_cross_origin(self.target(environ, self._read_query(environ)[0]).endpoint, failure(error))

    def _answer(self, environ: Environ, target: _Target, query: dict[str, str], malformed: BadRequest | None) -> Reply:
        peer = self._check_transport(environ)
        if target.page and target.page.pattern and environ["REQUEST_METHOD"] in READING:
            return self._page(target, environ, peer)
        endpoint = target.endpoint
        by_itself = endpoint.authenticate if endpoint else None
        anyone: Actor | None = None
        if by_itself is None:
            try:
                anyone = self._check_key(environ, peer)
            except Unauthorized as refusal:
                return self._sign_in(target, environ, peer, refusal)
            if environ["REQUEST_METHOD"] in WRITING:
                self._service.hosts.check_origin(peer, environ.get("HTTP_ORIGIN"))
            if malformed:
                raise malformed
        if endpoint is None:
            return self._page(target, environ, peer)
        application = self._select(endpoint, query)
        if application is None and endpoint.application and by_itself is None:
            raise Invalid("Unknown application.")
        call = self._call(environ, peer, endpoint, application)
        operation = self._admit(target.plugin, endpoint, call, query)
        if operation is None:
            return Reply(None, 204, {"Allow": endpoint.allow()})
        if by_itself is None:
            call.actor_in = partial(self._identify, environ)
            call.actor = call.actor_in(application.id) if application else anyone
            self._check_ability(operation, call)
        self._read_request(endpoint, call, query)
        return self._finish(endpoint, environ, self._run(operation, call))

    def perform(self, call: Call, api: str, method: str, query: Mapping[str, str], body: Any) -> Reply:
        """Run an operation for a caller inside the process (the command line), under the same rules."""
        endpoint, _ = self._endpoints[api]
        operation = endpoint.operation(method)
        if operation is None:
            raise _not_allowed(endpoint, method)
        call.request = Request(method, body=body)
        self._check_fields(endpoint, call, query, with_body=True)
        return self._run(operation, call)

    # -- step 0

    def _check_transport(self, environ: Environ) -> Peer:
        if len(f"{environ.get('PATH_INFO', '')}?{environ.get('QUERY_STRING', '')}".rstrip("?")) > MAX_URL:
            raise UriTooLong(TOO_LONG)
        if sum(len(n) + len(v) for n, v in environ.items() if n.startswith(("HTTP_", "CONTENT_"))) > MAX_HEADERS:
            raise HeadersTooLarge("The headers are over 64 KiB.")
        peer = read_peer(environ, self._service.proxies)
        self._service.hosts.check_host(peer)
        return peer

    # -- steps 1 and 2

    def _check_key(self, environ: Environ, peer: Peer) -> Actor:
        self._service.keys.check(_presented(environ), peer.address)
        actor = self._identify(environ, None)
        if actor is None:
            raise Unauthorized("Nobody is signed in.", headers={"WWW-Authenticate": "Bearer"})
        return actor

    # -- steps 3 and 4

    def _read_query(self, environ: Environ) -> tuple[dict[str, str], BadRequest | None]:
        try:
            return bodies.parse_query(environ.get("QUERY_STRING", "")), None
        except BadRequest as error:
            return {}, error

    def target(self, environ: Environ, query: dict[str, str]) -> _Target:
        """Return what a path and a query mean."""
        path = environ.get("PATH_INFO", "").removeprefix("/")
        name = query.get("api")
        if name is not None and not path:
            endpoint, plugin = self._endpoints.get(name, (None, None))
            return _Target(name, endpoint, plugin)
        if name is None:
            for pattern, page in self._pages:
                found = pattern.fullmatch(path)
                if found and page.api:
                    query.update({name: value for name, value in found.groupdict().items() if value is not None})
                    return _Target(page.api, *self._endpoints[page.api])
                if found:
                    return _Target(None, page=page, match=found.groupdict())
        return _Target(name)

    def _page(self, target: _Target, environ: Environ, peer: Peer) -> Reply:
        if target.page is None or target.page.handler is None:
            raise NotFound("Unknown path." if target.name is None else "Unknown endpoint.")
        if environ["REQUEST_METHOD"] == "OPTIONS":
            return Reply(None, 204, {"Allow": "GET, HEAD, OPTIONS"})
        if environ["REQUEST_METHOD"] not in READING:
            raise NotFound("Unknown path.")
        if not environ.get("PATH_INFO"):
            # Relative links of the page need the slash at the end of the mount point.
            place = quote(environ.get("SCRIPT_NAME") or "", encoding="latin-1") + "/"
            asked = environ.get("QUERY_STRING")
            return Reply(b"", 308, {"Location": f"{place}?{asked}" if asked else place}, "text/plain")
        return contained(target.page.handler, target.match or {}, self._call(environ, peer))

    def _sign_in(self, target: _Target, environ: Environ, peer: Peer, refusal: Unauthorized) -> Reply:
        """The page at the root is its own sign-in page: it holds no data."""
        browser = environ["REQUEST_METHOD"] in READING and "text/html" in environ.get("HTTP_ACCEPT", "").lower()
        if target.page is None or not browser:
            raise refusal
        reply = self._page(target, environ, peer)
        if reply.status != 200:
            return reply
        return Reply(reply.body, refusal.status, {**reply.headers, **refusal.headers}, reply.content_type)

    # -- steps 5 to 7

    def _select(self, endpoint: Endpoint, query: Mapping[str, str]) -> Application | None:
        if not endpoint.application:
            return None
        wanted, applications = query.get("app"), self._service.applications
        if endpoint.select:
            return contained(endpoint.select, applications.all(), query)
        return applications.find(wanted) if wanted else next(iter(applications.all()), None)

    def _admit(
        self, plugin: Plugin | None, endpoint: Endpoint, call: Call, query: Mapping[str, str]
    ) -> Operation | None:
        """Check plugin, method and, where the endpoint authenticates by itself, the caller; None for OPTIONS."""
        if plugin and not self._is_on(call, plugin.id):
            raise NotFound(f"The plugin {plugin.id} is disabled in this application.")
        method = call.request.method
        operation = endpoint.operation(method)
        if operation is None and method != "OPTIONS":
            raise _not_allowed(endpoint, method)
        if operation and endpoint.authenticate:
            call.request.query = query
            contained(endpoint.authenticate, call)
        return operation

    def _is_on(self, call: Call, plugin_id: str | None) -> bool:
        plugin = self._service.plugins.find(plugin_id or "")
        if plugin is None or plugin.core or not call.selected:
            return True
        return call.remembered(f"plugin.{plugin.id}", partial(self._service.plugins.enabled, plugin_id=plugin.id))

    def _call(
        self, environ: Environ, peer: Peer, endpoint: Endpoint | None = None, application: Application | None = None
    ) -> Call:
        request = Request(
            environ["REQUEST_METHOD"],
            environ=environ,
            base_url=self._base_url(environ, peer),
            address=peer.address,
            body_limit=self._service.body_limit(endpoint) if endpoint else 0,
        )
        return Call(self._service, application, request=request)

    # -- step 8

    def _check_ability(self, operation: Operation, call: Call) -> None:
        """Check the role; where no application is selected, any will do, and the handler looks at each."""
        if call.actor is None:
            raise Forbidden("You have no role in this application.")
        ability = operation.ability
        if ability is None or call.may(ability):
            return
        if call.selected is None and any(call.may_in(one, ability) for one in self._service.applications.all()):
            return
        raise Forbidden(f"Your role lacks the ability {ability}.")

    # -- step 9 and the handler

    def _read_request(self, endpoint: Endpoint, call: Call, query: Mapping[str, str]) -> None:
        request = call.request
        with_body = request.method in WRITING and not (endpoint.authenticate or endpoint.raw)
        if with_body and (raw := request.read_body(unpacked=request.body_limit if endpoint.gzip else 0)):
            bodies.check_json_type(request.environ)
            request.body = bodies.parse_json(raw)
        self._check_fields(endpoint, call, query, with_body=with_body)

    def _check_fields(self, endpoint: Endpoint, call: Call, query: Mapping[str, str], *, with_body: bool) -> None:
        request = call.request
        method = "get" if request.method == "HEAD" else request.method
        schema = self._service.schemas.find(endpoint.schemas, endpoint.name, method, "query")
        if schema and schema.added:
            query = {name: value for name, value in query.items() if self._is_on(call, schema.added.get(name))}
        request.query, problems = schema.read_query(query) if schema else ({}, [])
        if with_body:
            request.body, more = self._check_body(endpoint, method, request.body, request.query, query)
            known = schema.contents.get("properties", {}) if schema else {}
            problems += [*more, *self._misplaced(endpoint, method, query.keys() - known.keys())]
        if problems:
            raise Invalid(dict.fromkeys(problems))

    def _check_body(
        self, endpoint: Endpoint, method: str, body: Any, query: Mapping[str, Any], raw: Mapping[str, str]
    ) -> tuple[Any, list[str]]:
        problems, too_deep = unsafe(body, bodies.MAX_DEPTH)
        if too_deep:
            raise BadRequest("The body nests too deeply.")
        if problems:
            return body, problems
        schema = self._service.schemas.find(endpoint.schemas, endpoint.name, method, "body")
        if schema is None:
            return body, [] if isinstance(body, dict) else ["body: must be an object"]
        if schema.id_from_query and isinstance(body, dict) and "id" in query:
            if "id" not in body:
                body = {**body, "id": query["id"]}
            elif body["id"] != query["id"] or isinstance(body["id"], bool):
                return body, ["id: body and query give different values"]
        elif schema.id_from_query and raw.get("id") and isinstance(body, dict) and "id" not in body:
            return body, []  # the query's problem with it is named already
        return schema.check(body)

    def _misplaced(self, endpoint: Endpoint, method: str, unknown: Set[str]) -> list[str]:
        """Name fields of the body that stand in the query: passed over, they would make one thing all things."""
        schema = self._service.schemas.find(endpoint.schemas, endpoint.name, method, "body")
        fields = schema.contents.get("properties", {}) if schema else {}
        return [f"{name}: must be in the body, not in the query" for name in fields if name in unknown]

    def _run(self, operation: Operation, call: Call) -> Reply:
        if operation.transaction == "own" or call.selected is None:
            return _reply(operation, call)
        run = call.write if operation.transaction == "write" else call.read
        return run(lambda _: _reply(operation, call))

    def _finish(self, endpoint: Endpoint, environ: Environ, reply: Reply) -> Reply:
        """Add the weak ETag of the body and honour If-None-Match, where the endpoint has one."""
        plain = reply.status == 200 and reply.content_type.startswith("application/json")
        if not endpoint.etag or environ["REQUEST_METHOD"] not in READING or not plain:
            return reply
        encoded = encode_json(reply.body)
        tag = f'W/"{hashlib.sha256(encoded).hexdigest()[:24]}"'
        wanted = {part.strip() for part in environ.get("HTTP_IF_NONE_MATCH", "").split(",")}
        if wanted & {tag, tag.removeprefix("W/"), "*"}:
            return Reply(None, 304, {**reply.headers, "ETag": tag})
        return Reply(encoded, reply.status, {**reply.headers, "ETag": tag}, reply.content_type)

    def _base_url(self, environ: Environ, peer: Peer) -> str:
        pinned: str = self._service.settings["server.url"]
        if pinned:
            return pinned.rstrip("/")
        return f"{peer.scheme}://{peer.shown}{environ.get('SCRIPT_NAME', '')}".rstrip("/")


def failure(error: Exception, plugin: Plugin | None = None) -> Reply:
    """Return the envelope of a failure; what is not a ServiceError is logged under a reference, with the plugin."""
    what = "internal error" if plugin is None else f"internal error, plugin {plugin.id}"
    known = error if isinstance(error, ServiceError) and error.status != 500 else internal_error(error, what)
    return Reply({"error": known.message}, known.status, known.headers)


def _not_allowed(endpoint: Endpoint, method: str) -> MethodNotAllowed:
    return MethodNotAllowed(f"{endpoint.name} does not support {method}.", headers={"Allow": endpoint.allow()})


def _presented(environ: Environ) -> bytes | None:
    return presented_key(environ.get("HTTP_X_SERVICE_TOKEN"), environ.get("HTTP_AUTHORIZATION"))


def _with_cross_origin(endpoint: Endpoint | None, reply: Reply) -> Reply:
    """Add what lets pages of every origin use an endpoint; no credentials, so there is nothing to steal."""
    if not endpoint or not endpoint.cross_origin:
        return reply
    headers = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": endpoint.allow(),
        "Access-Control-Allow-Headers": ", ".join(endpoint.cross_origin),
        "Access-Control-Expose-Headers": "Retry-After",
        "Access-Control-Max-Age": "7200",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    return replace(reply, headers={**headers, **reply.headers})


def _reply(operation: Operation, call: Call) -> Reply:
    answer = contained(operation.handler, call)
    return answer if isinstance(answer, Reply) else Reply(answer, operation.statuses[0])


def encode_json(body: Any) -> bytes:
    """Return compact UTF-8 JSON."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")

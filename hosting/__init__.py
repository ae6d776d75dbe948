"""Mounting the service in a host that signs people in: any WSGI server, Django or Flask (see examples/).

Who somebody is, and what they may do, is asked of the host with every request; the service itself never
reads it from request headers. The one exception is the agent key, for scripts.
"""

import atexit
import hmac
import io
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from snaglist.kernel.app import WsgiApp, create_app
from snaglist.kernel.auth import Keys, presented_key, usable_key
from snaglist.kernel.call import Actor
from snaglist.kernel.endpoints import METHODS
from snaglist.kernel.origin import read_peer
from snaglist.kernel.service import Service
from snaglist.kernel.settings import ROLES, ConfigurationError, Settings
from snaglist.kernel.text import one_line
from snaglist.plugins.system import Worker, require_intended_key

if TYPE_CHECKING:
    from flask import Blueprint

# The WSGI variable that carries the host's own request object to `identity` and `assignable_users`.
REQUEST = "snaglist.request"
# The one that carries a function: where people of the host sign in, unless `login_url` says so.
LOGIN = "snaglist.login_url"
Identity = Callable[[Any, str | None], Mapping[str, Any] | None]
People = Callable[[Any, str], Iterable[Mapping[str, Any]]]
Login = str | Callable[[Any], str]
Environ = Mapping[str, Any]


def create_wsgi(
    config: Mapping[str, Any] | None = None,
    *,
    data: str | os.PathLike[str] | None = None,
    identity: Identity | None = None,
    assignable_users: People | None = None,
    default_role: str | None = None,
    login_url: Login | None = None,
    jobs: bool = False,
) -> "MountedService":
    """Return the service as a WSGI callable; see docs/hosting.md for what the arguments mean.

    Raises ConfigurationError when the configuration does not allow a start.
    """
    if default_role not in (None, *ROLES):
        raise ConfigurationError(f"default_role: must be one of {', '.join(ROLES)}")
    overrides = {**(config or {}), **({} if data is None else {"server.data": os.fspath(data)})}

    def open_service() -> tuple[Service, WsgiApp]:
        service = Service(Settings(overrides, defaults={"security.headers_enabled": False}))
        if not identity:
            require_intended_key(service)
        service.start()
        if assignable_users is not None:
            service.assignable_users = lambda environ, application: [
                {"id": person.id, "label": person.label}
                for person in (
                    _person(found, "assignable_users") for found in assignable_users(_request(environ), application)
                )
            ]
        service.login_url = partial(_login, login_url) if identity else None
        return service, create_app(service, _Actors(service, identity, default_role) if identity else None)

    return MountedService(open_service, jobs=jobs)


class MountedService:
    """The WSGI callable. Each process has a service of its own, so that a host may fork after making this one."""

    def __init__(self, open_service: Callable[[], tuple[Service, WsgiApp]], *, jobs: bool) -> None:
        self._open = open_service
        self._jobs = jobs
        self._processes = {os.getpid(): _Running(*open_service())}
        self._locks: dict[int, threading.Lock] = {}
        atexit.register(self.close)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request; the first one in a process starts its job threads."""
        running = self._processes.get(os.getpid())
        if running is None or not running.ready:
            running = self._start()
        return running.app(environ, start_response)

    @property
    def service(self) -> Service:
        """The service of this process."""
        return (self._processes.get(os.getpid()) or self._start()).service

    def close(self) -> None:
        """Stop the job threads of this process and close its connections."""
        running = self._processes.pop(os.getpid(), None)
        if running:
            for worker in running.workers:
                worker.stop()
            running.service.close()

    def _start(self) -> "_Running":
        pid = os.getpid()
        # A lock made before a fork may be held for ever in the child: each process has its own.
        with self._locks.setdefault(pid, threading.Lock()):
            running = self._processes.get(pid)
            if running is None:
                # What the parent opened stays referenced: closing it here would cut the parent's connections.
                running = self._processes[pid] = _Running(*self._open())
            if not running.ready:
                if self._jobs:
                    number = running.service.settings["jobs.workers"]
                    running.workers = [Worker(running.service, "host") for _ in range(number)]
                for worker in running.workers:
                    worker.start()
                running.ready = True
            return running


@dataclass(slots=True)
class _Running:
    """What one process has."""

    service: Service
    app: WsgiApp
    workers: list[Worker] = field(default_factory=list)
    ready: bool = False


class _Actors:
    """Tells who acts: the agent when its key is presented, else the person that the host names."""

    def __init__(self, service: Service, identity: Identity, default_role: str | None) -> None:
        key = service.settings["host.agent_token"]
        self._agent_key = usable_key(key, "host.agent_token")
        self._agent_keys = Keys(key)
        self._agent = Actor("agent", "agent", (service.settings["host.agent_role"],))
        self._service = service
        self._identity = identity
        self._default_role = default_role

    def __call__(self, environ: Environ, application_id: str | None) -> Actor | None:
        """Return who makes a request, with the roles for one application; None when nobody is signed in."""
        if self._agent_key and self._is_agent(environ):
            return self._agent
        found = self._identity(_request(environ), application_id)
        return None if found is None else _person(found, "identity", self._default_role)

    def _is_agent(self, environ: Environ) -> bool:
        given = presented_key(environ.get("HTTP_X_SERVICE_AGENT_TOKEN"), None)
        if given is not None:  # a wrong one never falls back to whoever is signed in
            self._agent_keys.check(given, read_peer(environ, self._service.proxies).address)
            return True
        bearer = presented_key(None, environ.get("HTTP_AUTHORIZATION"))
        return bearer is not None and hmac.compare_digest(bearer, self._agent_key or b"")


def _request(environ: Environ) -> Any:
    """Return the host's own request object, else the WSGI variables."""
    return environ.get(REQUEST, environ)


def _login(given: Login | None, environ: Environ) -> str:
    """Return where people sign in, "" where the host does not say; TypeError (answered as 500) for what is no text."""
    if given is None:
        given = environ.get(LOGIN, lambda request: "")
    found: Any = given(_request(environ)) if callable(given) else given
    if not isinstance(found, str):
        raise TypeError(f"login_url: must be a text, not {type(found).__name__}")
    return found


def _person(found: Any, source: str, default_role: str | None = None) -> Actor:
    """Read what the host says of a person; TypeError (answered as 500) for anything that is not in order."""
    if not isinstance(found, Mapping):
        raise TypeError(f"{source}: must give mappings with id, not {type(found).__name__}")
    person_id, label, roles = (found.get(name) for name in ("id", "label", "roles"))
    if type(person_id) not in (int, str) or not (shown := str(person_id)).strip():
        raise TypeError(f"{source}: id must be a number or a text that is not empty")
    if not isinstance(label, str | None):
        raise TypeError(f"{source}: label must be a text")
    if roles is None:
        roles = [default_role] if default_role else []
    names = tuple(roles) if isinstance(roles, Iterable) and not isinstance(roles, str) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{source}: roles must be a list of texts")
    return Actor(shown, one_line(label or shown) or shown, names)


def _environ(base: Environ, request: Any, script: str, path: str, rest: str) -> dict[str, Any]:
    """Return the WSGI variables of a request below a mount point; `rest` is the path behind it."""
    mount = script + path[: len(path) - len(rest)].rstrip("/")
    return {**base, REQUEST: request, "SCRIPT_NAME": _latin(mount), "PATH_INFO": _latin(f"/{rest}")}


def _latin(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def django_urls(service: WsgiApp) -> list[Any]:
    """Return URL patterns: `path("logs/", include(django_urls(service)))`.

    Who is not signed in is led to the site's `LOGIN_URL`, unless the service has a `login_url` of its own.
    """
    from django.conf import settings
    from django.http import HttpResponse, StreamingHttpResponse
    from django.shortcuts import resolve_url
    from django.urls import re_path
    from django.views.decorators.csrf import csrf_exempt

    def view(request: Any, rest: str) -> Any:
        script = request.path[: len(request.path) - len(request.path_info)]
        environ = _environ(request.META, request, script, request.path_info, rest)
        environ |= {"wsgi.input": request, "wsgi.url_scheme": request.scheme}
        environ.setdefault("SERVER_PROTOCOL", "HTTP/1.1")  # an ASGI server leaves it out
        environ.setdefault("wsgi.errors", io.StringIO())
        environ[LOGIN] = lambda request: resolve_url(settings.LOGIN_URL)
        caught: dict[str, Any] = {}

        def start_response(status: str, headers: Sequence[tuple[str, str]], *_: Any) -> None:
            caught.update(status=int(status[:3]), headers=headers)

        body = service(environ, start_response)
        whole = isinstance(body, list)
        response = HttpResponse(b"".join(body)) if whole else StreamingHttpResponse(_pieces(body))
        response.status_code = caught["status"]
        del response["Content-Type"]
        for name, value in caught["headers"]:
            response[name] = value
        return response

    # The origin check of the service guards every write, so the host's token is not needed here. Nor does the host's
    # LoginRequiredMiddleware hold anybody up: the service asks who is signed in, and health and senders are nobody.
    exempt = csrf_exempt(view)
    exempt.login_required = False
    return [re_path(r"^(?P<rest>.*)$", exempt, name="snaglist")]


def _pieces(body: Iterable[bytes]) -> Iterator[bytes]:
    """Give the pieces of a streamed body, and close it however the stream ends."""
    try:
        yield from body
    finally:
        getattr(body, "close", lambda: None)()


def flask_blueprint(service: WsgiApp, name: str = "snaglist") -> "Blueprint":
    """Return a blueprint: `app.register_blueprint(flask_blueprint(service), url_prefix="/logs")`."""
    from flask import Blueprint, Response, request

    blueprint = Blueprint(name, __name__)

    def view(rest: str = "") -> Any:
        known = request._get_current_object()  # type: ignore[attr-defined]
        return Response.from_app(service, _environ(request.environ, known, request.script_root, request.path, rest))

    methods = [*map(str.upper, METHODS), "HEAD", "OPTIONS"]
    for rule in ("/", "/<path:rest>"):
        blueprint.add_url_rule(rule, "service", view, methods=methods, provide_automatic_options=False)
    return blueprint

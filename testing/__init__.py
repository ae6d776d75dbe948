"""The test kit for areas and plugins: a service on a fresh data directory, and a client in the same process.

Every successful answer is validated against its response schema, so that code and contract cannot drift apart.
As a plugin of pytest (`-p snaglist.testing`) it brings the fixtures of `snaglist.testing.fixtures`; by itself it
does not need pytest.
"""

import io
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from wsgiref.util import setup_testing_defaults

from snaglist.kernel.app import WsgiApp, create_app
from snaglist.kernel.gate import Identify
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.kernel.text import query_text
from snaglist.plugins.system import Worker

pytest_plugins = ("snaglist.testing.fixtures",)


@dataclass(slots=True)
class Answer:
    """What a request got."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)

    @property
    def error(self) -> str:
        """The message of a failure; fails when the answer is not the envelope."""
        body = self.json
        assert self.headers["content-type"].startswith("application/json"), self.headers
        assert isinstance(body, dict) and list(body) == ["error"], body
        assert isinstance(body["error"], str) and body["error"].strip(), body
        return body["error"]


class Client:
    """Sends requests to a service in this process; `checked=False` is for measuring what the service alone takes."""

    def __init__(self, service: Service, identify: Identify | None = None, *, checked: bool = True) -> None:
        self.service = service
        self.app: WsgiApp = create_app(service, identify)
        self._contract = Contract(service) if checked else None

    def get(self, api: str, **query: Any) -> Answer:
        """GET `?api=…`; query values as Python values."""
        return self.send("GET", api, None, query)

    def post(self, api: str, body: Any = None, **query: Any) -> Answer:
        """POST a JSON body."""
        return self.send("POST", api, body, query)

    def put(self, api: str, body: Any = None, **query: Any) -> Answer:
        """PUT a JSON body."""
        return self.send("PUT", api, body, query)

    def patch(self, api: str, body: Any = None, **query: Any) -> Answer:
        """PATCH a JSON body."""
        return self.send("PATCH", api, body, query)

    def delete(self, api: str, body: Any = None, **query: Any) -> Answer:
        """DELETE with a JSON body."""
        return self.send("DELETE", api, body, query)

    def enable(self, plugin: str, on: bool = True) -> None:
        """Switch a plugin on (or off); fails with the plugin's own error when it could not be loaded."""
        answer = self.post("plugins", {"id": plugin, "enabled": on})
        assert answer.status == 200, [found.error for found in self.service.plugins.all() if found.id == plugin]

    def feed(self, text: str, name: str = "app.log") -> Any:
        """Import a finished log file into the first application; returns what `import-incoming` answers."""
        file = self.service.applications.all()[0].logs / name
        file.write_text(text, encoding="utf-8")
        finished = time.time() - 60  # one that was just written may still grow, and would wait in its folder
        os.utime(file, (finished, finished))
        answer = self.post("import-incoming", wait=True)
        assert answer.status == 200, answer.text
        return answer.json

    def send(self, method: str, api: str, body: Any, query: Mapping[str, Any]) -> Answer:
        """Send a request to an endpoint."""
        text = urlencode({"api": api, **{name: query_text(value) for name, value in query.items()}})
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if content else {}
        return self.request(method, f"/?{text}", content, headers)

    def request(
        self, method: str, url: str, content: bytes = b"", headers: Mapping[str, str] | None = None, **environ: Any
    ) -> Answer:
        """Send any request and check a success against its schema; `environ` overrides WSGI variables."""
        path, _, query = url.partition("?")
        env: dict[str, Any] = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": query}
        env |= {"wsgi.input": io.BytesIO(content), "REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "testserver"}
        if content:
            env["CONTENT_LENGTH"] = str(len(content))
        for name, value in (headers or {}).items():
            variable = name.upper().replace("-", "_")
            env[variable if variable in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{variable}"] = value
        env |= environ
        setup_testing_defaults(env)
        caught: dict[str, Any] = {}

        def start_response(status: str, response_headers: list[tuple[str, str]], *_: Any) -> None:
            caught["status"] = int(status[:3])
            caught["headers"] = {name.lower(): value for name, value in response_headers}

        chunks = self.app(env, start_response)
        try:
            body = b"".join(chunks)
        finally:
            getattr(chunks, "close", lambda: None)()
        answer = Answer(caught["status"], caught["headers"], body)
        if self._contract:
            self._contract.check(method, url, answer)
        return answer


class Contract:
    """The response schemas of a service's endpoints, to hold answers against."""

    def __init__(self, service: Service) -> None:
        self._service, self._endpoints = service, service.endpoints()

    def check(self, method: str, url: str, answer: Any) -> None:
        """Fail when a successful JSON answer (of the form of `Answer`) breaks the response schema of its endpoint."""
        api = dict(parse_qsl(urlsplit(url).query)).get("api")
        form = (answer.headers.get("content-type", "")[:16], answer.headers.get("content-encoding"))
        if api is None or method == "HEAD" or answer.status >= 300 or form != ("application/json", None):
            return
        endpoint, body = self._endpoints[api][0], json.loads(answer.content)
        operation = endpoint.operation(method)
        assert operation and answer.status in operation.statuses, f"{method} {url}: {answer.status} is not declared"
        if answer.status == 202 and "job_id" in body:
            return
        schema = self._service.schemas.find(endpoint.schemas, api, method, "response")
        assert schema is not None, f"{api}: there is no {method.lower()}-response.json"
        problems = schema.errors(body)
        assert not problems, f"{method} {api} breaks its response schema: {problems}"


@contextmanager
def running_service(
    data: Path, *, jobs: bool = True, schedules: bool = False, plugins: Plugins | None = None, **config: Any
) -> Iterator[Service]:
    """Give a started service on a data directory, with a worker unless `jobs` is false.

    The worker queues no scheduled jobs unless `schedules` is true, so that a test sees only its own.
    `plugins` are loaded ones: loading is half of a start, and many services in a row can share it.
    `config` holds configuration keys with `__` for the dot: `database__url="…"`. The environment is not read.
    """
    overrides = {name.replace("__", "."): value for name, value in config.items()}
    service = Service(Settings({"server.data": str(data), **overrides}, environ={}), plugins=plugins)
    service.start()
    worker = Worker(service, "test", schedules=schedules) if jobs else None
    try:
        if worker:
            worker.start()
        yield service
    finally:
        if worker:
            worker.stop()
        service.close()

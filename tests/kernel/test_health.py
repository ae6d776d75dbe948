"""Health when things go wrong."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from snaglist.plugins.system import health
from snaglist.testing import Client, running_service

Kernel = Callable[..., Any]


class Proxy:
    """Stands between the service and its database server, so that a test can cut them off."""

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            self._open += [client, server]
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while part := source.recv(65536):
                target.sendall(part)
        except OSError:
            pass

    def cut(self) -> None:
        """Refuse and break all connections."""
        # shutdown first: a listener that another thread waits on stays open until that returns.
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@contextmanager
def behind_a_proxy(data: Path, config: dict[str, str]) -> Iterator[tuple[Client, Proxy]]:
    url = make_url(config["database__url"])
    proxy = Proxy(url.host or "127.0.0.1", url.port or (5432 if url.get_backend_name() == "postgresql" else 3306))
    moved = url.set(host="127.0.0.1", port=proxy.port).render_as_string(hide_password=False)
    try:
        with running_service(data, jobs=False, **{**config, "database__url": moved}) as service:
            yield Client(service), proxy
    finally:
        proxy.cut()


@pytest.mark.parametrize("own_database_config", ["postgresql", "mariadb"], indirect=True)
def test_a_database_server_that_is_gone(
    tmp_path: Path, own_database_config: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """503, `database` false, nothing about hosts; requests answer 503 with Retry-After."""
    with behind_a_proxy(tmp_path / "data", own_database_config) as (client, proxy):
        assert client.get("health").status == 200
        proxy.cut()
        monkeypatch.setattr(health, "CACHE_SECONDS", -1)  # as after 10 seconds
        answer = client.get("health")
        assert (answer.status, answer.json["status"]) == (503, "degraded")
        assert answer.json["checks"]["database"] is False
        assert answer.json["checks"]["applications"] is False
        assert "127.0.0.1" not in answer.text and str(proxy.port) not in answer.text
        refused = client.get("plugins")
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert refused.error and "127.0.0.1" not in refused.text


def test_a_fresh_instance_is_well(client: Client) -> None:
    answer = client.get("health")
    assert answer.status == 200
    assert answer.json["status"] == "ok" and all(answer.json["checks"].values())
    versions = answer.json["versions"]
    assert versions["service"] == client.service.version
    found, minimum = ([int(n) for n in versions[name].split(".")] for name in ("database_version", "database_minimum"))
    assert found >= minimum


def test_an_engine_that_is_too_old(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    with kernel() as client:
        monkeypatch.setattr(client.service.database, "version", lambda: ("3.34.9", "3.35.0"))
        answer = client.get("health")
        assert answer.status == 503 and answer.json["checks"]["database_version"] is False


def test_a_busy_lock_counts_as_healthy(kernel: Kernel) -> None:
    with kernel(database__busy_timeout_ms=200) as client:
        registry = client.service.applications.registry
        with client.service.database.transaction(registry, write=True):
            answers: list[Any] = []
            asking = threading.Thread(target=lambda: answers.append(client.get("health")))
            asking.start()
            asking.join(20)
        assert answers[0].json["checks"]["database"] is True


def test_the_write_probe_is_cached(kernel: Kernel, monkeypatch: pytest.MonkeyPatch) -> None:
    with kernel() as client:
        probes: list[int] = []
        original = health.Health._probe
        monkeypatch.setattr(health.Health, "_probe", lambda self: probes.append(1) or original(self))
        for _ in range(5):
            client.get("health")
        assert len(probes) == 1


def test_little_space_is_a_degraded_but_serving_node(kernel: Kernel) -> None:
    with kernel(health__min_free_bytes=2**62) as client:
        answer = client.get("health")
        assert (answer.status, answer.json["status"]) == (200, "degraded")
        assert answer.json["checks"]["disk"] is False


def test_a_data_directory_that_is_gone(kernel: Kernel, tmp_path: Path) -> None:
    with kernel() as client:
        (tmp_path / "data").rename(tmp_path / "moved")
        answer = client.get("health")
        assert answer.status == 503
        assert answer.json["checks"]["applications"] is answer.json["checks"]["disk"] is False
        (tmp_path / "moved").rename(tmp_path / "data")
        assert client.get("health").status == 200


def test_warnings_name_keys_and_never_values(kernel: Kernel) -> None:
    with kernel(auth__token="s3cret", server__nope="v4lue", jobs__keep_days=-5) as client:
        warnings = client.request("GET", "/?api=health").json["config_warnings"]
        assert {warning.split(":")[0] for warning in warnings} == {"auth.token", "server.nope", "jobs.keep_days"}
        assert not any(value in " ".join(warnings) for value in ("s3cret", "v4lue", "-5"))


def test_health_takes_get_only(kernel: Kernel) -> None:
    with kernel() as client:
        assert client.request("POST", "/?api=health").status == 405
        head = client.request("HEAD", "/?api=health")
        assert (head.status, head.content) == (200, b"")
        assert client.request("OPTIONS", "/?api=health").headers["allow"] == "GET, HEAD, OPTIONS"

"""snaglist-prometheus: figures of all processes and of this one, on each database."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from snaglist.testing import Client

Serving = Callable[..., Client]
APP = "app=default"


def figures(client: Client, **headers: str) -> dict[tuple[str, ...], float]:
    """The values by name and labels: `("snaglist_up", "app=default")`."""
    answer = client.request("GET", "/?api=metrics", headers=headers)
    assert answer.status == 200, answer.text
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return {
        (sample.name, *(f"{label}={value}" for label, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def send(client: Client, *events: Any) -> None:
    client.post("plugins", {"id": "ingest", "enabled": True})
    key = client.get("ingest-settings").json["key"]
    headers = {"X-Service-Ingest-Key": key, "Content-Type": "application/json"}
    answer = client.request("POST", "/?api=ingest", json.dumps(list(events)).encode(), headers)
    assert answer.status == 202, answer.text


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
def test_the_figures(serving: Serving, engine: str) -> None:
    client = serving(engine)
    assert ("snaglist_outbox_wait_seconds", APP) not in figures(client)
    client.post("plugins", {"id": "alerting", "enabled": True})
    old = {"message": "b", "timestamp": "2026-01-03 10:00:00"}
    send(client, {"message": "a"}, old, {"message": "c", "level": "info"})
    send(client, {"message": "a"})
    found = figures(client)
    assert found["snaglist_up", APP] == 1
    assert found["snaglist_events_total", APP, "severity=ERROR"] == 3
    assert found["snaglist_events_total", APP, "severity=INFO"] == 1
    assert found["snaglist_event_lag_seconds_total", APP, "severity=INFO"] == 0
    assert found["snaglist_event_lag_seconds_total", APP, "severity=ERROR"] > 0
    assert found["snaglist_last_event_timestamp_seconds", APP] == 1_767_434_400
    assert found["snaglist_outbox_messages", APP, "status=queued"] == 0
    assert found["snaglist_outbox_wait_seconds", APP] == 0
    assert found["snaglist_jobs_wait_seconds", APP] >= 0
    assert found["snaglist_disk_total_bytes",] >= found["snaglist_disk_free_bytes",] > 0
    assert (("snaglist_database_bytes", APP) in found) == (engine == "sqlite")


def test_jobs_that_wait(serving: Serving) -> None:
    client = serving(jobs=False)
    call = client.service.call()
    with call.transaction():
        call.enqueue("reindex", {})
    found = figures(client)
    assert found["snaglist_jobs_unfinished", APP, "kind=reindex", "status=queued"] == 1


def test_requests_are_counted_as_they_were_answered(serving: Serving) -> None:
    client = serving()
    name = ("snaglist_requests_total", "endpoint=tags", "method=GET", "status=200")
    before = figures(client).get(name, 0)
    for _ in range(3):
        client.get("tags")
    client.request("GET", "/?x=1&api=nothing", headers={"Accept": "text/plain"})
    found = figures(client)
    assert found[name] == before + 3
    assert found["snaglist_requests_total", "endpoint=", "method=GET", "status=404"] >= 1
    assert found["snaglist_request_seconds_count", "endpoint=tags"] >= 3


def test_the_key_is_that_of_every_endpoint(serving: Serving) -> None:
    """Prometheus sends it as `authorization`."""
    client = serving(auth__token="test-key-0123456789abcdef")
    assert client.request("GET", "/?api=metrics").status == 401
    assert figures(client, Authorization="Bearer test-key-0123456789abcdef")


def test_only_applications_where_it_is_on(serving: Serving) -> None:
    client = serving()
    client.post("applications", {"name": "Shop"})
    assert ("snaglist_up", "app=shop") in figures(client)
    client.post("plugins", {"id": "prometheus", "enabled": False}, app="shop")
    assert ("snaglist_up", "app=shop") not in figures(client)
    client.post("plugins", {"id": "prometheus", "enabled": False})
    assert client.request("GET", "/?api=metrics").status == 404


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
def test_writers_at_once_lose_no_count(serving: Serving, engine: str) -> None:
    client = serving(engine)
    send(client, {"message": "first"})

    def write() -> None:
        for _ in range(3):
            send(client, {"message": "m"}, {"message": "w", "level": "warning"})

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = figures(client)
    assert found["snaglist_events_total", APP, "severity=ERROR"] == 13
    assert found["snaglist_events_total", APP, "severity=WARNING"] == 12


def test_a_figure_that_fails_harms_no_other(serving: Serving) -> None:
    client = serving()

    def broken(call: Any) -> Any:
        raise RuntimeError("broken")

    client.service.plugins.find("prometheus").added["register_metrics"].append(("broken", broken))  # type: ignore[union-attr]
    found = figures(client)
    assert found["snaglist_up", APP] == 0
    assert ("snaglist_jobs_wait_seconds", APP) in found

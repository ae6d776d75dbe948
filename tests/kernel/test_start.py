"""A fresh service answers on every database."""

from typing import Any

import pytest

from snaglist.kernel.applications import Application
from snaglist.kernel.errors import Unavailable
from snaglist.kernel.steps import Step
from snaglist.plugins.system.registering import register_application
from snaglist.testing import Client

pytestmark = pytest.mark.servers


def test_fresh_service_is_healthy(client: Client) -> None:
    answer = client.get("health")
    assert answer.status == 200, answer.text
    assert answer.json["status"] == "ok"
    assert answer.json["config_warnings"] == []


def test_applications_of_a_fresh_instance(client: Client) -> None:
    answer = client.get("applications")
    assert answer.status == 200
    assert answer.json["data"][0]["id"] == "default"
    assert str(client.service.settings.data) not in answer.text


def test_application_life(client: Client) -> None:
    folder = client.service.settings.data / "applications" / "customer-portal"
    made = client.post("applications", {"name": "Customer Portal"})
    assert (made.status, made.json["id"]) == (201, "customer-portal")
    assert all((folder / name).is_dir() for name in ("logs", "processed", "sources"))
    assert client.post("applications", {"name": "Customer Portal"}).status == 422
    assert client.post("applications", {"name": "!!!"}).status == 422
    assert client.post("applications", {"name": "x", "id": "default"}).status == 422
    assert client.delete("applications", {"id": "customer-portal", "confirmation": "yes"}).status == 422
    # A wrong phrase is known before anything stored is looked at.
    unknown = {"id": "nobody", "confirmation": "yes"}
    assert client.delete("applications", unknown).error == "confirmation: must be exactly DELETE APPLICATION nobody"
    assert client.delete("applications", {**unknown, "confirmation": "DELETE APPLICATION nobody"}).status == 404
    phrase = "DELETE APPLICATION customer-portal"
    gone = client.delete("applications", {"id": "customer-portal", "confirmation": phrase})
    assert gone.json == {"id": "customer-portal", "deleted": True}
    assert not folder.exists()
    last = client.delete("applications", {"id": "default", "confirmation": "DELETE APPLICATION default"})
    assert last.status == 409


def test_an_application_is_listed_when_it_can_be_used(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its database is made first, so health stays as it is and no request meets half of it."""
    service, seen = client.service, []
    make = service.upgrade_application

    def watched(application: Application) -> list[Step]:
        applied = make(application)
        seen.append((client.get("errors", app=application.id).error, client.get("health").json["checks"]["schema"]))
        return applied

    monkeypatch.setattr(service, "upgrade_application", watched)
    assert client.post("applications", {"name": "Second"}).status == 201
    assert seen == [("Unknown application.", True)]
    assert client.get("errors", app="second").status == 200


def test_the_faster_of_two_processes_keeps_its_application(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    service = client.service
    make = service.upgrade_application

    def overtaken(application: Application) -> list[Step]:
        applied = make(application)
        register_application(service, application)  # by another process
        return applied

    monkeypatch.setattr(service, "upgrade_application", overtaken)
    answer = client.post("applications", {"name": "Second"})
    assert (answer.status, answer.error) == (422, "id: exists already")
    assert client.post("tags", {"name": "kept"}, app="second").status == 201


@pytest.mark.parametrize("failing", ["database", "registry"])
def test_an_application_that_cannot_be_made_leaves_nothing(
    client: Client, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    """Nor does one that the registry cannot take: that it is locked does not keep the rest from going."""
    service, begin = client.service, client.service.database.transaction

    def unavailable(application: Application) -> list[Step]:
        service.database.create(application)
        raise Unavailable("no space left")

    def locked(tenant: Any, **how: Any) -> Any:
        if tenant is service.applications.registry and how.get("write"):
            raise Unavailable("busy")
        return begin(tenant, **how)

    if failing == "database":
        monkeypatch.setattr(service, "upgrade_application", unavailable)
    else:
        monkeypatch.setattr(service.database, "exclusive", lambda tenant: locked(tenant, write=True))
        monkeypatch.setattr(service.database, "transaction", locked)
    assert client.post("applications", {"name": "Second"}).status == 503
    assert client.get("errors", app="second").status == 422
    assert not (service.settings.data / "applications" / "second").exists()
    monkeypatch.undo()
    assert client.post("applications", {"name": "Second"}).status == 201

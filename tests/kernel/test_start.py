"""A fresh service answers on every database."""

from snaglist.kernel.testing import Client


def test_fresh_service_is_healthy(client: Client) -> None:
    answer = client.get("health")
    assert answer.status == 200, answer.text
    assert answer.json["status"] == "ok"
    assert answer.json["config_warnings"] == []


def test_applications_of_a_fresh_instance(client: Client) -> None:
    """§36 check 44."""
    answer = client.get("applications")
    assert answer.status == 200
    assert answer.json["data"][0]["id"] == "default"
    assert str(client.service.settings.data) not in answer.text


def test_application_life(client: Client) -> None:
    """§36 checks 45 and 47."""
    folder = client.service.settings.data / "applications" / "customer-portal"
    made = client.post("applications", {"name": "Customer Portal"})
    assert (made.status, made.json["id"]) == (201, "customer-portal")
    assert all((folder / name).is_dir() for name in ("logs", "processed", "sources"))
    assert client.post("applications", {"name": "Customer Portal"}).status == 422
    assert client.post("applications", {"name": "!!!"}).status == 422
    assert client.post("applications", {"name": "x", "id": "default"}).status == 422
    assert client.delete("applications", {"id": "customer-portal", "confirmation": "yes"}).status == 422
    # A wrong phrase is known before anything stored is looked at (§3 step 8).
    unknown = {"id": "nobody", "confirmation": "yes"}
    assert client.delete("applications", unknown).error == "confirmation: must be exactly DELETE APPLICATION nobody"
    assert client.delete("applications", {**unknown, "confirmation": "DELETE APPLICATION nobody"}).status == 404
    phrase = "DELETE APPLICATION customer-portal"
    gone = client.delete("applications", {"id": "customer-portal", "confirmation": phrase})
    assert gone.json == {"id": "customer-portal", "deleted": True}
    assert not folder.exists()
    last = client.delete("applications", {"id": "default", "confirmation": "DELETE APPLICATION default"})
    assert last.status == 409

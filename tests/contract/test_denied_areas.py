"""`plugins.disabled` and areas of snaglist itself: the core is always there, whatever is denied beside it."""

from pathlib import Path

import pytest

from snaglist.testing import Client, running_service

pytestmark = pytest.mark.whole

CORE = ("system", "issues", "tags", "logs", "connectors", "dashboard")
OPTIONAL = ("access_analytics", "alerting", "ingest", "releases", "tracker")


@pytest.mark.parametrize("area", [*CORE, *OPTIONAL, "snaglist"])
def test_every_page_and_endpoint_answers_with_an_area_denied(tmp_path: Path, area: str) -> None:
    """No answer is a failure of the server; 404 for what belongs to a denied area, and for that alone."""
    denied = () if area in CORE else OPTIONAL if area == "snaglist" else (area,)
    settings = {"plugins__disabled": [area], "plugins__enabled": list(OPTIONAL)}
    with running_service(tmp_path / "data", jobs=False, **settings) as service:
        client = Client(service)
        states = {plugin["id"]: plugin for plugin in client.get("plugins").json["data"]}
        assert {name for name, state in states.items() if state["status"] == "failed"} == set(denied)
        assert all(states[name]["last_error"]["message"] == "blocked by plugins.disabled" for name in denied)
        page = client.request("GET", "/")
        assert page.status == 200
        for part in page.text.split('"'):
            if part.startswith("static/"):
                assert client.request("GET", f"/{part}").status in (200, 404 if part.endswith("/") else 200)
        assert client.get("health").status == 200
        for plugin in service.plugins.all():
            for endpoint in plugin.endpoints:
                for method in ("GET", "POST", "DELETE"):
                    status = client.send(method, endpoint.name, {}, {}).status
                    assert status < 500, (method, endpoint.name)
                    assert (status == 404) == (plugin.id in denied), (method, endpoint.name)

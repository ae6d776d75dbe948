"""`plugins.disabled` and areas of snaglist itself: the core is always there, whatever is denied beside it."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from snaglist.kernel import hookspecs
from snaglist.kernel.plugin import DISTRIBUTION, Plugin
from snaglist.kernel.plugins import CORE_GROUP, Plugins
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
            for endpoint in plugin.values(hookspecs.register_endpoints):
                for method in ("GET", "POST", "DELETE"):
                    status = client.send(method, endpoint.name, {}, {}).status
                    assert status < 500, (method, endpoint.name)
                    assert (status == 404) == (plugin.id in denied), (method, endpoint.name)


COMMAND = """
import sys
from snaglist.kernel.plugins import Plugins
from snaglist.plugins.start import main

loads = []
load = Plugins.load
Plugins.load = lambda *given: (loads.append(1), load(*given))
try:
    main()
except SystemExit as end:
    print("ended", end.code, len(loads), "snaglist.plugins.releases" in sys.modules)
"""


@pytest.mark.parametrize("way", ["environment", "file", "file in the data directory"])
@pytest.mark.parametrize("arguments", [["--help"], ["plugins", "list"], ["plugin", "new", "mine"]])
def test_no_command_imports_a_denied_area(tmp_path: Path, way: str, arguments: list[str]) -> None:
    """However it is denied; and every command loads the plugins once."""
    data = tmp_path / "data"
    data.mkdir()
    file = data / "snaglist.toml" if way.endswith("directory") else tmp_path / "own.toml"
    environ = {**os.environ, "SERVICE_DATA": str(data)}
    if way == "environment":
        environ["SERVICE_DISABLED_PLUGINS"] = "releases"
    else:
        file.write_text('[plugins]\ndisabled = ["releases"]\n')
    if way == "file":
        arguments = [*arguments, "--config", str(file)]
    command = [sys.executable, "-c", COMMAND, *arguments]
    done = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "ended 0 1 False"
    assert "  releases  " not in done.stdout if arguments[0] == "--help" else "blocked" not in done.stdout


def test_which_areas_are_core_is_known_before_an_import() -> None:
    named = {point.name for point in entry_points(group=CORE_GROUP)}
    assert named == set(CORE) == {plugin.id for plugin in _all() if plugin.core}


def _all() -> list[Plugin]:
    plugins = Plugins()
    plugins.load()
    return [plugin for plugin in plugins.all() if plugin.distribution == DISTRIBUTION]

"""What a newcomer and a stranger get: wheels built from this checkout, installed in a fresh environment."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = (ROOT / "examples" / "snaglist-hello", ROOT / "examples" / "snaglist-zip")


def run(*command: str | Path, cwd: Path | None = None, **environ: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("SERVICE_", "PYTHON"))}
    done = subprocess.run(command, cwd=cwd, env=env | environ, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def environment(made_once: Callable[[str, Callable[[Path], None]], Path], product_wheel: Path) -> Path:
    """The `bin` folder of a fresh environment in which all wheels are installed."""

    def install(base: Path) -> None:
        for project in EXAMPLES:
            copy = base / project.name
            copy.mkdir(parents=True)
            for name in ("pyproject.toml", "README.md", "src"):
                run("cp", "-r", str(project / name), str(copy))
            run(sys.executable, "-m", "build", "--wheel", "--outdir", str(base / "dist"), str(copy))
        run(sys.executable, "-m", "venv", str(base / "venv"))
        wheels = [str(product_wheel), *sorted(str(wheel) for wheel in (base / "dist").glob("*.whl"))]
        assert len(wheels) == 3, wheels
        run(base / "venv" / "bin" / "python", "-m", "pip", "install", "-q", *wheels)

    return made_once("wheels", install) / "venv" / "bin"


def test_the_demo_runs_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    """The README's first command, without serving."""
    shown = run(environment / "snaglist", "demo", "--no-serve", cwd=tmp_path)
    assert "monolog" in shown


def strict_mypy(environment: Path, folder: Path, checked: str) -> str:
    """Return what mypy says of files in a folder, with the wheel of snaglist that is installed."""
    command = (sys.executable, "-m", "mypy", "--strict", "--python-executable", environment / "python", checked)
    env = {**os.environ, "MYPYPATH": "src", "MYPY_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300).stdout


@pytest.mark.parametrize("project", EXAMPLES, ids=lambda project: project.name)
def test_the_types_of_a_strangers_wheel_fit(project: Path, environment: Path, tmp_path: Path) -> None:
    run("cp", "-r", str(project / "src"), str(tmp_path))
    said = strict_mypy(environment, tmp_path, "src/" + project.name.replace("-", "_"))
    assert said.startswith("Success"), said


def test_types_that_do_not_fit_the_door_are_found(environment: Path, tmp_path: Path) -> None:
    """What plugins add has the type that its hook returns; a hook is called with what it takes."""
    (tmp_path / "wrong.py").write_text(
        "from snaglist.kernel import Call, Endpoint\n"
        "from snaglist.plugins.logs import hookspecs\n"
        "from snaglist.plugins.system.hookspecs import health_checks\n"
        "from snaglist.testing import Client\n\n"
        "def look(call: Call) -> None:\n"
        "    checks: list[Endpoint] = [one for _, one in call.service.plugins.added(health_checks)]\n"
        "    call.emit(hookspecs.lines_read, 3)\n"
    )
    said = strict_mypy(environment, tmp_path, "wrong.py")
    assert "wrong.py:7: error: List comprehension has incompatible type List[HealthCheck]" in said
    assert 'wrong.py:8: error: Argument 1 to "emit" of "Call" has incompatible type' in said
    assert "Found 2 errors in 1 file" in said


def test_a_strangers_wheel_adds_an_area_without_a_change_in_the_kernel(environment: Path, tmp_path: Path) -> None:
    """Endpoint, table and step, job, panel: off, then on, then off again with its data kept."""
    snaglist = environment / "snaglist"
    listed = json.loads(run(snaglist, "plugins", "list", "--json", cwd=tmp_path))["data"]
    assert [(p["id"], p["source"], p["enabled"]) for p in listed if p["id"] == "hello"] == [
        ("hello", "installed", False)
    ]
    server = subprocess.Popen([snaglist, "serve", "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base = server.stdout.readline().split(" on ")[1].split()[0]

        def call(method: str, query: str, body: object = None) -> tuple[int, str]:
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(base + query, data, {"Content-Type": "application/json"}, method=method)
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    return answer.status, answer.read().decode()
            except urllib.error.HTTPError as refusal:
                with refusal:
                    return refusal.code, refusal.read().decode()

        assert call("GET", "?api=hello")[0] == 404
        assert call("POST", "?api=plugins", {"id": "hello", "enabled": True})[0] == 200
        status, watched = call("POST", "?api=hello", {"word": " timeout "})
        assert (status, json.loads(watched)["word"], json.loads(watched)["count"]) == (201, "timeout", 0)
        assert json.loads(call("GET", "?api=hello")[1])["data"] == [json.loads(watched)]
        assert "hello.js" in call("GET", "")[1]
        assert call("POST", "?api=plugins", {"id": "hello", "enabled": False})[0] == 200
        assert call("GET", "?api=hello")[0] == 404
        assert call("POST", "?api=plugins", {"id": "hello", "enabled": True})[0] == 200
        assert json.loads(call("GET", "?api=hello")[1])["data"] == [json.loads(watched)]
    finally:
        server.terminate()
        assert server.wait(timeout=20) == 0
        server.stdout.close()


def test_a_strangers_wheel_adds_a_connector_type(environment: Path, tmp_path: Path) -> None:
    """Its own config, its own files; plan, mirror and run are snaglist's. `sync` has a row and an exit code for it."""
    with zipfile.ZipFile(tmp_path / "bundle.zip", "w") as archive:
        archive.writestr("logs/app.log", "[2026-01-03 10:00:00] production.ERROR: Order failed\n")
    code = """
import json, sys
from snaglist.testing import Client, running_service
with running_service(__import__("pathlib").Path("data"), jobs=False, ingestion__allowed_roots=[sys.argv[1]]) as service:
    config = {"archive": sys.argv[1] + "/bundle.zip"}
    print(Client(service).post("connectors", {"name": "bundle", "type": "zip", "config": config}).status)
"""
    assert run(environment / "python", "-c", code, str(tmp_path), cwd=tmp_path) == "201\n"
    for events in (1, 0):
        shown = json.loads(run(environment / "snaglist", "sync", "--json", cwd=tmp_path))["runs"]
        assert [(r["connector_type"], r["status"], r["events_indexed"]) for r in shown] == [("zip", "success", events)]

"""`snaglist releases`: a pipeline's deploys and maps, against a real server with a key."""

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snaglist.plugins.releases.command.folder import Lonely, Pair, find_maps

pytestmark = pytest.mark.whole

KEY = "a-key-of-the-tests-0123456789"
SNAGLIST = (sys.executable, "-c", "from snaglist.plugins.start import main; main()")
ID = "85314830-023f-4cf1-a267-535f4e37bb17"
Run = Callable[..., subprocess.CompletedProcess[str]]


def _environment(**more: str) -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")} | more


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server that has the area on."""
    data = tmp_path_factory.mktemp("server") / "data"
    env = _environment(SERVICE_DATA=str(data), SERVICE_TOKEN=KEY, SERVICE_PLUGINS="releases")
    with subprocess.Popen([*SNAGLIST, "serve", "--port", "0"], env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r" on (http://\S+/)", process.stdout.readline())
        try:
            assert found
            yield found[1]
        finally:
            process.terminate()


@pytest.fixture
def run(server: str, tmp_path: Path) -> Run:
    """Run a command as a pipeline does: in a folder of its own, with address and key in the environment."""

    def run_it(*arguments: str, key: str = KEY, url: str = server) -> subprocess.CompletedProcess[str]:
        env = _environment(SERVICE_URL=url, SERVICE_TOKEN=key)
        command = [*SNAGLIST, "releases", *arguments]
        return subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)

    return run_it


def test_deploy(run: Run, server: str) -> None:
    made = run("deploy", "v1", "--ref", "abc", "--environment", "staging", "--json")
    assert made.returncode == 0, made.stderr
    assert {name: json.loads(made.stdout)[name] for name in ("version", "environment", "ref")} == {
        "version": "v1", "environment": "staging", "ref": "abc",
    }  # fmt: skip
    again = run("deploy", "v1", "--environment", "staging")
    assert again.returncode == 1 and "v1 is deployed to staging already" in again.stderr
    shown = run("deploy", "v2", "--url", server, "--deployed-at", "2026-01-03T09:00:00Z", url="http://127.0.0.1:1")
    assert shown.stdout == "v2 deployed to production at 2026-01-03 09:00:00\n"


def test_failures(run: Run, tmp_path: Path) -> None:
    wrong = run("deploy", "v9", "--json", key="wrong-key-0123456789")
    said = "A valid key is required. (401): set SERVICE_TOKEN to the key of the server"
    assert wrong.returncode == 1 and json.loads(wrong.stdout) == {"error": said}
    gone = run("deploy", "v9", url="http://127.0.0.1:1")
    assert gone.returncode == 1 and "http://127.0.0.1:1 does not answer: Connection refused" in gone.stderr
    nowhere = run("deploy", "v9", url="")
    assert nowhere.returncode == 1 and "or set SERVICE_URL" in nowhere.stderr
    assert run("deploy").returncode == run("sourcemaps", "upload", "missing", "--release", "v1").returncode == 2
    empty = run("sourcemaps", "upload", str(tmp_path), "--release", "v1")
    assert empty.returncode == 1 and "no script with a source map" in empty.stderr
    assert not (tmp_path / "data").exists()  # the server's data is its own


def _build(folder: Path, example: dict[str, Any]) -> None:
    (folder / "js").mkdir(parents=True)
    text = json.dumps(example)
    (folder / "js/app.js").write_text("x()\n//# sourceMappingURL=app.js.map\n")
    (folder / "js/app.js.map").write_text(text)
    (folder / "plain.mjs").write_text("x()\n")
    (folder / "plain.mjs.map").write_text(f")]}}'\n{text}")
    inside = base64.b64encode(text.encode()).decode()
    (folder / "inline.js").write_text(f"x()\n//# sourceMappingURL=data:application/json;base64,{inside}\n")
    (folder / "named.cjs").write_text(f"x()\n//# debugId={ID}\n//# sourceMappingURL=https://cdn.example/m/n.map?v=1\n")
    (folder / "n.map").write_text(text)
    (folder / "without.js").write_text("x()\n")
    (folder / "node_modules").mkdir()
    (folder / "node_modules/a.js").write_text("x()\n//# sourceMappingURL=a.js.map\n")


def test_maps_of_a_folder(tmp_path: Path, example: dict[str, Any]) -> None:
    _build(tmp_path, example)
    (tmp_path / "lost.js").write_text("//# sourceMappingURL=lost.js.map")
    (tmp_path / "bad.js").write_text("//# sourceMappingURL=data:application/json;base64,@@")
    found = list(find_maps(tmp_path))
    assert [one.file for one in found] == ["bad.js", "inline.js", "js/app.js", "lost.js", "named.cjs", "plain.mjs"]
    assert [one.problem for one in found if isinstance(one, Lonely)] == [
        "the map inside is not readable", "lost.js.map is not there",
    ]  # fmt: skip
    assert [one.debug_id for one in found if isinstance(one, Pair)] == [None, None, ID, None]


def test_upload(run: Run, tmp_path: Path, example: dict[str, Any]) -> None:
    folder = tmp_path / "dist"
    _build(folder, example)
    first = run("sourcemaps", "upload", str(folder), "--release", "v1", "--json")
    assert first.returncode == 0, first.stdout
    maps = json.loads(first.stdout)["maps"]
    assert [(one["file"], one["state"], one["sources"]) for one in maps] == [
        ("inline.js", "new", 2), ("js/app.js", "new", 2), ("named.cjs", "new", 2), ("plain.mjs", "new", 2),
    ]  # fmt: skip
    again = json.loads(run("sourcemaps", "upload", str(folder), "--release", "v1", "--json").stdout)["maps"]
    assert [one["id"] for one in again] == [one["id"] for one in maps]
    assert {one["state"] for one in again} == {"replaced"}
    (folder / "broken.js").write_text("//# sourceMappingURL=broken.js.map")
    (folder / "broken.js.map").write_text("{")
    partly = run("sourcemaps", "upload", str(folder), "--release", "v1")
    assert partly.returncode == 3
    assert "broken.js: map: is not JSON" in partly.stderr
    assert "broken.js" in partly.stdout and "failed" in partly.stdout
    only = tmp_path / "only"
    only.mkdir()
    (folder / "broken.js").rename(only / "broken.js")
    assert run("sourcemaps", "upload", str(only), "--release", "v1").returncode == 1

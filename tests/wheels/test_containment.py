"""A bad wheel harms nobody and says what is wrong; wheels come, change and go while their data and jobs exist."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """
from importlib.resources import files
from sqlalchemy import insert, select
from snaglist.kernel import *
from snaglist.kernel import columns
from sqlalchemy import Table

@hookimpl
def describe():
    return Description("{id}", "{id}", "for a test", "Tests", "{version}")
"""
# What is wrong with a wheel: its module behind `describe`, and the message that an operator sees.
BROKEN = {
    "import_error": ("import gone_altogether", "ModuleNotFoundError: No module named 'gone_altogether'"),
    "syntax_error": ("def (", "SyntaxError"),
    "leaves": ("raise SystemExit(3)", "SystemExit: 3"),
    "signature": ("@hookimpl\ndef events_stored(call, batch, more): ...", "PluginValidationError"),
    "unknown_hook": ("@hookimpl\ndef on_everything(call): ...", "unknown hook on_everything"),
    "endpoint_taken": (
        "@hookimpl\ndef register_endpoints():\n    return [Endpoint('tags', get=read(print, None))]",
        "endpoint tags is registered already",
    ),
    "bad_schema": (
        "@hookimpl\ndef register_endpoints():\n"
        "    return [Endpoint('odd', get=read(print, None), schemas=files(__name__) / 'schemas')]",
        "schema odd/get-response.json: 'strnig' is not valid",
    ),
    "no_json": (
        "@hookimpl\ndef register_endpoints():\n"
        "    return [Endpoint('torn', get=read(print, None), schemas=files(__name__) / 'schemas')]",
        "schema torn/get-response.json: Expecting",
    ),
    "no_schema": (
        "@hookimpl\ndef register_endpoints():\n"
        "    return [Endpoint('gone', post=write(print, None), schemas=files(__name__) / 'schemas')]",
        "schema gone/post-body.json: is missing",
    ),
    "no_panel": (
        "@hookimpl\ndef dashboard_assets():\n    return [Assets('no_panel', files(__name__), 'gone.js')]",
        "there is no file gone.js",
    ),
    "step": ("@hookimpl\ndef register_steps():\n    def step(db):\n        raise RuntimeError('on purpose')\n"
             "    return [('s001', step)]", "RuntimeError: on purpose"),
}  # fmt: skip
SCHEMAS = {"odd/get-response": json.dumps({"type": "strnig"}), "torn/get-response": "{,"}
SCHEMAS |= dict.fromkeys(("mine/post-body", "mine/post-response"), "{}")
MINE = """
from snaglist.plugins.system import Job
rows = Table("mine_rows", columns.metadata, columns.id_column(), columns.text("word", 50))

@hookimpl
def register_tables():
    return [rows]

@hookimpl
def register_steps():
    return [("s001", lambda db: rows.create(db, checkfirst=True)){more}]

def add(call):
    call.db.execute(insert(rows), {{"word": "{version}"}})
    return {{"job_id": call.enqueue("mine_work"), "words": list(call.db.scalars(select(rows.c.word)))}}

@hookimpl
def register_endpoints():
    return [Endpoint("mine", post=write(add, None), schemas=files(__name__) / "schemas")]

@hookimpl
def register_jobs():
    return [Job("mine_work", lambda call: {{"by": "{version}"}})]
"""


def package(name: str, body: str, version: str = "1.0", **more: str) -> dict[str, str]:
    module = HEAD.format(id=name, version=version) + body
    schemas = {f"snaglist_{name}/schemas/{file}.json": text for file, text in SCHEMAS.items()}
    return {f"snaglist_{name}/__init__.py": module, **schemas}


@pytest.fixture(scope="module")
def place(
    environment_in: Callable[..., Any], wheel: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """An environment in which all broken wheels are installed together with a good one and a second of its id."""
    made = environment_in(tmp_path_factory.mktemp("containment"))
    wheels = [
        wheel(made.folder, f"snaglist-{name}", package(name, body), {name: f"snaglist_{name}"})
        for name, (body, _) in {**BROKEN, "good": ("", ""), "hooks": (HOOKS, "")}.items()
    ]
    wheels.append(
        wheel(made.folder, "snaglist-zweit", {"zweit.py": HEAD.format(id="good", version=2)}, {"good": "zweit"})
    )
    made.pip("install", "-q", *wheels)
    return made


HOOKS = """
import time

@hookimpl
def events_stored(call, batch):
    if "slow" in batch.stored[0].event.message:
        time.sleep(2.1)
    if "broken" in batch.stored[0].event.message:
        raise RuntimeError("on purpose")
"""


def test_every_broken_wheel_is_shown_with_its_message(place: Any) -> None:
    """In `plugins` and `doctor`; everything else works."""
    shown = {plugin["id"]: plugin for plugin in place.snaglist("plugins", "list")["data"]}
    assert shown["good"]["status"] == "active"
    assert shown["snaglist-zweit:good"]["last_error"]["message"] == "the id good is taken by another plugin"
    doctor = place.run(place.python.parent / "snaglist", "doctor")
    for name, (_, message) in BROKEN.items():
        assert f"warn  plugin {name}: " in doctor, name
        assert message in next(line for line in doctor.splitlines() if f"plugin {name}:" in line)
        assert shown[name]["status"] == "failed", name
        assert message in shown[name]["last_error"]["message"]
    assert "FAIL" not in doctor


@pytest.mark.parametrize(("word", "message"), [("broken", "RuntimeError: on purpose"), ("slow", "slow: took 2.")])
def test_a_hook_that_fails_or_is_slow_is_shown_until_it_is_well(place: Any, word: str, message: str) -> None:
    place.snaglist("plugins", "enable", "hooks")
    for text, expected in ((word, message), ("fine", None)):
        (place.folder / f"{word}-{text}.log").write_text(
            f"[2026-01-03 10:00:00] production.ERROR: {text} {word[::-1]}\n"
        )
        assert place.snaglist("import", f"{word}-{text}.log")["sources"][0]["events"] == 1
        found = next(p for p in place.snaglist("plugins", "list")["data"] if p["id"] == "hooks")
        doctor = place.run(place.python.parent / "snaglist", "doctor")
        if expected:
            assert found["last_error"]["hook"] == "events_stored"
            assert found["last_error"]["message"].startswith(expected)
            assert f"warn  plugin hooks in default: events_stored: {expected}" in doctor
        else:
            assert found["last_error"] is None
            assert "plugin hooks" not in doctor


@pytest.mark.parametrize("name", ["leaves", "snaglist-leaves", "Snaglist_Leaves"])
def test_a_denied_wheel_is_not_even_imported(place: Any, name: str) -> None:
    shown = place.snaglist("plugins", "list", SERVICE_DISABLED_PLUGINS=name)["data"]
    error = next(plugin for plugin in shown if plugin["id"] == "leaves")["last_error"]
    assert error["message"] == "blocked by plugins.disabled"


def test_a_wheel_changes_and_goes_while_its_data_and_jobs_exist(
    environment_in: Callable[..., Any], wheel: Callable[..., Path], tmp_path: Path
) -> None:
    """Upgrade, downgrade, uninstall, install again: nothing is lost, and nothing else stops."""
    made = environment_in(tmp_path)
    more = ", ('s002', lambda db: None)"
    first, second = (
        wheel(
            tmp_path, "snaglist-mine", package("mine", MINE.format(version=v, more=m), v), {"mine": "snaglist_mine"}, v
        )
        for v, m in (("1.0", ""), ("2.0", more))
    )

    def ask() -> dict[str, Any]:
        code = (
            "import json, pathlib\nfrom snaglist.testing import Client, running_service\n"
            "with running_service(pathlib.Path('data'), jobs=False) as service:\n"
            "    client = Client(service, checked=False)\n"
            "    mine = [p for p in client.get('plugins').json['data'] if p['id'] == 'mine']\n"
            "    said = client.post('mine').json\n"
            "    jobs = [job['status'] for job in client.get('jobs', kind='mine_work').json['data']]\n"
            "    health = client.get('health').json['checks']['schema'], client.get('errors').status\n"
            "    print(json.dumps([mine, said, jobs, health]))\n"
        )
        mine, said, jobs, health = json.loads(made.run(made.python, "-c", code))
        assert health == [True, 200]
        return {"plugin": mine[0] if mine else None, "words": said.get("words"), "jobs": jobs}

    made.pip("install", "-q", first)
    made.snaglist("plugins", "enable", "mine")
    assert ask()["words"] == ["1.0"]
    made.pip("install", "-q", second)
    assert (ask()["words"], ask()["words"]) == (["1.0", "2.0"], ["1.0", "2.0", "2.0"])
    made.pip("install", "-q", "--force-reinstall", first)
    downgraded = ask()
    assert (downgraded["words"], downgraded["plugin"]["status"]) == (None, "failed")
    assert downgraded["plugin"]["last_error"]["hook"] == "step s002"
    assert "newer version of this plugin" in downgraded["plugin"]["last_error"]["message"]
    made.pip("uninstall", "-q", "-y", "snaglist-mine")
    gone = ask()
    assert (gone["plugin"], gone["words"], gone["jobs"]) == (None, None, ["queued"] * 3)
    assert "info  tables of mine belong to a plugin that is not installed" in made.run(
        made.python.parent / "snaglist",
        "doctor",
        code=1,  # jobs wait, and no worker runs
    )
    made.snaglist("jobs", "work", "--once")
    assert made.snaglist("jobs", "cancel", "1")["status"] == "cancelled"
    assert made.snaglist("jobs", "retry", "1", code=1) == {"error": "The area of this job is not installed."}
    made.pip("install", "-q", second)
    assert made.snaglist("jobs", "work", "--once") == {"ran": 2}
    back = ask()
    assert back["words"] == ["1.0", "2.0", "2.0", "2.0"]
    assert sorted(back["jobs"]) == ["cancelled", "queued", "succeeded", "succeeded"]


def test_a_served_page_lists_what_the_good_wheels_show(place: Any) -> None:
    """The page is served with broken wheels beside: it asks for their modules by name, and for none that failed."""
    code = "import pathlib\nfrom snaglist.testing import Client, running_service\n"
    code += "with running_service(pathlib.Path('data'), jobs=False) as s: print(Client(s).request('GET', '/').text)"
    page = subprocess.run(
        [place.python, "-c", code], cwd=place.folder, env=place.environ(), capture_output=True, text=True, check=True
    ).stdout
    assert "app.js" in page and "gone.js" not in page

"""Names with line feeds, control characters or bytes that are not UTF-8: read in every way, and shown escaped."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.plugins import Plugins
from snaglist.plugins.issues import path_of, path_text
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.system import cli
from snaglist.testing import Client

Line = Callable[..., str]
NAMES = [
    b"two\nlines.log",
    b"caf\xe9.log",
    b"bell\x07.log.1",
    b"turned\xe2\x80\xae.log",
    b"lite\\x41ral.log",
    b"tab\t.log",
]
SHOWN = [
    r"two\x0alines.log", r"caf\xe9.log", r"bell\x07.log.1", r"turned\xe2\x80\xae.log", r"lite\x5cx41ral.log",
    r"tab\x09.log",
]  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _commands() -> None:
    plugins = Plugins()
    plugins.load()
    for _, made in plugins.commands():
        cli.add_command(made)


def named(folder: Path, name: bytes) -> Path:
    return Path(os.fsdecode(os.fsencode(folder) + b"/" + name))


def fill(folder: Path, line: Line) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(NAMES):
        named(folder, name).write_text(line(f"failed {number}", seconds=number))
        os.utime(named(folder, name), (0, 0))


@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name))
def test_every_name_has_a_text_of_its_own(name: bytes) -> None:
    path = Path(os.fsdecode(b"/" + name))
    text = path_text(path)
    assert path_of(text) == path
    assert text.encode().decode() == text
    assert not any(ord(character) < 32 for character in text)


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_the_text_of_a_usual_name_is_the_name(name: str) -> None:
    if "\\x" not in name:
        assert path_text(name) == name


@pytest.mark.parametrize(("name", "shown"), [*zip(NAMES, SHOWN, strict=True)])
def test_what_is_shown(name: bytes, shown: str) -> None:
    assert path_text(os.fsdecode(name)) == shown


def test_a_folder_that_is_read_in_place(store: Any, tmp_path: Path, line: Line) -> None:
    folder = named(tmp_path.resolve(), b"odd\xff\nfolder")
    fill(folder, line)
    assert store.scan(folder) == len(NAMES)
    assert store.scan(folder) == 0
    assert store.states == ["unchanged"] * len(NAMES)
    shown = path_text(folder)
    assert sorted(row.path for row in store.rows(log_tables.sources)) == sorted(f"{shown}/{name}" for name in SHOWN)
    for name in NAMES:
        with named(folder, name).open("a") as stream:
            stream.write(line("grown", seconds=50))
    assert store.scan(folder) == len(NAMES)
    named(folder, NAMES[1]).rename(named(folder, NAMES[1] + b".1"))  # rotated: the source follows
    named(folder, NAMES[1]).write_text(line("new", seconds=60))
    assert store.scan(folder) == 1
    store.check_counters()


def test_the_drop_folder(client: Client, line: Line) -> None:
    application = client.service.applications.all()[0]
    fill(application.logs, line)
    fill(named(application.logs, b"shop\xff"), line)
    body = client.post("import-incoming", wait="1").json
    assert (body["processed"], body["events"], body["errors"], body["ignored"]) == (12, 12, [], 0)
    (module,) = client.get("modules").json["data"]
    archive = os.fsencode(application.processed)
    assert sorted(os.listdir(archive)) == sorted([*NAMES, module["slug"].encode()])
    assert sorted(os.listdir(os.path.join(archive, module["slug"].encode()))) == sorted(NAMES)
    sources = client.get("sources", limit=50).json["data"]
    assert {source["path"] for source in sources} >= {f"applications/default/processed/{name}" for name in SHOWN}
    for source in sources:  # the raw lines of each
        page = client.get("source", source_id=source["id"])
        assert page.status == 200, page.text
        assert len(page.json["lines"]) == 1
        event = client.get("source", occurrence=page.json["lines"][0]["occurrence"])
        assert event.json["path"] == source["path"]
    found = client.get("errors", source=r"processed/caf\xe9").json["data"]
    assert len(found) == 1
    assert client.post("reindex", {}, wait="1").json["kept"] == 0
    assert client.post("import-incoming", wait="1").json["errors"] == []


def test_a_file_that_is_named(fresh_data: Path, tmp_path: Path, line: Line) -> None:
    fill(tmp_path, line)
    files = [os.fsdecode(os.fsencode(tmp_path) + b"/" + name) for name in NAMES]
    result = CliRunner().invoke(cli, ["--data", str(fresh_data), "--json", "import", *files])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [Path(source["path"]).name for source in found["sources"]] == SHOWN
    assert found["events"] == len(NAMES)
    table = CliRunner().invoke(cli, ["--data", str(fresh_data), "import", *files])
    assert table.exit_code == 0 and all(name in table.stdout for name in SHOWN)
    missing = CliRunner().invoke(cli, ["--data", str(fresh_data), "import", files[1] + "x"])
    assert r"caf\xe9.logx: no such file or folder" in str(missing.exception)
    for file in files:
        explained = CliRunner().invoke(cli, ["--data", str(fresh_data), "explain", file])
        assert explained.exit_code == 0, explained.output


def test_a_file_that_fails_is_named(store: Any, tmp_path: Path) -> None:
    path = named(tmp_path.resolve(), b"caf\xe9.log.gz")
    path.write_bytes(b"\x1f\x8b\x08" + bytes(20))
    assert store.read(path).error
    (row,) = store.rows(log_tables.sources)
    assert (row.path, row.status) == (path_text(path), "error")

"""Links in a folder lead no further than the folder, whoever reads it; one that is named is followed."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from snaglist.kernel.plugins import Plugins
from snaglist.plugins.issues import tables
from snaglist.plugins.logs import Ingestion, Reading
from snaglist.plugins.logs import tables as log_tables
from snaglist.plugins.logs.collect import in_place
from snaglist.plugins.logs.collect.discovery import OUTSIDE, compile_pattern, discover
from snaglist.plugins.logs.read import importing
from snaglist.plugins.logs.read.files import open_file
from snaglist.plugins.system import cli
from snaglist.testing import Client, running_service

Line = Callable[..., str]
HINT = f"{OUTSIDE}; give --follow-links to read what they lead to"
TAKEN = "a link has taken its place, and links are not followed"


@pytest.fixture(scope="module", autouse=True)
def _commands() -> None:
    plugins = Plugins()
    plugins.load()
    for _, made in plugins.commands():
        cli.add_command(made)


@pytest.fixture
def read(fresh_data: Path) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Run `snaglist --json import`; returns exit code and result."""

    def run(*arguments: str) -> tuple[int, dict[str, Any]]:
        result: Result = CliRunner().invoke(cli, ["--data", str(fresh_data), "--json", "import", *arguments])
        return result.exit_code, json.loads(result.stdout)

    return run


@pytest.fixture
def site(tmp_path: Path, line: Line) -> Path:
    """A folder with a log, a link within, and links to a file and a folder outside."""
    folder, outside = tmp_path.resolve() / "site", tmp_path.resolve() / "outside"
    (folder / "deep").mkdir(parents=True)
    (outside / "pods").mkdir(parents=True)
    (folder / "app.log").write_text(line("ours failed"))
    (folder / "deep" / "current.log").symlink_to("../app.log")
    (outside / "secret").write_text(line("theirs failed"))
    (outside / "pods" / "pod.log").write_text(line("of a pod failed"))
    (folder / "secret.log").symlink_to(outside / "secret")
    (folder / "pods").symlink_to("../outside/pods")
    (folder / "gone.log").symlink_to(outside / "nothing")
    return folder


def test_links_out_of_a_folder_are_named_and_not_read(read: Any, site: Path) -> None:
    code, result = read(str(site))
    assert code == 3
    assert [Path(source["path"]).name for source in result["sources"]] == ["app.log"]
    assert result["errors"] == [{"file": str(site / name), "error": HINT} for name in ("pods", "secret.log")]


def test_they_are_read_when_that_is_asked_for(read: Any, site: Path) -> None:
    code, result = read("--follow-links", str(site))
    assert (code, result["errors"], result["events"]) == (0, [], 3)
    assert {Path(source["path"]).name for source in result["sources"]} == {"app.log", "secret", "pod.log"}


def test_a_link_that_is_named_is_the_wish_of_its_user(read: Any, site: Path) -> None:
    code, result = read(str(site / "secret.log"), str(site / "pods"))
    assert (code, result["errors"], result["events"]) == (0, [], 2)


def test_a_folder_below_a_link_is_a_folder(read: Any, site: Path) -> None:
    (site.parent / "alias").symlink_to(site)
    code, result = read(str(site.parent / "alias" / "deep" / ".."))
    assert (code, result["events"]) == (3, 1)


def test_a_link_to_what_is_no_file(read: Any, tmp_path: Path) -> None:
    """As in images of web servers: access.log is /dev/stdout."""
    folder = tmp_path / "nginx"
    folder.mkdir()
    (folder / "access.log").symlink_to("/dev/null")
    assert read(str(folder))[1]["errors"] == [{"file": str(folder / "access.log"), "error": HINT}]
    code, result = read("--follow-links", str(folder))
    assert (code, result["errors"], result["ignored"]) == (0, [], 1)


def test_links_may_lead_where_it_is_allowed(site: Path) -> None:
    """The allowed roots of a local connector."""
    found = discover([site], compile_pattern(""), within=[site.parent / "outside" / "pods"])
    assert [file.name for file in found.files] == ["app.log", "pod.log"]
    assert found.problems == [(str(site / "secret.log"), OUTSIDE)]


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_link_that_takes_the_place_of_a_file_while_it_is_read(
    store: Any, site: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look into the folder and the opening of the file."""
    log, outside = site / "deep" / "own.log", site.parent / "outside"
    (site / "app.log").rename(log)
    (outside / "own.log").write_text((outside / "secret").read_text())
    real = importing.open_file

    def swapped(path: Path, **options: Any) -> Any:
        if what == "file":
            log.unlink(missing_ok=True)
            log.symlink_to(outside / "own.log")
        else:
            (site / "deep").rename(site / "was")
            (site / "deep").symlink_to(outside)
        monkeypatch.undo()
        return real(path, **options)

    monkeypatch.setattr(importing, "open_file", swapped)
    call = store.service.call()
    found = discover([site / "deep"], compile_pattern(""))
    assert found.files == [log]
    with call.transaction(write=False):
        reading = Reading(Ingestion.load(call).rules, "UTC")
    result = importing.import_file(call, found.files[0], reading)
    assert (result.error, result.events) == (TAKEN, 0)
    assert store.rows(tables.occurrences) == []


@pytest.mark.servers
def test_a_link_that_takes_the_place_of_a_log_that_was_read(store: Any, site: Path) -> None:
    """The scheduled reading goes on from the recorded path."""
    log = site / "app.log"
    store.scan(log)
    log.unlink()
    log.symlink_to(site.parent / "outside" / "secret")
    call = store.service.call()
    with call.transaction(write=False) as db:
        sources = db.execute(select(log_tables.sources)).all()
        reading = Reading(Ingestion.load(call).rules, "UTC")
    (result,) = in_place.read_again(call, sources, reading)
    assert (result.error, result.events) == (TAKEN, 0)
    assert store.count(tables.occurrences) == 1


def test_a_data_directory_behind_a_link(tmp_path: Path, line: Line, drop: Any) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "real")
    with running_service(tmp_path / "data") as service:
        client = Client(service)
        drop(service, "app.log", line("one"))
        body = client.post("import-incoming", wait="1").json
        assert (body["events"], body["processed"], body["errors"]) == (1, 1, [])
        with (service.applications.all()[0].processed / "app.log").open("a") as stream:
            stream.write(line("two", seconds=1))
        assert client.post("import-incoming", wait="1").json["events"] == 1
        assert len(client.get("source", source_id=1).json["lines"]) == 2


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody writes to the pipe that took the place of a log."""
    folder = tmp_path.resolve()
    os.mkfifo(folder / "app.log")
    with pytest.raises(OSError, match="not a file"), open_file(folder / "app.log", links=False):
        pass

"""Which files are logs."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel.settings import Settings
from snaglist.plugins.logs.collect.discovery import PatternOption, compile_pattern, discover, usable_pattern

PATTERN = compile_pattern("")
NOBODY = 65534


@pytest.mark.parametrize(
    "name",
    [
        "app.log",
        "APP.LOG",
        "events.jsonl",
        "events.ndjson",
        "run.out",
        "run.err",
        "syslog",
        "messages",
        "access_log",
        "error_log",
        "app.log.1",
        "app.log-20260102",
        "app.log.2026-01-02",
        "app.log_3",
        "syslog.1",
        "syslog.2.gz",
        "messages-20260102",
        "app.log.gz",
        "app.log.1.bz2",
        "app.log.xz",
        "app-2026-01-02.log.zst",
    ],
)
def test_log_names(name: str) -> None:
    assert PATTERN.fullmatch(name)


@pytest.mark.parametrize(
    "name",
    ["wtmp", "btmp", "lastlog", "faillog", "system.journal", "notes.txt", "app.log.old", "syslogs", "log", "app.gz",
     "app.log.", "app.log.1a", ".logs"],
)  # fmt: skip
def test_other_names(name: str) -> None:
    assert not PATTERN.fullmatch(name)


def test_folders_are_walked_in_order_and_archives_passed_over(tmp_path: Path) -> None:
    for name in ("b.log", "a/z.log", "a/notes.txt", "processed/old.log", "a/processed/old.log"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    found = discover([tmp_path], PATTERN)
    assert [file.relative_to(tmp_path).as_posix() for file in found.files] == ["a/z.log", "b.log"]
    assert (found.ignored, found.problems) == (1, [])


def test_a_named_file_is_always_taken_and_read_once(tmp_path: Path) -> None:
    plain = tmp_path / "notes.txt"
    plain.write_text("x\n")
    assert discover([plain, plain, tmp_path / "." / "notes.txt"], PATTERN).files == [plain]


def test_links_are_resolved_and_rings_end(tmp_path: Path) -> None:
    target = tmp_path / "app-01.log"
    target.write_text("x\n")
    (tmp_path / "current.log").symlink_to(target)
    (tmp_path / "ring").symlink_to(tmp_path)
    (tmp_path / "self.log").symlink_to("self.log")
    found = discover([tmp_path], PATTERN)
    assert found.files == [target]
    assert found.ignored == 1


def test_a_missing_path_and_a_pipe_are_problems(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.log")
    found = discover([tmp_path / "missing.log", tmp_path / "pipe.log"], PATTERN)
    assert found.files == []
    assert [path for path, _ in found.problems] == [str(tmp_path / "missing.log"), str(tmp_path / "pipe.log")]
    assert discover([tmp_path], PATTERN).files == []


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """Give a folder, and let this process have the rights of an ordinary user: root reads everything."""
    folder, user = Path(tempfile.mkdtemp()), os.geteuid()
    folder.chmod(0o755)  # pytest's own folders are closed to others
    discover([folder], PATTERN)  # what this imports may be closed too
    if user == 0:
        os.chown(folder, NOBODY, -1)
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(user)
        for path in folder.iterdir():
            path.chmod(0o755)
        shutil.rmtree(folder)


def test_a_closed_folder_is_a_problem_and_the_rest_goes_on(as_nobody: Path) -> None:
    (as_nobody / "closed").mkdir(mode=0o000)
    (as_nobody / "open.log").write_text("x\n")
    found = discover([as_nobody], PATTERN)
    assert [file.name for file in found.files] == ["open.log"]
    assert found.problems == [(str(as_nobody / "closed"), "Permission denied")]


@pytest.mark.parametrize("pattern", ["(", "a" * 513, r"(a+)+b", r"(a|aa)*c", r"(.*)*x", r"(\d+)*-$x"])
def test_patterns_that_do_not_compile_or_hang_are_refused(pattern: str) -> None:
    assert not usable_pattern(pattern)


@pytest.mark.parametrize("pattern", ["", r".*\.txt", r"app-\d+\.log"])
def test_usable_patterns(pattern: str) -> None:
    assert usable_pattern(pattern)


def test_an_unusable_pattern_is_a_config_warning_and_the_default_is_used() -> None:
    settings = Settings({"ingestion.log_file_pattern": "(a+)+b"}, environ={})
    settings.add(PatternOption("ingestion.log_file_pattern", "", "for the test"))
    assert settings["ingestion.log_file_pattern"] == ""
    [warning] = settings.warnings()
    assert warning.startswith("ingestion.log_file_pattern: must be a regular expression of at most 512 bytes")


@given(st.text(max_size=40), st.integers(0, 10**9))
def test_a_rotation_suffix_keeps_a_log_a_log(stem: str, number: int) -> None:
    name = f"{stem}.log"
    if "\n" not in name:
        assert PATTERN.fullmatch(name)
        assert PATTERN.fullmatch(f"{name}.{number}")
        assert PATTERN.fullmatch(f"{name}-{number}.gz")

"""`snaglist import` and `snaglist demo`, run as real processes."""

import gzip
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from snaglist.plugins.logs.collect.locking import import_turn

pytestmark = pytest.mark.whole

Line = Callable[..., str]
PROGRAM = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]


def environment(data: Path, **extra: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    return {**clean, "SERVICE_DATA": str(data), "TZ": "UTC", **extra}


@pytest.fixture
def snaglist(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line on a data directory of the test."""

    def run(*arguments: str, stdin: str = "", **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*PROGRAM, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            env=environment(tmp_path / "data", **extra),
            cwd=tmp_path,
            timeout=120,
            check=False,
        )

    return run


Run = Callable[..., subprocess.CompletedProcess[str]]


def test_61_124_the_table_and_the_document(snaglist: Run, tmp_path: Path, line: Line) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "app.log").write_text(line("one") + line("one", seconds=1) + line("two", seconds=2))
    (tmp_path / "shop" / "notes.txt").write_text("no log\n")
    first = snaglist("import", "shop")
    shown = str(tmp_path.resolve() / "shop" / "app.log")
    assert first.returncode == 0, first.stderr
    header, row, total = (text.split() for text in first.stdout.splitlines())
    assert header == ["FILE", "TYPE", "ENTRIES", "TIME", "LEVEL", "EVENTS", "ISSUES", "NEW", "STATE"]
    assert row == [shown, "monolog", "3", "100%", "100%", "3", "2", "2", "read"]
    assert total == ["total", "1", "file", "3", "100%", "100%", "3", "2", "2"]
    assert first.stderr == ""  # no progress bar: stderr is no terminal
    second = snaglist("import", "--json", "shop/app.log")
    body = json.loads(second.stdout)
    assert (body["events"], body["skipped"]) == (0, 1)
    assert body["sources"] == [
        {
            "path": shown, "log_type": "monolog", "events": 0, "entries": 0, "with_time": 0, "with_level": 0,
            "unexplained": 0, "filtered": 0, "deleted": 0, "state": "unchanged", "remarks": [],
        }
    ]  # fmt: skip
    assert "retention" not in body
    with (tmp_path / "shop" / "app.log").open("a") as stream:
        stream.write(line("three", seconds=3))
    third = json.loads(snaglist("--json", "import", "shop").stdout)
    assert (third["events"], third["groups"], third["new_groups"], third["ignored"]) == (1, 1, 1, 1)


def test_123_exit_codes(snaglist: Run, tmp_path: Path) -> None:
    missing = snaglist("import", "--json", "missing.log")
    assert missing.returncode == 1
    assert list(json.loads(missing.stdout)) == ["error"]
    assert snaglist("import").returncode == 2
    assert snaglist("import", "--nonsense", "x").returncode == 2
    (tmp_path / "app.log").write_text("x\n")
    assert snaglist("import", "--timezone", "Mars/Base", "app.log").returncode == 2
    assert snaglist("import", "--app", "nope", "app.log").returncode == 1


def test_some_files_fail_and_the_rest_goes_on(snaglist: Run, tmp_path: Path, line: Line) -> None:
    (tmp_path / "app.log").write_text(line("one"))
    packed = tmp_path / "packed.log.zst"
    packed.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    os.utime(packed, (1_700_000_000, 1_700_000_000))
    partly = snaglist("import", ".")
    assert partly.returncode == 3
    assert "Traceback" not in partly.stderr
    place = "stopped at byte 24 of packed.log.zst: the data ends too early"
    assert f"packed.log.zst: {place}; no whole line comes before" in partly.stderr
    states = {Path(row.split()[0]).name: row.split()[-1] for row in partly.stdout.splitlines()[1:-1]}
    assert states == {"app.log": "read", "packed.log.zst": "failed"}
    assert snaglist("import", "packed.log.zst").returncode == 1


def test_a_part_of_a_file_is_told(snaglist: Run, tmp_path: Path, line: Line) -> None:
    """Exit code 3: some of it is stored; also for standard input, which is there as a whole."""
    packed = gzip.compress("".join(line(f"part {n} broke", seconds=n) for n in range(50)).encode())
    (tmp_path / "cut.log.gz").write_bytes(packed[:-12])
    os.utime(tmp_path / "cut.log.gz", (1_700_000_000, 1_700_000_000))
    partly = snaglist("import", "--json", "cut.log.gz")
    shown = json.loads(partly.stdout)
    assert partly.returncode == 3
    (source,), (error,) = shown["sources"], shown["errors"]
    assert (source["state"], source["events"], shown["files"]) == ("partial", shown["events"], 1)
    assert 0 < shown["events"] < 50
    assert f"; {shown['events']} lines before it are stored" in error["error"]
    explained = snaglist("explain", "cut.log.gz", "--json")
    assert len(json.loads(explained.stdout)["entries"]) == shown["events"]
    assert f"; {shown['events']} lines before it are explained" in explained.stderr
    piped = subprocess.run(
        [*PROGRAM, "import", "--json", "-"],
        input=packed[:-12],
        capture_output=True,
        env=environment(tmp_path / "data"),
        timeout=120,
        check=False,
    )
    assert (piped.returncode, json.loads(piped.stdout)["events"]) == (3, shown["events"])


def test_arguments_that_are_not_utf_8(snaglist: Run, tmp_path: Path, line: Line) -> None:
    """A file of such a name is read, and shown escaped; a module gets that text for its name."""
    odd = os.fsdecode(b"caf\xe9")
    (tmp_path / "app.log").write_text(line("one"))
    (tmp_path / f"{odd}.log").write_text(line("two"))
    done = snaglist("import", "--json", "--module", odd, "app.log", f"{odd}.log")
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert (body["events"], body["errors"]) == (2, [])
    assert [source["path"] for source in body["sources"]] == [f"{tmp_path}/app.log", rf"{tmp_path}/caf\xe9.log"]
    missing = snaglist("import", "--json", f"{odd}.txt")
    assert (missing.returncode, json.loads(missing.stdout)["error"]) == (1, r"caf\xe9.txt: no such file or folder")


def test_what_severities_hide_is_said(snaglist: Run, tmp_path: Path, line: Line) -> None:
    (tmp_path / "app.log").write_text(line("noise", "INFO") * 5)
    shown = snaglist("import", "app.log").stdout.splitlines()
    assert shown[0].split()[-5:] == ["EVENTS", "ISSUES", "NEW", "FILTERED", "STATE"]
    assert shown[1].split()[2:] == ["5", "100%", "100%", "0", "0", "0", "5", "read"]
    assert shown[-1].startswith("Every event is below the severities that are stored (EMERGENCY, ")


def test_a_file_in_which_nothing_is_known_is_a_warning_with_the_next_step(snaglist: Run, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("".join(f"the printer failed {number} times\n" for number in range(6)))
    shown = snaglist("import", "app.log").stdout.splitlines()
    assert shown[1].split()[2:5] == ["6", "0%", "0%"]
    name = str(tmp_path.resolve() / "app.log")
    step = "make a format for it (dashboard → Logs → Formats, or `snaglist formats`)"
    told = f"{name}: no line of this file has a time or a level that is known: {step}"
    assert shown[3] == f"warning: {told}"
    assert f"warn  default: {told}" in snaglist("doctor").stdout.splitlines()
    explained = json.loads(snaglist("explain", "--json", "app.log").stdout)
    assert explained["reading"] == {"entries": 6, "with_time": 0, "with_level": 0, "unexplained": 6}
    assert [remark["kind"] for remark in explained["remarks"]] == ["warning"]
    assert snaglist("explain", "app.log").stdout.splitlines()[-2] == "with a time: 0%, with a level: 0%"


def test_formats_are_tried_added_used_and_removed(snaglist: Run, tmp_path: Path) -> None:
    (tmp_path / "printer.log").write_text("E/tray 03.01.2026 10:00:00 paper jam\n  lower tray\n" * 3)
    pattern = r"(?P<level>\w)/(?P<logger>\w+) (?P<time>[\d.]+ [\d:]+) (?P<message>.*)"
    tried = snaglist("formats", "try", "printer.log", "--pattern", pattern).stdout.splitlines()
    assert tried[0] == "the pattern: 3 of 6 lines begin an entry, 3 have a time, 3 a level"
    assert tried[2].split() == ["1", "2026-01-03", "10:00:00", "ERROR", "tray", "paper", "jam"]
    assert "there is no format yet" in snaglist("formats", "try", "printer.log").stderr
    refused = snaglist("formats", "add", "printer", "(?P<level>")
    assert refused.returncode == 1 and "pattern: missing )" in refused.stderr
    assert snaglist("formats", "add", "printer", pattern).returncode == 0
    assert snaglist("formats", "add", "printer", pattern, "--zone", "Europe/Berlin").returncode == 0
    (listed,) = json.loads(snaglist("--json", "formats", "list").stdout)["data"]
    assert (listed["name"], listed["zone"]) == ("printer", "Europe/Berlin")
    assert "2026-01-03 09:00:00" in snaglist("formats", "try", "printer.log").stdout
    assert snaglist("import", "printer.log").stdout.splitlines()[1].split()[1:5] == [
        "format_printer",
        "3",
        "100%",
        "100%",
    ]
    assert snaglist("formats", "remove", "printer").returncode == 0
    assert snaglist("formats", "remove", "printer").returncode == 1


def test_standard_input_counts_every_run(snaglist: Run, line: Line) -> None:
    for _ in range(2):
        body = json.loads(snaglist("import", "--json", "-", stdin=line("piped")).stdout)
        assert (body["events"], body["sources"][0]["path"]) == (1, "-")
    assert json.loads(snaglist("import", "--json", "-", stdin="").stdout)["events"] == 0


def test_module_and_zone(snaglist: Run, tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("[2024-05-01 10:00:00] production.ERROR: zone\n")
    assert snaglist("import", "--module", "Billing", "--timezone", "Asia/Shanghai", "app.log").returncode == 0
    (tmp_path / "more.log").write_text("[2024-05-01 10:00:00] production.ERROR: zone\n")
    body = json.loads(snaglist("import", "--module", "billing", "--timezone", "UTC", "more.log", "--json").stdout)
    assert (body["events"], body["new_groups"]) == (1, 0)


def test_an_import_waits_for_another(snaglist: Run, tmp_path: Path, line: Line) -> None:
    (tmp_path / "app.log").write_text(line("one"))
    assert snaglist("import", "app.log").returncode == 0
    (tmp_path / "app.log").write_text(line("one") + line("two", seconds=1))
    with import_turn(tmp_path / "data" / "applications" / "default"):
        waiting = subprocess.Popen(
            [*PROGRAM, "import", "app.log"],
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(tmp_path / "data"),
            cwd=tmp_path,
        )
        assert waiting.stderr is not None
        assert waiting.stderr.readline() == "another import is running, waiting for it\n"
        assert waiting.poll() is None
    output, _ = waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert output.splitlines()[-1].split() == ["total", "1", "file", "1", "100%", "100%", "1", "1", "1"]


def test_demo_prints_tagged_issues(snaglist: Run, tmp_path: Path) -> None:
    demo = snaglist(
        "demo", "--no-serve", SERVICE_TOKEN="   ", SERVICE_DATABASE_URL="postgresql+psycopg://nobody@127.0.0.1:9/x"
    )
    assert demo.returncode == 0, demo.stderr
    imported, issues = demo.stdout.split("\n\n")
    *rows, total, filtered = imported.splitlines()[1:]
    assert {row.split()[1] for row in rows} == {"access", "json", "console", "monolog", "syslog"}
    assert all(row.split()[-1] == "read" for row in rows)
    assert total.startswith("total ") and re.fullmatch(r"Filtered: \d+ entries below WARNING\.", filtered)
    tags = {row.split()[-1] for row in issues.splitlines()}
    assert {"Payments", "Database", "Mail"} <= tags
    assert not (tmp_path / "data").exists()
    body = json.loads(snaglist("demo", "--no-serve", "--json").stdout)
    assert len(body["data"]) == len(issues.strip().splitlines()) - 1


@pytest.fixture
def served_demo(tmp_path: Path) -> Iterator[str]:
    """The URL of a running demo; it is interrupted at the end and must leave nothing behind."""
    process = subprocess.Popen(
        [*PROGRAM, "demo"],
        env=environment(tmp_path / "data", TMPDIR=str(tmp_path)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        url = next(row.split()[2] for row in process.stderr if row.startswith("dashboard on "))
        yield url
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert not list(tmp_path.glob("snaglist-demo-*"))
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def test_demo_serves_until_interrupted(served_demo: str) -> None:
    assert served_demo.startswith("http://127.0.0.1:")
    with urlopen(f"{served_demo}?api=errors", timeout=10) as answer:
        assert len(json.load(answer)["data"]) > 5


def test_fl24_overlapping_paths_and_two_applications(snaglist: Run, tmp_path: Path, line: Line) -> None:
    """Within an application entries count once, whichever path leads to them; another one reads for itself."""
    (tmp_path / "app.log").write_text(line("one"))
    assert json.loads(snaglist("import", "--json", ".", "app.log").stdout)["events"] == 1
    assert snaglist("apps", "add", "Second", "--id", "second").returncode == 0
    assert json.loads(snaglist("import", "--json", "--app", "second", "app.log").stdout)["events"] == 1
    with (tmp_path / "app.log").open("a") as stream:
        stream.write(line("two", seconds=1))
    for application in ("default", "second"):
        assert json.loads(snaglist("import", "--json", "--app", application, "app.log", ".").stdout)["events"] == 1


def test_a_folder_without_logs_says_why_nothing_was_read(snaglist: Run, tmp_path: Path, line: Line) -> None:
    (tmp_path / "empty").mkdir()
    assert snaglist("import", "empty").stdout.endswith("No log file there: it is empty. "
                                                       "A file that is named itself is always read.\n")  # fmt: skip
    (tmp_path / "empty" / "notes.txt").write_text(line("one"))
    assert "1 passed over by their names" in snaglist("import", "empty").stdout
    assert "No log file there" not in snaglist("import", "empty/notes.txt").stdout

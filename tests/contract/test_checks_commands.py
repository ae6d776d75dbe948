"""What holds for all commands: exit codes, streams, `--json`."""

import ctypes
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.whole

LINE = b"[2026-01-03 10:00:00] production.ERROR: Order 1 failed\n"
COMMANDS = (
    "apps list", "apps add Shop", "apps rename shop Store", "apps remove shop --yes", "plugins list", "jobs list",
    "jobs work --once", "db upgrade", "db upgrade --check", "key", "doctor", "demo --no-serve",
)  # fmt: skip
FAILURES = (
    ("apps add !!!", 1), ("import nope.log", 1), ("--app nope import nope.log", 1), ("import --frobnicate x", 2),
    ("import --timezone Mars/Base nope.log", 2), ("key --bytes 5", 2), ("apps", 2), ("apps remove default", 2),
    ("access nope.log none.log", 1), ("explain nope.log", 1), ("sync --connector 7", 1), ("db load nope.log", 1),
    ("releases deploy v1 --url http://127.0.0.1:1", 1), ("releases sourcemaps upload / --release v1", 1),
)  # fmt: skip


def test_check_123_exit_codes(tmp_path, command):
    data = tmp_path / "never used"
    missing = command(data, "import", "--json", "missing.log")
    assert (missing.returncode, list(json.loads(missing.stdout))) == (1, ["error"])
    assert command(data, "import").returncode == 2
    key = command(data, "key")
    assert (key.returncode, key.stderr) == (0, b"")
    assert re.fullmatch(rb"[A-Za-z0-9_-]{43}\n", key.stdout)
    assert command(tmp_path / "fresh", "db", "upgrade", "--check").returncode == 0
    assert command(data, "doctor").returncode == 0


def test_check_124_no_progress_without_a_terminal(data, command, tmp_path):
    (tmp_path / "app.log").write_bytes(LINE * 20_000)
    plain = command(data, "import", str(tmp_path / "app.log"))
    assert (plain.returncode, plain.stderr) == (0, b"")
    columns = b"FILE TYPE ENTRIES TIME LEVEL EVENTS ISSUES NEW STATE"
    assert plain.stdout.splitlines()[0].split() == columns.split()
    document = command(data, "import", "--json", str(tmp_path / "app.log"))
    assert json.loads(document.stdout)["sources"][0]["state"] == "unchanged"


def test_json_is_one_document_for_every_command(data, command):
    for line in COMMANDS:
        done = command(data, "--json", *line.split())
        assert done.returncode == 0, (line, done.stderr)
        assert isinstance(json.loads(done.stdout), dict), line


@pytest.mark.parametrize(("line", "code"), FAILURES)
def test_a_failure_has_its_code_and_one_message(data, command, line, code):
    document = command(data, "--json", *line.split())
    assert (document.returncode, list(json.loads(document.stdout))) == (code, ["error"])
    plain = command(data, *line.split())
    assert (plain.returncode, plain.stdout) == (code, b"")
    assert plain.stderr and b"Traceback" not in plain.stderr


def test_what_stays_there_says_so_in_one_document(data, snaglist):
    """`serve` and the worker print it when they are ready, and nothing else at their end."""
    for line, wanted in (
        ("serve --port 0 --json", {"version", "url", "data", "database", "key"}),
        ("--json jobs work", {"status", "node"}),
    ):
        with _process(snaglist, *line.split()) as process:
            assert process.stdout is not None
            assert set(json.loads(process.stdout.readline())) == wanted
            process.send_signal(signal.SIGTERM)
            assert (process.wait(timeout=20), process.stdout.read()) == (0, b"")


def test_bytes_that_are_no_text_are_shown_in_another_form(data, command, tmp_path):
    for given in (tmp_path / "\udcff", tmp_path / "\udcff.log"):
        given.with_suffix(".log").write_bytes(LINE)
        for line in ("access", "explain", "import"):
            json.loads(command(data, line, str(given), "--json").stdout)
            assert b"Traceback" not in command(data, line, str(given)).stderr


def test_common_options_may_stand_behind_the_name_of_a_group(data, command):
    assert json.loads(command(data, "apps", "--json", "list").stdout)["data"][0]["id"] == "default"


def test_standard_input_counts_with_every_run(data, command):
    for _ in range(2):
        done = command(data, "import", "--json", "-", stdin=LINE)
        assert (done.returncode, json.loads(done.stdout)["events"]) == (0, 1)


def test_some_files_failed(data, command, tmp_path):
    """Exit 3: what cannot be read is named, the rest goes on; 1 when nothing could be read."""
    (tmp_path / "good.log").write_bytes(LINE)
    (tmp_path / "bad.log.gz").write_bytes(b"\x1f\x8b\x08 not an archive")
    partly = command(data, "import", str(tmp_path))
    assert partly.returncode == 3
    assert b"bad.log.gz: the compressed data is damaged" in partly.stderr
    assert b"good.log" in partly.stdout
    assert command(data, "import", str(tmp_path / "bad.log.gz")).returncode == 1


def test_what_cannot_be_looked_at_is_named(data, command, tmp_path):
    """Whether such a file is there cannot be told; that is a failure of this path, and the rest goes on."""
    (tmp_path / "good.log").write_bytes(LINE)
    unseen = "n" * 300
    done = command(data, "import", str(tmp_path / "good.log"), str(tmp_path / unseen))
    assert done.returncode == 3
    assert f"{unseen}: File name too long".encode() in done.stderr and b"Traceback" not in done.stderr


def test_file_names_do_not_steer_the_terminal(data, command, tmp_path):
    (tmp_path / "\x1b]0;owned\x07\x1b[31m.log").write_bytes(LINE)
    done = command(data, "import", str(tmp_path))
    assert (done.returncode, b"\x1b" in done.stdout, b"\x07" in done.stdout) == (0, False, False)


def _process(snaglist, *arguments):
    return subprocess.Popen(
        [*snaglist.arguments, *arguments],
        env=snaglist.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_interrupted_import_ends_with_130(data, snaglist, options):
    with _process(snaglist, "import", "-", *options) as process:
        assert process.stdin is not None
        process.stdin.write(LINE)
        process.stdin.flush()
        kept = data / "applications" / "default" / "sources" / "stdin"
        _until(lambda: kept.exists() and any(kept.iterdir()))
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
        assert process.stdout is not None
        assert process.stdout.read() == (b'{"error": "interrupted"}\n' if options else b"")
    assert list(kept.iterdir()) == []  # half a stream is not kept


def test_a_reader_that_goes_away_is_no_traceback(data, snaglist, tmp_path):
    for number in range(1500):
        (tmp_path / f"{'long name ' * 5}{number}.log").touch()
    with _process(snaglist, "import", str(tmp_path)) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.wait(timeout=120) == 1
        assert process.stderr.read() == b""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("line", ["serve --port 0", "demo", "jobs work"])
def test_a_service_ends_with_0(data, snaglist, line, number):
    with _process(snaglist, *line.split()) as process:
        said = process.stdout if line.startswith("serve") else process.stderr
        assert said is not None and said.readline()
        process.send_signal(number)
        assert process.wait(timeout=20) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="tgkill is of Linux")
@pytest.mark.parametrize("line", ["serve --port 0", "jobs work"])
def test_a_signal_that_another_thread_gets_ends_a_service(data, snaglist, line):
    """The main thread sleeps on then; a signal just before it falls asleep is the same, and rarer."""
    with _process(snaglist, *line.split()) as process:
        said = process.stdout if line.startswith("serve") else process.stderr
        assert said is not None and said.readline()
        time.sleep(0.2)
        other = max(int(thread.name) for thread in Path(f"/proc/{process.pid}/task").iterdir())
        assert other != process.pid
        assert ctypes.CDLL(None).tgkill(process.pid, other, signal.SIGTERM) == 0
        assert process.wait(timeout=20) == 0


def _until(holds, seconds=20):
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.05)

"""`snaglist import --follow`, as a process that is fed, rotated and interrupted."""

import json
import os
import pty
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from snaglist.testing import running_service

pytestmark = pytest.mark.whole

Line = Callable[..., str]
PROGRAM = [sys.executable, "-c", "from snaglist.plugins.start import main; main()", "import"]
SECONDS = 30


class Following:
    """A running `import --follow`, its lines as they come, and what it stored."""

    def __init__(self, data: Path, *arguments: str) -> None:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        self.data = data
        self.process = subprocess.Popen(
            [*PROGRAM, "--follow", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, "SERVICE_DATA": str(data), "SERVICE_INGESTION_QUIET_SECONDS": "0", "TZ": "UTC"},
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self.notes: queue.Queue[str] = queue.Queue()
        pairs = ((self.process.stdout, self.lines), (self.process.stderr, self.notes))
        self.readers = [threading.Thread(target=self._pass_on, args=pair) for pair in pairs]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def _pass_on(stream: Any, lines: "queue.Queue[str]") -> None:
        with stream:
            for line in stream:
                lines.put(line)

    def issue(self) -> dict[str, Any]:
        """The next issue that is printed (with --json)."""
        found: dict[str, Any] = json.loads(self.lines.get(timeout=SECONDS))
        return found

    def note(self) -> str:
        """The next message."""
        return self.notes.get(timeout=SECONDS).rstrip()

    def interrupt(self) -> int:
        """Interrupt the process and return its exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(SECONDS)

    def counts(self) -> dict[str, int]:
        """Events stored by the message's first word."""
        with running_service(self.data, jobs=False) as service:
            from snaglist.testing import Client

            issues = Client(service).get("errors", limit=200).json["data"]
        return {issue["title"].split()[0]: issue["count"] for issue in issues}

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()


@pytest.fixture
def follow(fresh_data: Path) -> Iterator[Callable[..., Following]]:
    started: list[Following] = []

    def start(*arguments: str) -> Following:
        started.append(Following(fresh_data, *arguments))
        return started[-1]

    yield start
    for following in started:
        following.close()


def append(path: Path, *texts: str) -> None:
    with path.open("a") as stream:
        stream.write("".join(texts))


def test_new_issues_are_printed_as_they_appear(follow: Any, tmp_path: Path, line: Line) -> None:
    """Known issues are not printed again; an interrupt is the way to end it and no failure."""
    log = tmp_path / "logs" / "app.log"
    log.parent.mkdir()
    append(log, line("alpha failed"), line("alpha failed", seconds=1))
    following = follow("--json", str(log.parent))
    first = following.issue()
    assert {**first, "first_seen": "", "last_seen": ""} == {
        "id": first["id"], "title": "alpha failed", "severity": "ERROR", "log_type": "monolog", "count": 2,
        "first_seen": "", "last_seen": "", "source": str(log),
    }  # fmt: skip
    assert following.note() == "reading on as files grow, until interrupted"
    append(log, line("alpha failed", seconds=2), line("beta failed", seconds=3))
    assert following.issue()["title"] == "beta failed"
    append(log.with_name("new.log"), line("gamma failed"))  # a file that was not there at the start
    assert following.issue()["source"] == str(log.with_name("new.log"))
    assert following.interrupt() == 0
    assert following.note() == "5 events read, of 3 issues, 3 of them new"
    assert following.lines.empty()
    assert following.counts() == {"alpha": 3, "beta": 1, "gamma": 1}


def test_a_named_file_is_followed_through_rotations(follow: Any, tmp_path: Path, line: Line) -> None:
    """Like `tail -F`, and what a writer still puts into the file it had open is read too."""
    log, old = tmp_path / "app.log", tmp_path / "app.log.1"
    append(log, line("alpha failed"))
    following = follow("--json", str(log))
    assert following.issue()["title"] == "alpha failed"
    with log.open("a") as writer:
        log.rename(old)
        append(log, line("beta failed", seconds=1))
        assert following.issue()["title"] == "beta failed"
        writer.write(line("gamma failed", seconds=2))
        writer.flush()
        late = following.issue()
        assert (late["title"], late["source"]) == ("gamma failed", str(old))
    with log.open("r+b") as stream:
        stream.truncate(0)
    append(log, line("delta failed", seconds=3))
    assert following.issue()["title"] == "delta failed"
    log.rename(tmp_path / "app.log.2")  # gone for a while
    append(tmp_path / "app.log.2", line("epsilon failed", seconds=4))
    assert following.issue()["source"] == str(tmp_path / "app.log.2")
    append(log, line("zeta failed", seconds=5))
    assert following.issue()["title"] == "zeta failed"
    assert following.interrupt() == 0
    assert following.counts() == dict.fromkeys(["alpha", "beta", "gamma", "delta", "epsilon", "zeta"], 1)


def test_what_is_written_in_halves_is_one_event(follow: Any, tmp_path: Path, line: Line) -> None:
    """However long the halves are apart (a file is quiet at once here), and a line that is never ended shows too."""
    log = tmp_path / "app.log"
    first, second, third = (line(f"{word} failed") for word in ("alpha", "beta", "gamma"))
    append(log, first, second[:31])
    following = follow("--json", str(log))
    following.note()

    def awaited(title: str) -> None:
        while following.issue()["title"] != title:  # what was shown of a half line is not shown again
            pass

    append(log, second[31:], third[:47])
    awaited("beta failed")
    awaited(third[:47].partition(": ")[2])
    append(log, third[47:-1])
    awaited("gamma failed")
    assert following.interrupt() == 0
    assert following.counts() == {"alpha": 1, "beta": 1, "gamma": 1}


def test_a_line_for_people(follow: Any, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("[2024-05-01 10:00:00] production.ERROR: alpha failed\n")
    following = follow("--timezone", "Asia/Shanghai", str(log))
    shown = following.lines.get(timeout=SECONDS)
    assert shown == f"2024-05-01 02:00:00  ERROR      #1  alpha failed  ({log})\n"


def test_failures_are_told_once(follow: Any, tmp_path: Path, line: Line) -> None:
    log, broken = tmp_path / "app.log", tmp_path / "packed.log.zst"
    append(log, line("alpha failed"))
    broken.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    following = follow("--json", str(tmp_path))
    assert following.issue()["title"] == "alpha failed"
    assert following.note().startswith(f"{broken}: stopped at byte 24 of packed.log.zst: the data ends too early; ")
    assert following.note() == "reading on as files grow, until interrupted"
    append(log, line("beta failed", seconds=1))
    assert following.issue()["title"] == "beta failed"
    broken.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))  # the same failure
    append(log, line("gamma failed", seconds=2))
    assert following.issue()["title"] == "gamma failed"
    assert following.interrupt() == 0
    assert following.note().startswith("3 events read")


def test_standard_input_and_missing_files_are_refused(follow: Any, tmp_path: Path) -> None:
    assert follow("-").process.wait(SECONDS) == 2
    assert follow(str(tmp_path / "missing.log")).process.wait(SECONDS) == 1


def test_124_a_progress_bar_on_a_terminal(fresh_data: Path, tmp_path: Path, line: Line) -> None:
    """On stderr only, and not with --json or --quiet."""
    log = tmp_path / "app.log"
    append(log, *(line(f"failed {number}", seconds=number) for number in range(50)))

    def stderr_of(*options: str) -> bytes:
        master, slave = pty.openpty()
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
        environment = {**clean, "SERVICE_DATA": str(fresh_data), "TERM": "xterm", "COLUMNS": "200"}
        done = subprocess.run(
            [*PROGRAM, *options, str(log)], stdout=subprocess.PIPE, stderr=slave, env=environment, check=True
        )
        assert b"\x1b" not in done.stdout
        os.close(slave)
        try:
            return os.read(master, 65536)
        except OSError:  # nothing was written
            return b""
        finally:
            os.close(master)

    assert b"reading" in stderr_of()
    assert stderr_of("--json") == b""
    assert stderr_of("--quiet") == b""

"""Jobs under several processes: never two at once, taken over after a kill."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.kernel.service import Service
from snaglist.plugins.system import Job, jobs_table
from snaglist.plugins.system.jobs.leases import worker_id

pytestmark = pytest.mark.whole

Install = Kernel = Callable[..., Any]

# A worker process: its job appends lines to a file, so that the test sees who ran what and when.
WORKER = """
import json, os, signal, sys, time
from types import ModuleType
from snaglist.kernel import Description, hookimpl, plugins
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.plugins.system import Job, Worker

config, log, seconds = json.loads(sys.argv[1]), sys.argv[2], float(sys.argv[3])

def note(word, call):
    with open(log, "a") as stream:
        stream.write(json.dumps([word, call.job_id, os.getpid(), time.time()]) + "\\n")

def run(call):
    note("start", call)
    time.sleep(seconds)
    note("end", call)

module = ModuleType("plugin_worker")
module.describe = hookimpl(lambda: Description("worker", "Worker", "", "Tests", "1.0", core=True))
module.register_jobs = hookimpl(lambda: [Job("slow", run)])

class Point:
    name, dist = "worker", None
    def load(self):
        return module

class System:
    name, dist = "system", None
    def load(self):
        from snaglist.plugins import system
        return system

plugins.entry_points = lambda group: [System(), Point()]
service = Service(Settings(config, environ={}))
service.start()
worker = Worker(service, "worker")
worker.start()
print("ready", flush=True)
sys.stdin.read()
worker.stop()
service.close()
"""


class Workers:
    """Real worker processes on one database, and the file they write."""

    def __init__(self, folder: Path, config: dict[str, Any], seconds: float) -> None:
        self._log = folder / "log"
        self._log.touch()
        settings = json.dumps({name.replace("__", "."): value for name, value in config.items()})
        self._command = [sys.executable, "-c", WORKER, settings, str(self._log), str(seconds)]
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, count: int = 1) -> None:
        made = [
            subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        self.processes += made
        for process in made:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"

    def lines(self, word: str) -> list[tuple[int, int, float]]:
        read = [json.loads(line) for line in self._log.read_text(encoding="utf-8").splitlines()]
        return [(job, process, at) for said, job, process, at in read if said == word]

    def wait_for(self, word: str, count: int, seconds: float = 90) -> list[tuple[int, int, float]]:
        deadline = time.monotonic() + seconds
        while len(self.lines(word)) < count:
            assert time.monotonic() < deadline, (word, self.lines(word))
            time.sleep(0.02)
        return self.lines(word)

    def stop(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
            process.communicate(timeout=30)


@pytest.fixture
def queue(install: Install, kernel: Kernel, own_database_config: dict[str, str], tmp_path: Path) -> Any:
    """A kernel that queues jobs but runs none, and the processes that do."""
    install("worker", core=True, register_jobs=lambda: [Job("slow", lambda call: None)])
    config = {"server__data": str(tmp_path / "data"), **own_database_config}

    with kernel(**own_database_config) as client:
        made: list[Workers] = []

        def workers(seconds: float) -> Workers:
            made.append(Workers(tmp_path, config, seconds))
            return made[-1]

        try:
            yield client.service, workers
        finally:
            for each in made:
                each.stop()


def enqueue(service: Service, count: int) -> list[int]:
    call = service.call()
    with call.transaction():
        return [call.enqueue("slow") for _ in range(count)]


def status(service: Service, job_id: int) -> tuple[str, int]:
    with service.database.transaction(service.applications.all()[0], write=False) as db:
        row = db.execute(select(jobs_table).where(jobs_table.c.id == job_id)).one()
        return row.status, row.attempts


def _never_two_at_once(queue: Any, jobs: int, seconds: float) -> None:
    service, workers = queue
    team = workers(seconds)
    team.start(4)
    ids = enqueue(service, jobs)
    ended = team.wait_for("end", jobs, seconds=60 + jobs * (seconds + 0.5))
    time.sleep(1.2)
    assert sorted(job for job, _, _ in team.lines("start")) == ids
    assert sorted(job for job, _, _ in ended) == ids
    deadline = time.monotonic() + 30
    while any(status(service, job_id) != ("succeeded", 1) for job_id in ids):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_four_processes_run_each_job_once(queue: Any) -> None:
    _never_two_at_once(queue, 20, 0.01)


@pytest.mark.long
def test_four_processes_run_each_of_many_jobs_once(queue: Any) -> None:
    _never_two_at_once(queue, 400, 0.02)


def test_a_killed_worker_is_replaced_at_once_on_its_node(queue: Any) -> None:
    """On the same node a lease whose process is gone is free at once."""
    service, workers = queue
    team = workers(2.0)
    team.start()
    [job_id] = enqueue(service, 1)
    [(_, first, _)] = team.wait_for("start", 1)
    team.processes[0].kill()
    team.processes[0].wait(10)
    killed_at = time.time()
    team.start()
    starts = team.wait_for("start", 2)
    assert starts[1][1] != first
    assert starts[1][2] - killed_at < 14
    team.wait_for("end", 1)
    deadline = time.monotonic() + 20
    while status(service, job_id) != ("succeeded", 2):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.long
def test_a_worker_that_hangs_loses_its_lease(queue: Any) -> None:
    """A stopped process renews nothing: after 15 s another one runs the job, and the first one's end counts no more."""
    service, workers = queue
    team = workers(3.0)
    team.start()
    [job_id] = enqueue(service, 1)
    team.wait_for("start", 1)
    os.kill(team.processes[0].pid, signal.SIGSTOP)
    stopped_at = time.time()
    team.start()
    starts = team.wait_for("start", 2)
    assert 8 < starts[1][2] - stopped_at < 40
    team.wait_for("end", 1)
    os.kill(team.processes[0].pid, signal.SIGCONT)
    team.wait_for("end", 2)
    time.sleep(1)
    assert status(service, job_id) == ("succeeded", 2)


def test_worker_ids_name_node_and_process() -> None:
    first, second = worker_id("web-1"), worker_id("web-1")
    assert first != second
    assert first.startswith("web-1:") and first.split(":")[2] == str(os.getpid())
    assert len(worker_id("n" * 300)) <= 120

"""The limits of background work, each to the second: leases, pauses, schedules, signs of life."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import delete, insert, select, update

from snaglist.kernel import Option, Unavailable, times
from snaglist.kernel.faults import MISSING, Fault, Unusable
from snaglist.plugins.system import Job, JobCall, Worker, jobs_table
from snaglist.plugins.system.jobs import activity, figures, job, leases, queue, schedules, worker

table = jobs_table
NOW = "2026-01-03 10:00:00"
PAST = "2026-01-01 00:00:00"
BEGINNING = 1_000_000.0
SECONDS = (Option("tidy.seconds", 30, "between runs", 0),)


@pytest.fixture
def with_jobs(job_kernel: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """As `job_kernel`, with a kind `count`, where the time of the database is `NOW`."""

    @contextmanager
    def start(*listed: Job, options: tuple[Option, ...] = ()) -> Iterator[Any]:
        count = Job("count", lambda call: None)
        with job_kernel(count, *listed, options=options, server__node="web-1") as kit:
            for module in (activity, figures, leases, queue, schedules):
                monkeypatch.setattr(module, "clock", lambda db: NOW)
            yield kit

    return start


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A clock of the process that stands at `ticks.now`, in seconds."""
    clock = SimpleNamespace(now=BEGINNING)
    for module in (activity, schedules, worker, job):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def after(seconds: int) -> str:
    return times.add(NOW, seconds=seconds)


def test_the_limits_of_time() -> None:
    assert (leases.HEARTBEAT_SECONDS, leases.ALIVE_SECONDS, leases.POLL_SECONDS) == (5, 30, 1)
    assert (queue.LEASE_SECONDS, queue.RENEW_SECONDS) == (15, 5)
    assert (activity.NOTE_SECONDS, activity.ACTIVE_SECONDS) == (10, 30)
    assert (worker.SWEEP_SECONDS, worker.PRUNE_SECONDS) == (900, 3600)
    assert (worker.LIST_SECONDS, worker.PAUSE_SECONDS, worker.LOOKS) == (10, 30, 20)
    assert job.WAIT_SECONDS == 30


def test_a_lease_holds_for_fifteen_seconds(with_jobs: Callable[..., Any]) -> None:
    running = {"status": "running", "lease_owner": "elsewhere:1:2:x", "attempts": 1}
    with with_jobs() as kit:
        assert not kit.runs(**running, heartbeat_at=after(-15))
        assert kit.runs(**running, heartbeat_at=after(-16))


def test_when_a_queued_job_is_due(with_jobs: Callable[..., Any]) -> None:
    """One that was never tried is; a retry waits, but not longer than an hour, whatever the clock was."""
    with with_jobs() as kit:
        assert kit.runs(attempts=0, run_at=after(60))
        found = {seconds: kit.runs(attempts=1, run_at=after(seconds)) for seconds in (0, 1, 3600, 3601)}
        assert found == {0: True, 1: False, 3600: False, 3601: True}


def test_the_pauses_of_a_retry_double_up_to_an_hour(with_jobs: Callable[..., Any]) -> None:
    def run(call: Any) -> None:
        raise OSError("disk")

    pauses = []
    with with_jobs(Job("disk", run, max_attempts=20)) as kit:
        for attempts in (0, 1, 2, 8, 9, 18):
            job_id = kit.add("disk", attempts=attempts, run_at=PAST)
            assert kit.jobs.run_next(kit.application, job_id=job_id)
            row = kit.row(job_id)
            assert (row.status, row.attempts, row.lease_owner) == ("queued", attempts + 1, None)
            pauses.append((times.read(row.run_at) - times.read(NOW)).total_seconds())
        last = kit.add("disk", attempts=19, run_at=PAST)
        kit.jobs.run_next(kit.application, job_id=last)
        assert kit.row(last).status == "failed"
    assert pauses == [10, 20, 40, 2560, 3600, 3600]


def test_a_job_that_its_worker_left_too_often_is_an_error_of_the_service(with_jobs: Callable[..., Any]) -> None:
    with with_jobs() as kit:
        left = {"status": "running", "lease_owner": "elsewhere:1:2:x", "heartbeat_at": PAST}
        job_id = kit.add(**left, attempts=3)
        assert not kit.jobs.run_next(kit.application, job_id=job_id)
        assert (kit.row(job_id).status, kit.row(job_id).error_status) == ("failed", 500)
        assert kit.runs(**left, attempts=2)


def test_a_key_has_at_most_160_characters(with_jobs: Callable[..., Any]) -> None:
    with with_jobs() as kit:
        call = kit.service.call(kit.application)
        with call.transaction():
            call.enqueue("count", dedupe="x" * 160)
            with pytest.raises(ValueError, match="at most 160"):
                call.enqueue("count", dedupe="x" * 161)


def test_finished_jobs_stay_for_thirty_days(with_jobs: Callable[..., Any]) -> None:
    with with_jobs() as kit:
        stays, goes = (kit.add(status="succeeded", run_at=after(-30 * 86_400 - more)) for more in (0, 1))
        waits = kit.add(run_at=PAST)
        kit.jobs.prune(kit.application)
        assert [kit.row(job_id) is not None for job_id in (stays, goes, waits)] == [True, False, True]


def test_looking_waits_for_no_writer(with_jobs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """An idle worker, and a job that asks whether it goes on, begin no transaction that writes."""
    with with_jobs() as kit:
        running = kit.add(status="running", lease_owner="me", heartbeat_at=NOW)
        call = JobCall(kit.service, kit.application, job_id=running, lease_owner="me")
        begin = kit.service.database.transaction
        writes: list[bool] = []

        def watched(tenant: Any, *, write: bool, **how: Any) -> Any:
            writes.append(write)
            return begin(tenant, write=write, **how)

        monkeypatch.setattr(kit.service.database, "transaction", watched)
        assert not kit.jobs.run_next(kit.application)
        assert kit.jobs.waiting(kit.application)
        kit.jobs.prune(kit.application)
        kit.service.part(activity.Activity).recent()
        assert not leases.worker_alive(kit.service)
        call.check_cancelled()
        assert kit.client.get("jobs", id=running).status == 200
        kit.service.part(schedules.Schedules).ask(kit.application)
        assert len(writes) >= 7 and not any(writes)


def test_progress_is_written_at_most_twice_a_second(with_jobs: Callable[..., Any], ticks: Any) -> None:
    seen = []

    def run(call: Any) -> None:
        for done, pause in ((1, 0), (2, 0.25), (3, 0.25), (4, 0.25), (9, 0)):
            ticks.now += pause
            call.progress(done, 9)
            seen.append(kit.row(call.job_id).done)

    with with_jobs(Job("steps", run)) as kit:
        kit.jobs.run_next(kit.application, job_id=kit.add("steps"))
    assert seen == [1, 1, 3, 3, 9]


@pytest.mark.parametrize("status", ["succeeded", "queued"])
def test_what_was_done_last_is_written_when_a_job_ends(with_jobs: Callable[..., Any], status: str) -> None:
    """Also of a job that does not know how much there is, and of one that is to be tried again."""

    def run(call: Any) -> None:
        for done in (1, 2, 7):
            call.progress(done)
        if status == "queued":
            raise OSError("away")

    with with_jobs(Job("steps", run)) as kit:
        for before, after_it in ((0, 7), (9, 9)):
            job_id = kit.add("steps", run_at=PAST, done=before)
            kit.jobs.run_next(kit.application, job_id=job_id)
            assert (kit.row(job_id).status, kit.row(job_id).done) == (status, after_it)


def test_a_text_of_progress_is_cut(with_jobs: Callable[..., Any]) -> None:
    seen = []

    def run(call: Any) -> None:
        call.progress(1, 1, "x" * 501)
        seen.append(len(kit.row(call.job_id).text))

    with with_jobs(Job("steps", run)) as kit:
        kit.jobs.run_next(kit.application, job_id=kit.add("steps"))
    assert seen == [500]


def test_the_figures_of_the_queue(with_jobs: Callable[..., Any]) -> None:
    with with_jobs() as kit:
        assert kit.read(figures.read_wait) == [({}, 0.0)] and kit.read(figures.read_unfinished) == []
        kit.add(attempts=1, run_at=after(60))
        assert kit.read(figures.read_wait) == [({}, 0.0)], "a retry whose time has not come does not wait"
        kit.add(run_at=after(-7))
        kit.add(status="running", run_at=after(-99))
        kit.add(status="failed", run_at=after(-99))
        assert kit.read(figures.read_wait) == [({}, 7.0)]
        found = [({"kind": "count", "status": "queued"}, 2.0), ({"kind": "count", "status": "running"}, 1.0)]
        assert kit.read(figures.read_unfinished) == found


# -- signs of life


def test_a_worker_is_alive_for_thirty_seconds_and_known_for_a_day(with_jobs: Callable[..., Any]) -> None:
    with with_jobs() as kit:
        registry = kit.service.applications.registry

        def put(worker_id: str, seconds: int) -> None:
            values = {"id": worker_id, "kind": "serve", "started_at": PAST, "heartbeat_at": after(seconds)}
            with kit.service.database.transaction(registry, write=True) as db:
                db.execute(delete(leases.workers).where(leases.workers.c.id == worker_id))
                db.execute(insert(leases.workers).values(**values, version="1"))

        put("elsewhere:1:2:x", -31)
        assert not leases.worker_alive(kit.service)
        put("elsewhere:1:2:x", -30)
        assert leases.worker_alive(kit.service)
        put("elsewhere:1:2:day", -86_400)
        put("elsewhere:1:2:old", -86_401)
        leases.heartbeat(kit.service, "elsewhere:1:2:new", "worker")
        with kit.service.database.transaction(registry, write=False) as db:
            known = db.scalars(select(leases.workers.c.id)).all()
        assert {name.rsplit(":", 1)[1] for name in known} == {"x", "day", "new"}


def test_where_a_process_id_means_something(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers may share a host name, so the namespace of process ids counts, where the system has one."""
    assert leases.place("n" * 65).startswith("n" * 64 + ":")
    here = leases.place("web-1")
    assert leases.is_gone(f"{here}:{2**22 - 7}:dead", here)
    assert not leases.is_gone(f"web-1:1:{2**22 - 7}:dead", here)
    assert not leases.is_gone(f"{here}:1:of another user", here)

    def nothing(path: str) -> Any:
        raise FileNotFoundError(path)

    monkeypatch.setattr(leases.os, "stat", nothing)
    assert leases.place("web-1") == "web-1:0"


def test_what_counts_as_active(with_jobs: Callable[..., Any], ticks: Any) -> None:
    """Thirty seconds to both sides in the registry; in this process what it wrote itself."""
    with with_jobs() as kit:
        part = kit.service.part(activity.Activity)
        registry = kit.service.applications.registry
        found = {}
        for seconds in (-31, -30, 30, 31):
            part._here.clear()
            with kit.service.database.transaction(registry, write=True) as db:
                db.execute(delete(activity.activity))
                db.execute(insert(activity.activity).values(application="default", active_at=after(seconds)))
            found[seconds] = part.recent() == {"default"}
        assert found == {-31: False, -30: True, 30: True, 31: False}
        part.note(kit.application)
        ticks.now += 29.5
        assert part.recent() == {"default"}
        with kit.service.database.transaction(registry, write=True) as db:
            db.execute(delete(activity.activity))
        ticks.now += 0.5
        assert part.recent() == set()


def test_a_note_is_written_again_after_ten_seconds(
    with_jobs: Callable[..., Any], ticks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with with_jobs() as kit:
        part = kit.service.part(activity.Activity)
        part._written.clear()
        written: list[float] = []
        monkeypatch.setattr(activity, "upsert", lambda *given, **how: written.append(ticks.now - BEGINNING))
        for pause in (0, 9.5, 0.5, 9.5):
            ticks.now += pause
            part.note(kit.application)
    assert written == [0, 10]


# -- schedules


def test_a_schedule_counts_from_its_newest_job(with_jobs: Callable[..., Any], ticks: Any) -> None:
    """Also from those of other processes; two seconds less, as clocks go a little differently."""
    asked: list[int] = []
    tidy = Job("tidy", lambda call: None, every="tidy.seconds", due=lambda call: asked.append(1))
    with with_jobs(tidy, options=SECONDS) as kit:
        schedule = kit.service.part(schedules.Schedules)
        job_id = kit.add("tidy", status="succeeded")
        for age, times_asked in ((28, 0), (29, 1), (28, 1)):
            with kit.service.database.transaction(kit.application, write=True) as db:
                db.execute(update(table).where(table.c.id == job_id).values(created_at=after(-age)))
            assert schedule.ask(kit.application)
            assert len(asked) == times_asked
            assert schedule.next(kit.application) == ticks.now + 30
            ticks.now += 29.5
            assert not schedule.ask(kit.application), "its database is not looked into before its time"
            ticks.now += 0.5


def test_what_another_worker_queued_meanwhile_is_no_failure(with_jobs: Callable[..., Any]) -> None:
    kits: list[Any] = []

    def due(call: Any) -> dict[str, Any]:
        other = kits[0].service.call(call.application)
        with other.transaction():
            other.enqueue("tidy", dedupe="tidy")
        return {}

    tidy = Job("tidy", lambda call: None, every="tidy.seconds", due=due)
    with with_jobs(tidy, options=SECONDS) as kit:
        kits.append(kit)
        assert kit.service.part(schedules.Schedules).ask(kit.application)
        assert kit.client.get("jobs").json["meta"]["total"] == 1


def test_a_schedule_that_works_again_is_no_failure_of_its_plugin(with_jobs: Callable[..., Any], ticks: Any) -> None:
    said: list[Any] = [ValueError("on purpose"), "no object", {"n": float("nan")}, None]

    def due(call: Any) -> Any:
        found = said.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    tidy = Job("tidy", lambda call: None, every="tidy.seconds", due=due)
    with with_jobs(tidy, options=SECONDS) as kit:
        told = []
        while said:
            kit.service.part(schedules.Schedules).ask(kit.application)
            ticks.now += 30
            [plugin] = [one for one in kit.client.get("plugins").json["data"] if one["id"] == "worker"]
            told.append(plugin["last_error"] and plugin["last_error"]["message"])
        assert told[0] == "ValueError: on purpose"
        assert "must return a JSON object or None, not str" in told[1]
        assert told[2] and told[2] != told[1]
        assert told[3] is None
        assert not kit.jobs.waiting(kit.application)


def test_what_watches_and_fails_is_asked(
    with_jobs: Callable[..., Any], ticks: Any, caplog: pytest.LogCaptureFixture
) -> None:
    asked: list[int] = []

    def watch(application: Any) -> bool:
        raise RuntimeError("on purpose")

    tidy = Job("tidy", lambda call: None, every="tidy.seconds", due=lambda call: asked.append(1),
               rests=lambda call: True, watch=watch)  # fmt: skip
    with with_jobs(tidy, options=SECONDS) as kit:
        schedule = kit.service.part(schedules.Schedules)
        assert schedule.ask(kit.application, active=False) and len(asked) == 1
        ticks.now += 30
        assert schedule.ask(kit.application, active=False) and len(asked) == 2
    assert "job tidy cannot watch default" in caplog.text


# -- the worker


class Stopping:
    """A worker whose rounds are made up, and which is stopped when it sleeps for the second time."""

    def __init__(self, kit: Any, found: list[bool]) -> None:
        self.did: list[str] = []
        self.worker = Worker(kit.service, "test", schedules=False)
        self._found = found
        self.worker._round = self._round  # type: ignore[method-assign]
        kit.service.jobs.wait_for_work = self._sleep

    def _round(self) -> bool:
        self.did.append("round")
        return self._found.pop(0)

    def _sleep(self, stop: Any) -> None:
        self.did.append("sleep")
        if not self._found:
            stop.set()


def test_a_worker_sleeps_when_nothing_is_left(with_jobs: Callable[..., Any]) -> None:
    with with_jobs() as kit:
        stopping = Stopping(kit, [True, True, False, True, False])
        stopping.worker._work()
    assert stopping.did == ["round", "round", "round", "sleep", "round", "round", "sleep"]


@pytest.fixture
def asked_at(with_jobs: Callable[..., Any], ticks: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[float]]:
    """Tell in which seconds a worker that makes a round after each of some pauses calls a method of the queue."""

    def find(method: str, pauses: Sequence[float], *, active: set[str], fault: Fault | None = None) -> list[float]:
        seconds: list[float] = []

        def note(application: Any, *given: Any) -> None:
            seconds.append(ticks.now - BEGINNING)
            if fault:
                raise Unusable(application, fault)

        with with_jobs() as kit:
            monkeypatch.setattr(kit.service.part(activity.Activity), "recent", lambda: active)
            monkeypatch.setattr(kit.jobs, method, note)
            working = Worker(kit.service, "test", schedules=False)
            for pause in pauses:
                ticks.now += pause
                assert not working._round()
        return seconds

    return find


def test_old_jobs_are_forgotten_once_an_hour(asked_at: Callable[..., list[float]]) -> None:
    assert asked_at("prune", (0, 3600, 1, 3600, 1), active={"default"}) == [3601, 7202]


def test_a_database_that_cannot_be_used_is_left_alone_for_a_while(asked_at: Callable[..., list[float]]) -> None:
    assert asked_at("run_next", (0, 29.5, 0.5), active={"default"}, fault=MISSING) == [0, 30]


def test_a_quiet_application_is_looked_into_each_quarter_of_an_hour(asked_at: Callable[..., list[float]]) -> None:
    assert asked_at("run_next", (0, 899.5, 0.5), active=set()) == [0, 900]


def test_an_application_where_nothing_is_asked_is_not_looked_into(
    with_jobs: Callable[..., Any], ticks: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    with with_jobs() as kit:
        schedule = kit.service.part(schedules.Schedules)
        monkeypatch.setattr(kit.service.part(activity.Activity), "recent", set)
        monkeypatch.setattr(kit.jobs, "run_next", lambda *given: bool(looked.append("once")))
        working = Worker(kit.service, "test")
        assert working._round() is False and looked == ["once"]
        monkeypatch.setattr(schedule, "next", lambda application: 0.0)
        monkeypatch.setattr(schedule, "ask", lambda *given, **how: False)
        assert working._round() is False and looked == ["once"]


def test_a_failure_of_one_application_is_told_shortly(
    with_jobs: Callable[..., Any], ticks: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*given: Any) -> bool:
        raise Unavailable("The database is away.")

    with with_jobs() as kit:
        monkeypatch.setattr(kit.jobs, "run_next", away)
        assert Worker(kit.service, "test", schedules=False)._round() is False
    assert "worker: application default: The database is away." in caplog.text and "Traceback" not in caplog.text

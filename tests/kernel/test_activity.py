"""Workers look where something was written, and everywhere now and then: what they cost follows the work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import MetaData, delete, func, select

from snaglist.kernel import Option, store, times
from snaglist.kernel.service import Service
from snaglist.plugins.system import Job, Worker, jobs_table
from snaglist.plugins.system.jobs import activity, schedules, worker
from snaglist.testing import Client, running_service

Install = Callable[..., Any]


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (activity, schedules, worker):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=made.monotonic))
    return made


class Watched:
    """A worker that runs round by round, and which applications it looked into."""

    def __init__(self, service: Service, *, scheduled: bool = False) -> None:
        self.worker = Worker(service, "test", schedules=scheduled)
        self.looked: list[str] = []
        self._run_next = service.jobs.run_next
        service.jobs.run_next = self._look  # type: ignore[method-assign]

    def _look(self, application: Any, *given: Any) -> bool:
        self.looked.append(application.id)
        return self._run_next(application, *given)

    def rounds(self, number: int = 1) -> list[str]:
        """Run rounds, each to its end; returns the ids of the applications that were looked into."""
        self.looked.clear()
        for _ in range(number):
            while self.worker._round():
                pass
        return sorted(set(self.looked))


RAN: list[str] = []


@pytest.fixture
def three(tmp_path: Path, install: Install, own_database_config: dict[str, str]) -> Iterator[Any]:
    """Two services on one installation with three applications: what one process queues and the other works off."""
    RAN.clear()
    job = Job("count", lambda call: RAN.append(call.application.id))
    install("counting", core=True, register_jobs=lambda: [job])
    config = {"jobs": False, **own_database_config}
    with running_service(tmp_path / "data", **config) as first, running_service(tmp_path / "data", **config) as second:
        for name in ("second", "third"):
            assert Client(first).post("applications", {"name": name}).status == 201
        second.applications.refresh()
        yield first, second


def put_to_rest(service: Service) -> None:
    """Let what was written be long ago."""
    service.part(activity.Activity)._here.clear()
    service.part(activity.Activity)._written.clear()
    with service.database.transaction(service.applications.registry, write=True) as db:
        db.execute(activity.activity.update().values(active_at=times.add(times.now(), seconds=-100)))


def enqueue(service: Service, application_id: str) -> None:
    call = service.call(service.applications.find(application_id), None)
    with call.transaction():
        call.enqueue("count")


def test_only_where_something_was_written(three: Any) -> None:
    first, second = three
    watched = Watched(second)
    assert watched.rounds() == ["default", "second", "third"]  # whatever was left before the start
    put_to_rest(first)
    assert watched.rounds(3) == []
    enqueue(first, "second")
    assert watched.rounds() == ["second"] and RAN == ["second"]
    put_to_rest(first)
    second.part(activity.Activity)._here.clear()  # the job itself wrote there
    watched.rounds()  # one more look tells that nothing is left
    assert watched.rounds(3) == []


def test_a_job_that_no_row_was_written_for_is_found_later(three: Any, clock: Clock) -> None:
    """Its process was killed after the commit; every quarter of an hour each application is looked into."""
    first, second = three
    watched = Watched(second)
    watched.rounds()
    put_to_rest(first)
    enqueue(first, "third")
    put_to_rest(first)
    clock.now += worker.SWEEP_SECONDS - 1
    assert watched.rounds() == [] and RAN == []
    clock.now += 2
    assert watched.rounds() == ["default", "second", "third"] and RAN == ["third"]


def test_a_registry_that_takes_no_row_hinders_no_commit(three: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = three
    put_to_rest(first)
    begin = first.database.transaction

    def away(tenant: Any, **how: Any) -> Any:
        if tenant is first.applications.registry and how.get("write"):
            raise activity.ServiceError("away")
        return begin(tenant, **how)

    monkeypatch.setattr(first.database, "transaction", away)
    enqueue(first, "second")
    monkeypatch.undo()
    call = first.call(first.applications.find("second"), None)
    with call.transaction(write=False):
        assert first.jobs.unfinished(call)
    assert "second" in first.part(activity.Activity).recent()  # in this process


def test_a_row_is_written_at_most_every_ten_seconds(three: Any, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it is no hot row; workers look for longer than that."""
    first, second = three
    put_to_rest(first)
    written: list[Any] = []
    upsert = activity.upsert
    monkeypatch.setattr(activity, "upsert", lambda *given, **how: written.append(given) or upsert(*given, **how))
    call = first.call(first.applications.find("second"), None)
    for _ in range(20):
        with call.transaction() as db:
            store.put_setting(db, "n", 1)
    assert len(written) == 1
    assert second.part(activity.Activity).recent() == {"second"}
    clock.now += activity.NOTE_SECONDS + 1
    with call.transaction() as db:
        store.put_setting(db, "n", 2)
    assert len(written) == 2
    assert activity.ACTIVE_SECONDS >= 2 * activity.NOTE_SECONDS


def test_reading_writes_no_row(three: Any) -> None:
    first, second = three
    put_to_rest(first)
    assert Client(first).get("plugins", app="second").status == 200
    with first.call().transaction(write=False):
        pass
    assert second.part(activity.Activity).recent() == set()


def test_jobs_that_wait_are_looked_after(three: Any, clock: Clock) -> None:
    """A retry whose time has not come, or a job that another worker runs: it may give it up."""
    first, second = three
    enqueue(first, "second")
    with first.database.transaction(first.applications.find("second"), write=True) as db:
        db.execute(jobs_table.update().values(attempts=1, run_at=times.add(times.now(), seconds=60)))
    watched = Watched(second)
    watched.rounds()
    put_to_rest(first)
    assert watched.rounds(3) == ["second"] and RAN == []
    with first.database.transaction(first.applications.find("second"), write=True) as db:
        db.execute(jobs_table.update().values(run_at=times.now()))
    assert watched.rounds() == ["second"] and RAN == ["second"]


def test_a_new_application_of_another_process(three: Any) -> None:
    first, second = three
    watched = Watched(second)
    watched.rounds()
    assert Client(first).post("applications", {"name": "fourth"}).status == 201
    put_to_rest(first)
    enqueue(first, "fourth")
    assert "fourth" in watched.rounds() and RAN == ["fourth"]


def test_a_removed_application_leaves_no_row(three: Any) -> None:
    first, second = three
    enqueue(first, "third")
    body = {"id": "third", "confirmation": "DELETE APPLICATION third"}
    assert Client(first).delete("applications", body).status == 200
    with first.database.transaction(first.applications.registry, write=False) as db:
        rows = db.scalars(select(activity.activity.c.application)).all()
    assert "third" not in rows
    assert "third" not in Watched(second).rounds()


def test_active_applications_come_before_the_others(three: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many there are to be looked into: a job waits for a few of those at most."""
    first, second = three
    put_to_rest(first)
    monkeypatch.setattr(worker, "LOOKS", 1)
    watched = Watched(second)
    watched.looked.clear()
    assert watched.worker._round() is True  # there is more
    assert watched.looked == ["default"]
    enqueue(first, "third")
    assert watched.worker._round() is True
    assert watched.looked[1] == "third"


def test_an_old_registry_gets_its_table(bare: Service) -> None:
    registry = bare.applications.registry
    with bare.database.transaction(registry, write=True) as db:
        schema = db.get_execution_options().get("tenant")
        activity.activity.to_metadata(MetaData(), schema=schema).drop(db)
        db.execute(delete(store.registry_schema_step).where(store.registry_schema_step.c.name == "s002"))
    bare.start()
    bare.part(activity.Activity)._written.clear()
    bare.part(activity.Activity).note(bare.applications.all()[0])
    with bare.database.transaction(registry, write=False) as db:
        assert db.scalar(select(func.count()).select_from(activity.activity)) == 1


# -- schedules


def test_what_rests_is_asked_when_something_was_written_and_now_and_then(
    three: Any, clock: Clock, install: Install, tmp_path: Path, own_database_config: dict[str, str]
) -> None:
    asked: list[str] = []
    dropped: list[str] = []
    options = [Option(f"{name}.seconds", 30, "between runs", 0) for name in ("still", "restless", "outside")]
    jobs = [
        Job("still", lambda call: None, every="still.seconds", due=lambda call: asked.append("still"),
            rests=lambda call: True),
        Job("restless", lambda call: None, every="restless.seconds", due=lambda call: asked.append("restless")),
        Job("outside", lambda call: None, every="outside.seconds", due=lambda call: asked.append("outside"),
            rests=lambda call: True, watch=lambda application: application.id in dropped),
    ]  # fmt: skip
    install(
        "timed",
        core=True,
        register_jobs=lambda: [job for job in jobs],
        register_settings=lambda: [option for option in options],
    )
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        application = service.applications.all()[0]

        def ask(seconds: float, **how: Any) -> list[str]:
            clock.now += seconds
            asked.clear()
            service.part(schedules.Schedules).ask(application, **{"active": False, **how})
            return sorted(asked)

        assert ask(0) == ["outside", "restless", "still"]
        assert ask(10) == []
        assert ask(25) == ["restless"]  # on time
        dropped.append(application.id)
        assert ask(31) == ["outside", "restless"]  # something came from outside
        dropped.clear()
        assert ask(31) == ["restless"]
        assert ask(5, active=True) == ["outside", "still"]  # something was written
        assert ask(31, active=True) == ["outside", "restless", "still"]  # as long as it goes on, nothing rests
        assert ask(31) == ["outside", "restless", "still"]  # a last time: now nothing is written any more
        assert ask(31) == ["restless"]
        assert ask(5, all_kinds=True) == ["outside", "still"]  # the slow round


def test_an_area_that_is_off_is_asked_when_it_is_switched_on(
    clock: Clock, install: Install, tmp_path: Path, own_database_config: dict[str, str]
) -> None:
    asked: list[str] = []
    job = Job("tidy", lambda call: None, every="tidy.seconds", due=lambda call: asked.append("tidy"))
    install(
        "tidying",
        register_jobs=lambda: [job],
        register_settings=lambda: [Option("tidy.seconds", 30, "between runs", 0)],
    )
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        watched = Watched(service, scheduled=True)
        watched.rounds()
        put_to_rest(service)
        clock.now += 31
        assert watched.rounds() == ["default"]  # a last time: it was active when it was asked first
        clock.now += 31
        assert watched.rounds(2) == [] and asked == []
        assert Client(service).post("plugins", {"id": "tidying", "enabled": True}).status == 200
        watched.rounds()
        assert asked == ["tidy"]
        put_to_rest(service)
        for number in range(2, 5):
            clock.now += 31
            watched.rounds()
            assert len(asked) == number  # it does not say that it rests


def test_a_schedule_that_fails_keeps_no_other_from_being_asked(
    install: Install, tmp_path: Path, own_database_config: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    def fail(call: Any) -> None:
        raise RuntimeError("on purpose")

    asked: list[str] = []
    jobs = [
        Job("bad", lambda call: None, every="timed.seconds", due=fail),
        Job("good", lambda call: None, every="timed.seconds", due=lambda call: asked.append("good")),
    ]
    install(
        "timed",
        core=True,
        register_jobs=lambda: [job for job in jobs],
        register_settings=lambda: [Option("timed.seconds", 30, "between runs", 0)],
    )
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        service.part(schedules.Schedules).ask(service.applications.all()[0])
    assert asked == ["good"]
    assert "plugin timed failed in due of job bad" in caplog.text


@pytest.mark.parametrize("damage", ["before", "meanwhile"])
def test_a_broken_application_keeps_no_schedule_waiting(
    install: Install, tmp_path: Path, own_database_config: dict[str, str], damage: str, clock: Clock
) -> None:
    RAN.clear()
    job = Job("tidy", lambda call: RAN.append(call.application.id), every="tidy.seconds", due=lambda call: {})
    install(
        "tidying",
        core=True,
        register_jobs=lambda: [job],
        register_settings=lambda: [Option("tidy.seconds", 30, "between runs", 0)],
    )
    with running_service(tmp_path / "data", jobs=False, **own_database_config) as service:
        Client(service).post("applications", {"name": "second"})
        watched = Watched(service, scheduled=True)
        if damage == "meanwhile":
            watched.rounds()
            assert sorted(RAN) == ["default", "second"]
        first = service.applications.all()[0]
        service.database.drop(first)
        service.applications.forget_state(first)
        RAN.clear()
        with service.database.transaction(service.applications.find("second"), write=True) as db:
            db.execute(jobs_table.update().values(created_at=times.add(times.now(), seconds=-60)))
        clock.now += 31
        watched.rounds()
        assert RAN == ["second"]
        before = len(watched.looked)
        watched.rounds(5)
        assert "default" not in watched.looked[before:]

"""Background jobs."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from snaglist.kernel import Conflict, Endpoint, Invalid, Option, Unavailable, own, store, times
from snaglist.plugins.system import Job, LeaseLost, job_reply, jobs_table
from snaglist.plugins.system.jobs.leases import heartbeat, place, worker_alive, worker_id
from snaglist.plugins.system.jobs.queue import LEASE_SECONDS
from snaglist.plugins.system.jobs.schedules import Schedules

Install = Kernel = Callable[..., Any]
table = jobs_table


@pytest.fixture
def with_jobs(job_kernel: Callable[..., Any], own_database_config: dict[str, str]) -> Callable[..., Any]:
    """As `job_kernel`, on each database."""
    return partial(job_kernel, **own_database_config)


def fails(error: BaseException) -> Callable[[Any], None]:
    def run(call: Any) -> None:
        raise error

    return run


def test_the_life_of_a_job(with_jobs: Callable[..., Any]) -> None:
    def run(call: Any) -> dict[str, Any]:
        assert call.actor is None and call.label is None
        call.progress(1, 3, "first.log")
        with call.transaction() as db:
            store.put_setting(db, "done", call.args["n"])
        call.progress(3, 3, "last.log")
        return {"n": call.args["n"]}

    with with_jobs(Job("count", run, unit="files")) as kit:
        job_id = kit.enqueue("count", {"n": 7}, total=3)
        queued = kit.job(job_id)
        assert queued["status"] == "queued" and queued["attempts"] == 0
        assert queued["progress"] == {"done": 0, "total": 3, "unit": "files", "text": None}
        assert queued["created_by"] == "Local" and queued["started_at"] is None
        assert kit.run() == 1 and kit.run() == 0
        done = kit.job(job_id)
        assert (done["status"], done["result"], done["error"], done["attempts"]) == ("succeeded", {"n": 7}, None, 1)
        assert done["progress"] == {"done": 3, "total": 3, "unit": "files", "text": None}
        assert done["started_at"] <= done["finished_at"]


def test_a_job_is_queued_with_the_transaction_or_not_at_all(with_jobs: Callable[..., Any]) -> None:
    with with_jobs(Job("count", lambda call: None)) as kit:
        call = kit.service.call()
        with pytest.raises(RuntimeError), call.transaction():
            call.enqueue("count")
            raise RuntimeError
        assert kit.run() == 0


def test_one_unfinished_job_of_a_kind(with_jobs: Callable[..., Any]) -> None:
    """The second is a Conflict, and the transaction of who asked goes on."""
    with with_jobs(Job("import", lambda call: None)) as kit:
        first = kit.enqueue("import", dedupe="import")
        call = kit.service.call()
        with call.transaction() as db:
            store.put_setting(db, "before", 1)
            with pytest.raises(Conflict):
                call.enqueue("import", dedupe="import")
            store.put_setting(db, "after", 1)
        assert kit.enqueue("import", dedupe="other") != first
        assert kit.run() == 2
        assert kit.enqueue("import", dedupe="import")
        with call.transaction(write=False) as db:
            assert store.get_setting(db, "before") == store.get_setting(db, "after") == 1


def test_lists_of_jobs(job_kernel: Callable[..., Any]) -> None:
    with job_kernel(Job("a", lambda call: None), Job("b", fails(Invalid("n: no")))) as kit:
        made = [kit.enqueue(kind) for kind in "abab"]
        kit.run()
        waiting = kit.enqueue("a")
        listed = kit.client.get("jobs").json
        assert [job["id"] for job in listed["data"]] == [waiting, *reversed(made)]
        assert listed["meta"] == {"total": 5, "page": 1, "limit": 25, "pages": 1}
        assert [job["id"] for job in kit.client.get("jobs", kind="b").json["data"]] == [made[3], made[1]]
        assert kit.client.get("jobs", status="queued,failed", kind="a").json["meta"]["total"] == 1
        second = kit.client.get("jobs", limit=2, page=3).json
        assert [job["id"] for job in second["data"]] == [made[0]]
        assert kit.client.get("jobs", status="odd").status == kit.client.get("jobs", limit=201).status == 422
        assert kit.client.get("jobs", id=999).status == 404 and kit.client.get("jobs", id=0).status == 422


def test_failures_of_jobs(job_kernel: Callable[..., Any]) -> None:
    """`error` is short, without paths or traces; what may pass by itself is tried again later."""
    kinds = [
        Job("refused", fails(Conflict("It is running."))),
        Job("broken", fails(ValueError("/etc/secret SELECT"))),
        Job("away", fails(Unavailable("The database is away."))),
        Job("disk", fails(OSError("disk")), max_attempts=1),
    ]
    with job_kernel(*kinds) as kit:
        ids = {job.kind: kit.enqueue(job.kind) for job in kinds}
        kit.run()
        found = {kind: kit.job(job_id) for kind, job_id in ids.items()}
        assert (found["refused"]["status"], found["refused"]["error"]) == ("failed", "It is running.")
        assert found["broken"]["status"] == "failed"
        assert found["broken"]["error"].startswith("Internal error (reference ")
        assert found["disk"]["status"] == "failed"
        away = found["away"]
        assert (away["status"], away["attempts"], away["error"]) == ("queued", 1, "The database is away.")
        assert away["run_at"] > away["created_at"]
        for _ in range(2):
            kit.change(ids["away"], run_at=times.add(times.now(), seconds=-1))
            kit.run()
        assert (kit.job(ids["away"])["status"], kit.job(ids["away"])["attempts"]) == ("failed", 3)


def test_cancel(with_jobs: Callable[..., Any]) -> None:
    reached = threading.Event()

    def run(call: Any) -> None:
        reached.set()
        for _ in range(400):
            call.check_cancelled()
            time.sleep(0.02)

    with with_jobs(Job("long", run), Job("short", lambda call: None)) as kit:
        queued = kit.enqueue("long")
        assert kit.act(queued, "cancel").json["status"] == "cancelled"
        assert kit.act(queued, "cancel").status == 409
        running = kit.enqueue("long", dedupe="one")
        thread = threading.Thread(target=kit.run)
        thread.start()
        assert reached.wait(10)
        assert kit.act(running, "cancel").json["status"] == "running"
        thread.join(10)
        assert kit.job(running)["status"] == "cancelled"
        kit.enqueue("long", dedupe="one")  # the name is free again
        finished = kit.enqueue("short")
        kit.jobs.run_next(kit.application, job_id=finished)
        assert kit.act(finished, "cancel").status == 409
        assert kit.act(999, "cancel").status == 404


def test_retry(with_jobs: Callable[..., Any]) -> None:
    """A new queued job with the same arguments."""
    with with_jobs(Job("bad", fails(Invalid("n: no"))), Job("good", lambda call: None)) as kit:
        failed, fine = kit.enqueue("bad", {"n": 1}, total=5), kit.enqueue("good")
        assert kit.act(failed, "retry").status == 409
        kit.run()
        again = kit.act(failed, "retry").json
        assert again["id"] != failed
        assert (again["status"], again["attempts"], again["progress"]["total"]) == ("queued", 0, 5)
        assert kit.row(again["id"]).args == {"n": 1}
        assert kit.job(failed)["status"] == "failed"
        assert kit.act(fine, "retry").status == 409
        assert kit.client.post("jobs", {"id": failed, "action": "explode"}).status == 422


def test_a_retried_job_keeps_its_key(with_jobs: Callable[..., Any]) -> None:
    """It never runs beside another one of that key, whatever its kind, and may be retried again."""
    with with_jobs(Job("bad", fails(Invalid("n: no"))), Job("files", fails(Invalid("no")), local=True)) as kit:
        failed = kit.enqueue("bad", dedupe="connector:5")
        kit.run()
        other = kit.enqueue("bad", dedupe="connector:5")
        assert kit.act(failed, "retry").status == 409
        assert kit.act(other, "cancel").status == 200
        again = kit.act(failed, "retry").json["id"]
        with pytest.raises(Conflict):
            kit.enqueue("bad", dedupe="connector:5")
        kit.run()
        assert kit.act(again, "retry").json["status"] == "queued"
        assert kit.act(other, "retry").status == 409
        assert kit.act(kit.enqueue("bad", dedupe="#7#"), "cancel").status == 200
        elsewhere = kit.enqueue("files", node="web-2", dedupe="files")
        kit.act(elsewhere, "cancel")
        retried = kit.row(kit.act(elsewhere, "retry").json["id"])
        assert (retried.node, retried.dedupe) == ("web-2", "files@web-2")


def test_a_clock_that_is_put_back_keeps_no_job_waiting(with_jobs: Callable[..., Any]) -> None:
    """What was written an hour ago is in the future now."""
    tidy = Job("tidy", lambda call: None, every="tidy.seconds", due=lambda call: {})
    options = (Option("tidy.seconds", 30, "between runs", 0),)
    with with_jobs(Job("plain", lambda call: None), Job("passing", fails(Unavailable("away"))), tidy,
                   options=options) as kit:  # fmt: skip
        future = times.add(times.now(), seconds=3700)
        plain, passing = kit.enqueue("plain"), kit.enqueue("passing")
        kit.change(plain, run_at=future, created_at=future)
        assert kit.run() == 2
        assert kit.job(plain)["status"] == "succeeded"
        assert kit.job(passing)["status"] == "queued"
        assert kit.run() == 0, "a retry waits"
        kit.change(passing, run_at=future)
        assert kit.run() == 1
        kit.service.part(Schedules).ask(kit.application)
        assert kit.run() == 1
        kit.change(kit.enqueue("tidy"), created_at=future)
        kit.run()
        kit.change(passing + 1, created_at=future)
        del kit.service._parts[Schedules]  # as in another process
        kit.service.part(Schedules).ask(kit.application)
        assert kit.run() == 1


def test_a_lease_is_kept_while_the_job_runs_and_free_when_it_ends(with_jobs: Callable[..., Any]) -> None:
    seen: list[Any] = []

    def run(call: Any) -> None:
        kit = seen[0]
        seen.append(kit.row(call.job_id))
        other = worker_id(kit.service.settings.node)
        seen.append(kit.jobs.run_next(kit.application, other))  # nobody else can take it

    with with_jobs(Job("watch", run)) as kit:
        seen.append(kit)
        job_id = kit.enqueue("watch")
        kit.run()
        assert (seen[1].status, seen[1].lease_owner is not None, seen[2]) == ("running", True, False)
        assert kit.row(job_id).lease_owner is None


def _leave_running(kit: Any, kind: str, *, owner: str, age: int, **values: Any) -> int:
    """Make a job look as if a worker had taken it some time ago."""
    job_id = kit.enqueue(kind)
    beat = times.add(times.now(), seconds=-age)
    taken = {"status": "running", "lease_owner": owner, "heartbeat_at": beat, "attempts": 1, "started_at": beat}
    kit.change(job_id, **{**taken, **values})
    return job_id


def test_a_job_whose_lease_ran_out_is_taken_up_again(with_jobs: Callable[..., Any]) -> None:
    with with_jobs(Job("count", lambda call: {"ok": True})) as kit:
        fresh = _leave_running(kit, "count", owner="elsewhere:1:2:x", age=LEASE_SECONDS - 8)
        stale = _leave_running(kit, "count", owner="elsewhere:1:2:x", age=LEASE_SECONDS + 2)
        assert kit.run() == 1
        assert kit.job(fresh)["status"] == "running"
        again = kit.job(stale)
        assert (again["status"], again["attempts"]) == ("succeeded", 2)


def test_a_lease_of_a_process_that_is_gone_is_free_at_once(with_jobs: Callable[..., Any]) -> None:
    """Only on the same node: a process id means nothing elsewhere. Its lease is enough, also of a command's own job."""
    with with_jobs(Job("count", lambda call: None)) as kit:
        mine = worker_id(kit.service.settings.node)
        here = mine.rsplit(":", 2)[0]
        gone = f"{here}:{2**22 - 7}:dead"
        elsewhere = f"other:1:{2**22 - 7}:dead"
        jobs = [_leave_running(kit, "count", owner=name, age=1) for name in (gone, elsewhere, mine)]
        assert kit.run() == 1
        assert [kit.job(job_id)["status"] for job_id in jobs] == ["succeeded", "running", "running"]


def test_a_job_that_kills_its_workers_ends(with_jobs: Callable[..., Any]) -> None:
    with with_jobs(Job("deadly", lambda call: None)) as kit:
        job_id = _leave_running(kit, "deadly", owner="elsewhere:1:2:x", age=60, attempts=3)
        kit.run()
        job = kit.job(job_id)
        said = "Nothing was heard of the worker for 15 seconds: it ended, or could not reach the database."
        assert (job["status"], job["error"]) == ("failed", said)


def test_that_a_worker_died_is_only_said_of_one_that_did(with_jobs: Callable[..., Any]) -> None:
    """Its process is gone from this machine; of others nobody knows."""
    with with_jobs(Job("deadly", lambda call: None)) as kit:
        gone = f"{place(kit.service.settings.node)}:{2**22 - 7}:dead"
        job_id = _leave_running(kit, "deadly", owner=gone, age=1, attempts=3)
        kit.run()
        job = kit.job(job_id)
        assert (job["status"], job["error"]) == ("failed", "The worker died.")


def _away(*_: Any) -> None:
    raise Unavailable("The database is not available now; try again.") from OperationalError("", {}, Exception())


def test_a_job_that_lost_its_database_says_so(with_jobs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end cannot be written then: that is made up for when the database is back, not guessed."""
    with with_jobs(Job("reader", _away)) as kit:
        job_id = kit.enqueue("reader")
        for status in ("queued", "queued", "failed"):
            kit.change(job_id, run_at="2026-01-01 00:00:00")
            with monkeypatch.context() as patch, pytest.raises(Unavailable):
                patch.setattr(kit.service.database, "repeat", _away)
                kit.run()
            assert kit.row(job_id).status == "running"
            assert kit.run() == 0  # it is written, and a retry waits
            job = kit.job(job_id)
            assert (job["status"], job["error"][:53]) == (
                status,
                "The database was not reachable while the job ran (The",
            )
        assert (job["attempts"], kit.row(job_id).error_status) == (3, 503)


def test_a_success_that_could_not_be_written_is_one(
    with_jobs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    with with_jobs(Job("count", lambda call: ran.append(1) or {"counted": 7})) as kit:
        job_id = kit.enqueue("count")
        with monkeypatch.context() as patch, pytest.raises(Unavailable):
            patch.setattr(kit.service.database, "repeat", _away)
            kit.run()
        assert kit.run() == 0
        job = kit.job(job_id)
        assert (job["status"], job["result"], ran) == ("succeeded", {"counted": 7}, [1])


def test_an_end_that_comes_too_late_changes_nothing(
    with_jobs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another worker took the job over meanwhile."""
    with with_jobs(Job("count", lambda call: {"counted": 7})) as kit:
        job_id = kit.enqueue("count")
        with monkeypatch.context() as patch, pytest.raises(Unavailable):
            patch.setattr(kit.service.database, "repeat", _away)
            kit.run()
        kit.change(job_id, lease_owner="elsewhere:1:2:x", heartbeat_at=times.now())
        assert kit.run() == 0
        assert kit.row(job_id).status == "running"


def test_a_cancelled_job_whose_worker_died_is_not_run_again(with_jobs: Callable[..., Any]) -> None:
    with with_jobs(Job("count", lambda call: None)) as kit:
        job_id = _leave_running(kit, "count", owner="elsewhere:1:2:x", age=60, cancel_requested=True)
        kit.run()
        assert kit.job(job_id)["status"] == "cancelled"


def test_who_lost_the_lease_stops_and_writes_nothing(with_jobs: Callable[..., Any]) -> None:
    kits: list[Any] = []

    def run(call: Any) -> None:
        kits[0].change(call.job_id, lease_owner="somebody else")
        call.progress(9)
        with pytest.raises(LeaseLost):
            call.check_cancelled()
        raise LeaseLost

    with with_jobs(Job("slow", run)) as kit:
        kits.append(kit)
        job_id = kit.enqueue("slow")
        kit.run()
        row = kit.row(job_id)
        assert (row.status, row.lease_owner, row.done) == ("running", "somebody else", 0)


def test_progress_never_falls_and_is_reported_between_transactions(job_kernel: Callable[..., Any]) -> None:
    def run(call: Any) -> None:
        call.progress(5, 5)
        call.progress(3, 3)
        with call.transaction(), pytest.raises(RuntimeError):
            call.progress(5, 5)

    with job_kernel(Job("steps", run)) as kit:
        job_id = kit.enqueue("steps")
        kit.run()
        assert kit.job(job_id)["progress"]["done"] == 5
        assert kit.job(job_id)["status"] == "succeeded"


def test_jobs_of_another_node_wait_for_it(job_kernel: Callable[..., Any]) -> None:
    with job_kernel(Job("files", lambda call: None), server__node="web-1") as kit:
        elsewhere, here = kit.enqueue("files", node="web-2"), kit.enqueue("files", node="web-1")
        assert kit.run() == 1
        assert (kit.job(elsewhere)["status"], kit.job(here)["status"]) == ("queued", "succeeded")


def test_schedules(with_jobs: Callable[..., Any]) -> None:
    """`every` names the seconds, `due` decides; not while one is unfinished, not when the plugin is off."""
    asked: list[str] = []

    def due(call: Any) -> dict[str, Any] | None:
        asked.append(call.application.id)
        return {"n": 1} if len(asked) > 1 else None

    tidy = Job("tidy", lambda call: {"args": dict(call.args)}, every="tidy.seconds", due=due)
    with with_jobs(tidy, options=(Option("tidy.seconds", 30, "between runs", 0),)) as kit:

        def ask() -> int:
            kit.service.part(Schedules)._asked.clear()  # as another process would ask
            kit.service.part(Schedules).ask(kit.application)
            with kit.service.database.transaction(kit.application, write=False) as db:
                count: int = db.execute(select(func.count()).select_from(table)).scalar_one()
                return count

        assert ask() == 0 and ask() == 1
        assert ask() == 1 and len(asked) == 2  # one is queued
        kit.run()
        assert ask() == 1 and len(asked) == 2  # one ran a moment ago
        kit.change(1, created_at=times.add(times.now(), seconds=-60))
        kit.client.post("plugins", {"id": "worker", "enabled": False})
        assert ask() == 1 and len(asked) == 2
        kit.client.post("plugins", {"id": "worker", "enabled": True})
        assert ask() == 2
        kit.service.part(Schedules).ask(kit.application)
        assert len(asked) == 3  # asked a moment ago by this process


def test_a_schedule_that_is_off(job_kernel: Callable[..., Any]) -> None:
    tidy = Job("tidy", lambda call: None, every="tidy.seconds", due=lambda call: {})
    options = (Option("tidy.seconds", 30, "between runs", 0),)
    with job_kernel(tidy, options=options, tidy__seconds=0) as kit:
        kit.service.part(Schedules).ask(kit.application)
        assert kit.run() == 0


def test_finished_jobs_are_forgotten_after_a_while(with_jobs: Callable[..., Any]) -> None:
    with with_jobs(Job("count", lambda call: None)) as kit:
        old, new, waiting = (kit.enqueue("count") for _ in range(3))
        kit.jobs.run_next(kit.application, job_id=old)
        kit.jobs.run_next(kit.application, job_id=new)
        past = times.add(times.now(), days=-31)
        for job_id in (old, waiting):
            kit.change(job_id, run_at=past)
        kit.jobs.prune(kit.application)
        assert [job["id"] for job in kit.client.get("jobs").json["data"]] == [waiting, new]


def test_signs_of_life(with_jobs: Callable[..., Any]) -> None:
    with with_jobs(Job("count", lambda call: None)) as kit:
        assert kit.client.get("health").json["checks"]["jobs"] is True
        job_id = kit.enqueue("count")
        assert not worker_alive(kit.service)
        assert kit.client.get("health").json["checks"]["jobs"] is False
        heartbeat(kit.service, worker_id("node"), "worker")
        assert worker_alive(kit.service)
        assert kit.client.get("health").json["checks"]["jobs"] is True
        kit.change(job_id, run_at=times.add(times.now(), seconds=-301))
        answer = kit.client.get("health")
        assert answer.json["checks"]["jobs"] is False
        assert (answer.status, answer.json["status"]) == (200, "degraded")


def test_a_worker_that_ended_is_not_alive(with_jobs: Callable[..., Any]) -> None:
    """Its last heartbeat says nothing when the process is gone; of another machine nothing is known."""
    with with_jobs(Job("count", lambda call: None)) as kit:
        ended = subprocess.Popen([sys.executable, "-c", ""])
        ended.wait()
        here = place(kit.service.settings.node)
        heartbeat(kit.service, f"{here}:{ended.pid}:0123abcd", "serve")
        assert not worker_alive(kit.service)
        heartbeat(kit.service, f"elsewhere:1:{ended.pid}:0123abcd", "serve")
        assert worker_alive(kit.service)


# -- wait


def test_wait(install: Install, kernel: Kernel, schemas: Callable[..., Any], own_database_config: Any) -> None:
    """202 at once, or the outcome with the status that fits it."""
    outcomes: dict[str, Any] = {
        "fine": lambda call: {"moved": 3}, "conflict": fails(Conflict("Stale.")), "invalid": fails(Invalid("a: b")),
        "broken": fails(ValueError("x")), "quick": fails(Conflict("Stale.")),
    }  # fmt: skip

    def post(call: Any) -> Any:
        with call.transaction():
            job_id = call.enqueue(call.query["kind"])
        for _ in range(500 if call.query["kind"] == "quick" else 0):
            with call.transaction(write=False):
                if call.service.jobs.find(call, job_id)["status"] == "failed":
                    break
            time.sleep(0.01)
        return job_reply(call, job_id, {"extra": "field"})

    folder = schemas(
        "work",
        {
            "post-query": {"properties": {"wait": {"type": "boolean", "default": False}, "kind": {"type": "string"}}},
            "post-response": {"type": "object"},
        },
    )
    install(
        "worker",
        core=True,
        register_jobs=lambda: [Job(kind, run) for kind, run in outcomes.items()],
        register_endpoints=lambda: [Endpoint("work", post=own(post, None, 202, 200), schemas=folder)],
    )
    with kernel(jobs=True, **own_database_config) as client:
        at_once = client.post("work", kind="fine")
        assert at_once.status == 202
        assert at_once.json == {"job_id": at_once.json["job_id"], "status": "queued", "extra": "field"}
        # Nor does a worker that is quicker than the answer change it.
        quick = client.post("work", kind="quick")
        assert (quick.status, quick.json.get("status")) == (202, "queued")
        started = time.monotonic()
        answers = {kind: client.post("work", kind=kind, wait=1) for kind in outcomes}
        assert answers["fine"].status == 200 and answers["fine"].json["moved"] == 3
        assert (answers["conflict"].status, answers["conflict"].error) == (409, "Stale.")
        assert (answers["invalid"].status, answers["invalid"].error) == (422, "a: b")
        assert answers["broken"].status == 500 and answers["broken"].error.startswith("Internal error (reference ")
        # The worker is woken by the commit; with its poll alone each would take up to a second.
        assert time.monotonic() - started < 20


def test_one_broken_application_does_not_keep_others_waiting(install: Install, kernel: Kernel) -> None:
    install("worker", core=True, register_jobs=lambda: [Job("count", lambda call: None)])
    with kernel(jobs=True) as client:
        client.post("applications", {"name": "second"})
        service = client.service
        first, second = service.applications.refresh()
        service.database.dispose()
        first.file.unlink()
        service.applications.forget_state(first)
        call = service.call(second)
        with call.transaction():
            job_id = call.enqueue("count")
        deadline = time.monotonic() + 30
        while client.get("jobs", id=job_id, app="second").json["data"]["status"] != "succeeded":
            assert time.monotonic() < deadline
            time.sleep(0.05)

"""Rules over more issues than fit into a request's own transaction."""

import threading

import pytest

from snaglist.plugins.system import Job
from snaglist.plugins.tags import rebuild, rules

ISSUES = 7


@pytest.fixture
def slow(monkeypatch):
    """Give the request no time of its own, so that all work is left to the job, in batches of two."""
    monkeypatch.setattr(rebuild, "BUDGET_SECONDS", 0.0)
    monkeypatch.setattr(rebuild, "BATCH", 2)
    monkeypatch.setattr(rules, "BATCH", 2)


@pytest.fixture
def issues(issue):
    """Issues of which all but one hold the word."""
    return [issue(f"alpha {number}" if number else "beta") for number in range(ISSUES)]


def jobs(client):
    """Return kind and status of all jobs, the newest first."""
    return [(job["kind"], job["status"]) for job in client.get("jobs").json["data"]]


@pytest.mark.servers
def test_job_is_waited_for(client, issues, tag, slow):
    """The answer comes when the job is done, and shows what it did."""
    created = tag("x", match_word="alpha")
    assert created["issue_count"] == ISSUES - 1
    assert jobs(client) == [("tag_rule", "succeeded")]
    changed = client.patch("tags", {"id": created["id"], "name": "x", "match_word": "beta"}).json
    assert changed["issue_count"] == 1
    cleared = client.patch("tags", {"id": created["id"], "name": "x", "match_word": ""}).json
    assert cleared["issue_count"] == 0


@pytest.fixture
def busy(service):
    """Keep the only worker busy while the test runs."""
    started, released = threading.Event(), threading.Event()

    def run(call):
        started.set()
        released.wait(60)

    added = service.plugins.find("tags").added["register_jobs"]
    added.append((None, Job("busy", run)))
    call = service.call()
    with call.transaction():
        call.enqueue("busy")
    service.jobs.wake()
    assert started.wait(60)
    yield
    released.set()
    added.pop()  # other services share these plugins


def test_the_answer_does_not_wait_for_a_busy_worker(client, service, issues, tag, slow, busy, monkeypatch):
    """The tag is the answer, the rest a job that is seen and done when a worker comes to it."""
    monkeypatch.setattr(rebuild, "WAIT_SECONDS", 0.1)
    created = tag("x", match_word="alpha")
    assert (created["name"], created["match_word"], created["issue_count"]) == ("x", "alpha", 0)
    assert jobs(client) == [("tag_rule", "queued"), ("busy", "running")]
    for send in (client.put, client.patch):
        assert send("tags", {"id": created["id"], "name": "x", "match_word": "alpha"}).status == 200
    service.jobs.run_queued(service.call().application)  # as another worker would
    assert client.get("tags").json["data"][0]["issue_count"] == ISSUES - 1


def test_request_runs_the_job_itself(client, service, issues, tag, slow, busy, monkeypatch):
    """When no worker is alive the request does not wait for one."""
    monkeypatch.setattr(rebuild, "worker_alive", lambda service: False)
    monkeypatch.setattr(rebuild, "sleep", lambda seconds: pytest.fail("nobody else does it"))
    assert tag("x", match_word="alpha")["issue_count"] == ISSUES - 1
    assert jobs(client) == [("tag_rule", "succeeded"), ("busy", "running")]


def test_the_time_of_a_request():
    """About four seconds at most: in a request, then waiting for the job."""
    assert (rebuild.BUDGET_SECONDS, rebuild.WAIT_SECONDS, rebuild.POLL_SECONDS) == (2, 2, 0.05)


def test_job_tells_how_many_issues_it_looked_at(client, service, issues, tag, slow, busy, monkeypatch):
    """Of a rule that goes those that it had tagged."""
    monkeypatch.setattr(rebuild, "wait", lambda call, job_id: None)
    tag_id = tag("x", match_word="alpha")["id"]
    for number in (ISSUES, ISSUES - 1):
        service.jobs.run_queued(service.call().application)
        job = client.get("jobs").json["data"][0]
        assert job["result"] == {"tag_id": tag_id, "issues": number}
        assert job["progress"]["done"] == number
        client.patch("tags", {"id": tag_id, "name": "x", "match_word": ""})


def test_preview_counts_in_batches_wherever_the_ids_begin(client, issues, slow):
    """Ids have gaps where issues were deleted."""
    body = {"action": "delete", "ids": issues[:3], "confirmation": "DELETE ISSUES"}
    assert client.post("bulk-issues", body).status == 200
    answer = client.get("tags", preview="alpha")
    assert answer.json["preview"]["issue_count"] == ISSUES - 3


def test_batches_within_the_request(client, issues, tag, monkeypatch):
    """Several batches in time need no job."""
    monkeypatch.setattr(rebuild, "BATCH", 2)
    assert tag("x", match_word="alpha")["issue_count"] == ISSUES - 1
    assert jobs(client) == []


def test_part_in_the_request_and_the_rest_in_the_job(client, service, issues, tag, monkeypatch):
    """The job goes on where the request's time ended, and tells how many issues it looked at."""
    clock = iter([0.0, 1.0, 1.5, 2.0])
    monkeypatch.setattr(rebuild, "BATCH", 2)
    monkeypatch.setattr(rebuild, "monotonic", lambda: next(clock, 9.0))
    monkeypatch.setattr(rebuild, "wait", lambda call, job_id: None)
    tag_id = tag("x", match_word="alpha")["id"]
    monkeypatch.undo()
    call = service.call()
    with call.transaction(write=False):
        [job] = [dict(row) for row in (service.jobs.find(call, job["id"]) for job in client.get("jobs").json["data"])]
    assert job["args"]["tag_id"] == tag_id
    assert job["args"]["position"] == issues[3]


def test_job_of_an_older_rule_stops(client, service, issues, tag, slow, monkeypatch):
    """A rule that was rebuilt meanwhile is not applied by the job of the old one."""
    monkeypatch.setattr(rebuild, "wait", lambda call, job_id: None)
    tag_id = tag("x", match_word="alpha")["id"]
    monkeypatch.undo()
    changed = client.patch("tags", {"id": tag_id, "name": "x", "match_word": "beta"}).json
    service.jobs.run_queued(service.call().application)
    assert changed["issue_count"] == 1
    assert client.get("tags").json["data"] == [changed]


def test_job_of_a_deleted_tag_stops(client, service, issues, tag, slow, monkeypatch):
    """A job whose tag is gone ends without a failure."""
    monkeypatch.setattr(rebuild, "wait", lambda call, job_id: None)
    tag_id = tag("x", match_word="alpha")["id"]
    assert client.delete("tags", id=tag_id).status == 200
    service.jobs.run_queued(service.call().application)
    for job in client.get("jobs").json["data"]:
        assert job["status"] in ("queued", "running", "succeeded")

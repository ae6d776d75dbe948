"""Workers that are killed, as real processes, after the tracker did something and before it is noted here."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.whole

SNAGLIST = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]
VENDORS = ["linear", "github", "gitlab", "jira"]


@contextmanager
def killed_after(site: Any, data: Path, wanted: Callable[[Any], bool]) -> Iterator[None]:
    """Let a worker process do what is queued, and kill it when the double has done what a request asked for."""
    done, killed = threading.Event(), threading.Event()
    double = site.double

    def answer(request: Any) -> Any:
        answered = double.answer(request)
        if not wanted(request):
            double.fail.insert(0, answer)
            return answered
        done.set()
        assert killed.wait(60)
        return answered

    double.fail = [answer]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SERVICE_")}
    mine = {"SERVICE_OUTBOUND_ALLOW_PRIVATE": "127.0.0.0/8", "SERVICE_TRACKER_PAGE_SIZE": "2"}
    command = [*SNAGLIST, "--data", str(data), "jobs", "work", "--once"]
    worker = subprocess.Popen(command, env=kept | mine, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        assert done.wait(60), "the worker did not ask"
    finally:
        worker.kill()
        worker.wait()
        killed.set()
    yield


def queue(site: Any, **body: Any) -> int:
    answer = site.client.post("tracker-sync", body)
    assert answer.status == 202, answer.text
    return int(answer.json["job_id"])


def is_creation(request: Any) -> bool:
    if request.path == "/graphql":
        return "issueCreate" in request.json["query"]
    return request.method == "POST" and request.path.endswith(("/issues", "/issue"))


def is_comment(request: Any) -> bool:
    if request.path == "/graphql":
        return "commentCreate" in request.json["query"]
    return request.method == "POST" and request.path.endswith(("/comments", "/notes", "/comment"))


@pytest.mark.parametrize("provider", VENDORS)
def test_an_item_is_made_once(site_with: Callable[..., Any], fresh_data: Path, provider: str) -> None:
    site = site_with(provider)
    site.double.real_time = True  # what was made lately is looked through
    issue_id = site.client.post("issues", {"title": "Refund fails"}).json["data"]["id"]
    job_id = queue(site, action="create", ids=[issue_id])
    with killed_after(site, fresh_data, is_creation):
        assert len(site.double.issues) == 1
        assert site.issue(issue_id)["data"]["external_id"] is None
        site.run_jobs()
    assert site.job(job_id)["status"] == "succeeded" and site.job(job_id)["attempts"] == 2
    assert len(site.double.issues) == 1
    (item,) = site.double.issues
    assert site.issue(issue_id)["data"]["external_id"] == site.double.identifier(item)


@pytest.mark.parametrize("provider", VENDORS)
def test_a_comment_is_written_once(site_with: Callable[..., Any], fresh_data: Path, provider: str) -> None:
    site = site_with(provider)
    site.settings(status_writeback=True)
    item = site.double.add("Refund fails")
    site.sync()
    (issue,) = site.issues()
    job_id = site.set_status(issue["id"], "fixed", note="Done")["tracker"]["job_id"]
    with killed_after(site, fresh_data, is_comment):
        site.run_jobs()
    assert site.job(job_id)["status"] == "succeeded"
    assert len(site.double.said(item)) == 1
    assert site.double.state(item) in ("completed", "closed:completed", "closed", "done:Done")


@pytest.mark.parametrize("provider", VENDORS)
def test_a_pull_goes_on_where_it_was(site_with: Callable[..., Any], fresh_data: Path, provider: str) -> None:
    site = site_with(provider, tracker__page_size=2)
    for number in range(7):
        site.double.add(f"Item {number}")
    asked: list[Any] = []
    job_id = queue(site)
    with killed_after(site, fresh_data, lambda request: asked.append(request) or len(asked) == 3):
        assert 2 <= len(site.issues()) < 7
        known = {issue["id"] for issue in site.issues()}
        before = len(site.double.got)
        site.run_jobs()
    job = site.job(job_id)
    assert job["status"] == "succeeded" and job["result"]["phase"] == "backfill"
    assert {issue["title"] for issue in site.issues()} == {f"Item {number}" for number in range(7)}
    assert known < {issue["id"] for issue in site.issues()}
    first = site.double.got[before]
    resumed = first.json if first.raw else first.query
    assert (
        "since" in resumed
        or "updated_after" in resumed
        or resumed.get("nextPageToken")
        or resumed["variables"]["after"]
    )

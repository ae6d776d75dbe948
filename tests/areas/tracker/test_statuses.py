"""Two-way statuses, and items that are made for issues."""

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import times
from snaglist.plugins.tracker import Item
from snaglist.plugins.tracker.providers import BUILT_IN
from snaglist.plugins.tracker.storing import followed_status
from snaglist.plugins.tracker.tables import links

STATUSES = ["open", "in_progress", "fixed", "wont_fix", "reoccurred"]


def an_issue(site: Any, **settings: Any) -> tuple[int, int]:
    """Pull an item; returns its number and the id of its issue."""
    site.settings(status_writeback=True, **settings)
    number = site.double.add("Refund fails")
    site.sync()
    return number, site.issues()[0]["id"]


def sent(site: Any) -> list[Any]:
    """The requests that changed something there."""
    return [one for one in site.double.got if one.method != "GET"]


def test_check_118(site: Any) -> None:
    """Closed there: fixed here, one row, no write back; reopened here: reopened there, whose echo changes nothing."""
    number, issue_id = an_issue(site)
    site.double.close(number)
    site.webhook(site.double.notification(number, "closed"))
    site.run_jobs()
    assert site.status(issue_id) == "fixed" and len(site.history(issue_id)) == 1
    assert sent(site) == []
    (row,) = site.history(issue_id)
    assert (row["actor"], row["from_status"], row["to_status"], row["note"]) == ("github", "open", "fixed", None)
    site.set_status(issue_id, "open")
    site.run_jobs()
    assert site.double.state(number) == "open"
    before = len(site.issue(issue_id)["status_history"])
    assert site.webhook(site.double.notification(number, "reopened")).status == 202
    site.run_jobs()
    site.sync()
    assert site.status(issue_id) == "open" and len(site.issue(issue_id)["status_history"]) == before
    assert len(sent(site)) == 2  # a comment and the move


def test_what_is_written_is_no_news(site: Any) -> None:
    number, issue_id = an_issue(site)
    for status in STATUSES:
        site.set_status(issue_id, status, comment=False)
        site.run_jobs()
        site.sync()
        assert site.status(issue_id) == status and site.history(issue_id) == [], status
    (link,) = site.rows(links)
    assert link.remote_state == link.last_pushed_state == "open" and link.external_id == f"octo/shop#{number}"
    assert site.double.said(number) == []


def test_a_comment_here_is_no_news_there(site: Any) -> None:
    number, issue_id = an_issue(site)
    assert site.client.post("issue-comments", {"id": issue_id, "text": "Seen again"}).status == 201
    site.run_jobs()
    assert sent(site) == [] and site.double.said(number) == []


@pytest.mark.servers
def test_an_echo_between_the_move_and_its_note(site: Any) -> None:
    """The notification is worked on before the job that caused it could note what it wrote."""
    number, issue_id = an_issue(site)
    site.set_status(issue_id, "wont_fix")

    def meanwhile(request: Any) -> Any:
        if request.method != "PATCH":
            site.double.fail.insert(0, meanwhile)
            return None
        answer = site.double.answer(request)
        assert site.webhook(site.double.notification(number)).status == 202
        call = site.service.call(actor=None)
        thread = threading.Thread(target=site.service.jobs.run_next, args=(call.application, "other"))
        thread.start()
        site.double.lock.release()  # the job of the notification asks, too
        thread.join()
        site.double.lock.acquire()
        return answer

    site.double.fail = [meanwhile]
    site.run_jobs()
    assert site.status(issue_id) == "wont_fix" and site.history(issue_id) == []


def test_without_write_back_nothing_goes_out(site: Any) -> None:
    _, issue_id = an_issue(site)
    site.settings()
    assert "tracker" not in site.set_status(issue_id, "fixed")
    assert sent(site) == []
    assert "tracker" not in site.set_status(site.store("Unlinked"), "fixed")


def test_without_pull_nothing_comes_in(site: Any) -> None:
    number, issue_id = an_issue(site, status_pull=False)
    site.double.close(number)
    assert site.sync()["status_changed"] == 0 and site.status(issue_id) == "open"
    site.settings()
    site.double.change(number)
    site.sync()
    assert site.status(issue_id) == "open"  # it is known already


def test_the_later_change_wins(site: Any) -> None:
    number, issue_id = an_issue(site)
    site.settings()  # nothing goes out, so both sides differ
    site.set_status(issue_id, "in_progress")
    site.double.close(number)  # long before
    site.sync()
    assert site.status(issue_id) == "in_progress"
    soon = times.add(times.now(), seconds=30).replace(" ", "T") + "Z"
    site.double.issues[number] |= {"state": "closed", "state_reason": "not_planned", "updated_at": soon}
    site.sync()
    assert site.status(issue_id) == "wont_fix"


def test_the_later_change_there_stops_the_write_back(site: Any) -> None:
    number, issue_id = an_issue(site)
    answer = site.set_status(issue_id, "in_progress")
    soon = times.add(times.now(), seconds=30).replace(" ", "T") + "Z"
    site.double.issues[number] |= {"state": "closed", "state_reason": "completed", "updated_at": soon}
    site.run_jobs()
    assert site.job(answer["tracker"]["job_id"])["result"]["ok"]
    assert site.status(issue_id) == "fixed" and sent(site) == []


@pytest.mark.servers
def test_a_bulk_change_goes_out_as_one_job(site: Any) -> None:
    site.settings(status_writeback=True)
    numbers = [site.double.add(f"Item {number}") for number in range(3)]
    site.sync()
    ids = [issue["id"] for issue in site.issues()]
    body = {"action": "status", "status": "fixed", "ids": [*ids, site.store("Unlinked")], "comment": False}
    answer = site.client.post("bulk-issues", body)
    assert answer.json["tracker"]["queued"], answer.text
    site.run_jobs()
    assert [site.double.state(number) for number in numbers] == ["closed:completed"] * 3
    assert len(sent(site)) == 3
    assert len(site.job(answer.json["tracker"]["job_id"])["result"]["results"]) == 3


def test_an_issue_that_comes_back_reopens_its_item(site: Any) -> None:
    site.settings(status_writeback=True)
    issue_id = site.store("Order 4711 failed: gateway timeout")
    site.sync("create", ids=[issue_id])
    (number,) = site.double.issues
    site.set_status(issue_id, "fixed")
    site.run_jobs()
    assert site.double.state(number) == "closed:completed"
    later = times.add(times.now(), seconds=2)
    assert site.store("Order 4712 failed: gateway timeout", at=later) == issue_id
    site.run_jobs()
    assert site.status(issue_id) == "reoccurred" and site.double.state(number) == "open"
    assert "It happened again." in site.double.said(number)[-1]
    site.sync()
    assert site.status(issue_id) == "reoccurred"


def test_waiting_for_the_write_back(site_with: Callable[..., Any]) -> None:
    site = site_with("github", jobs=True)
    site.settings(status_writeback=True)
    number = site.double.add("Refund fails")
    assert site.client.post("tracker-sync", {}, wait=True).status == 200
    issue_id = site.issues()[0]["id"]
    answer = site.client.post("issue-status", {"id": issue_id, "status": "fixed"}, wait=True).json
    assert answer["tracker"] == {
        "attempted": True, "ok": True, "commented": True, "transitioned": True, "error": None,
    }  # fmt: skip
    site.double.issues.clear()
    answer = site.client.post("issue-status", {"id": issue_id, "status": "open"}, wait=True).json
    assert answer["status"] == "open" and answer["tracker"]["ok"] is False
    assert "gone from the tracker" in answer["tracker"]["error"] and not answer["tracker"]["transitioned"]
    assert number == 1


@pytest.mark.servers
def test_a_tracker_that_is_away_gets_it_later(site: Any) -> None:
    doubles = __import__("tracker_doubles")
    number, issue_id = an_issue(site)
    site.double.fail = [doubles.Answer(502)]
    job_id = site.set_status(issue_id, "fixed")["tracker"]["job_id"]
    site.run_jobs()
    assert site.job(job_id)["status"] == "queued"
    site.retry_now()
    assert site.job(job_id)["status"] == "succeeded" and site.double.state(number) == "closed:completed"


def test_push_sends_the_current_status(site: Any) -> None:
    number, issue_id = an_issue(site)
    site.settings()
    site.set_status(issue_id, "fixed")
    other = site.store("Unlinked")
    done = site.sync("push", ids=[issue_id, other])
    assert (done["pushed"], done["ok"]) == (1, False)
    assert [(entry["id"], entry["ok"]) for entry in done["results"]] == [(issue_id, True), (other, False)]
    assert site.double.state(number) == "closed:completed" and site.double.said(number) == []


# -- making items


def test_what_cannot_be_made_is_told_for_each(site: Any) -> None:
    doubles = __import__("tracker_doubles")
    ids = [site.store(f"Failure {word}") for word in ("alpha of the disk", "in the beta queue", "gamma mail lost")]
    site.double.fail = [doubles.Answer(422, {"message": "Validation Failed"})]
    done = site.sync("create", ids=ids)
    assert [entry["ok"] for entry in done["results"]] == [False, True, True] and not done["ok"]
    assert "Validation Failed" in done["results"][0]["error"] and done["created"] == 2
    assert site.sync("create", ids=ids)["ok"] and len(site.double.issues) == 3
    doubles_of_all = [doubles.Answer(401)] * 5
    more = [site.store("Delta socket closed"), site.store("Epsilon cache miss")]
    site.double.fail = doubles_of_all
    job = site.job(site.queue("create", ids=more))
    assert job["status"] == "failed" and job["error"] == "The tracker rejected the key."
    assert len(site.double.fail) == 4  # a wrong key is not tried for each


def test_a_notification_may_be_faster_than_the_link(site: Any) -> None:
    issue_id = site.store("Order 4711 failed")

    def meanwhile(request: Any) -> Any:
        answer = site.double.answer(request)
        assert site.webhook(site.double.notification(1, "opened")).status == 202
        call = site.service.call(actor=None)
        thread = threading.Thread(target=site.service.jobs.run_next, args=(call.application, "other"))
        thread.start()
        site.double.lock.release()
        thread.join()
        site.double.lock.acquire()
        return answer

    site.double.fail = [meanwhile]
    done = site.sync("create", ids=[issue_id])
    assert done["ok"], done
    assert [issue["id"] for issue in site.issues()] == [issue_id]
    assert site.issue(issue_id)["data"]["external_id"] == "octo/shop#1"


def test_what_an_item_says(site_with: Callable[..., Any]) -> None:
    site = site_with("github", server__url="https://logs.example.com/")
    fence = "`" * 4
    issue_id = site.store(f"Broken {fence} @all <!-- x -->", stack="at a.py:1", severity="CRITICAL")
    site.sync("create", ids=[issue_id])
    (item,) = site.double.issues.values()
    assert item["body"].startswith(f"`````\nBroken {fence} @all <!-- x -->")
    assert f"https://logs.example.com/?view=issue&id={issue_id}&app=default" in item["body"]


@pytest.mark.servers
def test_merged_issues_keep_one_item(site: Any) -> None:
    first, second, third = (site.store(text) for text in ("Disk alpha full", "Queue beta stuck", "Mail gamma lost"))
    site.sync("create", ids=[first, second])
    merged = {"action": "merge", "ids": [first, second], "target_id": third}
    assert site.client.post("bulk-issues", merged).status == 200
    assert site.issue(third)["data"]["external_id"] == "octo/shop#1"
    (link,) = site.rows(links)
    assert (link.issue_id, link.external_id) == (third, "octo/shop#1")
    site.double.close(1)
    site.sync()
    assert site.status(third) == "fixed"
    deletion = {"action": "delete", "ids": [third], "confirmation": "DELETE ISSUES"}
    assert site.client.post("bulk-issues", deletion).status == 200
    assert [link.external_id for link in site.rows(links)] == ["octo/shop#2"]  # pulled anew: it belongs to no issue


# -- the generic provider


def test_generic_out_and_in(site_with: Callable[..., Any]) -> None:
    import hashlib
    import hmac

    site = site_with("generic")
    site.settings(status_writeback=True)
    assert site.client.post("tracker-test").json == {"ok": True, "viewer": None, "message": "Connected."}
    issue_id = site.store("Order 4711 failed")
    (entry,) = site.sync("create", ids=[issue_id])["results"]
    assert entry["external_id"] == "EXT-1"
    site.set_status(issue_id, "fixed", note="Done")
    site.run_jobs()
    made, comment, moved = [one.json for one in site.double.got[1:]]
    assert (made["event"], made["status"], comment["event"], moved["status"]) == ("issue", "open", "comment", "fixed")
    assert moved["id"] == "EXT-1" and "Done" in comment["comment"]
    assert list(made) == ["id", "event", "title", "description", "status", "url", "priority", "labels", "assignee",
                          "created_at", "updated_at", "sent_at"]  # fmt: skip
    for one in site.double.got:
        digest = hmac.new(b"s3cr3t-key", one.raw, hashlib.sha256).hexdigest()
        assert one.headers["x-service-signature"] == f"sha256={digest}"
        assert one.headers["user-agent"].startswith("snaglist/")
    assert len({one.headers["x-service-delivery"] for one in site.double.got}) == 4
    echo = {**moved, "sent_at": times.now()}
    assert site.webhook(echo).status == 202
    site.run_jobs()
    assert site.status(issue_id) == "fixed" and site.history(issue_id)[:-1] == []
    back = {**moved, "status": "wont_fix", "sent_at": times.now(), "updated_at": times.add(times.now(), seconds=5)}
    assert site.webhook(back).status == 202
    site.run_jobs()
    assert site.status(issue_id) == "wont_fix" and len(site.double.got) == 4


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"title": " "}, "title"),
        ({"status": "done"}, "status"),
        ({"labels": "x"}, "labels"),
        ({"updated_at": "x"}, "updated_at"),
    ],
)
def test_a_generic_body_that_does_not_fit_is_named(site_with: Callable[..., Any], fields: Any, named: str) -> None:
    site = site_with("generic")
    answer = site.webhook({"id": "EXT-1", "title": "Refund fails", "sent_at": times.now()} | fields)
    assert answer.status == 422 and named in answer.error


def test_a_generic_item_becomes_an_issue(site_with: Callable[..., Any]) -> None:
    site = site_with("generic")
    document = {
        "id": "EXT-1", "event": "issue", "title": "Refund fails", "description": "…", "status": "reoccurred",
        "url": "https://t.example.com/EXT-1", "priority": 2, "labels": ["billing"], "assignee": "ana@example.com",
        "created_at": "2026-01-02 08:00:00", "updated_at": "2026-01-03T09:00:00Z", "sent_at": times.now(),
    }  # fmt: skip
    site.webhook(document)
    site.run_jobs()
    (issue,) = site.issues()
    assert (issue["status"], issue["severity"], issue["assignee"]) == ("reoccurred", "ERROR", "ana@example.com")
    assert (issue["first_seen"], issue["last_seen"]) == ("2026-01-02 08:00:00", "2026-01-03 09:00:00")
    assert issue["tags"][0]["name"] == "billing" and issue["external_url"] == document["url"]
    site.settings(status_writeback=True)
    site.set_status(issue["id"], "open")
    site.run_jobs()
    told = site.double.got[-1].json
    changed = ("status", "updated_at", "sent_at")
    assert {name: told[name] for name in document if name not in changed} == {
        name: value for name, value in document.items() if name not in changed
    }


# -- properties


@given(
    st.sampled_from(STATUSES), st.sampled_from(STATUSES), st.booleans(), st.integers(-5, 5), st.booleans(),
)  # fmt: skip
def test_what_an_issue_follows(ours: str, theirs: str, known: bool, later: int, agreed: bool) -> None:
    changed = "2026-01-02 08:00:10"
    item = Item("1", "1", "x", "s", theirs, changed, times.add(changed, seconds=later))
    link = SimpleNamespace(remote_state="s" if known else "other", agreed_at=changed if agreed else None)
    status = followed_status(item, link, SimpleNamespace(status=ours, status_updated_at=changed))
    if known or (not agreed and later < 0):
        assert status is None
    elif theirs == "open":
        assert status == ("open" if ours in ("fixed", "wont_fix") else None)
    else:
        assert status == (theirs if theirs != ours else None)


@pytest.mark.parametrize("provider", sorted(BUILT_IN))
def test_every_status_leads_somewhere(provider: str) -> None:
    kind = BUILT_IN[provider]
    assert set(kind.targets) == set(STATUSES)
    for status, target in kind.targets.items():
        assert kind.targets[target] == target, status

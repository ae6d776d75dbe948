"""Each provider against a local double that is written from the vendor's public API documentation (doubles.py)."""

from collections.abc import Callable
from typing import Any

import pytest

STARTED = {"linear": "started", "github": "open", "gitlab": "opened", "jira": "indeterminate:None"}
CLOSED = {
    ("linear", "fixed"): "completed", ("linear", "wont_fix"): "canceled",
    ("github", "fixed"): "closed:completed", ("github", "wont_fix"): "closed:not_planned",
    ("gitlab", "fixed"): "closed", ("gitlab", "wont_fix"): "closed",
    ("jira", "fixed"): "done:Done", ("jira", "wont_fix"): "done:Won't Do",
}  # fmt: skip


def test_the_key_is_tested(vendor: Any) -> None:
    answer = vendor.client.post("tracker-test")
    assert answer.json["ok"] and answer.json["viewer"]["name"] == "Ana", answer.text
    assert answer.json["viewer"]["email"] == "ana@example.com"
    vendor.settings(api_key="another-key-0123")
    answer = vendor.client.post("tracker-test")
    assert answer.json == {"ok": False, "viewer": None, "message": "The tracker rejected the key."}


def test_all_pages_become_issues(vendor: Any) -> None:
    ids = [vendor.double.add(f"Item {number}") for number in range(5)]
    done = vendor.sync()
    assert (done["pulled"], done["created"], done["phase"]) == (5, 5, "backfill"), done
    assert done["backfill_complete"] and not done["has_more"]
    found = {issue["title"]: issue for issue in vendor.issues()}
    assert set(found) == {f"Item {number}" for number in range(5)}
    first = found["Item 0"]
    assert first["external_source"] == vendor.provider
    assert first["external_id"] == first["source_frame"] == vendor.double.identifier(ids[0])
    assert first["external_url"].startswith("http")
    assert {first["origin"], first["log_type"], first["environment"]} == {"tracker"}
    assert first["kind"] == "issue" and first["count"] == 0 and first["status"] == "open"
    assert first["first_seen"] == first["last_seen"] == "2026-01-02 08:16:41"
    created = vendor.history(first["id"], "created")
    assert [(row["to_status"], row["actor"], row["note"]) for row in created] == [
        ("open", vendor.provider, first["external_id"])
    ]


def test_only_what_changed_is_read_again(vendor: Any) -> None:
    ids = [vendor.double.add(f"Item {number}") for number in range(4)]
    vendor.double.clock += 10_000
    vendor.double.add("Latest")
    vendor.sync()
    vendor.double.change(ids[1], **{"summary" if vendor.provider == "jira" else "title": "Renamed"})
    before = len(vendor.double.got)
    done = vendor.sync()
    assert done["phase"] == "incremental"
    assert done["updated"] == 1 and done["created"] == 0
    if vendor.provider != "jira":  # ages in JQL count from now, and the items of the double are old
        assert done["pulled"] == 2 and len(vendor.double.got) <= before + 2  # the latest one stands at the mark
    assert {issue["title"] for issue in vendor.issues()} >= {"Renamed"}


@pytest.mark.parametrize("status", ["fixed", "wont_fix"])
def test_closing_there_closes_here(vendor: Any, status: str) -> None:
    item = vendor.double.add("Refund fails")
    vendor.sync()
    vendor.double.close(item, status)
    vendor.sync()
    (issue,) = vendor.issues()
    assert issue["status"] == ("fixed" if vendor.provider == "gitlab" else status)
    (row,) = vendor.history(issue["id"])
    assert (row["actor"], row["from_status"], row["to_status"]) == (vendor.provider, "open", issue["status"])


@pytest.mark.parametrize("status", ["fixed", "wont_fix", "in_progress"])
def test_statuses_go_out_with_a_comment(vendor: Any, status: str) -> None:
    vendor.settings(status_writeback=True)
    item = vendor.double.add("Refund fails")
    vendor.sync()
    (issue,) = vendor.issues()
    answer = vendor.set_status(issue["id"], status, note="Retry *added*")
    assert answer["tracker"]["attempted"] and answer["tracker"]["queued"]
    vendor.run_jobs()
    result = vendor.job(answer["tracker"]["job_id"])["result"]
    assert result["ok"] and result["commented"] and result["error"] is None
    expected = CLOSED.get((vendor.provider, status), STARTED[vendor.provider])
    assert vendor.double.state(item) == expected
    (said,) = vendor.double.said(item)
    assert "Retry *added*" in said and "Local" in said
    assert vendor.sync()["status_changed"] == 0
    assert vendor.status(issue["id"]) == status
    vendor.set_status(issue["id"], "open")
    vendor.run_jobs()
    opened = {"linear": "unstarted", "jira": "new:None", "gitlab": "opened", "github": "open"}
    assert vendor.double.state(item) == opened[vendor.provider]


def test_items_are_made_and_linked(vendor: Any) -> None:
    made = vendor.client.post(
        "issues", {"title": "Order\t4711 failed", "description": "a ```` b\n@all", "severity": "ERROR"}
    )
    issue_id = made.json["data"]["id"]
    done = vendor.sync("create", ids=[issue_id])
    (entry,) = done["results"]
    assert entry["ok"] and entry["external_id"], done
    issue = vendor.issue(issue_id)["data"]
    assert (issue["external_source"], issue["external_id"]) == (vendor.provider, entry["external_id"])
    assert issue["origin"] == "manual" and issue["title"] == "Order\t4711 failed"
    again = vendor.sync("create", ids=[issue_id])
    assert again["results"] == [{"id": issue_id, "ok": True, "external_id": entry["external_id"], "error": None}]
    assert len(vendor.double.issues) == 1
    assert vendor.sync()["created"] == 0 and len(vendor.issues()) == 1


def test_a_pull_request_that_quotes_an_issue_is_not_its_item(site_with: Callable[..., Any]) -> None:
    """The answer to the making of an item is lost; before the next attempt somebody opens a pull request for it."""
    site = site_with("github")
    site.double.real_time = True  # what was made lately is looked through

    def lose(request: Any) -> Any:
        answer = site.double.answer(request)
        site.double.add("Mends it", body=answer.data["body"], pull_request={"url": "x"})
        answer.status = 502
        return answer

    issue_id = site.client.post("issues", {"title": "Refund fails"}).json["data"]["id"]
    site.double.fail = [lose]
    assert site.job(site.queue("create", ids=[issue_id]))["status"] == "failed"
    assert site.sync("create", ids=[issue_id])["results"][0]["external_id"] == site.double.identifier(1)
    assert len(site.double.issues) == 2


def test_labels_become_tags(vendor: Any) -> None:
    item = vendor.double.add("Refund fails")
    vendor.double.label(item, "Billing", "urgent")
    assert vendor.sync()["tags_created"] == 2
    (issue,) = vendor.issues()
    assert [(tag["name"], tag["source"]) for tag in issue["tags"]] == [("Billing", "tracker"), ("urgent", "tracker")]
    if vendor.provider != "jira":
        assert {tag["color"] for tag in issue["tags"]} == {"#d73a4a"}
    vendor.double.label(item, "urgent")
    vendor.sync()
    (issue,) = vendor.issues()
    assert [tag["name"] for tag in issue["tags"]] == ["urgent"]


def test_a_label_of_the_settings_decides_what_is_pulled(vendor: Any) -> None:
    wanted, other = vendor.double.add("Wanted"), vendor.double.add("Other")
    vendor.double.label(wanted, "Ops")
    vendor.double.label(other, "Sales")
    vendor.settings(labels=["Ops", "Nobody"])
    vendor.sync()
    assert [issue["title"] for issue in vendor.issues()] == ["Wanted"]


def test_a_webhook_reads_the_item_again(vendor: Any) -> None:
    item = vendor.double.add("Refund fails")
    vendor.sync()
    vendor.double.close(item)
    answer = vendor.webhook(vendor.double.notification(item))
    assert answer.status == 202, answer.text
    vendor.run_jobs()
    assert vendor.job(answer.json["job_id"])["result"]["status_changed"] == 1
    assert vendor.issues()[0]["status"] == "fixed"

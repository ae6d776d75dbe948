"""`deploys`, the settings, and the counts of issues."""

import json
import time
from typing import Any

import pytest

from snaglist.kernel import times

pytestmark = pytest.mark.servers


def ago(**distance: float) -> str:
    return times.add(times.now(), **{name: -value for name, value in distance.items()})


def test_114_a_version_is_deployed_once_to_an_environment(shop: Any) -> None:
    made = shop.deploy(" v1 ", ref="abc", notes="First", deployed_at="2026-01-03T10:00:00+01:00")
    assert made["version"] == "v1" and made["environment"] == "production"
    assert (made["ref"], made["notes"], made["deployed_at"]) == ("abc", "First", "2026-01-03 09:00:00")
    assert (made["issue_count"], made["new_issue_count"]) == (0, 0)
    again = shop.client.post("deploys", {"version": "v1"})
    assert again.status == 422 and again.error.startswith("version: v1 is deployed to production already")
    assert shop.deploy("v1", "staging")["id"] != made["id"]
    assert shop.client.delete("deploys", id=made["id"]).json == {"id": made["id"], "deleted": True}
    assert shop.client.delete("deploys", {"id": made["id"]}).status == 404
    assert list(shop.deploys()) == [("v1", "staging")]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "version: is required"),
        ({"version": "  "}, "version: must be 1-120 characters after trimming"),
        ({"version": "v" * 121}, "version: must be 1-120 characters after trimming"),
        ({"version": "v1", "environment": "e" * 101}, "environment: must be 1-100 characters after trimming"),
        ({"version": "v1", "ref": "r" * 201}, "ref: must be at most 200 characters"),
        ({"version": "v1", "notes": "n" * 10_001}, "notes: must be at most 10000 characters"),
        ({"version": "v1", "deployed_at": "yesterday"}, "deployed_at: "),
    ],
)
def test_a_deploy_that_breaks_a_rule(sqlite_shop: Any, body: dict[str, Any], problem: str) -> None:
    answer = sqlite_shop.client.post("deploys", body)
    assert answer.status == 422 and answer.error.startswith(problem)
    assert sqlite_shop.deploys() == {}


def test_the_newest_comes_first_in_pages_and_marks(shop: Any) -> None:
    for days, version in ((1, "v3"), (40, "v1"), (10, "v2")):
        shop.deploy(version, deployed_at=ago(days=days))
    shop.deploy("v2", "staging", deployed_at=ago(days=12), ref="abc")
    answer = shop.client.get("deploys", limit=2).json
    assert [one["version"] for one in answer["data"]] == ["v3", "v2"]
    assert answer["meta"] == {"total": 4, "page": 1, "limit": 2, "pages": 2}
    assert [one["version"] for one in shop.client.get("deploys", limit=2, page=2).json["data"]] == ["v2", "v1"]
    assert [one["version"] for one in answer["markers"]] == ["v3", "v2", "v2"]
    mark = answer["markers"][-1]
    assert (mark["environment"], mark["ref"], mark["day"]) == ("staging", "abc", ago(days=12)[:10])
    staging = shop.client.get("deploys", environment="staging", days=60).json
    assert [one["version"] for one in staging["data"]] == [one["version"] for one in staging["markers"]] == ["v2"]
    assert len(shop.client.get("deploys", days=60).json["markers"]) == 4
    for query in ({"days": 0}, {"days": 3651}, {"limit": 201}, {"page": 0}):
        assert shop.client.get("deploys", **query).status == 422


def test_issues_are_counted_by_version_and_environment(shop: Any) -> None:
    """A version that was in another environment only does not count in this one."""
    for version, environment in (("v1", "production"), ("v2", "production"), ("v2", "staging"), ("v3", "production")):
        shop.deploy(version, environment)
    for message, release, environment, minutes in (
        ("Disk full", "v1", "production", 50),
        ("Disk full", "v2", "production", 40),
        ("Mail lost", "v2", "production", 30),
        ("Mail lost", "v2", "staging", 29),
        ("Queue stuck", "v2", "staging", 20),
        ("Queue stuck", None, "production", 10),
    ):
        shop.push(message, release=release, environment=environment, occurred_at=ago(seconds=60 * minutes))
    assert shop.deploys() == {
        ("v1", "production"): (1, 1),
        ("v2", "production"): (2, 1),
        ("v2", "staging"): (2, 2),
        ("v3", "production"): (0, 0),
    }


def test_an_older_event_that_comes_late_moves_the_first_release(shop: Any) -> None:
    shop.deploy("v1")
    shop.deploy("v2")
    issue_id = shop.push("Disk full", release="v2", occurred_at=ago(seconds=60))
    assert shop.deploys() == {("v2", "production"): (1, 1), ("v1", "production"): (0, 0)}
    shop.push("Disk full", release="v1", occurred_at=ago(seconds=600))
    assert shop.deploys() == {("v2", "production"): (1, 0), ("v1", "production"): (1, 1)}
    found = shop.releases(issue_id)
    assert (found["first_release"], found["last_release"]) == ("v1", "v2")


def test_counts_follow_merged_unmerged_and_deleted_issues(shop: Any) -> None:
    shop.deploy("v1")
    one, other = shop.push("Disk full", release="v1"), shop.push("Mail lost", release="v1")
    assert shop.deploys() == {("v1", "production"): (2, 2)}
    merged = shop.client.post("bulk-issues", {"action": "merge", "ids": [other], "target_id": one})
    assert merged.status == 200, merged.text
    assert shop.deploys() == {("v1", "production"): (1, 1)}
    grouping = shop.issue(one)["groupings"][-1]["id"]
    apart = shop.client.post("bulk-issues", {"action": "unmerge", "id": one, "grouping_id": grouping})
    assert apart.status == 200, apart.text
    assert shop.deploys() == {("v1", "production"): (2, 2)}
    body = {"action": "delete", "ids": [one], "confirmation": "DELETE ISSUES"}
    assert shop.client.post("bulk-issues", body).status == 200
    assert shop.deploys() == {("v1", "production"): (1, 1)}


def test_what_came_while_the_area_was_off_is_counted_when_it_is_on(shop: Any) -> None:
    shop.deploy("v1")
    shop.push("Disk full", release="v1")
    shop.client.post("plugins", {"id": "releases", "enabled": False})
    body = {"message": "Mail lost", "release": "v1"}
    headers = {"Content-Type": "application/json", "X-Service-Ingest-Key": shop.key}
    assert shop.client.request("POST", "/?api=ingest", json.dumps(body).encode(), headers).status == 202
    assert shop.client.get("deploys").status == 404
    shop.client.post("plugins", {"id": "releases", "enabled": True})
    job = max(shop.client.get("jobs", kind="releases_seen").json["data"], key=lambda one: one["id"])
    _wait_for(shop, job["id"])
    assert shop.deploys() == {("v1", "production"): (2, 2)}


def _wait_for(shop: Any, job_id: int) -> None:
    for _ in range(1_000):
        job = shop.client.get("jobs", id=job_id).json["data"]
        if job["status"] not in ("queued", "running"):
            assert job["status"] == "succeeded", job
            return
        time.sleep(0.01)
    raise AssertionError(job)


def test_settings(shop: Any) -> None:
    empty = {"repo_url_template": "", "default_ref": "", "path_prefixes": [], "modules": [], "configured": False}
    assert shop.client.get("release-settings").json == empty
    template = "https://git.example.com/shop/blob/{ref}/{path}#L{line}"
    changed = {"repo_url_template": template, "default_ref": "main", "path_prefixes": ["/srv/shop/"]}
    assert shop.client.put("release-settings", changed).json == {**changed, "modules": [], "configured": True}
    assert shop.client.patch("release-settings", {"default_ref": "dev"}).json["repo_url_template"] == template
    assert shop.client.get("release-settings").json["default_ref"] == "dev"
    assert shop.client.put("release-settings", {}).json == empty


TEMPLATE = "https://git.example.com/{release}/{path}"
PREFIX = "modules[0].path_prefixes[0]"


def test_each_module_may_have_its_repository(shop: Any) -> None:
    module_id = shop.client.post("modules", {"name": "Till"}).json["id"]
    one = {"module_id": module_id, "repo_url_template": TEMPLATE, "path_prefixes": ["/srv/till/", "/srv/till/"]}
    kept = [{**one, "path_prefixes": ["/srv/till/"]}]
    found = shop.client.patch("release-settings", {"modules": [one]}).json
    assert (found["modules"], found["configured"], found["repo_url_template"]) == (kept, True, "")
    assert shop.client.patch("release-settings", {"default_ref": "dev"}).json["modules"] == kept
    assert shop.client.delete("modules", {"id": module_id}).status == 200
    found = shop.client.get("release-settings").json
    assert (found["modules"], found["configured"]) == ([], False)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"repo_url_template": "https://git.example.com/shop"}, "repo_url_template"),
        ({"repo_url_template": "ftp://git.example.com/{path}"}, "repo_url_template"),
        ({"repo_url_template": "javascript:alert(1)//{path}"}, "repo_url_template"),
        ({"repo_url_template": "https://git.example.com{path}"}, "repo_url_template"),  # events would name the host
        ({"repo_url_template": "https://git.example.com\\{path}"}, "repo_url_template"),
        ({"repo_url_template": "https://{ref}.example.com/{path}"}, "repo_url_template"),
        ({"repo_url_template": "https://git.example.com/{path}" + "x" * 500}, "repo_url_template"),
        ({"repo_url_template": "https://git.example.com/{path}/{branch}"}, "repo_url_template"),
        ({"repo_url_template": "https://git.example.com/{path}#{line"}, "repo_url_template"),
        ({"modules": [{"module_id": 1}]}, "modules[0].repo_url_template"),
        ({"modules": [{"module_id": 1, "repo_url_template": ""}]}, "modules[0].repo_url_template"),
        (
            {"modules": [{"module_id": 1, "repo_url_template": "ftp://a.example/{path}"}]},
            "modules[0].repo_url_template",
        ),
        ({"modules": [{"module_id": 1, "repo_url_template": TEMPLATE + "{tag}"}]}, "modules[0].repo_url_template"),
        ({"modules": [{"module_id": 1, "repo_url_template": TEMPLATE}] * 2}, "modules[1].module_id"),
        ({"modules": [{"module_id": 2, "repo_url_template": TEMPLATE}]}, "modules[0].module_id"),
        ({"modules": [{"repo_url_template": TEMPLATE}]}, "modules[0].module_id"),
        ({"modules": [{"module_id": 1, "repo_url_template": TEMPLATE, "path_prefixes": [""]}]}, PREFIX),
        ({"default_ref": "r" * 121}, "default_ref"),
        ({"path_prefixes": ["p"] * 21}, "path_prefixes"),
        ({"path_prefixes": ["p" * 301]}, "path_prefixes[0]"),
        ({"branch": "main"}, "branch"),
    ],
)
def test_settings_that_break_a_rule(sqlite_shop: Any, body: dict[str, Any], field: str) -> None:
    assert sqlite_shop.client.post("modules", {"name": "Till"}).json["id"] == 1
    for send in (sqlite_shop.client.put, sqlite_shop.client.patch):
        answer = send("release-settings", body)
        assert answer.status == 422 and answer.error.startswith(f"{field}: ")


def test_103_the_area_is_switched_per_application(sqlite_shop: Any) -> None:
    client = sqlite_shop.client
    assert client.post("plugins", {"id": "releases", "enabled": "true"}).status == 422
    assert client.post("plugins", {"id": "releases", "enabled": False}).status == 200
    for api in ("deploys", "release-settings", "source-maps"):
        assert client.get(api).status == 404
    assert client.get("issue-releases", id=1).status == 404

"""Applications, import of files, and their raw text."""

import bz2
import gzip
import json
import lzma
import os
import time

import pytest

pytestmark = pytest.mark.whole

# applications


def test_check_44_applications_show_no_absolute_path(shared):
    answer = shared.get("applications")
    assert answer.data[0]["id"] == "default"
    assert str(shared.data) not in answer.text
    assert not [value for value in answer.data[0].values() if value.startswith("/")]


def test_check_45_46_47_life_of_an_application(serve):
    fresh = serve()
    made = fresh.post("applications", {"name": "Customer Portal"}).ok(201)
    assert made["id"] == "customer-portal"
    folder = fresh.data / "applications" / "customer-portal"
    assert [name for name in ("logs", "processed", "sources") if not (folder / name).is_dir()] == []
    fresh.post("applications", {"name": "Customer Portal"}).err(422)
    fresh.post("applications", {"name": "!!!"}).err(422)
    fresh.post("applications", {"name": "x", "id": "default"}).err(422)

    fresh.post("tags", {"name": "only there"}, app="customer-portal").ok(201)
    assert [tag["name"] for tag in fresh.get("tags", app="customer-portal").data] == ["only there"]
    assert fresh.get("tags", app="default").data == []

    fresh.delete("applications", {"id": "customer-portal", "confirmation": "yes"}).err(422)
    phrase = "DELETE APPLICATION customer-portal"
    assert fresh.delete("applications", {"id": "customer-portal", "confirmation": phrase}).status == 200
    assert not folder.exists()
    fresh.delete("applications", {"id": "default", "confirmation": "DELETE APPLICATION default"}).err(409)


# issues


def test_check_49_an_event_after_the_fix_brings_the_issue_back(app, issue, monolog):
    app.post("issue-status", {"id": issue, "status": "fixed"}).ok()
    app.take_in(older_log=monolog("Order 4713 failed", start=time.time() - 600))
    before = app.get("error", id=issue).ok()
    assert (before["data"]["status"], before["data"]["count"]) == ("fixed", 3)
    app.take_in(newer_log=monolog("Order 4714 failed", start=time.time() + 5))
    after = app.get("error", id=issue).ok()
    assert after["data"]["status"] == "reoccurred"
    rows = [row for row in after["status_history"] if row["event"] == "reoccurrence"]
    assert [(row["actor"], row["to_status"]) for row in rows] == [(None, "reoccurred")]


def test_check_52_what_will_not_be_fixed_stays_so(app, issue, monolog):
    app.post("issue-status", {"id": issue, "status": "wont_fix"}).ok()
    app.take_in(newer_log=monolog("Order 4714 failed", start=time.time() + 5))
    found = app.get("error", id=issue).data
    assert (found["status"], found["count"]) == ("wont_fix", 3)


def test_check_53_an_older_archive_changes_no_sample(app, issue, monolog):
    before = app.get("error", id=issue).data
    app.take_in(older_log=monolog("Order 1 failed", start=time.time() - 86400 * 30))
    after = app.get("error", id=issue).data
    assert after["first_seen"] < before["first_seen"]
    assert [after[name] for name in ("sample_message", "last_seen", "title")] == [
        before[name] for name in ("sample_message", "last_seen", "title")
    ]


def test_check_54_values_do_not_tell_issues_apart(app, monolog):
    first = monolog("Mail 17 to ada@example.com bounced", start=time.time() - 60)
    second = monolog("Mail 23 to bob@example.com bounced", level="CRITICAL")
    app.take_in(app_log=first + second)
    found = app.get("errors").data
    assert [(issue["count"], issue["severity"]) for issue in found] == [(2, "CRITICAL")]


# import

ACCESS = '203.0.113.9 - - [03/Jan/2026:10:00:0{second} +0000] "GET /orders/{path} HTTP/1.1" {status} 12 "-" "curl/8"\n'


def test_check_57_four_kinds_of_files_dropped(app, monolog):
    app.drop("shop.log", monolog("Payment of order 4711 failed"))
    app.drop("queue.log", '{"time":"2026-01-03T10:00:00Z","level":"error","msg":"Mail 7 not sent"}\n')
    access = ACCESS.format(second=1, path=1, status=200) + ACCESS.format(second=2, path=2, status=500)
    app.drop("access.log", access)
    app.drop("console.out", "2026-01-03 10:00:00 ERROR worker is gone\n")
    result = app.post("import-incoming", wait=1).ok()
    assert result["processed"] == 4
    assert result["by_type"] == {"monolog": 1, "json": 1, "access": 1, "console": 1}
    names = sorted(path.name for path in (app.folder / "processed").iterdir())
    assert names == ["access.log", "console.out", "queue.log", "shop.log"]
    assert list((app.folder / "logs").iterdir()) == []


def test_check_58_one_import_at_a_time(serve, monolog):
    without_worker = serve("--no-jobs")
    without_worker.drop("app.log", monolog("Order 1 failed"))
    queued = without_worker.post("import-incoming").ok(202)
    assert queued == {"job_id": queued["job_id"], "status": "queued"}
    without_worker.post("import-incoming").err(409)
    assert without_worker.run("jobs", "work", "--once").returncode == 0
    assert without_worker.get("jobs", id=queued["job_id"]).data["status"] == "succeeded"
    without_worker.post("import-incoming").ok(202)


def test_check_59_the_folder_names_the_module(app, monolog):
    app.drop("Billing API/app.log", monolog("Order 1 failed"))
    assert app.post("import-incoming", wait=1).ok()["events"] == 1
    module = app.get("modules").data[0]
    assert (module["name"], module["slug"]) == ("Billing API", "billing-api")
    assert (app.folder / "processed" / "billing-api" / "app.log").is_file()
    assert app.get("errors").data[0]["module_slug"] == "billing-api"


def test_check_60_the_same_content_again(app, monolog):
    text = monolog("Order 1 failed", "Order 2 failed")
    assert app.take_in(app_log=text)["events"] == 2
    for name in ("app.log", "other.log"):
        app.drop(name, text)
        again = app.post("import-incoming", wait=1).ok()
        assert (again["events"], again["duplicates"]) == (0, 1)
    assert [issue["count"] for issue in app.get("errors").data] == [2]


def _import(app, path, *options):
    """Run `snaglist import --json` and return its document."""
    done = app.run("import", "--json", *options, str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_check_61_importing_twice_counts_once(app, monolog, tmp_path):
    file = tmp_path / "app.log"
    file.write_text(monolog("Order 1 failed", "Order 2 failed"))
    assert _import(app, file)["events"] == 2
    assert _import(app, file)["events"] == 0
    with file.open("a") as log:
        log.write(monolog("Order 3 failed"))
    assert _import(app, file)["events"] == 1
    assert app.get("errors").data[0]["count"] == 3


TRACE = """2026-01-03 10:00:00 ERROR Order failed
Traceback (most recent call last):
  File "/srv/shop/orders.py", line 42, in charge
    gateway.pay(order)
  File "/srv/shop/gateway.py", line 7, in pay
    raise TimeoutError("gateway timeout")
TimeoutError: gateway timeout
"""


@pytest.mark.parametrize("cut", [60, 120, 200, len(TRACE) - 5])
def test_check_62_a_stack_in_two_halves(app, tmp_path, cut):
    file = tmp_path / "app.log"
    for text in (TRACE[:cut], TRACE):
        file.write_text(text)
        later = time.time() + 60  # so that no import is so slow that the file seems to be quiet
        os.utime(file, (later, later))
        _import(app, file)
    issues = app.get("errors", include_stack=1).data
    assert [issue["count"] for issue in issues] == [1]
    assert issues[0]["sample_stack"].rstrip().endswith("TimeoutError: gateway timeout")
    assert issues[0]["exception_class"] == "TimeoutError"


def test_check_65_a_line_of_ten_mebibytes(app):
    stamp = "[2026-01-03 10:00:0{}] production.ERROR: {}\n"
    long = "x" * (10 * 1024 * 1024)
    app.take_in(app_log=stamp.format(1, "first") + stamp.format(2, long) + stamp.format(3, "third is intact"))
    issues = app.get("errors", sort="oldest").data
    assert len(issues) == 3
    cut = [app.get("error", id=issue["id"]).json["occurrences"][0]["truncated"] for issue in issues]
    assert cut == [False, True, False]
    assert issues[2]["title"] == "third is intact"


def test_check_66_times_with_and_without_an_offset(app):
    app.patch("ingestion-settings", {"timezone": "Asia/Shanghai"}).ok()
    app.take_in(
        a_log="2024-05-01T10:00:00+02:00 ERROR with an offset\n", b_log="2024-05-01 10:00:00 ERROR without one\n"
    )
    seen = {issue["title"]: issue["last_seen"] for issue in app.get("errors").data}
    assert seen == {"with an offset": "2024-05-01 08:00:00", "without one": "2024-05-01 02:00:00"}


def test_check_67_only_failed_requests_are_issues(app):
    missing, failed = ACCESS.format(second=1, path="a", status=404), ACCESS.format(second=2, path="b", status=500)
    app.drop("access.log", missing + failed)
    assert app.post("import-incoming", wait=1).ok()["access_lines"] == 2
    found = app.get("errors").data
    assert [(issue["severity"], issue["log_type"]) for issue in found] == [("ERROR", "access")]
    assert "/orders/b" in found[0]["title"]


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("suffix", PACKERS)
def test_check_68_compressed_logs(app, monolog, suffix):
    plain = monolog("Order 1 failed", "Cart 2 lost")
    app.drop(f"app.log.{suffix}", PACKERS[suffix](plain.encode()))
    assert app.post("import-incoming", wait=1).ok()["events"] == 2
    issues = app.get("errors", sort="oldest").data
    assert [issue["title"] for issue in issues] == ["Order 1 failed", "Cart 2 lost"]
    texts = []
    for issue in issues:
        occurrence = app.get("error", id=issue["id"]).json["occurrences"][0]["id"]
        texts.append(app.get("source", occurrence=occurrence).json["content"])
    assert "".join(texts) == plain


def test_check_97_the_raw_text_of_an_event(app, monolog):
    lines = monolog("Order 1 failed", "Grüße, Ωmega {braces}").splitlines(keepends=True)
    app.take_in(app_log="".join(lines))
    occurrences = [
        app.get("error", id=issue["id"]).json["occurrences"][0]["id"] for issue in app.get("errors", sort="oldest").data
    ]
    shown = [app.get("source", occurrence=occurrence).ok() for occurrence in occurrences]
    assert [one["content"] for one in shown] == lines
    assert shown[1]["path"].startswith(f"applications/{app.app}/processed/")
    around = app.get("source", occurrence=occurrences[1], context=1).ok()
    assert (around["before"], around["after"]) == (lines[0], "")
    app.get("source", occurrence=999999).err(404)
    os.unlink(app.folder / "processed" / "app.log")
    assert "/" not in app.get("source", occurrence=occurrences[0]).err(404)

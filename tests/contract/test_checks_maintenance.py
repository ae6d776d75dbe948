"""Files that rotate, reindex, deletion and retention of logs."""

import gzip
import json
import os
import shutil
import time

import pytest

pytestmark = pytest.mark.whole


def _import(app, path):
    done = app.run("import", "--json", str(path))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _counted(app):
    return sum(issue["count"] for issue in app.get("errors").data)


def test_check_63_rotations_count_nothing_twice(app, monolog, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    log = folder / "app.log"
    log.write_text(monolog("Order 1 failed", "Order 2 failed"))
    assert _import(app, folder)["events"] == 2

    shutil.copy2(log, folder / "app.log.1")
    os.truncate(log, 0)
    with log.open("a") as opened:
        opened.write(monolog("Order 3 failed", start=time.time() + 5))
    assert _import(app, folder)["events"] == 1
    assert _counted(app) == 3

    (folder / "app.log.1").rename(folder / "app.log.2")
    log.rename(folder / "app.log.1")
    log.write_text(monolog("Order 4 failed", start=time.time() + 10))
    assert _import(app, folder)["events"] == 1

    with gzip.open(folder / "app.log.2.gz", "wb") as packed:
        packed.write((folder / "app.log.2").read_bytes())
    (folder / "app.log.2").unlink()
    assert _import(app, folder)["events"] == 0
    assert _counted(app) == 4


def test_check_69_severities_added_later(app, monolog):
    text = monolog("Order 1 failed") + monolog("Order 2 paid", level="INFO")
    taken = app.take_in(app_log=text)
    assert (taken["events"], taken["filtered"]) == (1, 1)
    kept = app.get("ingestion-settings").ok()["ingested_severities"]
    assert "INFO" not in kept
    changed = app.patch("ingestion-settings", {"severities": [*kept, "INFO"]}).ok()
    assert changed["reindex_needed"] is True
    for _ in range(2):
        app.post("reindex", {}, wait=1).ok()
        found = {issue["severity"]: issue["count"] for issue in app.get("errors").data}
        assert found == {"ERROR": 1, "INFO": 1}
    assert app.get("ingestion-settings").ok()["reindex_needed"] is False


def test_check_101_deleted_logs_stay_deleted(app, issue):
    source = app.get("sources").data[0]["id"]
    day = time.strftime("%Y-%m-%d", time.gmtime())
    app.get("log-deletion-preview").err(422)
    app.get("log-deletion-preview", source_id=source, date=day).err(422)
    assert app.get("log-deletion-preview", source_id=source).ok()["occurrences"] == 2
    app.post("delete-logs", {"source_id": source, "confirmation": "delete logs"}).err(422)
    app.post("delete-logs", {"source_id": source, "confirmation": "DELETE LOGS"}, wait=1).ok()

    def shown():
        known = app.get("error", id=issue).ok()["data"]
        return known["stored_occurrences"], known["count"]

    assert shown() == (0, 2)
    app.post("import-incoming", wait=1).ok()
    app.post("reindex", {}, wait=1).ok()
    assert shown() == (0, 2)


def test_check_102_old_archives_are_removed(serve, monolog):
    fresh = serve(SERVICE_RETENTION_PROCESSED_MAX_AGE_DAYS="30")
    fresh.take_in(old_log=monolog("Order 1 failed"))
    fresh.take_in(new_log=monolog("Mail 1 lost"))
    processed = fresh.data / "applications" / "default" / "processed"
    old, new = processed / "old.log", processed / "new.log"
    long_ago = time.time() - 31 * 86400
    os.utime(old, (long_ago, long_ago))
    size = old.stat().st_size
    pruned = fresh.post("processed-retention", wait=1).ok()["pruned"]
    assert (pruned["enabled"], pruned["deleted"], pruned["freed_bytes"]) == (True, 1, size)
    assert not old.exists() and new.is_file()

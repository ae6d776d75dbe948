"""The type in a real snaglist on a temporary data directory."""

import zipfile
from pathlib import Path

from snaglist.testing import Client, running_service

LINE = "[2026-01-03 10:00:00] production.ERROR: Order failed\n"


def test_an_archive_is_read_once(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        archive.writestr("logs/app.log", LINE * 2)
        archive.writestr("notes.txt", "no log")
    with running_service(tmp_path / "data", ingestion__allowed_roots=[str(tmp_path)]) as service:
        client = Client(service)
        body = {"name": "bundle", "type": "zip", "config": {"archive": "/etc/passwd"}}
        assert client.post("connectors", body).status == 422
        made = client.post("connectors", body | {"config": {"archive": str(bundle)}}).json
        assert made["config"] == {"archive": str(bundle.resolve())}
        for events in (2, 0):
            run = client.post("connectors-sync", {"id": made["id"]}, wait=True).json["runs"][0]
            assert (run["status"], run["files_discovered"], run["events_indexed"]) == ("success", 1, events)
        assert client.get("errors").json["data"][0]["count"] == 2

"""Fields of connectors, their secrets, and who may see what."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update as change

from snaglist.kernel.call import Actor
from snaglist.plugins.connectors import tables
from snaglist.plugins.system.jobs.leases import workers
from snaglist.plugins.system.upgrading import upgrade
from snaglist.testing import Client

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nbm90IHJlYWxseSBhIGtleSA0NzEx\n-----END OPENSSH PRIVATE KEY-----\n"
SSH = {"host": "web-1.example", "user": "deploy", "paths": ["/var/log/app/*.log"], "private_key": KEY}


def ssh(**changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**SSH, **changes}.items() if value is not None}


def post(site: Any, config: dict[str, Any], type: str = "ssh", **fields: Any) -> Any:
    return site.client.post("connectors", {"name": "web-1", "type": type, "config": config, **fields})


def test_70_a_folder_outside_and_one_that_is_not_there(sqlite_site: Any, tmp_path: Path) -> None:
    """One message; also for a link that leads out, a file, and a relative path."""
    site = sqlite_site
    (site.folder / "out").symlink_to(tmp_path)
    (site.folder / "file").touch()
    wanted = [
        "/etc",
        "/does/not/exist",
        str(site.folder / "out"),
        str(site.folder / "file"),
        "logs",
        f"{site.folder}/a\x01",
    ]
    answers = [post(site, {"directory": directory}, "local") for directory in wanted]
    assert {(answer.status, answer.error) for answer in answers} == {
        (
            422,
            "config.directory: must be an existing folder that may be read: one below /var/log, "
            "or, where it is set, below one of ingestion.allowed_roots",
        )
    }


def test_a_link_that_leads_out_is_not_read(sqlite_site: Any, tmp_path: Path) -> None:
    site = sqlite_site
    (tmp_path / "secret.log").write_text("[2026-01-01 00:00:00] production.ERROR: not yours\n")
    (site.folder / "innocent.log").symlink_to(tmp_path / "secret.log")
    site.write("app.log", "alpha broke")
    made = site.make()
    assert site.actions(made["id"]) == {"app.log": "new"}
    linked = site.folder.parent / "linked"
    linked.symlink_to(site.folder)
    other = site.make("b", directory=str(linked))
    assert other["config"]["directory"] == str(site.folder)  # stored resolved


def test_71_a_private_key_is_kept_and_never_shown(site: Any) -> None:
    made = post(site, ssh())
    assert made.status == 201 and made.json["secrets"] == {"password": False, "private_key": True, "passphrase": False}
    assert made.json["config"] == {
        "host": "web-1.example", "port": 22, "user": "deploy", "paths": ["/var/log/app/*.log"], "host_key": "",
        "key_file": "", "use_agent": False,
    }  # fmt: skip
    connector_id = made.json["id"]
    whole = {"id": connector_id, "name": "web-1", "type": "ssh", "config": ssh(private_key=None)}
    for required in ("name", "type", "config"):
        cut = {name: value for name, value in whole.items() if name != required}
        assert site.client.put("connectors", cut).error == f"{required}: is required"
    put = site.client.put("connectors", whole)
    assert put.status == 200 and put.json["secrets"]["private_key"] is True
    cleared = site.client.patch("connectors", {"id": connector_id, "config": {"private_key": ""}})
    assert cleared.status == 422 and "exactly one of" in cleared.error
    both = site.client.patch("connectors", {"id": connector_id, "config": {"password": "letmein-4711"}})
    assert both.status == 422
    other = site.client.patch(
        "connectors", {"id": connector_id, "config": {"private_key": "", "password": "letmein-4711"}}
    )
    assert other.json["secrets"] == {"password": True, "private_key": False, "passphrase": False}
    listed = site.client.get("connectors")
    for answer in (made, put, cleared, both, other, listed):
        assert "bm90IHJlYWxse" not in answer.text and "letmein" not in answer.text
    stored = site.rows(tables.connectors)[0]
    assert b"letmein" not in stored.secrets and "letmein" not in json.dumps(stored.config)


def test_126_no_secret_is_in_a_file(sqlite_site: Any) -> None:
    """Database and its log, without SERVICE_SECRET."""
    post(sqlite_site, ssh(private_key=None, password="letmein-4711"))
    post(sqlite_site, {"url": "s3://logs/", "secret_options": {"secret": "letmein-4711"}}, "url", name="b")
    folder = sqlite_site.service.settings.data
    found = [path for path in folder.rglob("*") if path.is_file() and b"letmein-4711" in path.read_bytes()]
    assert found == [] and (folder / "secret.key").is_file()


def test_a_sealed_secret_does_not_open_in_another_row(sqlite_site: Any) -> None:
    site = sqlite_site
    first, second = (post(site, ssh(), name=name).json["id"] for name in ("a", "b"))
    sealed = site.rows(tables.connectors)[0].secrets
    with site.service.call().transaction() as db:
        db.execute(change(tables.connectors).where(tables.connectors.c.id == second).values(secrets=sealed))
    answer = site.client.post("connectors-test", {"id": second})
    assert (answer.status, "cannot be opened" in answer.error) == (503, True)
    assert "cannot be opened" in site.fail(second)
    listed = {row["id"]: row for row in site.client.get("connectors").json["data"]}
    assert "cannot be opened" in listed[second]["last_error"]
    # A new secret repairs it.
    given = {"private_key": "", "passphrase": "", "password": "x"}
    assert site.client.patch("connectors", {"id": second, "config": given}).status == 200
    assert first != second


def test_without_a_key_no_secret_is_stored(sqlite_site: Any) -> None:
    key = sqlite_site.service.settings.data / "secret.key"
    key.unlink()
    key.mkdir()
    answer = post(sqlite_site, ssh())
    assert (answer.status, "SERVICE_SECRET" in answer.error) == (503, True)
    assert sqlite_site.client.get("connectors").json["data"] == []


def test_upgrade_seals_with_the_first_secret(sqlite_site: Any) -> None:
    """`snaglist db upgrade` re-seals."""
    site = sqlite_site
    post(site, ssh())
    before = site.rows(tables.connectors)[0].secrets
    site.service.secrets._configured = ["another"]
    upgrade(site.service)
    after = site.rows(tables.connectors)[0].secrets
    assert after != before
    (site.service.settings.data / "secret.key").unlink()
    assert "bm90" in site.service.secrets.open("default", "connectors.1.secrets", after)
    upgrade(site.service)
    assert site.rows(tables.connectors)[0].secrets == after


def test_72_names_ids_and_types(site: Any) -> None:
    first = site.make("Straße")
    assert first["name"] == "Straße" and first["enabled"] is True and first["stream_count"] == 0
    answer = post(site, {"directory": str(site.folder)}, "local", name=" STRASSE ")
    assert (answer.status, answer.error) == (422, "name: another connector has this name")
    second = site.make("web-2")
    answer = site.client.patch("connectors", {"id": second["id"], "name": "strasse"})
    assert (answer.status, answer.error) == (422, "name: another connector has this name")
    for method in ("put", "patch", "delete"):
        body = {"id": 999, "name": "x", "type": "local", "config": {}}
        assert getattr(site.client, method)("connectors", body).status == 404
        assert getattr(site.client, method)("connectors", {**body, "id": 0}).status == 422
    for api in ("connectors-test", "connectors-preview", "connectors-sync"):
        assert site.client.post(api, {"id": 999}).status == 404
        assert site.client.post(api, {"id": 0}).status == 422
    assert site.client.patch("connectors", {"id": first["id"], "type": "ssh"}).error == "type: cannot change"
    assert [row["name"] for row in site.client.get("connectors").json["data"]] == ["Straße", "web-2"]


@pytest.mark.servers
def test_put_replaces_and_patch_merges_one_level_deep(site: Any) -> None:
    module = site.client.post("modules", {"name": "Billing"}).json
    made = post(
        site, {"directory": str(site.folder), "recursive": False}, "local",
        module_id=module["id"], timezone="Europe/Berlin", interval_minutes=5, enabled=False,
    ).json  # fmt: skip
    assert (made["module_name"], made["timezone"], made["interval_minutes"]) == ("Billing", "Europe/Berlin", 5)
    patched = site.client.patch("connectors", {"id": made["id"], "config": {"pattern": "*.txt"}}).json
    assert patched["config"] == {"directory": str(site.folder), "recursive": False, "pattern": "*.txt"}
    assert {**patched, "config": 0, "updated_at": 0} == {**made, "config": 0, "updated_at": 0}
    whole = {"id": made["id"], "name": "web-1", "type": "local", "config": {"directory": str(site.folder)}}
    put = site.client.put("connectors", whole).json
    assert put["config"] == {"directory": str(site.folder), "recursive": True, "pattern": ""}
    assert (put["module_id"], put["timezone"], put["interval_minutes"], put["enabled"]) == (None, "", 0, True)


def test_a_module_with_connectors_moves_or_stays(site: Any) -> None:
    """Connectors hold their module."""
    module = site.client.post("modules", {"name": "Billing"}).json
    made = post(site, {"directory": str(site.folder)}, "local", module_id=module["id"]).json
    assert site.client.delete("modules", {"id": module["id"]}).status == 409
    assert site.client.delete("modules", {"id": module["id"], "move_to": None}).status == 200
    assert site.client.get("connectors").json["data"][0]["module_id"] is None
    assert made["module_id"] == module["id"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"type": "carrier-pigeon"}, "type"),
        ({"type": "pigeon"}, "type"),
        ({"module_id": 999}, "module_id"),
        ({"timezone": "Mars/Olympus"}, "timezone"),
        ({"timezone": "../../etc/passwd"}, "timezone"),
        ({"interval_minutes": 10081}, "interval_minutes"),
        ({"interval_minutes": "5"}, "interval_minutes"),
        ({"enabled": 1}, "enabled"),
        ({"config": []}, "config"),
        ({"config": ssh(host="a b")}, "config.host"),
        ({"config": ssh(host="web\n")}, "config.host"),
        ({"config": ssh(user="a/b")}, "config.user"),
        ({"config": ssh(port=0)}, "config.port"),
        ({"config": ssh(paths=[])}, "config.paths"),
        ({"config": ssh(paths=["relative/*.log"])}, "config.paths[0]"),
        ({"config": ssh(paths=["/var/log/**"])}, "config.paths[0]"),
        ({"config": ssh(paths=["/var/*/app.log"])}, "config.paths[0]"),
        ({"config": ssh(paths=["/var/log/../../etc/shadow"])}, "config.paths[0]"),
        ({"config": ssh(paths=["/var/log/a\tb"])}, "config.paths[0]"),
        ({"config": ssh(paths=["/var/log/"])}, "config.paths[0]"),
        ({"config": ssh(host_key="what")}, "config.host_key"),
        ({"config": ssh(key_file="../deploy", private_key=None)}, "config.key_file"),
        ({"config": ssh(private_key=None)}, "config"),
        ({"config": ssh(password="x")}, "config"),
        ({"config": ssh(use_agent=True)}, "config"),
        ({"config": {"url": "s3://a/"}, "type": "ssh"}, "config.host"),
    ],
)
def test_what_a_connector_may_not_be(sqlite_site: Any, fields: dict[str, Any], field: str) -> None:
    body = {"name": "web-1", "type": "ssh", "config": ssh(), **fields}
    answer = sqlite_site.client.post("connectors", body)
    assert answer.status == 422 and answer.error.startswith(f"{field}: "), answer.text
    assert KEY not in answer.text


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd", "local:///etc", "memory://a", "/etc/passwd", "sftp://host/a", "ssh://host/a", "zip://a.zip",
        "simplecache::https://8.8.8.8/a", "git:///srv/repo", "reference://a", "dir://a", "data:text/plain,a",
        "FILE:///etc/passwd", "https://user:pw@8.8.8.8/", "ftp://user@8.8.8.8/", "http://127.0.0.1/",
        "https://10.0.0.1/a", "https://0x7f000001/", "https://[::1]/", "https://169.254.169.254/latest",
        "ftp://192.168.0.1/", "nosuch://a/b", "http://localhost:1/",
        "hdfs://namenode/logs", "root://host/a", "dvc://a", "asyncwrapper://a", "pyscript://a",
    ],
)  # fmt: skip
def test_72_a_url_that_is_not_remote_or_not_public(sqlite_site: Any, url: str) -> None:
    """This machine's files and networks are not reached."""
    answer = post(sqlite_site, {"url": url}, "url")
    assert answer.status == 422 and answer.error.startswith("config.url: "), answer.text


@pytest.mark.parametrize("where", ["options", "secret_options"])
def test_an_endpoint_is_looked_at_too(sqlite_site: Any, where: str) -> None:
    answer = post(sqlite_site, {"url": "s3://logs/", where: {"endpoint_url": "http://127.0.0.1:9000"}}, "url")
    assert answer.status == 422 and answer.error.startswith(f"config.{where}.endpoint_url: ")


def test_secret_options_are_shown_by_their_names(sqlite_site: Any) -> None:
    secret = {"secret": "tell-nobody", "key": "k"}
    config = {"url": "s3://logs/", "options": {"anon": False}, "secret_options": secret}
    made = post(sqlite_site, config, "url").json
    assert made["secrets"] == {"secret_options": ["key", "secret"]}
    assert made["config"] == {"url": "s3://logs/", "options": {"anon": False}, "pattern": ""}
    cleared = sqlite_site.client.patch("connectors", {"id": made["id"], "config": {"secret_options": {}}}).json
    assert cleared["secrets"] == {"secret_options": []}


def test_a_viewer_sees_no_folder_and_may_do_nothing(sqlite_site: Any) -> None:
    """Reading is `connectors.read`; testing needs `connectors.write`, changing `settings.write`."""
    made = sqlite_site.make()
    people = {
        role: Client(sqlite_site.service, lambda *_, r=role: Actor("1", "Ana", (r,))) for role in ("viewer", "editor")
    }
    assert people["viewer"].get("connectors").json["data"][0]["config"]["directory"] == sqlite_site.folder.name
    assert people["editor"].get("connectors").json["data"][0]["config"]["directory"] == str(sqlite_site.folder)
    assert people["viewer"].get("connectors-runs").status == 200
    for api in ("connectors-test", "connectors-preview", "connectors-sync"):
        assert people["viewer"].post(api, {"id": made["id"]}).status == 403
        assert people["editor"].post(api, {"id": made["id"]}).status in (200, 202)
    assert people["editor"].delete("connectors", {"id": made["id"]}).status == 403


def test_too_many_files(sqlite_site: Any) -> None:
    site = sqlite_site
    for n in range(3):
        site.write(f"{n}.log", "alpha broke")
    made = site.make()
    site.service.settings._values["sync.max_discovered_files"] = 2
    for api in ("connectors-test", "connectors-preview"):
        answer = site.client.post(api, {"id": made["id"]})
        assert answer.status == 422 and "More than 2 files" in answer.error
    assert "More than 2 files" in site.fail(made["id"], 422)


def test_no_worker_is_told(sqlite_site: Any, fresh_data: Path) -> None:
    from snaglist.testing import running_service

    made = sqlite_site.make()
    with running_service(fresh_data, jobs=False) as other:
        with other.database.transaction(other.applications.registry, write=True) as db:
            db.execute(change(workers).values(heartbeat_at="2020-01-01 00:00:00"))
        queued = Client(other).post("connectors-sync", {"id": made["id"]}).json
    assert queued["worker_started"] is False and queued["warning"] == "No worker is running; the job waits."


SNAPSHOT = "0" * 64


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"id": 1, "snapshots": {}}, "snapshots: cannot be combined with id"),
        ({"snapshot": SNAPSHOT}, "snapshot: must come with the id of its connector"),
        ({"snapshots": {"web": SNAPSHOT}}, "snapshots: must hold ids of connectors"),
        ({"snapshots": {"1": "x"}}, "snapshots.1: must be 64 hex digits"),
    ],
)
def test_a_sync_that_is_asked_for_wrongly_is_told_the_field(
    sqlite_site: Any, body: dict[str, Any], refusal: str
) -> None:
    answer = sqlite_site.client.post("connectors-sync", body)
    assert (answer.status, answer.error) == (422, refusal)


def test_nothing_to_sync(sqlite_site: Any) -> None:
    answer = sqlite_site.client.post("connectors-sync", {})
    assert (answer.status, answer.json) == (200, {"job_id": None, "status": "succeeded", "run_ids": []})

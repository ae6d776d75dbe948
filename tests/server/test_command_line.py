"""The kernel's commands."""

import errno
import json
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from snaglist.kernel.service import Service
from snaglist.kernel.settings import ConfigurationError
from snaglist.plugins import program
from snaglist.plugins.system import command_line
from snaglist.plugins.system.server import serve
from snaglist.testing import Client, running_service

Run = Callable[..., Any]


def document(done: Any) -> Any:
    """The one JSON document on stdout."""
    assert done.stdout.count("\n") == 1 and done.stdout.endswith("\n"), done
    return json.loads(done.stdout)


def test_key(run: Run) -> None:
    plain = run("key")
    assert (plain.returncode, plain.stderr) == (0, "")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}\n", plain.stdout)
    assert run("key").stdout != plain.stdout
    assert len(document(run("--json", "key", "--bytes", "64"))["key"]) == 86
    assert run("key", "--bytes", "x").returncode == 2


def test_doctor(run: Run) -> None:
    fine = run("doctor")
    assert fine.returncode == 0, fine.stdout
    assert fine.stdout.count("ok ") == 9
    warned = run("doctor", SERVICE_TYPO="1")
    assert warned.returncode == 0
    assert "SERVICE_TYPO: unknown environment variable" in warned.stdout
    assert set(document(run("doctor", "--json"))) == {"status", "checks", "config_warnings", "versions"}


def test_doctor_names_what_others_may_read_or_change(run: Run, fresh_data: Path) -> None:
    for name, given in {"shut": 0o600, "open": 0o644}.items():
        (fresh_data / "keys").mkdir(exist_ok=True)
        (fresh_data / "keys" / name).touch(given)
    (fresh_data / "keys").chmod(0o700)
    assert "any user" not in run("--data", str(fresh_data), "doctor").stdout
    (fresh_data / "keys").chmod(0o755)
    for name, given in {"snaglist.toml": 0o604, "applications": 0o777, "applications/default/sources": 0o711}.items():
        if not (fresh_data / name).exists():
            (fresh_data / name).touch()
        (fresh_data / name).chmod(given)
    warned = run("--data", str(fresh_data), "doctor")
    assert warned.returncode == 0
    assert [line.split(": chmod ")[1] for line in warned.stdout.splitlines() if "any user" in line] == [
        f"o= {fresh_data / 'snaglist.toml'}",
        f"o= {fresh_data / 'keys/open'}",
        f"o= {fresh_data / 'applications/default/sources'}",
        f"o-w {fresh_data / 'applications'}",
    ]


def test_doctor_names_the_secrets_that_no_key_opens(run: Run, fresh_data: Path) -> None:
    """They are what has to be entered anew, unless the key of before comes back."""
    (fresh_data / "secret.key").unlink()
    config: dict[str, Any] = {"plugins__enabled": ["alerting", "ingest", "tracker"], "security__secret": "the-old-one"}
    with running_service(fresh_data, jobs=False, outbound__allow_private=["127.0.0.0/8"], **config) as service:
        client = Client(service)
        for plugin in config["plugins__enabled"]:
            assert client.post("plugins", {"id": plugin, "enabled": True}).status == 200
        ssh = {"host": "127.0.0.1", "user": "u", "password": "p", "paths": ["/var/log/x.log"]}
        made = client.post("connectors", {"name": "Web", "type": "ssh", "config": ssh})
        assert made.status == 201, made.text
        hook = {"name": "Ops", "type": "webhook", "url": "http://127.0.0.1/x", "secret": "my-own-key"}
        assert client.post("alert-channels", hook).status == 201
        tracker = {"provider": "github", "api_key": "k", "webhook_secret": "s3cr3t-key"}
        assert client.patch("tracker-settings", tracker).status == 200
    found = run("doctor", SERVICE_SECRET="another")
    assert found.returncode == 0
    lost = [line.partition(": no key opens it")[0] for line in found.stdout.splitlines() if "no key opens it" in line]
    assert sorted(lost) == [
        "warn  default: api_key of the tracker",
        "warn  default: ingest key (it still lets senders in, but cannot be shown)",
        'warn  default: secrets of the connector "Web"',
        'warn  default: signing key of the alert channel "Ops"',
        'warn  default: target of the alert channel "Ops"',
        "warn  default: webhook_secret of the tracker",
    ]
    assert not (fresh_data / "secret.key").exists()  # looking makes none
    assert "no key opens it" not in run("doctor", SERVICE_SECRET="another,the-old-one").stdout
    assert run("db", "upgrade", SERVICE_SECRET="another,the-old-one").returncode == 0
    assert "no key opens it" not in run("doctor", SERVICE_SECRET="another").stdout


def test_doctor_when_the_database_is_away(run: Run) -> None:
    """It says which checks fail, with a hint each, instead of giving up."""
    failed = run("doctor", SERVICE_DATABASE_URL="postgresql+psycopg://nobody@127.0.0.1:1/none")
    assert failed.returncode == 1
    assert "FAIL  database: " in failed.stdout and "SERVICE_DATABASE_URL" in failed.stdout
    assert "ok    python" in failed.stdout
    shown = run("doctor", "--json", SERVICE_DATABASE_URL="mysql+pymysql://nobody@127.0.0.1:1")
    assert shown.returncode == 1 and document(shown)["checks"]["database"] is False


def test_doctor_tells_causes_from_consequences(run: Run) -> None:
    """What cannot be known without the database is no failure of its own, and the reason stands there once."""
    failed = run("doctor", SERVICE_DATABASE_URL="postgresql+psycopg://nobody@127.0.0.1:1/none")
    assert failed.stdout.count("FAIL") == 1
    assert "?     schema: not known without the database" in failed.stdout
    assert failed.stderr.count("WARNING") == 1


def test_doctor_names_the_data_directory(run: Run, fresh_data: Path, tmp_path: Path) -> None:
    """A wrong --data makes an empty instance, which is well: only its place tells."""
    assert f"info  data directory {fresh_data}; database sqlite" in run("doctor").stdout
    new = tmp_path / "typo"
    assert f"info  data directory {new}, made just now; database sqlite" in run("doctor", "--data", str(new)).stdout


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql+psycopg://a:b@127.0.0.1:port/c", "database.url: must be empty, postgresql+psycopg://USER:PASS@"),
        ("sqlite+aiosqlite:///a", "database.url: must be empty, postgresql+psycopg://USER:PASS@"),
        ("postgresql+psycopg://a@127.0.0.1:1/c?foo=1", '(invalid connection option "foo")'),
        ("mysql+pymysql://a@127.0.0.1:1?bar=2", "argument 'bar')"),
        ("postgresql+psycopg://secret-user:secret-key@127.0.0.1:1/c", "not available now; try again. (connection"),
    ],
)  # fmt: skip
def test_a_database_that_cannot_be_used(run: Run, url: str, said: str) -> None:
    failed = document(run("apps", "list", "--json", SERVICE_DATABASE_URL=url))["error"]
    assert said in failed and "secret-key" not in failed


@pytest.mark.parametrize("engine", ["postgresql", "mariadb"])
def test_an_option_that_the_database_does_not_know(run: Run, servers: Any, engine: str) -> None:
    """Whatever the command, and with a server that answers: the setting, what is wrong and what to do."""
    url = make_url(servers.url(engine)).update_query_dict({"nope": "1"}).render_as_string(hide_password=False)
    for command in (("serve", "--port", "0"), ("doctor",), ("import", __file__), ("jobs", "work", "--once")):
        failed = run(*command, SERVICE_DATABASE_URL=url)
        assert (failed.returncode, failed.stdout) == (1, "")
        assert failed.stderr.startswith("snaglist: database.url: the driver or the server refuses it: see its user, ")
        assert "nope" in failed.stderr and failed.stderr.count("\n") == 1


def test_what_the_server_does_not_know(run: Run, servers: Any) -> None:
    url = make_url(servers.url("mariadb")).update_query_dict({"collation": "nope"})
    failed = run("apps", "list", SERVICE_DATABASE_URL=url.render_as_string(hide_password=False))
    assert failed.stderr.startswith("snaglist: database.url: the driver or the server refuses it")


def test_a_file_that_sqlite_cannot_make(run: Run, tmp_path: Path) -> None:
    """As in a data directory of another user, or on a full disk: no traceback, and the reason."""
    (tmp_path / "new" / "registry.sqlite").mkdir(parents=True)
    for command in (("apps", "list"), ("import", __file__), ("db", "upgrade"), ("jobs", "work", "--once")):
        failed = run(*command, "--data", str(tmp_path / "new"))
        assert (failed.returncode, failed.stdout) == (1, "")
        assert "The registry is not one of snaglist" in failed.stderr
        assert "(unable to open database file)" in failed.stderr
        assert "Traceback" not in failed.stderr
    assert (
        "FAIL  database: The registry is not one of snaglist: " in run("doctor", "--data", str(tmp_path / "new")).stdout
    )


def test_an_unforeseen_failure_shows_where_only_when_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: Any) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(command_line.cli, "main", fail)
    for level, said in (("info", "snaglist: unexpected failure: KeyError: 'gone'; "), ("debug", "Traceback")):
        monkeypatch.setenv("SERVICE_LOG_LEVEL", level)
        assert program.run() == 1  # main() is for a process of its own, whose interrupts it ends
        shown = capsys.readouterr().err
        assert said in shown and ("Traceback" in shown) == (level == "debug")


def test_a_port_in_use(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        failed = run("serve", "--port", port)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert f"server.port: port {port} on 127.0.0.1 is in use" in failed.stderr and "--port" in failed.stderr
    assert "server.host: must not be empty" in run("serve", "--host", "", "--port", "0").stderr
    assert "server.host: nowhere.invalid" in run("serve", "--host", "nowhere.invalid", "--port", "0").stderr


def test_db_upgrade(run: Run, fresh_data: Path) -> None:
    """`--check` changes nothing."""
    assert run("db", "upgrade", "--check").returncode == 0
    database = fresh_data / "applications" / "default" / "service.sqlite"
    with sqlite3.connect(database) as connection:
        [before] = connection.execute("SELECT count(*) FROM schema_step").fetchone()
        connection.execute("DELETE FROM schema_step WHERE owner = 'core'")
    connection.close()
    pending = run("db", "upgrade", "--check", "--json")
    assert pending.returncode == 1
    assert document(pending) == {
        "applied": [], "pending": [{"application": "default", "owner": "core", "name": "s001"}],
    }  # fmt: skip
    applied = run("db", "upgrade")
    assert (applied.returncode, applied.stdout) == (0, "applied default core:s001\n")
    assert document(run("--json", "db", "upgrade")) == {"applied": [], "pending": []}
    with sqlite3.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM schema_step").fetchone() == (before,)
    connection.close()


def test_a_first_start_is_whole_without_upgrades_at_start(run: Run, tmp_path: Path) -> None:
    """What is new is not behind: only an instance that was there waits for `db upgrade`."""
    new, by_hand = str(tmp_path / "new"), {"SERVICE_DATABASE_AUTO_UPGRADE": "false"}
    assert run("plugins", "list", "--data", new, **by_hand).returncode == 0
    assert run("db", "upgrade", "--data", new, **by_hand).stdout == "no step was pending\n"


def test_a_port_that_another_reason_keeps_closed_names_that_reason(
    sqlite_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(ConfigurationError, match=r"127[.]0[.]0[.]1 port 8787: Too many open files"):
        serve(sqlite_service, "127.0.0.1", 8787)


def test_a_dump_is_a_file(run: Run) -> None:
    refused = run("db", "dump", "-")
    assert (refused.returncode, refused.stderr) == (1, "snaglist: -: is not a file\n")


def test_db_upgrade_makes_a_first_instance(run: Run, tmp_path: Path) -> None:
    made = run("db", "upgrade", "--json", "--data", str(tmp_path / "new"))
    applied = document(made)["applied"]
    assert {"application": None, "owner": "core", "name": "s001"} in applied
    assert {"application": "default", "owner": "core", "name": "s001"} in applied
    assert (tmp_path / "new" / "registry.sqlite").exists()


def test_names_do_not_steer_the_terminal(run: Run, fresh_data: Path) -> None:
    """What turns the direction is shown; a row is a line, also for a name that an earlier version took."""
    forged = run("apps", "add", "Portal\nother  Other  ok")
    assert (forged.returncode, forged.stdout) == (1, "")
    assert "name: must be one line without control characters" in forged.stderr
    assert run("apps", "add", "in\u202eetihw", "--id", "white").stdout.count(r"in\u202eetihw") == 1
    assert document(run("apps", "rename", "white", "של\u202eום", "--json"))["name"] == "של\u202eום"
    with sqlite3.connect(fresh_data / "registry.sqlite") as registry:
        registry.execute("UPDATE applications SET name = 'Main' || char(10) || 'forged' WHERE id = 'default'")
    lines = run("apps", "list").stdout.splitlines()
    assert len(lines) == 3
    assert r"Main\nforged" in lines[1] and r"של\u202eום" in lines[2]
    assert [app["name"] for app in document(run("apps", "list", "--json"))["data"]] == ["Main\nforged", "של\u202eום"]


def test_apps(run: Run, fresh_data: Path) -> None:
    added = document(run("apps", "add", "Customer Portal", "--json"))
    assert added["id"] == "customer-portal"
    assert "customer-portal" in run("apps", "list").stdout
    assert [app["id"] for app in document(run("apps", "list", "--json"))["data"]] == ["default", "customer-portal"]
    assert document(run("apps", "rename", "customer-portal", "Portal", "--json"))["name"] == "Portal"
    twice = run("apps", "add", "Customer Portal", "--json")
    assert (twice.returncode, document(twice)) == (1, {"error": "id: exists already"})
    asked = run("apps", "remove", "customer-portal")
    assert asked.returncode == 2 and "--yes" in asked.stderr  # no terminal to ask on
    assert run("apps", "remove", "customer-portal", "--yes").returncode == 0
    assert not (fresh_data / "applications" / "customer-portal").exists()
    assert run("apps", "remove", "default", "--yes").returncode == 1
    assert run("apps", "remove", "nope", "--yes").returncode == 1


def test_plugins_and_jobs(run: Run) -> None:
    listed = document(run("plugins", "list", "--json"))["data"]
    assert all(set(plugin) >= {"id", "enabled", "status"} for plugin in listed)
    assert run("plugins", "enable", "nope").returncode == 1
    assert document(run("jobs", "list", "--json"))["meta"]["total"] == 0
    assert document(run("jobs", "work", "--once", "--json")) == {"ran": 0}
    missing = run("jobs", "show", "7", "--json")
    assert (missing.returncode, document(missing)) == (1, {"error": "Unknown job."})
    assert run("jobs", "cancel", "7").returncode == run("jobs", "retry", "7").returncode == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("nope",), 2), (("apps", "nope"), 2), (("apps", "list", "--nope"), 2), (("apps", "add"), 2),
        (("jobs", "show", "x"), 2), (("plugins", "list", "--app", "nope"), 1),
        (("--app", "nope", "plugins", "list"), 1),
        (("doctor", "--config", "/nonexistent.toml"), 1), (("serve", "--port", "70000"), 2),
        (("--app", "", "plugins", "list"), 1), (("--data", "", "apps", "list"), 1),
        (("--data", "/dev/null", "apps", "list"), 1), (("--data", "/dev/null/x", "doctor"), 1),
        (("serve", "--host", "192.0.2.1", "--port", "0"), 1), (("import", ""), 2), (("explain", ""), 1),
        (("explain", "/"), 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else str(value),
)  # fmt: skip
def test_exit_codes_and_errors(run: Run, arguments: tuple[str, ...], code: int) -> None:
    """A message on stderr, or with `--json` one object on stdout."""
    plain = run(*arguments)
    assert (plain.returncode, plain.stdout) == (code, "")
    assert plain.stderr and "Traceback" not in plain.stderr
    assert "unexpected failure" not in plain.stderr
    as_json = run("--json", *arguments)
    assert as_json.returncode == code
    assert list(document(as_json)) == ["error"]


def test_version_and_help(run: Run) -> None:
    for place in (("--version",), ("doctor", "--version")):
        assert re.fullmatch(r"snaglist \d+\.\d+\.\d+\n", run(*place).stdout)
    assert "apps" in run("--help").stdout
    assert "--json" in run("apps", "list", "--help").stdout
    assert run().returncode == 2


def test_common_options_stand_before_or_after(run: Run, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    run("apps", "add", "Only there", "--data", other)
    for arguments in (("--data", other, "apps", "list", "--json"), ("--json", "apps", "list", "--data", other)):
        assert [app["id"] for app in document(run(*arguments))["data"]] == ["default", "only-there"]
    assert len(document(run("apps", "list", "--json"))["data"]) == 1


def test_quiet(run: Run) -> None:
    """No colours, bars or messages where nobody looks."""
    done = run("apps", "list", "--quiet")
    assert done.stderr == "" and "\x1b" not in done.stdout


def test_an_unexpected_failure_is_one_document_with_json(run: Run, fresh_data: Path) -> None:
    (fresh_data / "registry.sqlite").write_bytes(b"this is no database" * 100)
    for suffix in ("-wal", "-shm"):
        (fresh_data / f"registry.sqlite{suffix}").unlink(missing_ok=True)
    failed = run("apps", "list", "--json")
    assert failed.returncode == 1
    assert list(document(failed)) == ["error"]
    assert str(fresh_data) not in failed.stdout


@pytest.mark.parametrize("after", [0.05, 0.3, 0.8])
def test_an_interrupt_while_the_program_starts(after: float, tmp_path: Path) -> None:
    """At whatever moment: exit code 130, and no traceback."""
    program = [sys.executable, "-c", "from snaglist.plugins.start import main; print(flush=True); main()"]
    command = [*program, "--data", str(tmp_path / "new"), "jobs", "work", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        started.stdout.readline()
        time.sleep(after)
        started.send_signal(signal.SIGINT)
        try:
            told, said = started.communicate(timeout=60)
        finally:
            started.kill()
    assert "Traceback" not in said
    assert started.returncode in (0, 130)  # 0: the worker had started
    assert next(iter(json.loads(told))) == ("error" if started.returncode else "status")

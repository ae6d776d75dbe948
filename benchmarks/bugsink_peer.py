"""The peer of benchmarks/ingest.py: a Bugsink of this machine, from its package, with its settings for one server.

SQLite, quotas and retention raised so that nothing is refused. It accepts an event into a folder and digests it in a
second process; both rates are measured, digesting until everything is done or the time is over.
"""

import contextlib
import http.client
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import senders

DRAIN_SECONDS = 30.0
WORKERS = 2
_QUOTAS = """
for _name in ("MAX_EVENTS_PER_PROJECT_PER_5_MINUTES", "MAX_EVENTS_PER_PROJECT_PER_HOUR",
              "MAX_EVENTS_PER_PROJECT_PER_MONTH", "MAX_EVENTS_PER_5_MINUTES", "MAX_EVENTS_PER_HOUR",
              "MAX_EVENTS_PER_MONTH"):
    BUGSINK[_name] = 10**9
SECURE_PROXY_SSL_HEADER = None
"""
_PROJECT = (
    "from projects.models import Project; from teams.models import Team; "
    "team = Team.objects.create(name='bench'); "
    "project = Project.objects.create(name='bench', team=team, retention_max_event_count=10**8); "
    "print('DSN', project.id, project.sentry_key)"
)
_SESSION = (
    "from django.contrib.auth import get_user_model, SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY; "
    "from importlib import import_module; from django.conf import settings; "
    "user = get_user_model().objects.create_superuser('bench', password='bench'); "
    "session = import_module(settings.SESSION_ENGINE).SessionStore(); "
    "session[SESSION_KEY] = str(user.pk); session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]; "
    "session[HASH_SESSION_KEY] = user.get_session_auth_hash(); session.save(); print('SESSION', session.session_key)"
)
Load = Callable[..., dict[str, float]]


def measure(folder: Path, environment: Path, seconds: float, load: Load) -> dict[str, float]:
    """Return accepted and digested events per second; `environment` is made when it is missing."""
    programs = _programs(environment)
    port = _free_port()
    _set_up(folder, programs, port)
    project, key = _make_project(folder, programs)
    headers = {"Content-Type": "application/json", "X-Sentry-Auth": f"Sentry sentry_version=7, sentry_key={key}"}
    with _running(folder, programs, port):
        begun = time.perf_counter()
        sent = load(port, ("POST", f"/api/{project}/store/", headers), body_of)
        while _digested(folder) < sent["events"] and time.perf_counter() - begun < seconds + DRAIN_SECONDS:
            time.sleep(0.2)
        digested, spent = _digested(folder), time.perf_counter() - begun
    stored = sum(file.stat().st_size for file in folder.glob("db.sqlite3*"))
    return {
        "single_per_s": sent["per_s"],
        "single_p50_ms": sent["p50_ms"],
        "single_p95_ms": sent["p95_ms"],
        "digested_per_s": digested / spent,
        "bytes_per_event": stored / max(1, digested),
    }


@contextlib.contextmanager
def listing(folder: Path, environment: Path, events: int) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A Bugsink with digested events: the address of its list of issues, and the cookies of somebody who may see it."""
    programs = _programs(environment)
    port = _free_port()
    _set_up(folder, programs, port)
    project, key = _make_project(folder, programs)
    session = re.search(r"SESSION (\S+)", _run(folder, programs, "bugsink-manage", "shell", "-c", _SESSION))
    if not session:
        sys.exit("no session in Bugsink")
    headers = {"Content-Type": "application/json", "X-Sentry-Auth": f"Sentry sentry_version=7, sentry_key={key}"}
    with _running(folder, programs, port):
        sender = senders.Sender()
        for number in range(events):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("POST", f"/api/{project}/store/", body_of(sender, number), headers)
            connection.getresponse().read()
            connection.close()
        deadline = time.perf_counter() + events / 10
        while _digested(folder) < events and time.perf_counter() < deadline:
            time.sleep(0.5)
        address = f"http://127.0.0.1:{port}"
        yield f"{address}/issues/{project}/", [{"name": "sessionid", "value": session[1], "url": address}]


def body_of(sender: senders.Sender, number: int) -> bytes:
    """Return the event of a number in the form that Bugsink takes."""
    import json

    event = sender.event(number)
    frames = []
    places = re.findall(r'File "([^"]+)", line (\d+), in (\S+)\n +(.*)', event["stack"])
    variables = event["context"]["variables"]
    for number_, (file, line, function, code) in enumerate(places):
        own = "site-packages" not in file
        frame = {"filename": file, "abs_path": file, "lineno": int(line), "function": function, "context_line": code}
        frames.append({**frame, "in_app": own, "vars": variables[f"frame_{number_}"]})
    value = event["stack"].rsplit("\n", 1)[1].partition(": ")[2]
    exception = {"type": event["exception_class"], "value": value, "stacktrace": {"frames": frames}}
    return json.dumps(
        {
            "event_id": uuid.uuid4().hex,
            "timestamp": time.time(),
            "platform": "python",
            "level": "error",
            "exception": {"values": [exception]},
            "request": event["request"],
            "user": {"id": str(event["user"]["id"])},
            "release": event["release"],
            "environment": event["environment"],
            "server_name": event["server_name"],
            "modules": dict(piece.split("==") for piece in event["context"]["modules"]),
        }
    ).encode()


def _programs(environment: Path) -> Path:
    """The folder of Bugsink's commands; the environment is made when it is missing."""
    programs = environment / "bin"
    if not (programs / "bugsink-manage").exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([str(programs / "pip"), "install", "-q", "bugsink"], check=True)
    return programs


def _set_up(folder: Path, programs: Path, port: int) -> None:
    address = f"http://127.0.0.1:{port}"
    command = ["bugsink-create-conf", "--template=singleserver", f"--host=127.0.0.1:{port}", f"--base-dir={folder}"]
    _run(folder, programs, *command)
    settings = folder / "bugsink_conf.py"
    text = settings.read_text().replace(f"https://127.0.0.1:{port}", address)
    settings.write_text(text + _QUOTAS)
    _run(folder, programs, "bugsink-manage", "migrate")
    _run(folder, programs, "bugsink-manage", "migrate", "snappea", "--database=snappea")


def _make_project(folder: Path, programs: Path) -> tuple[str, str]:
    printed = _run(folder, programs, "bugsink-manage", "shell", "-c", _PROJECT)
    found = re.search(r"DSN (\S+) (\S+)", printed)
    if not found:
        sys.exit(f"no project in Bugsink: {printed}")
    return found[1], found[2].replace("-", "")


@contextlib.contextmanager
def _running(folder: Path, programs: Path, port: int) -> Iterator[None]:
    web = [str(programs / "gunicorn"), "bugsink.wsgi", f"--bind=127.0.0.1:{port}", f"--workers={WORKERS}"]
    commands = [[*web, "--access-logfile=/dev/null"], [str(programs / "bugsink-runsnappea")]]
    quiet: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    running = [subprocess.Popen(command, cwd=folder, env=_environment(folder), **quiet) for command in commands]
    try:
        _wait(port)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait(timeout=60)


def _run(folder: Path, programs: Path, program: str, *arguments: str) -> str:
    command = [str(programs / program), *arguments]
    ran = subprocess.run(command, cwd=folder, env=_environment(folder), capture_output=True, text=True, check=False)
    if ran.returncode:
        sys.exit(f"{program} failed: {ran.stdout} {ran.stderr}")
    return ran.stdout


def _environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(folder), "DJANGO_SETTINGS_MODULE": "bugsink_conf"}


def _digested(folder: Path) -> int:
    with contextlib.closing(sqlite3.connect(folder / "db.sqlite3", timeout=30)) as db:
        return int(db.execute("SELECT count(*) FROM events_event").fetchone()[0])


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(port: int) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            time.sleep(2)
            return
        time.sleep(0.2)
    sys.exit("Bugsink does not start")

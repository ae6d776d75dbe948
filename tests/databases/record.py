"""Record the databases of a version, for the tests that upgrade them: run it with that version installed.

    python tests/databases/record.py VERSION

A fixed story is told to the real service, over its API and by its files, once on each database; what is left lies in
`recorded/VERSION/`: per database the data directory (`ENGINE.tar.xz`), what the API answers (`ENGINE.json.xz`) and,
for the servers, a dump by their own tools (`ENGINE.sql.xz`). It needs PostgreSQL and MariaDB with their dump tools,
and makes and removes /srv/snaglist and /var/log/app, so that every installation has these paths.
"""

import hashlib
import hmac
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, func, select, text
from sqlalchemy.engine import make_url

from snaglist.kernel.columns import metadata
from snaglist.testing import Client, running_service

HERE = Path(__file__).parent / "recorded"
DATA, LOGS = Path("/srv/snaglist"), Path("/var/log/app")
PREFIX = "recorded_"
SERVERS = {
    "postgresql": os.environ.get("TEST_POSTGRESQL_URL", "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"),
    "mariadb": os.environ.get("TEST_MYSQL_URL", "mysql+pymysql://root@127.0.0.1:3306?ssl_disabled=true"),
}
PLUGINS = ("access_analytics", "ingest", "alerting", "releases", "tracker")
DAY = "2026-03-01"
SECRET = "a-secret-of-yours"
TRACE = "TypeError: Cart is empty\n    at t (https://shop.example.com/static/js/app.4f2a.js:1:9)"
SOURCE_MAP = {
    "version": 3,
    "file": "app.4f2a.js",
    "sources": ["webpack:///src/cart.ts", "webpack:///src/main.ts"],
    "names": ["total", "pay"],
    "mappings": "AAAAA,QACE,YCDeC",
}
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
# What shows all that an application holds, but for what depends on the time of the question.
LISTS: dict[str, dict[str, Any]] = {
    "tags": {}, "modules": {}, "sources": {"limit": 100}, "plugins": {}, "ingestion-settings": {},
    "processed-retention": {}, "connectors": {}, "connectors-runs": {"limit": 100}, "alert-channels": {},
    "alert-rules": {}, "alert-events": {"limit": 200}, "ingest-settings": {}, "deploys": {"days": 90},
    "release-settings": {}, "source-maps": {}, "tracker-settings": {}, "jobs": {"limit": 100},
    "access-analytics": {"from": f"{DAY} 00:00:00", "to": f"{DAY} 23:00:00"}, "applications": {},
}  # fmt: skip


@contextmanager
def neighbour() -> Iterator[str]:
    """A host on loopback: a remote log below /logs, and a tracker that fails to create whatever is titled so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/logs/remote.log":
                self.answer(200, "".join(lines("remote", 6)).encode())
            elif self.path.startswith("/user"):
                self.answer(200, b'{"id": 7, "login": "ana", "name": "Ana", "email": "ana@example.com"}')
            else:
                self.answer(200, json.dumps([tracked(7, "Refund fails")]).encode())

        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            failing = "by hand" in sent.get("title", "")
            self.answer(500 if failing else 201, json.dumps(tracked(8, sent.get("title", "?"))).encode())

        do_HEAD = do_GET
        do_PATCH = do_POST

        def answer(self, status: int, content: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 8929), Handler)  # the same for all recordings
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def tracked(number: int, title: str) -> dict[str, Any]:
    """An item of the tracker."""
    page = f"https://github.com/acme/shop/issues/{number}"
    return {
        "number": number, "title": title, "body": "Since Monday.", "state": "open", "state_reason": None,
        "labels": [{"name": "production", "color": "dd2244"}], "assignee": None, "assignees": [], "html_url": page,
        "created_at": f"{DAY}T08:00:00Z", "updated_at": f"{DAY}T09:00:00Z",
        "repository_url": "https://api.github.com/repos/acme/shop",
    }  # fmt: skip


def lines(what: str, count: int, day: str = DAY) -> list[str]:
    """Lines of a framework log."""
    return [
        f"[{day} 10:{n % 60:02}:00] production.{('ERROR', 'WARNING', 'CRITICAL')[n % 3]}: "
        f'{what}: {WORDS[n % 4]} of {WORDS[n % 3]} failed for order {n} {{"order":{n}}}\n'
        for n in range(count)
    ]


class Story:
    """What is told to the service."""

    def __init__(self, client: Client, address: str) -> None:
        self.client = client
        self.address = address
        self.logs = client.service.applications.all()[0].logs

    def tell(self) -> None:
        """Fill every table."""
        for plugin in PLUGINS:
            self.client.enable(plugin)
        self.settings()
        self.files()
        self.pushes()
        self.triage()
        self.connectors()
        self.tracker()
        self.deletions()

    def send(self, method: str, api: str, body: Any = None, **query: Any) -> Any:
        """Send a request that must succeed; returns the JSON body."""
        answer = self.client.send(method, api, body, query)
        assert answer.status < 300, (method, api, body, answer.status, answer.text)
        return answer.json

    def settings(self) -> None:
        """Alerting, releases, tags and modules, so that what follows meets them."""
        self.send("PUT", "ingestion-settings", {"severities": ["ERROR", "WARNING", "CRITICAL"], "timezone": "UTC"})
        hook = {"type": "webhook", "url": f"{self.address}/alerts", "secret": SECRET}
        channel = self.send("POST", "alert-channels", {"name": "Ops", **hook})["id"]
        for trigger in ("new_error", "threshold", "spike"):
            rule = {"name": trigger, "channel_id": channel, "trigger_type": trigger}
            self.send("POST", "alert-rules", rule | ({} if trigger == "new_error" else {"min_count": 2}))
        self.send("POST", "modules", {"name": "Shop"})
        for name, word in (("Orders", "order"), ("Alpha", "alpha"), ("Plain", "")):
            self.send("POST", "tags", {"name": name, "match_word": word})
        template = {"repo_url_template": "https://git.example.com/shop/blob/{ref}/{path}#L{line}"}
        self.send("PUT", "release-settings", {**template, "path_prefixes": ["webpack:///"]})
        self.send("POST", "deploys", {"version": "v2.4.0", "ref": "4f2a9c1"})
        bundle = {"release": "v2.4.0", "file": "https://shop.example.com/static/js/app.4f2a.js", "map": SOURCE_MAP}
        self.send("POST", "source-maps", bundle)

    def files(self) -> None:
        """Dropped files, with a module and without, of requests, compressed; one that cannot be read."""
        requests = [
            f'192.0.2.{n % 7} - - [01/Mar/2026:10:{n:02}:00 +0000] "GET /orders/{n % 5} HTTP/1.1" '
            f'{(200, 404, 500)[n % 3]} 512 "-" "Firefox/128.0"\n'
            for n in range(30)
        ]
        (self.logs / "shop").mkdir()
        (self.logs / "shop" / "access.log").write_text("".join(requests))
        (self.logs / "app.log").write_text("".join(lines("app", 60)))
        (self.logs / "two-days.log").write_text("".join(lines("first", 8) + lines("second", 8, "2026-03-02")))
        (self.logs / "old.log.1.xz").write_bytes(lzma.compress("".join(lines("old", 4, "2026-02-28")).encode()))
        (self.logs / "broken.log.xz").write_bytes(b"\xfd7zXZ\x00broken")
        self.send("POST", "import-incoming", wait=1)
        sentences = [f"user {name}{n} lost the session of device {n}" for n in range(12) for name in ("ann", "bob")]
        (self.logs / "learned.log").write_text("".join(f"[{DAY} 11:00:00] web.ERROR: {one}\n" for one in sentences))
        self.send("POST", "import-incoming", wait=1)

    def pushes(self) -> None:
        """Events of a sender, some of them alike, one with a trace of a bundle."""
        key = self.send("GET", "ingest-settings")["key"]
        self.send("POST", "ingest-settings", {"action": "configure", "allow_query_key": True})
        event = {"severity": "error", "environment": "production", "release": "v2.4.0", "server_name": "web-1"}
        for n in range(8):
            pushed = {**event, "message": f"Payment {n} was refused", "event_id": f"payment-{n}", "tags": ["Payments"]}
            self.send("POST", "ingest", {**pushed, "context": {"order": n}, "timestamp": f"{DAY} 12:0{n}:00"}, key=key)
        self.send("POST", "ingest", {**event, "message": "Mail queue stopped"}, key=key)  # of now: rules fire
        self.send("POST", "ingest", {**event, "message": "Cart is empty", "stack": TRACE, "module": "Shop"}, key=key)

    def triage(self) -> None:
        """Issues by hand, statuses, notes, tags by hand, merged ones, ones taken apart."""
        self.send("POST", "issues", {"title": "Made by hand", "severity": "error", "description": "It fails."})
        found = self.send("GET", "errors", sort="occurrences", origin="ingested", limit=50)["data"]
        ids = [issue["id"] for issue in found]
        self.send("POST", "issue-status", {"id": ids[0], "status": "fixed", "note": "mended ✓", "release": "v2.4.0"})
        self.send("POST", "issue-status", {"id": ids[1], "status": "in_progress"})
        orders, plain = (tag["id"] for tag in self.send("GET", "tags")["data"] if tag["name"] in ("Orders", "Plain"))
        self.send("POST", "issue-tags", {"group_id": ids[2], "tag_id": plain})
        tagged = next(i["id"] for i in found if orders in {tag["id"] for tag in i["tags"]})
        self.send("POST", "issue-tags", {"group_id": tagged, "tag_id": orders, "action": "remove"})
        self.send("POST", "bulk-issues", {"action": "merge", "ids": [ids[4]], "target_id": ids[3]})
        learned = next(issue["id"] for issue in found if "lost the session" in issue["title"])
        parts = self.send("GET", "error", id=learned)
        for grouping in parts.get("groupings", [])[1:2]:
            self.send("POST", "bulk-issues", {"action": "unmerge", "id": learned, "grouping_id": grouping["id"]})
        self.send("POST", "bulk-issues", {"action": "snooze", "ids": [ids[5]], "count": 1_000})

    def connectors(self) -> None:
        """One that reads in place, one that mirrors."""
        (LOGS / "site").mkdir(parents=True)
        (LOGS / "site" / "site.log").write_text("".join(lines("site", 9)))
        local = {"name": "site", "type": "local", "config": {"directory": str(LOGS / "site")}}
        remote = {"name": "remote", "type": "url", "config": {"url": f"{self.address}/logs/remote.log"}}
        for body in (local, remote):
            made = self.send("POST", "connectors", body)["id"]
            self.send("POST", "connectors-sync", {"id": made}, wait=1)
        (LOGS / "plain.log").write_text("".join(lines("plain", 5)))
        done = subprocess.run(
            [
                sys.executable,
                "-c",
                "from snaglist.plugins.start import main; main()",
                "import",
                str(LOGS / "plain.log"),
            ],
            env={**os.environ, **environment(self.client)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    def tracker(self) -> None:
        """An item pulled, one made, one that was begun and not made, a delivery."""
        project = {"provider": "github", "project": "acme/shop", "endpoint_url": self.address, "enabled": True}
        secrets = {"api_key": "a-key-of-yours", "webhook_secret": SECRET}
        self.send("PUT", "tracker-settings", {**project, "labels": ["production"], **secrets})
        self.send("POST", "tracker-sync", {"action": "pull"}, wait=1)
        by_title = {issue["title"]: issue["id"] for issue in self.send("GET", "errors", limit=200)["data"]}
        for title in ("Made by hand", "Mail queue stopped"):
            answer = self.client.post("tracker-sync", {"action": "create", "ids": [by_title[title]]}, wait=1)
            assert (answer.status < 300) != (title == "Made by hand"), answer.text
        event = {"action": "closed", "issue": tracked(7, "Refund fails"), "repository": {"full_name": "acme/shop"}}
        content = json.dumps(event).encode()
        digest = hmac.new(SECRET.encode(), content, hashlib.sha256).hexdigest()
        headers = {"X-Hub-Signature-256": f"sha256={digest}", "X-GitHub-Event": "issues"}
        headers["Content-Type"] = "application/json"
        answer = self.client.request("POST", "/?api=tracker-webhook&app=default", content, headers)
        assert answer.status < 300, answer.text

    def deletions(self) -> None:
        """A day and a source, deleted; the rest of their files stays."""
        self.send("POST", "delete-logs", {"date": "2026-03-02", "confirmation": "DELETE LOGS"}, wait=1)
        sources = self.send("GET", "sources", limit=100)["data"]
        old = next(source["id"] for source in sources if source["path"].endswith("old.log.1.xz"))
        self.send("POST", "delete-logs", {"source_id": old, "confirmation": "DELETE LOGS"}, wait=1)
        self.send("POST", "applications", {"name": "Second"})


def shown(client: Client) -> dict[str, Any]:
    """Return what the API answers about the first application; all is read, nothing is changed."""

    def get(api: str, **query: Any) -> Any:
        answer = client.get(api, **query)
        return answer.json if answer.status == 200 else [answer.status, answer.error]

    issues = get("errors", limit=200, include_stack=1, include_context=1)["data"]
    found: dict[str, Any] = {"errors": issues, **{api: get(api, **query) for api, query in LISTS.items()}}
    found["error"] = {str(issue["id"]): get("error", id=issue["id"]) for issue in issues}
    events = [event["id"] for issue in found["error"].values() for event in issue["occurrences"]]
    found["source"] = {str(event): get("source", occurrence=event, context=1) for event in events}
    found["releases"] = {str(issue["id"]): get("issue-releases", id=issue["id"]) for issue in issues}
    return found


def rows(client: Client) -> dict[str, int]:
    """Return how many rows each table of the first application holds."""
    with client.service.call().transaction(write=False) as db:
        return {
            name: db.execute(select(func.count()).select_from(table)).scalar_one()
            for name, table in sorted(metadata.tables.items())
        }


CONFIG: dict[str, Any] = {
    "server__node": "web-1",
    "ingestion__interval_seconds": 0,
    "outbound__allow_private": ["127.0.0.0/8"],
    "tracker__interval_minutes": 0,
}


def environment(client: Client) -> dict[str, str]:
    """Return the settings of the service as variables."""
    settings = client.service.settings
    given = {"SERVICE_DATA": str(DATA), "SERVICE_SERVER_NODE": settings.node, "SERVICE_DATABASE_PREFIX": PREFIX}
    return given | ({"SERVICE_DATABASE_URL": settings["database.url"]} if settings["database.url"] else {})


def record(engine: str, target: Path) -> None:
    """Tell the story on one database, and keep what is left."""
    config = dict(CONFIG)
    if engine in SERVERS:
        config |= {"database__url": SERVERS[engine], "database__prefix": PREFIX}
    with neighbour() as address, running_service(DATA, **config) as service:
        client = Client(service)
        Story(client, address).tell()
        while service.jobs.run_queued(service.applications.all()[0]):
            pass
    # Without a worker, so that nothing moves any more.
    with running_service(DATA, jobs=False, **config) as service:
        client = Client(service)
        filled = rows(client)
        answers = {"rows": filled, "answers": shown(client)}
    print(engine, "empty:", [name for name, number in filled.items() if not number])
    write(target / f"{engine}.json.xz", json.dumps(answers, ensure_ascii=False, indent=1).encode())
    if engine in SERVERS:
        write(target / f"{engine}.sql.xz", dumped(engine))
    write(target / f"{engine}.tar.xz", packed())


def dumped(engine: str) -> bytes:
    """Return the dump of a server's own tool."""
    url = make_url(SERVERS[engine])
    if engine == "postgresql":
        command = ["pg_dump", "--no-owner", "--no-privileges", "--rows-per-insert=500", f"--schema={PREFIX}*"]
        command += ["-h", url.host or "", "-p", str(url.port), "-U", url.username or "", url.database or ""]
    else:
        names = [f"{PREFIX}_registry", f"{PREFIX}default", f"{PREFIX}second"]
        command = ["mariadb-dump", "--hex-blob", "--skip-dump-date", "--skip-ssl", "-h", url.host or ""]
        command += ["-P", str(url.port), "-u", url.username or "", "--databases", *names]
    done = subprocess.run(command, capture_output=True, check=True)
    # Lines for the tool alone (`\restrict`), and comments, which name versions and the host.
    kept = [line for line in done.stdout.splitlines() if not line.startswith((b"\\", b"--", b"/*M!"))]
    return b"\n".join(kept) + b"\n"


def packed() -> bytes:
    """Return the data directory as an archive, of nobody in particular."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        return None if entry.name.endswith((".lock", "-wal", "-shm")) else entry

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(DATA, arcname="data", filter=plain)
    return buffer.getvalue()


def write(path: Path, content: bytes) -> None:
    """Write a compressed file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(content, preset=9 | lzma.PRESET_EXTREME))
    print(path.name, path.stat().st_size)


def clear(engine: str) -> None:
    """Remove what a recording made."""
    for folder in (DATA, LOGS):
        shutil.rmtree(folder, ignore_errors=True)
    if engine in SERVERS:
        made = create_engine(SERVERS[engine], isolation_level="AUTOCOMMIT")
        with made.connect() as connection:
            for name in (f"{PREFIX}_registry", f"{PREFIX}default", f"{PREFIX}second"):
                if engine == "postgresql":
                    connection.execute(text(f'DROP SCHEMA IF EXISTS "{name}" CASCADE'))
                else:
                    connection.execute(text(f"DROP DATABASE IF EXISTS `{name}`"))
        made.dispose()


def main() -> None:
    """Record all three."""
    target = HERE / sys.argv[1]
    for folder in (DATA, LOGS):
        if folder.exists():
            sys.exit(f"{folder} exists: it would be overwritten")
    for engine in ("sqlite", *SERVERS):
        clear(engine)
        try:
            record(engine, target)
        finally:
            clear(engine)


if __name__ == "__main__":
    main()

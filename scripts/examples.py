"""Record the examples of docs/api.md: real requests to a real service, and what they are answered.

python scripts/examples.py [--all]: writes docs/examples/<endpoint>.json for operations without an example, or for
all of them. Times of today become those of one fixed day, so that a new record differs where the API does.
"""

import hashlib
import hmac
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import urlencode

from snaglist.hosting import create_wsgi
from snaglist.kernel import Description, hookimpl, plugins, times
from snaglist.kernel.service import Service
from snaglist.testing import Client

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "docs" / "examples"
WAITING = 1  # the id of a job that waits for another node
PEOPLE = ({"id": "7", "label": "Ana"}, {"id": "9", "label": "Bo"})
DAY = "2026-01-03"
SITE = "/var/log/shop"  # shown for the folder of logs that is read in place
TRACKER = "https://api.github.com"  # shown for the address of the tracker
TRACKER_HOST = "127.0.0.2"  # not the one that examples of refused addresses name
WEBHOOK_SECRET = "a-secret-of-yours"
WIDTH = 118
UPLOAD = "7b0c8e1f3f9c0a71b2d45d9e6a118c02"  # shown for the token of a file that is handed over
INGEST_KEY = f"svk_{'3f9c0a71b2d4' * 4}"  # shown for the key of the application
LOG = f"""\
[{DAY} 09:58:00] production.ERROR: Order 4710 failed: gateway timeout {{"order":4710}}
[{DAY} 09:59:00] production.CRITICAL: Disk /dev/sda1 is full []
[{DAY} 10:00:00] production.ERROR: Order 4711 failed: gateway timeout {{"order":4711}}
[{DAY} 10:01:00] production.INFO: Order 4712 paid []
"""
REQUESTS = "".join(
    f'192.0.2.{host} - - [03/Jan/2026:10:0{host}:00 +0000] "GET {path} HTTP/1.1" {status} 512'
    f' "-" "Firefox/128.0" {host * 9}\n'
    for host, path, status in ((1, "/orders/4710", 200), (2, "/orders/4711", 200), (3, "/cart", 404))
)
TRACE = f"""\
{DAY} 10:02:00,120 ERROR billing.charge: Charge 88 declined
Traceback (most recent call last):
  File "/srv/billing/charge.py", line 42, in charge
    gateway.send(order)
billing.errors.Declined: card expired
"""
SCRIPT_TRACE = "TypeError: Cart is empty\n    at t (https://shop.example.com/static/js/app.4f2a.js:1:9)"
SOURCE_MAP = {
    "version": 3,
    "file": "app.4f2a.js",
    "sources": ["webpack:///src/cart.ts", "webpack:///src/main.ts"],
    "names": ["total", "pay"],
    "mappings": "AAAAA,QACE,YCDeC",
}


TRACKED = {
    "number": 7, "title": "Refund fails", "body": "Since Monday.", "state": "closed", "state_reason": "completed",
    "labels": [{"name": "production", "color": "dd2244"}], "assignee": None, "assignees": [],
    "created_at": f"{DAY}T08:00:00Z", "updated_at": f"{DAY}T09:00:00Z", "html_url": "https://github.com/acme/shop/issues/7",
    "repository_url": f"{TRACKER}/repos/acme/shop",
}  # fmt: skip


@contextmanager
def tracking() -> Iterator[str]:
    """Run a tracker that knows one user and one issue; gives its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            user = {"id": 7, "login": "ana", "name": "Ana", "email": "ana@example.com"}
            content = json.dumps(user if self.path == "/user" else [TRACKED]).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((TRACKER_HOST, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://{TRACKER_HOST}:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def requests(site: str, tracker: str) -> Iterator[tuple[str, str, dict[str, str], Any]]:
    """Give the requests in the order in which they are sent: method, endpoint, query, body.

    `site` is a folder, `tracker` an address.
    """
    yield "GET", "health", {}, None
    yield "GET", "health-details", {}, None
    yield "GET", "health-details", {"app": "gone"}, None
    yield "GET", "applications", {}, None
    yield "POST", "applications", {}, {"name": "Customer Portal"}
    yield "POST", "applications", {}, {"name": "!!!"}
    yield "PATCH", "applications", {}, {"id": "customer-portal", "name": "Portal"}
    yield "PATCH", "applications", {}, {"id": "gone", "name": "Portal"}
    yield "DELETE", "applications", {}, {"id": "customer-portal", "confirmation": "yes"}
    yield "DELETE", "applications", {}, {"id": "customer-portal", "confirmation": "DELETE APPLICATION customer-portal"}
    yield "POST", "modules", {}, {"name": "Billing"}
    yield "POST", "modules", {}, {"name": "BILLING"}
    yield "POST", "tags", {}, {"name": "Payments", "color": "#dd2244", "match_word": "gateway"}
    yield "POST", "tags", {}, {"name": "payments"}
    yield "POST", "plugins", {}, {"id": "access_analytics", "enabled": True}
    yield "POST", "import-incoming", {"wait": "true"}, None
    handed_over = {"name": "till.log", "size": "84", "modified_at": f"{DAY} 10:00:00"}
    yield "GET", "uploads", {}, None
    yield "POST", "uploads", {**handed_over, "size": "900"}, f"{DAY} 09:57:00 ERROR till 3: paper jam\n"
    yield "DELETE", "uploads", {"upload": UPLOAD}, None
    yield "DELETE", "uploads", {"upload": UPLOAD}, None
    yield "POST", "uploads", {**handed_over, "name": "photo.png"}, "PNG"
    yield "POST", "uploads", {**handed_over, "upload": UPLOAD, "offset": "42"}, "text"
    yield "GET", "summary", {}, None
    yield "GET", "errors", {"severity": "error", "q": "gateway", "limit": "1"}, None
    yield "GET", "errors", {"severity": "loud"}, None
    yield "GET", "errors", {"app": "gone"}, None
    yield "GET", "issue-activity", {"severity": "error", "date": DAY}, None
    yield "GET", "issue-activity", {"from": f"{DAY} 10:00:00", "to": f"{DAY} 09:00:00"}, None
    yield "GET", "groups", {"status": "open", "limit": "1"}, None
    yield "GET", "groups", {"page": "0"}, None
    yield "GET", "error", {"id": "1"}, None
    yield "GET", "error", {}, None
    yield "GET", "error", {"id": "999"}, None
    yield "GET", "events", {"id": "1", "q": "4711"}, None
    yield "GET", "events", {"id": "1", "value": "4711"}, None
    yield "GET", "event-values", {"id": "1"}, None
    yield "GET", "event-values", {"id": "999"}, None
    yield "GET", "group", {"id": "1", "include_context": "false"}, None
    yield "GET", "group", {"id": "999"}, None
    yield "GET", "sources", {"limit": "1", "activity": "true"}, None
    yield "GET", "sources", {"limit": "101"}, None
    yield "GET", "source", {"occurrence": "1", "context": "1"}, None
    yield "GET", "source", {"occurrence": "999"}, None
    yield "GET", "source", {}, None
    yield "GET", "source-search", {"pattern": "timeout", "limit": "1"}, None
    yield "GET", "source-search", {"pattern": "time(out", "regex": "true"}, None
    yield "POST", "issues", {}, {"title": "Invoices lack the tax number", "kind": "bug", "module_id": 1}
    yield "POST", "issues", {}, {"title": "  "}
    yield "PATCH", "issues", {}, {"id": 4, "severity": "warning"}
    yield "PATCH", "issues", {}, {"id": 1, "severity": "warning"}
    yield "POST", "issue-status", {}, {"id": 1, "status": "fixed", "note": "Retry added", "release": "v2.4.0"}
    yield "POST", "issue-status", {}, {"id": 1, "status": "done"}
    yield "POST", "issue-status", {}, {"id": 999, "status": "fixed"}
    yield "POST", "issue-status", {}, {"id": 2, "status": "fixed", "expected": "in_progress"}
    yield "POST", "issue-comments", {}, {"id": 1, "text": "The bank answers again since noon."}
    yield "POST", "issue-comments", {}, {"id": 1, "text": " "}
    yield "POST", "issue-comments", {}, {"id": 999, "text": "Gone?"}
    yield "GET", "issue-state", {"id": "1"}, None
    yield "GET", "issue-state", {"id": "999"}, None
    yield "POST", "issue-tags", {}, {"group_id": 2, "tag_id": 1}
    yield "POST", "issue-tags", {}, {"group_id": 2, "tag_id": 999}
    yield "GET", "assignable-users", {}, None
    yield "POST", "assign-issue", {}, {"id": 1, "assigned_to_id": "7"}
    yield "POST", "assign-issue", {}, {"id": 1, "assigned_to_id": "8"}
    yield "POST", "assign-issue", {}, {"id": 999, "assigned_to_id": "7"}
    yield "POST", "bulk-issues", {}, {"action": "status", "status": "in_progress", "note": "triage", "ids": [1, 2]}
    yield "POST", "bulk-issues", {}, {"action": "status", "status": "in_progress", "ids": [1, 999]}
    yield "POST", "bulk-issues", {}, {"action": "explode", "ids": [1]}
    yield "POST", "bulk-issues", {}, {"action": "snooze", "filter": {"severity": "critical"}}
    yield "POST", "bulk-issues", {}, {"action": "undo", "job_id": 999}
    yield "POST", "bulk-issues", {}, {"action": "delete", "ids": [4], "confirmation": "yes"}
    yield "POST", "bulk-issues", {}, {"action": "unmerge", "id": 1, "grouping_id": 1}
    yield "GET", "tags", {}, None
    yield "PUT", "tags", {}, {"id": 1, "name": "Payments", "icon": "money"}
    yield "PUT", "tags", {}, {"id": 999, "name": "Gone"}
    yield "PATCH", "tags", {}, {"id": 1, "name": "Money"}
    yield "PATCH", "tags", {}, {"id": 1, "color": "#000000"}
    yield "DELETE", "tags", {}, {"id": 1}
    yield "DELETE", "tags", {}, {"id": 1}
    yield "GET", "modules", {}, None
    yield "PUT", "modules", {}, {"id": 1, "name": "Billing", "color": "#22aa66"}
    yield "PUT", "modules", {}, {"id": 1}
    yield "PATCH", "modules", {}, {"id": 1, "slug": "bills"}
    yield "PATCH", "modules", {}, {"id": 999, "slug": "bills"}
    yield "DELETE", "modules", {}, {"id": 1}
    yield "DELETE", "modules", {}, {"id": 1, "move_to": None}
    yield "GET", "ingestion-settings", {}, None
    yield "PUT", "ingestion-settings", {}, {"severities": ["CRITICAL", "ERROR"], "timezone": "Europe/Berlin"}
    yield "PUT", "ingestion-settings", {}, {"severities": ["LOUD"]}
    yield "PATCH", "ingestion-settings", {}, {"timezone": "UTC"}
    yield "PATCH", "ingestion-settings", {}, {"severitys": 1}
    pattern = r"(?P<level>\w)/(?P<logger>\w+) (?P<time>[\d.]+ [\d:]+) (?P<message>.*)"
    text = "E/tray 03.01.2026 10:00:00 paper jam\n  in the lower tray"
    yield "POST", "log-formats", {}, {"name": "printer", "pattern": pattern, "sample": text}
    yield "POST", "log-formats", {}, {"name": "printer", "pattern": r"(?P<time>\S+) .*"}
    yield "GET", "log-formats", {}, None
    yield "POST", "log-formats-preview", {}, {"pattern": pattern, "text": text}
    yield "POST", "log-formats-preview", {}, {"pattern": "(?P<level>", "text": text}
    yield "DELETE", "log-formats", {}, {"id": 1}
    yield "DELETE", "log-formats", {}, {"id": 1}
    yield "POST", "reindex", {"wait": "true"}, {"source_id": 1}
    yield "POST", "reindex", {}, {"source_id": 999}
    yield "GET", "processed-retention", {}, None
    yield "POST", "processed-retention", {}, None
    yield "GET", "log-deletion-preview", {"source_id": "2"}, None
    yield "GET", "log-deletion-preview", {}, None
    yield "POST", "delete-logs", {"wait": "true"}, {"source_id": 2, "confirmation": "DELETE LOGS"}
    yield "POST", "delete-logs", {}, {"source_id": 2, "confirmation": "delete logs"}
    yield "GET", "user-events-preview", {"user": "jo"}, None
    yield "GET", "user-events-preview", {}, None
    yield "POST", "forget-user", {"wait": "true"}, {"user": "jo", "confirmation": "FORGET USER"}
    yield "POST", "forget-user", {}, {"user": "jo", "confirmation": "forget user"}
    folder = {"directory": site}
    yield "POST", "connectors", {}, {"name": "web-1", "type": "local", "config": folder}
    yield "POST", "connectors", {}, {"name": "web-2", "type": "local", "config": {"directory": "/etc"}}
    yield "GET", "connectors", {}, None
    yield "PUT", "connectors", {}, {"id": 1, "name": "web-1", "type": "local", "config": folder}
    yield "PUT", "connectors", {}, {"id": 1, "name": "web-1", "type": "local"}
    yield "PATCH", "connectors", {}, {"id": 1, "interval_minutes": 5}
    yield "PATCH", "connectors", {}, {"id": 1, "type": "ssh"}
    yield "POST", "connectors-test", {}, {"id": 1}
    yield "POST", "connectors-test", {}, {"id": 999}
    yield "POST", "connectors-preview", {}, {"id": 1}
    yield "POST", "connectors-preview", {}, {"id": 999}
    yield "POST", "connectors-sync", {"wait": "true"}, {"id": 1}
    yield "POST", "connectors-sync", {"wait": "true"}, {"id": 1, "snapshot": "0" * 64}
    yield "GET", "connectors-runs", {"limit": "1", "connector_id": "1"}, None
    yield "GET", "connectors-runs", {"limit": "101"}, None
    yield "DELETE", "connectors", {}, {"id": 1}
    yield "DELETE", "connectors", {}, {"id": 1}
    yield "POST", "plugins", {}, {"id": "ingest", "enabled": True}
    yield "GET", "ingest-settings", {}, None
    yield "POST", "ingest-settings", {}, {"action": "configure", "allow_query_key": True}
    yield "POST", "ingest-settings", {}, {"action": "explode"}
    event = {"message": "Order 4714 failed: gateway timeout", "severity": "error", "event_id": "order-4714"}
    yield "POST", "ingest", {"key": INGEST_KEY}, {**event, "timestamp": f"{DAY} 10:03:00", "tags": ["Payments"]}
    yield "POST", "ingest", {"key": INGEST_KEY}, {}
    yield "POST", "ingest", {"key": "wrong"}, event
    yield "POST", "plugins", {}, {"id": "alerting", "enabled": True}
    hook = {"type": "webhook", "url": "https://93.184.216.34/alerts", "secret": "a-key-of-yours"}
    yield "POST", "alert-channels", {}, {"name": "Ops", **hook}
    yield "POST", "alert-channels", {}, {"name": "Ops", **hook, "url": "https://127.0.0.1/alerts"}
    yield "GET", "alert-channels", {}, None
    yield "PUT", "alert-channels", {}, {"id": 1, "name": "Operations", "type": "webhook"}
    yield "PUT", "alert-channels", {}, {"id": 999, "name": "Gone", "type": "webhook"}
    yield "PATCH", "alert-channels", {}, {"id": 1, "enabled": False}
    yield "PATCH", "alert-channels", {}, {"id": 1, "type": "slack"}
    rule = {"name": "New errors", "channel_id": 1, "trigger_type": "new_error"}
    yield "POST", "alert-rules", {}, {**rule, "severities": ["ERROR"]}
    yield "POST", "alert-rules", {}, {**rule, "channel_id": 999}
    yield "GET", "alert-rules", {}, None
    yield "PUT", "alert-rules", {}, {"id": 1, **rule}
    yield "PUT", "alert-rules", {}, {"id": 1, "name": "New errors"}
    yield "PATCH", "alert-rules", {}, {"id": 1, "min_count": 1}
    yield "PATCH", "alert-rules", {}, {"id": 1, "min_count": 0}
    yield "POST", "alert-test", {}, {"rule_id": 1}
    yield "POST", "alert-test", {}, {}
    yield "POST", "ingest", {"key": INGEST_KEY}, {"message": "Mail queue stopped", "severity": "error"}
    yield "GET", "alert-events", {"limit": "1"}, None
    yield "GET", "alert-events", {"limit": "201"}, None
    yield "DELETE", "alert-rules", {}, {"id": 1}
    yield "DELETE", "alert-rules", {}, {"id": 1}
    yield "DELETE", "alert-channels", {}, {"id": 1}
    yield "DELETE", "alert-channels", {}, {"id": 1}
    yield "POST", "plugins", {}, {"id": "releases", "enabled": True}
    deploy = {"version": "v2.4.0", "ref": "4f2a9c1", "deployed_at": f"{DAY}T09:00:00Z"}
    yield "POST", "deploys", {}, deploy
    yield "POST", "deploys", {}, deploy
    failed = {"message": "Cart is empty", "release": "v2.4.0", "stack": SCRIPT_TRACE}
    yield "POST", "ingest", {"key": INGEST_KEY}, failed
    yield "GET", "deploys", {}, None
    yield "GET", "deploys", {"days": "0"}, None
    template = "https://git.example.com/shop/blob/{ref}/{path}#L{line}"
    yield "PUT", "release-settings", {}, {"repo_url_template": template, "path_prefixes": ["webpack:///"]}
    yield "PUT", "release-settings", {}, {"repo_url_template": "https://git.example.com/shop"}
    yield "PATCH", "release-settings", {}, {"default_ref": "main"}
    yield "PATCH", "release-settings", {}, {"branch": "main"}
    yield "GET", "release-settings", {}, None
    bundle = {"release": "v2.4.0", "file": "https://shop.example.com/static/js/app.4f2a.js", "map": SOURCE_MAP}
    yield "POST", "source-maps", {}, bundle
    yield "POST", "source-maps", {}, {**bundle, "map": {"version": 3, "sources": []}}
    yield "GET", "source-maps", {"release": "v2.4.0"}, None
    yield "GET", "source-maps", {"limit": "201"}, None
    yield "PUT", "source-maps", {}, {"id": 1, **bundle}
    yield "PUT", "source-maps", {}, {"id": 999, **bundle}
    yield "GET", "issue-releases", {"id": "6"}, None
    yield "GET", "issue-releases", {"id": "999"}, None
    yield "PATCH", "source-maps", {}, {"id": 1, "release": "v2.4.1"}
    yield "PATCH", "source-maps", {}, {"id": 1, "map": "{"}
    yield "DELETE", "source-maps", {}, {"id": 1}
    yield "DELETE", "source-maps", {}, {"id": 1}
    yield "DELETE", "deploys", {}, {"id": 1}
    yield "DELETE", "deploys", {}, {"id": 1}
    yield "POST", "plugins", {}, {"id": "tracker", "enabled": True}
    yield "POST", "tracker-test", {}, None
    project = {"provider": "github", "project": "acme/shop", "endpoint_url": tracker, "enabled": True}
    secrets = {"api_key": "a-key-of-github", "webhook_secret": WEBHOOK_SECRET}
    yield "PUT", "tracker-settings", {}, {**project, "labels": ["production"], **secrets}
    yield "PUT", "tracker-settings", {}, {"provider": "linear", "enabled": True}
    yield "PATCH", "tracker-settings", {}, {"status_writeback": True}
    yield "PATCH", "tracker-settings", {}, {"endpoint_url": "https://127.0.0.1/"}
    yield "POST", "tracker-test", {}, None
    yield "POST", "tracker-sync", {"wait": "true"}, {"action": "pull"}
    yield "POST", "tracker-sync", {}, {"action": "create"}
    yield "GET", "tracker-settings", {}, None
    yield (
        "POST",
        "tracker-webhook",
        {},
        {"action": "closed", "issue": TRACKED, "repository": {"full_name": "acme/shop"}},
    )
    yield "POST", "tracker-webhook", {"app": "gone"}, {"action": "closed"}
    yield "GET", "jobs", {"limit": "1", "kind": "import"}, None
    yield "GET", "jobs", {"id": "999"}, None
    yield "POST", "jobs", {}, {"id": WAITING, "action": "cancel"}
    yield "POST", "jobs", {}, {"id": WAITING, "action": "cancel"}
    yield "GET", "plugins", {}, None
    yield "GET", "access-analytics", {"from": DAY, "to": f"{DAY} 12:00:00"}, None
    yield "GET", "access-analytics", {"days": "91"}, None
    yield "POST", "plugins", {}, {"id": "hello", "enabled": True}
    yield "POST", "plugins", {}, {"id": "gone", "enabled": True}
    yield "GET", "openapi", {}, None


class _Distribution(NamedTuple):
    name: str = "snaglist-hello"
    version: str = "0.1.0"


class Hello:
    """The entry point of a plugin to switch."""

    name = "hello"
    dist = _Distribution()

    def load(self) -> Any:
        """Return its module."""
        module = ModuleType("hello")
        described = Description("hello", "Hello", "Greets from the issue page", "Examples", "0.1.0")
        module.describe = hookimpl(_returning(described, "describe"))  # type: ignore[attr-defined]
        return module


def _returning(value: Any, name: str) -> Callable[[], Any]:
    def function() -> Any:
        return value

    function.__name__ = name
    return function


def record() -> dict[str, dict[str, Any]]:
    """Send the requests and return the examples by endpoint and method."""
    found: dict[str, dict[str, Any]] = {}
    own = [point for point in entry_points(group=plugins.GROUP) if point.dist and point.dist.name == "snaglist"]
    with (
        tempfile.TemporaryDirectory() as folder,
        tracking() as tracker,
        patch.dict("os.environ", clear=True),
        patch.object(plugins, "entry_points", lambda group: [*own, Hello()]),
    ):
        mounted = create_wsgi(
            data=Path(folder) / "data",
            identity=lambda request, application: {"id": "7", "label": "Ana", "roles": ["owner"]},
            assignable_users=lambda request, application: PEOPLE,
            jobs=True,
            config={
                "ingestion.interval_seconds": 0,
                "ingestion.allowed_roots": [folder],
                "outbound.allow_private": [f"{TRACKER_HOST}/32"],
                "tracker.interval_minutes": 0,
            },
        )
        try:
            client = Client(mounted.service)
            client.app = mounted
            _queue_for_another_node(mounted.service)
            logs = mounted.service.applications.all()[0].logs
            (logs / "app.log").write_text(LOG)
            (logs / "access.log").write_text(REQUESTS)
            (logs / "Billing").mkdir()
            (logs / "Billing" / "billing.log").write_text(TRACE)
            finished = time.time() - 60
            for file in logs.rglob("*.log"):
                os.utime(file, (finished, finished))
            site = Path(folder).resolve() / "site"
            site.mkdir()
            (site / "shop.log").write_text(LOG)
            masks = {str(site): SITE, tracker: TRACKER, str(logs): "/srv/snaglist/applications/default/logs"}
            for method, api, query, body in requests(str(site), tracker):
                _note(client, found.setdefault(api, {}), method, api, query, body, masks)
        finally:
            mounted.close()
    return found


def _queue_for_another_node(service: Service) -> None:
    call = service.call()
    with call.transaction():
        call.enqueue("bulk_issues", {}, node="web-2")


def _note(
    client: Client,
    operations: dict[str, Any],
    method: str,
    api: str,
    query: dict[str, str],
    body: Any,
    masks: Mapping[str, str],
) -> None:
    sent = {**query, "key": _ingest_key(client)} if query.get("key") == INGEST_KEY else query
    if method == "DELETE" and query == {"upload": UPLOAD}:
        sent = {"upload": _unfinished(client)}
    if api == "tracker-webhook":
        answer = _signed(client, body, sent)
    elif isinstance(body, str):
        octets = {"Content-Type": "application/octet-stream"}
        answer = client.request(method, f"/?{urlencode({'api': api, **sent})}", body.encode(), octets)
    else:
        answer = client.send(method, api, body, sent)
    body = json.loads(_shown(json.dumps(body), masks))
    operation = operations.setdefault(method.lower(), {"failures": []})
    asked = {"query": query, "body": body, "status": answer.status}
    if answer.status >= 400:
        operation["failures"].append({**asked, "error": answer.error})
    elif "response" not in operation:
        response = answer.json
        if api == "openapi":  # one path of it is enough to read
            response |= {"paths": {"/?api=summary": response["paths"]["/?api=summary"]}, "components": {"schemas": {}}}
        operation.update({**asked, "response": _masked(response, masks)})


def _unfinished(client: Client) -> str:
    """Return the token of the file that is being handed over; that of the examples when there is none."""
    found = [file.name[1:33] for file in client.service.applications.all()[0].logs.glob(".*.upload")]
    return found[0] if found else UPLOAD


def _ingest_key(client: Client) -> str:
    return str(client.get("ingest-settings").json["key"])


def _signed(client: Client, body: Any, query: dict[str, str]) -> Any:
    content = json.dumps(body).encode()
    digest = hmac.new(WEBHOOK_SECRET.encode(), content, hashlib.sha256).hexdigest()
    address = f"/?api=tracker-webhook&app={query.get('app', '')}"
    return client.request("POST", address, content, {"X-Hub-Signature-256": f"sha256={digest}"})


def _shown(text: str, masks: Mapping[str, str]) -> str:
    for real, shown in masks.items():
        text = text.replace(real, shown)
    return text


def _masked(value: Any, masks: Mapping[str, str]) -> Any:
    """Replace what every run makes anew."""
    text = _shown(json.dumps(value, ensure_ascii=False), masks)
    text = re.sub(r'"identity": "\d+:\d+"', '"identity": "64769:1201"', text)
    text = re.sub(r"svk_[0-9a-f]{48}", INGEST_KEY, text)
    text = re.sub(r"svk_…[0-9a-f]{4}", f"svk_…{INGEST_KEY[-4:]}", text)
    text = re.sub(r'"upload": "[0-9a-f]{32}"', f'"upload": "{UPLOAD}"', text)
    text = re.sub(r'"snapshot": "[0-9a-f]{64}"', f'"snapshot": "{"7b0c8e1f" * 8}"', text)
    today = times.now()[:10]
    text = re.sub(rf"{today} \d\d:\d\d:\d\d", f"{DAY} 12:00:00", text).replace(today, DAY)
    text = re.sub(r'"(python|database_version|service)": "[^"]+"', lambda m: f'"{m[1]}": "{_VERSIONS[m[1]]}"', text)
    text = re.sub(r"-\d{14}-[0-9a-f]{6}", "-20260103120000-3f9c0a", text)
    return json.loads(text)


_VERSIONS = {"python": "3.12.4", "database_version": "3.45.1", "service": "0.5.0"}


def layout(value: Any, indent: str = "", before: int = 0) -> str:
    """Write JSON with whatever fits on one line; `before` is the length of what stands before it there."""
    short = json.dumps(value, ensure_ascii=False)
    if len(indent) + before + len(short) <= WIDTH or not isinstance(value, dict | list) or not value:
        return short
    inner = indent + " "
    if isinstance(value, list):
        lines = [inner + layout(item, inner) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    lines = [f"{inner}{json.dumps(name)}: {layout(item, inner, len(name) + 4)}" for name, item in value.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def main() -> int:
    """Write the examples that are missing, or all."""
    EXAMPLES.mkdir(exist_ok=True)
    for api, operations in sorted(record().items()):
        path = EXAMPLES / f"{api}.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.is_file() and "--all" not in sys.argv else {}
        merged = {method: kept.get(method, example) for method, example in operations.items()}
        if merged != kept:
            path.write_text(layout(merged) + "\n", encoding="utf-8")
            print(f"wrote docs/examples/{path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

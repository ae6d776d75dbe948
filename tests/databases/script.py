"""One fixed script of mixed requests; its answers, ids and times masked, must be the same on every database."""

import csv
import io
import json
import os
import re
from typing import Any

from snaglist.testing import Answer, Client

# Events of this year are data and compared as they are; every other time is the run's own.
YEAR = "2021"
CHANGED = 1_614_600_000  # when the dropped files were written: entries without a time of their own take it
TIME = re.compile(rf"^(?!{YEAR})\d{{4}}-\d\d-\d\d( \d\d:\d\d:\d\d)?$")
ID = re.compile(r"(^|_)ids?$|Id$")
OWN = ("database", "database_driver", "database_version", "database_minimum", "python", "service", "next_cursor")

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
FRAMEWORK = [
    f"[{YEAR}-03-{n % 9 + 1:02} 10:{n % 60:02}:00] production.{('ERROR', 'WARNING', 'CRITICAL')[n % 3]}: "
    f'{WORDS[n % 8]} of {WORDS[n * 3 % 5]} failed for order {n} {{"order":{n}}}\n'
    for n in range(120)
]
CONSOLE = (
    "Traceback (most recent call last):\n"
    '  File "/srv/app/orders.py", line 42, in charge\n    pay()\n'
    '  File "/srv/app/gateway.py", line 7, in pay\n    raise Timeout("Überlauf: 100% of user_id")\n'
    "app.errors.Timeout: Überlauf: 100% of user_id\n"
)
ACCESS = [
    f'10.0.0.{n % 9} - - [03/Mar/{YEAR}:10:{n:02}:00 +0000] "GET /orders/{n} HTTP/1.1" {(200, 404, 500)[n % 3]} 12\n'
    for n in range(30)
]
JSON_LINES = [
    json.dumps(
        {
            "time": f"{YEAR}-04-0{n % 9 + 1}T08:00:00+02:00",
            "level": "error",
            "message": f"Straße gesperrt \\ {'😀' * (n % 3)} 'quoted' %",
            "n": n,
        },
        ensure_ascii=False,
    )
    + "\n"
    for n in range(20)
]


class Script:
    """Sends the requests and keeps what was asked and answered."""

    def __init__(self, client: Client, app: str) -> None:
        self.client = client
        self.app = app
        self.transcript: list[dict[str, Any]] = []

    def run(self) -> list[dict[str, Any]]:
        """Send all requests in their order; returns the masked transcript."""
        for part in (
            self.start, self.modules, self.imports, self.tags, self.issues, self.searches,
            self.details, self.statuses, self.refusals, self.applications, self.ends,
        ):  # fmt: skip
            part()
        return self.transcript

    def send(self, method: str, api: str, body: Any = None, **query: Any) -> Answer:
        """Send a request to the application and write it down."""
        answer = self.client.send(method, api, body, {"app": self.app, **query})
        asked = {name: "cursor" if name == "cursor" else value for name, value in query.items()}
        self.transcript.append(
            {
                "request": mask([method, api, body, asked]),
                "status": answer.status,
                "answer": mask(_content(answer)),
            }
        )
        return answer

    def get(self, api: str, **query: Any) -> Any:
        """GET; returns the JSON body."""
        return self.send("GET", api, **query).json

    def post(self, api: str, body: Any = None, **query: Any) -> Any:
        """POST; returns the JSON body."""
        return self.send("POST", api, body, **query).json

    def drop(self, name: str, text: str) -> None:
        """Put a file into the folder of files to import."""
        application = self.client.service.applications.find(self.app)
        assert application is not None
        path = application.logs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (CHANGED, CHANGED))

    # -- the parts

    def start(self) -> None:
        """An application without anything."""
        for api in ("errors", "groups", "tags", "modules", "sources", "summary", "plugins", "ingestion-settings"):
            self.get(api)
        self.get("health")
        self.get("jobs", kind="import")

    def modules(self) -> None:
        """Names that fold to one key, defaults, changes, removal."""
        self.billing = self.post("modules", {"name": "Billing"})["id"]
        for name in ("BILLING", "  billing ", "Straße", "STRASSE", "", "x" * 101):
            self.post("modules", {"name": name})
        other = self.post("modules", {"name": "Ärger & Söhne", "color": "#ABCDEF"})["id"]
        self.send("PUT", "modules", {"id": other, "name": "ärger"})
        self.send("PATCH", "modules", {"id": other, "color": "#000000"})
        self.send("PATCH", "modules", {"id": other, "name": "billing"})
        self.send("DELETE", "modules", {"id": other})
        self.send("DELETE", "modules", {"id": other})
        self.get("modules")

    def imports(self) -> None:
        """Files of four formats; again; more of one."""
        self.post("ingestion-settings", {"severities": ["ERROR"]})
        self.send("PUT", "ingestion-settings", {"severities": ["ERROR", "WARNING", "critical"], "timezone": "UTC"})
        self.send("PATCH", "ingestion-settings", {"timezone": "Europe/Nowhere"})
        self.drop("app.log", "".join(FRAMEWORK))
        self.drop("Billing/access.log", "".join(ACCESS))
        self.drop("console.log", CONSOLE)
        self.drop("events.jsonl", "".join(JSON_LINES))
        self.post("import-incoming", wait=1)
        self.drop("copy.log", "".join(FRAMEWORK))
        self.post("import-incoming", wait=1)
        self.drop("more.log", FRAMEWORK[0].replace("2021-03-01", "2021-05-01"))
        self.post("import-incoming", wait=1)
        self.get("sources")
        self.get("sources", limit=2, page=99)
        self.get("summary")

    def tags(self) -> None:
        """Rules that match literally and folded, replaced and removed."""
        self.ids: dict[str, int] = {}
        for name, word in (
            ("Alpha", "ALPHA"), ("Percent", "100%"), ("Underscore", "user_id"), ("Street", "STRASSE"),
            ("Smile", "😀"), ("Backslash", "\\"), ("Overflow", "ÜBERLAUF"), ("Plain", ""), ("Quote", "'quoted'"),
        ):  # fmt: skip
            self.ids[name] = self.post("tags", {"name": name, "match_word": word})["id"]
        for body in (
            {"name": "alpha"},
            {"name": "ALPHA "},
            {"name": "é"},
            {"name": "e\u0301"},
            {"name": "e"},
            {"name": 5},
        ):
            self.post("tags", body)
        self.send("PUT", "tags", {"id": self.ids["Alpha"], "name": "Alpha", "match_word": "beta"})
        self.send("PATCH", "tags", {"id": self.ids["Plain"], "name": "Plainer", "color": "#123456"})
        self.send("PATCH", "tags", {"id": self.ids["Plain"], "color": "#123456"})
        self.send("DELETE", "tags", None, id=self.ids["Smile"])
        self.send("DELETE", "tags", None, id=self.ids["Smile"])
        self.get("tags")
        self.get("tags", preview="gamma")

    def issues(self) -> None:
        """Issues by hand."""
        self.made = [
            self.post("issues", {"title": title, **more})["data"]["id"]
            for title, more in (
                ("disk 100% full", {"severity": "error"}),
                ("disk 100 percent full", {"severity": "WARNING", "kind": "bug"}),
                ("snake_case", {"status": "in_progress"}),
                ("Straße gesperrt", {"description": "ÜBERLAUF\n" * 50}),
                ("=1+1", {"module_id": self.billing, "environment": "staging"}),
                ("beta by hand", {"tag_ids": [self.ids["Plain"]]}),
            )
        ]
        self.post("issues", {"title": "x", "tag_ids": [999999]})
        self.post("issues", {"title": " "})
        self.post("issues", {"title": "x", "module_id": 999999})
        self.send("PATCH", "issues", {"id": self.made[1], "title": "disk 99 percent full", "severity": "critical"})
        self.send("PATCH", "issues", {"id": self.made[2], "description": "gamma ray"})

    def searches(self) -> None:
        """Every filter and sort, pages and cursors, both forms, exports."""
        for q in ("100%", "_", "STRASSE", "\\", "'", "😀", "überlauf", "ORDER", "nothing", "%", "app.log", "billing",
                  "straße  gesperrt", "for order 116", "\\ '"):  # fmt: skip
            self.get("errors", q=q)
        # `oldest` puts the later of two issues of one second first: only what was imported has times of its own.
        ingested = {"origin": "ingested"}
        for sort, more in (("newest", {}), ("oldest", ingested), ("occurrences", {}), ("trend", {})):
            self.get("errors", sort=sort, **more)
            self.get("groups", sort=sort, limit=3, page=2, **more)
        filters: list[dict[str, Any]] = [
            {"severity": "error,warning"}, {"severity": "loud"}, {"status": "open,fixed"}, {"origin": "manual"},
            {"kind": "bug,issue"}, {"log_type": "monolog,console"}, {"tag": "alpha"}, {"tag": "none"},
            {"module": "none"},
            {"module": "BILLING"}, {"source": "app.log"}, {"source": "processed"}, {"environment": "production"},
            {"assignee": "none"}, {"date": f"{YEAR}-03-03"}, {"from": f"{YEAR}-03-03", "to": f"{YEAR}-03-05"},
            {"from": f"{YEAR}-03-03 10:30:00", "sort": "occurrences"}, {"has_stack": True}, {"has_stack": False},
            {"snoozed": False}, {"date": f"{YEAR}-02-30"}, {"page": 0}, {"limit": 201}, {"cursor": "abc"},
            {"include_stack": 1, "limit": 2}, {"include_context": 1, "limit": 2},
            {"q": "order", "severity": "CRITICAL"},
        ]  # fmt: skip
        for query in filters:
            self.get("errors", **query)
        for sort, more in (("newest", {}), ("oldest", ingested), ("occurrences", {})):
            cursor = self.get("errors", sort=sort, limit=7, **more)["meta"]["next_cursor"]
            while cursor:
                cursor = self.get("errors", sort=sort, limit=7, cursor=cursor, **more)["meta"]["next_cursor"]
        for form in ("csv", "ndjson"):
            self.send("GET", "errors", format=form, sort="occurrences")
        self.send("GET", "errors", format="csv", page=2)

    def details(self) -> None:
        """Issues and raw sources."""
        listed = self.get("errors", sort="occurrences", origin="ingested")["data"]
        self.found = [issue["id"] for issue in listed]
        for issue_id in [*self.found[:6], *self.made[:2]]:
            shown = self.get("error", id=issue_id)
        self.get("error", id=self.found[0], limit=3, page=2)
        cursor = self.get("group", id=self.found[0], limit=3)["meta"]["next_cursor"]
        self.get("group", id=self.found[0], limit=3, cursor=cursor)
        self.get("error", id=self.found[0], include_context=False)
        shown = self.get("error", id=self.found[0])
        first = shown["occurrences"][0]
        self.get("error", id=self.found[0], occurrence=first["id"])
        self.get("source", occurrence=first["id"])
        self.get("source", occurrence=first["id"], context=2)
        self.get("source", source_id=first["source_id"], lines=3)
        self.get("source", source_id=first["source_id"], tail=True, lines=2)

    def statuses(self) -> None:
        """Statuses, notes, tags by hand."""
        first, second = self.found[:2]
        for status in ("fixed", "fixed", "in_progress", "wont_fix", "open", "done"):
            self.post("issue-status", {"id": first, "status": status, "note": f"now {status} ✓"})
        self.post("issue-status", {"id": second, "status": "fixed"})
        plain = self.ids["Plain"]
        for body in (
            {"group_id": first, "tag_id": plain}, {"group_id": first, "tag_id": plain, "action": "remove"},
            {"group_id": second, "tag_id": plain}, {"group_id": 999999, "tag_id": plain},
            {"group_id": first, "tag_id": self.ids["Alpha"], "action": "remove"}, {"group_id": first},
        ):  # fmt: skip
            self.post("issue-tags", body)
        self.send("PUT", "tags", {"id": self.ids["Alpha"], "name": "Alpha", "match_word": "failed"})
        self.drop("again.log", "".join(FRAMEWORK).replace("2021-03", "2021-06"))
        self.post("import-incoming", wait=1)
        self.get("error", id=first)
        self.get("error", id=second)
        self.get("tags")

    def refusals(self) -> None:
        """What is refused is refused in the same words."""
        for method, api, body, query in (
            ("GET", "nope", None, {}), ("PUT", "summary", {}, {}), ("GET", "error", None, {}),
            ("GET", "error", None, {"id": 999999}), ("GET", "error", None, {"id": 2**63}), ("POST", "tags", [], {}),
            ("DELETE", "tags", {"id": 0}, {}), ("DELETE", "tags", {"id": 2**63 - 1}, {}),
            ("POST", "plugins", {"id": "nope", "enabled": True}, {}), ("GET", "jobs", None, {"id": 999999}),
            ("POST", "jobs", {"id": 999999, "action": "cancel"}, {}), ("GET", "source", None, {"occurrence": 999999}),
            ("GET", "source", None, {}), ("POST", "issue-status", {"id": 999999, "status": "open"}, {}),
            ("PATCH", "issues", {"id": self.found[0], "title": "x"}, {}), ("GET", "errors", None, {"q": "x" * 501}),
            ("GET", "errors", None, {"page": 2, "cursor": "x"}), ("GET", "tags", None, {"app": "unknown"}),
        ):  # fmt: skip
            self.send(method, api, body, **query)

    def applications(self) -> None:
        """A second application holds nothing of the first."""
        made = self.post("applications", {"name": f"{self.app} two"})["id"]
        for api in ("tags", "errors", "modules", "sources", "summary"):
            self.get(api, app=made)
        self.post("tags", {"name": "Alpha"}, app=made)
        self.get("tags", app=made)
        self.send("PATCH", "applications", {"id": made, "name": "Renamed 😀"})
        self.get("applications")
        self.send("DELETE", "applications", {"id": made, "confirmation": "yes"})
        self.send("DELETE", "applications", {"id": made, "confirmation": f"DELETE APPLICATION {made}"})
        self.get("tags", app=made)

    def ends(self) -> None:
        """What it all comes to."""
        for api in ("summary", "tags", "modules", "sources", "errors", "groups", "openapi", "applications"):
            self.get(api)
        self.get("errors", sort="trend")
        self.get("jobs", status="succeeded", kind="import", limit=2)


def read_all(client: Client, app: str) -> list[Any]:
    """Ask for everything that an application shows, unmasked but for cursors and names of databases."""

    def get(api: str, **query: Any) -> Any:
        answer = client.get(api, app=app, **query)
        assert answer.status == 200, answer.text
        return answer.json

    shown = [get(api) for api in ("tags", "modules", "sources", "summary", "jobs", "plugins", "ingestion-settings")]
    cursor, listed = None, []
    while True:
        page = get("errors", limit=50, include_stack=1, **({"cursor": cursor} if cursor else {}))
        listed += page["data"]
        cursor = page["meta"]["next_cursor"]
        if not cursor:
            break
    return [shown, listed, [get("error", id=issue["id"]) for issue in listed]]


def mask(value: Any, name: str = "") -> Any:
    """Replace ids, times of the run, and what names the database."""
    if isinstance(value, dict):
        masked = {key: mask(part, key) for key, part in value.items()}
        return {**masked, "fingerprint": "random"} if value.get("origin") == "manual" else masked
    if isinstance(value, list):
        parts = [mask(part, name) for part in value]
        # The newest first, and the time of an import has whole seconds.
        files = bool(parts) and isinstance(parts[0], dict) and "imported_at" in parts[0]
        return sorted(parts, key=lambda part: part["path"]) if files else parts
    if name in OWN:
        return "own"
    if isinstance(value, int) and not isinstance(value, bool) and ID.search(name):
        return "id"
    if isinstance(value, str) and TIME.match(value):
        return "time"
    return value


def _content(answer: Answer) -> Any:
    kind = answer.headers.get("content-type", "")
    if kind.startswith("text/csv"):
        rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
        return [{**row, "id": 0} for row in rows]
    if kind.startswith("application/x-ndjson"):
        return [json.loads(line) for line in answer.text.splitlines()]
    return answer.json

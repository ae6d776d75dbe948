"""Local doubles of the trackers, written from the vendors' public API documentation.

They are not the vendors' software: they hold what the documentation says about the requests that are used here (forms,
paging, limits, failures) and refuse everything else with 404. `double.fail` puts answers before the next requests.
"""

import base64
import json
import re
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

KEY = "key-of-the-tracker-0123456789"


def at(seconds: int) -> datetime:
    """A time of the doubles: long ago, so that changes made here are later unless a test says otherwise."""
    return datetime(2026, 1, 2, 8, 0, 0, tzinfo=UTC) + timedelta(seconds=seconds)


@dataclass
class Answer:
    status: int = 200
    data: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


class Double:
    """What all doubles share: requests are noted, and answered by `answer` unless `fail` holds something."""

    path = ""

    def __init__(self) -> None:
        self.port = 0
        self.got: list[Request] = []
        self.fail: list[Answer | Callable[[Request], Answer | None]] = []
        self.clock = 1000
        self.real_time = False
        self.lock = threading.RLock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"

    def tick(self) -> datetime:
        self.clock += 1
        return datetime.now(UTC) if self.real_time else at(self.clock)

    def asked(self, method: str, ending: str = "") -> list[Request]:
        return [one for one in self.got if one.method == method and re.search(ending, one.path)]

    def handle(self, request: Request) -> Answer:
        with self.lock:
            self.got.append(request)
            if self.fail:
                planned = self.fail.pop(0)
                answer = planned(request) if callable(planned) else planned
                if answer is not None:
                    return answer
            return self.answer(request)

    def answer(self, request: Request) -> Answer:
        raise NotImplementedError


@contextmanager
def serving(double: Double) -> Iterator[Double]:
    class Handler(BaseHTTPRequestHandler):
        def reply(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = double.handle(Request(self.command, parts.path, query, headers, body))
            content = answer.data if isinstance(answer.data, bytes) else json.dumps(answer.data).encode()
            content = b"" if answer.data is None else content
            self.send_response(answer.status)
            for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = reply

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            pass  # clients may hang up

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    double.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


class GitHubDouble(Double):
    """GitHub REST, 2022-11-28: /user, /repos/{owner}/{repo}/issues, comments."""

    project = "octo/shop"

    def __init__(self) -> None:
        super().__init__()
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}

    def add(self, title: str = "An issue", **fields: Any) -> int:
        number, now = len(self.issues) + 1, _iso(self.tick())
        self.issues[number] = {
            "id": 9_000_000 + number, "number": number, "title": title, "body": None, "state": "open",
            "state_reason": None, "labels": [], "assignee": None, "assignees": [], "created_at": now, "updated_at": now,
            "closed_at": None, "html_url": f"https://github.example/{self.project}/issues/{number}",
            "repository_url": f"{self.url}/repos/{self.project}", "user": {"login": "ana", "id": 7}, **fields,
        }  # fmt: skip
        return number

    def change(self, number: int, **fields: Any) -> None:
        self.issues[number] |= {"updated_at": _iso(self.tick()), **fields}

    def identifier(self, number: int) -> str:
        return f"{self.project}#{number}"

    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return Answer(401, {"message": "Bad credentials"})
        if request.path == "/user":
            return Answer(data={"login": "ana", "id": 7, "name": "Ana", "email": "ana@example.com"})
        found = re.fullmatch(r"/repos/octo/shop/issues(?:/(\d+)(/comments)?)?", request.path)
        if not found:
            return Answer(404, {"message": "Not Found"})
        if found[1] is None:
            return self._list(request) if request.method == "GET" else self._create(request)
        number = int(found[1])
        if number not in self.issues:
            return Answer(404, {"message": "Not Found"})
        if found[2]:
            return self._comments(request, number)
        if request.method == "PATCH":
            wanted = request.json
            reason = wanted.get("state_reason", "completed") if wanted["state"] == "closed" else "reopened"
            self.change(number, state=wanted["state"], state_reason=reason)
        return Answer(data=self.issues[number])

    def _list(self, request: Request) -> Answer:
        query = request.query
        size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
        rows = [one for one in self.issues.values() if query.get("state") == "all" or one["state"] == "open"]
        rows = [one for one in rows if one["updated_at"] >= query.get("since", "")]
        rows = [one for one in rows if query.get("creator") in (None, one["user"]["login"])]
        by = {"updated": "updated_at", "created": "created_at"}[query.get("sort", "created")]
        rows.sort(key=lambda one: (one[by], one["number"]), reverse=query.get("direction", "desc") == "desc")
        links = {}
        if page * size < len(rows):
            links = {"Link": f'<{self.url}/next?page={page + 1}>; rel="next", <{self.url}/last>; rel="last"'}
        return Answer(data=rows[(page - 1) * size : page * size], headers=links)

    def _create(self, request: Request) -> Answer:
        given = request.json
        if not given.get("title"):
            return Answer(422, {"message": "Validation Failed"})
        number = self.add(given["title"], body=given.get("body"))
        return Answer(201, self.issues[number])

    def _comments(self, request: Request, number: int) -> Answer:
        comments = self.comments.setdefault(number, [])
        if request.method == "GET":
            return Answer(data=comments)
        comments.append({"id": len(comments) + 1, "body": request.json["body"]})
        self.change(number)
        return Answer(201, comments[-1])

    def said(self, number: int) -> list[str]:
        return [one["body"] for one in self.comments.get(number, [])]

    def close(self, number: int, status: str = "fixed") -> None:
        reason = {"fixed": "completed", "wont_fix": "not_planned"}[status]
        self.change(number, state="closed", state_reason=reason)

    def state(self, number: int) -> str:
        one = self.issues[number]
        return f"closed:{one['state_reason']}" if one["state"] == "closed" else "open"

    def label(self, number: int, *names: str) -> None:
        self.change(number, labels=[{"id": 1, "name": name, "color": "D73A4A"} for name in names])

    def notification(self, number: int, action: str = "edited") -> dict[str, Any]:
        return {"action": action, "issue": self.issues[number], "repository": {"full_name": self.project}}


class GitLabDouble(Double):
    """GitLab REST v4: /user, /projects/:id/issues, notes."""

    path = "/api/v4"
    project = "group/shop"

    def __init__(self) -> None:
        super().__init__()
        self.issues: dict[int, dict[str, Any]] = {}
        self.notes: dict[int, list[dict[str, Any]]] = {}

    def add(self, title: str = "An issue", **fields: Any) -> int:
        iid, now = len(self.issues) + 1, self.tick().strftime("%Y-%m-%dT%H:%M:%S.123Z")
        self.issues[iid] = {
            "id": 7_000 + iid, "iid": iid, "project_id": 15, "title": title, "description": None, "state": "opened",
            "labels": [], "assignees": [], "assignee": None, "created_at": now, "updated_at": now,
            "author": {"username": "ana"}, "web_url": f"https://gitlab.example/{self.project}/-/issues/{iid}",
            "references": {"short": f"#{iid}", "relative": f"#{iid}", "full": f"{self.project}#{iid}"}, **fields,
        }  # fmt: skip
        return iid

    def change(self, iid: int, **fields: Any) -> None:
        self.issues[iid] |= {"updated_at": self.tick().strftime("%Y-%m-%dT%H:%M:%S.123Z"), **fields}

    def identifier(self, iid: int) -> str:
        return f"{self.project}#{iid}"

    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return Answer(401, {"message": "401 Unauthorized"})
        path = unquote(request.path)
        if path == "/api/v4/user":
            return Answer(data={"id": 7, "username": "ana", "name": "Ana", "email": "ana@example.com"})
        found = re.fullmatch(r"/api/v4/projects/(?:group/shop|15)/issues(?:/(\d+)(/notes)?)?", path)
        if not found or ("%2F" not in request.path and "/15/" not in request.path):
            return Answer(404, {"message": "404 Project Not Found"})
        if found[1] is None:
            return self._list(request) if request.method == "GET" else self._create(request)
        iid = int(found[1])
        if iid not in self.issues:
            return Answer(404, {"message": "404 Not found"})
        if found[2]:
            notes = self.notes.setdefault(iid, [])
            if request.method == "GET":
                return Answer(data=notes[::-1])
            notes.append({"id": len(notes) + 1, "body": request.json["body"]})
            return Answer(201, notes[-1])
        if request.method == "PUT":
            self.change(iid, state={"close": "closed", "reopen": "opened"}[request.json["state_event"]])
        return Answer(data=self._plain(self.issues[iid]))

    def _plain(self, one: dict[str, Any]) -> dict[str, Any]:
        return {**one, "labels": [label["name"] for label in one["labels"]]}

    def _list(self, request: Request) -> Answer:
        query = request.query
        size, page = int(query.get("per_page", 20)), int(query.get("page", 1))
        rows = list(self.issues.values())
        if query.get("scope") == "created_by_me":
            rows = [one for one in rows if one["author"]["username"] == "ana"]
        rows = [one for one in rows if one["updated_at"] >= query.get("updated_after", "")[:19]]
        rows = [one for one in rows if one["created_at"] >= query.get("created_after", "")[:19]]
        by = query.get("order_by", "created_at")
        rows.sort(key=lambda one: (one[by], one["iid"]), reverse=query.get("sort", "desc") == "desc")
        following = str(page + 1) if page * size < len(rows) else ""
        shown = rows[(page - 1) * size : page * size]
        if query.get("with_labels_details") != "true":
            shown = [self._plain(one) for one in shown]
        return Answer(data=shown, headers={"X-Next-Page": following})

    def _create(self, request: Request) -> Answer:
        given = request.json
        if not given.get("title"):
            return Answer(400, {"message": {"title": ["can't be blank"]}})
        return Answer(201, self._plain(self.issues[self.add(given["title"], description=given.get("description"))]))

    def said(self, iid: int) -> list[str]:
        return [one["body"] for one in self.notes.get(iid, [])]

    def close(self, iid: int, status: str = "fixed") -> None:
        self.change(iid, state="closed")

    def state(self, iid: int) -> str:
        return str(self.issues[iid]["state"])

    def label(self, iid: int, *names: str) -> None:
        self.change(iid, labels=[{"id": 1, "name": name, "color": "#D73A4A"} for name in names])

    def notification(self, iid: int, action: str = "update") -> dict[str, Any]:
        attributes = {"id": 7_000 + iid, "iid": iid, "action": action, "updated_at": self.issues[iid]["updated_at"]}
        project = {"id": 15, "path_with_namespace": self.project}
        return {"object_kind": "issue", "event_type": "issue", "project": project, "object_attributes": attributes}


class JiraDouble(Double):
    """Jira Cloud REST v3: /myself, /search/jql, /issue, comments, transitions, createmeta."""

    project = "SHOP"
    account = "ana@example.com"
    # name of the transition, category it leads to, name of that status, resolutions that its screen offers
    WORKFLOW = (
        ("To Do", "new", "To Do", ()),
        ("Start", "indeterminate", "In Progress", ()),
        ("Done", "done", "Done", ("Won't Do", "Done", "Duplicate")),
    )

    def __init__(self) -> None:
        super().__init__()
        self.issues: dict[int, dict[str, Any]] = {}
        self.comments: dict[int, list[dict[str, Any]]] = {}
        self.tokens: dict[str, tuple[str, int]] = {}

    def add(self, title: str = "An issue", **fields: Any) -> int:
        number, now = 10_000 + len(self.issues) + 1, self._now()
        self.issues[number] = {
            "summary": title, "description": None, "status": self._status("new", "To Do"), "resolution": None,
            "priority": {"name": "High"}, "labels": [], "assignee": None, "created": now, "updated": now,
            "project": {"id": "1", "key": "SHOP", "name": "The shop"}, **fields,
        }  # fmt: skip
        return number

    def _now(self) -> str:
        return self.tick().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.123+0000")

    def _status(self, category: str, name: str) -> dict[str, Any]:
        return {"name": name, "statusCategory": {"key": category, "name": name}}

    def change(self, number: int, **fields: Any) -> None:
        self.issues[number] |= {"updated": self._now(), **fields}

    def identifier(self, number: int) -> str:
        return f"SHOP-{number - 10_000}"

    def _shown(self, number: int) -> dict[str, Any]:
        return {"id": str(number), "key": self.identifier(number), "fields": self.issues[number]}

    def answer(self, request: Request) -> Answer:
        pair = base64.b64encode(f"{self.account}:{KEY}".encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            return Answer(401, {"errorMessages": ["Client must be authenticated."], "errors": {}})
        path = request.path.removeprefix("/rest/api/3")
        if path == "/myself":
            user = {"accountId": "5b10a2844c20165700ede21g", "displayName": "Ana", "emailAddress": "ana@example.com"}
            return Answer(data=user)
        if path == "/search/jql" and request.method == "POST":
            return self._search(request.json)
        if path == "/issue/createmeta/SHOP/issuetypes":
            kinds = [{"id": "3", "name": "Sub-task", "subtask": True}, {"id": "1", "name": "Task", "subtask": False}]
            return Answer(data={"issueTypes": kinds, "total": 2})
        if path == "/issue" and request.method == "POST":
            return self._create(request.json["fields"])
        found = re.fullmatch(r"/issue/(\d+)(/comment|/transitions)?", path)
        if not found or int(found[1]) not in self.issues:
            return Answer(404, {"errorMessages": ["Issue does not exist or you do not have permission to see it."]})
        number = int(found[1])
        if found[2] == "/comment":
            return self._comments(request, number)
        if found[2]:
            return self._transitions(request, number)
        return Answer(data=self._shown(number))

    def _search(self, given: dict[str, Any]) -> Answer:
        query = given["jql"]
        if not re.match(r'project = "SHOP" ?', query):
            return Answer(400, {"errorMessages": ["Unbounded JQL queries are not allowed here."], "errors": {}})
        start = 0
        if given.get("nextPageToken"):
            if self.tokens.get(given["nextPageToken"], ("", 0))[0] != query:
                return Answer(400, {"errorMessages": ["The provided next page token is invalid."], "errors": {}})
            start = self.tokens[given["nextPageToken"]][1]
        numbers = sorted(self.issues, key=lambda one: (self.issues[one]["updated"], one))
        if wanted := re.search(r"labels in \(([^)]*)\)", query):
            names = {name.strip().strip('"') for name in wanted[1].split(",")}
            numbers = [one for one in numbers if names & set(self.issues[one]["labels"])]
        if since := re.search(r'updated >= "-(\d+)m"', query):
            limit = datetime.now(UTC) - timedelta(minutes=int(since[1]))
            numbers = [one for one in numbers if datetime.fromisoformat(self.issues[one]["updated"]) >= limit]
        end = start + given.get("maxResults", 50)
        answer: dict[str, Any] = {"issues": [self._shown(one) for one in numbers[start:end]], "isLast": True}
        if end < len(numbers):
            token = uuid.uuid4().hex
            self.tokens[token] = (query, end)
            answer |= {"isLast": False, "nextPageToken": token}
        return Answer(data=answer)

    def _create(self, fields: dict[str, Any]) -> Answer:
        if "\n" in fields["summary"] or fields["description"]["type"] != "doc":
            return Answer(400, {"errorMessages": [], "errors": {"summary": "The summary is invalid."}})
        number = self.add(fields["summary"], description=fields["description"])
        return Answer(201, {"id": str(number), "key": self.identifier(number), "self": f"{self.url}/issue/{number}"})

    def _comments(self, request: Request, number: int) -> Answer:
        comments = self.comments.setdefault(number, [])
        if request.method == "GET":
            return Answer(data={"comments": comments[::-1], "total": len(comments), "startAt": 0, "maxResults": 100})
        assert request.json["body"]["type"] == "doc"
        comments.append({"id": str(len(comments)), "body": request.json["body"]})
        return Answer(201, comments[-1])

    def _transitions(self, request: Request, number: int) -> Answer:
        if request.method == "GET":
            offered = []
            for at_, (name, category, status, resolutions) in enumerate(self.WORKFLOW):
                values = {"required": True, "allowedValues": [{"name": one} for one in resolutions]}
                fields = {"resolution": values} if resolutions else {}
                to = self._status(category, status)
                offered.append({"id": str(at_), "name": name, "to": to, "fields": fields})
            return Answer(data={"transitions": offered})
        given = request.json
        _, category, status, resolutions = self.WORKFLOW[int(given["transition"]["id"])]
        resolution = given.get("fields", {}).get("resolution")
        if bool(resolutions) != bool(resolution):
            return Answer(400, {"errorMessages": [], "errors": {"resolution": "Resolution is required."}})
        self.change(number, status=self._status(category, status), resolution=resolution)
        return Answer(204)

    def said(self, number: int) -> list[str]:
        return [json.dumps(one["body"], ensure_ascii=False) for one in self.comments.get(number, [])]

    def close(self, number: int, status: str = "fixed") -> None:
        resolution = {"name": "Won't Do" if status == "wont_fix" else "Done"}
        self.change(number, status=self._status("done", "Done"), resolution=resolution)

    def state(self, number: int) -> str:
        one = self.issues[number]
        return f"{one['status']['statusCategory']['key']}:{(one['resolution'] or {}).get('name')}"

    def label(self, number: int, *names: str) -> None:
        self.change(number, labels=list(names))

    def notification(self, number: int, action: str = "updated") -> dict[str, Any]:
        event = f"jira:issue_{action}"
        return {"timestamp": 1_767_340_800_000 + self.clock, "webhookEvent": event, "issue": self._shown(number)}


class LinearDouble(Double):
    """Linear GraphQL: viewer, issues, issue, teams, issueCreate, issueUpdate, commentCreate, comment."""

    path = "/graphql"
    team: dict[str, str] = {"id": "team-1", "key": "ENG", "name": "Engineering"}  # noqa: RUF012
    STATES = ("triage", "backlog", "unstarted", "started", "completed", "canceled")

    def __init__(self) -> None:
        super().__init__()
        self.issues: dict[str, dict[str, Any]] = {}
        self.comments: dict[str, dict[str, Any]] = {}

    def add(self, title: str = "An issue", **fields: Any) -> str:
        issue_id, now = fields.pop("id", str(uuid.uuid4())), self._now()
        number = len(self.issues) + 1
        self.issues[issue_id] = {
            "id": issue_id, "identifier": f"ENG-{number}", "title": title, "description": None, "priority": 0,
            "url": f"https://linear.example/ENG-{number}", "createdAt": now, "updatedAt": now,
            "state": self._state("backlog"), "team": self.team, "project": None, "labels": {"nodes": []},
            "assignee": None, **fields,
        }  # fmt: skip
        return issue_id

    def _now(self) -> str:
        return self.tick().strftime("%Y-%m-%dT%H:%M:%S.123Z")

    def _state(self, kind: str) -> dict[str, Any]:
        return {"id": f"state-{kind}", "name": kind.title(), "type": kind, "position": self.STATES.index(kind)}

    def change(self, issue_id: str, **fields: Any) -> None:
        self.issues[issue_id] |= {"updatedAt": self._now(), **fields}

    def identifier(self, issue_id: str) -> str:
        return str(self.issues[issue_id]["identifier"])

    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return self._error("Authentication required", "AUTHENTICATION_ERROR", 401)
        query, variables = request.json["query"], request.json["variables"]
        name = re.match(r"\s*(?:query|mutation) (\w+)", query)
        assert name is not None and request.path == "/graphql", query
        return getattr(self, f"_{name[1].lower()}")(variables)  # type: ignore[no-any-return]

    def _error(self, message: str, code: str, status: int = 200) -> Answer:
        error = {"message": message, "extensions": {"code": code, "type": code.lower(), "userError": True}}
        return Answer(status, {"errors": [error], "data": None})

    def limited(self, seconds: int) -> Answer:
        reset = int((datetime.now(UTC).timestamp() + seconds) * 1000)
        answer = self._error("Rate limit exceeded", "RATELIMITED", 400)
        return Answer(400, answer.data, {"X-RateLimit-Requests-Reset": str(reset)})

    def _viewer(self, _: Any) -> Answer:
        user = {"id": "u1", "name": "Ana", "displayName": "ana", "email": "ana@example.com"}
        return Answer(data={"data": {"viewer": user}})

    def _issues(self, variables: dict[str, Any]) -> Answer:
        wanted = variables["filter"]
        rows = [one for one in self.issues.values() if self._matches(one, wanted)]
        rows.sort(key=lambda one: (one["updatedAt"], one["identifier"]), reverse=True)
        ids = [one["id"] for one in rows]
        if variables.get("after") and variables["after"] not in ids:
            return self._error("Invalid cursor", "INPUT_ERROR")
        start = ids.index(variables["after"]) + 1 if variables.get("after") else 0
        shown = rows[start : start + variables["first"]]
        info = {"hasNextPage": start + len(shown) < len(rows), "endCursor": shown[-1]["id"] if shown else None}
        return Answer(data={"data": {"issues": {"nodes": shown, "pageInfo": info}}})

    def _matches(self, one: dict[str, Any], wanted: dict[str, Any]) -> bool:
        if "updatedAt" in wanted and one["updatedAt"][:19] < wanted["updatedAt"]["gte"][:19]:
            return False
        if "team" in wanted and one["team"]["key"] != wanted["team"]["key"]["eq"]:
            return False
        assert set(wanted) <= {"updatedAt", "team", "project", "or"}, wanted
        either = wanted.get("or")
        return either is None or any(self._one_of(one, condition) for condition in either)

    def _one_of(self, one: dict[str, Any], condition: dict[str, Any]) -> bool:
        if "labels" in condition:
            name = condition["labels"]["some"]["name"]["eqIgnoreCase"].lower()
            return any(label["name"].lower() == name for label in one["labels"]["nodes"])
        ((what, test),) = condition["assignee"].items()
        if what == "isMe":
            return bool(one["assignee"]) and one["assignee"]["id"] == "u1"
        return bool(one["assignee"]) and one["assignee"][what].lower() == test["eqIgnoreCase"].lower()

    def _issue(self, variables: dict[str, Any]) -> Answer:
        found = self.issues.get(variables["id"])
        if found is None:
            return self._error("Entity not found: Issue", "INPUT_ERROR")
        return Answer(data={"data": {"issue": found}})

    def _teams(self, variables: dict[str, Any]) -> Answer:
        nodes = [self.team] if variables["key"] == "ENG" else []
        return Answer(data={"data": {"teams": {"nodes": nodes}}})

    def _states(self, variables: dict[str, Any]) -> Answer:
        states = [self._state(kind) for kind in self.STATES][::-1]
        return Answer(data={"data": {"issue": {"team": {"states": {"nodes": states}}}}})

    def _create(self, variables: dict[str, Any]) -> Answer:
        given = variables["input"]
        if uuid.UUID(given["id"]).version != 4 or given["id"] in self.issues:
            return self._error("id must be a UUID that is not taken", "INVALID_INPUT")
        assert given["teamId"] == self.team["id"]
        fields = {"description": given["description"], "priority": given["priority"]}
        made = self.add(given["title"], id=given["id"], **fields)
        return Answer(data={"data": {"issueCreate": {"success": True, "issue": self.issues[made]}}})

    def _update(self, variables: dict[str, Any]) -> Answer:
        kind = variables["input"]["stateId"].removeprefix("state-")
        self.change(variables["id"], state=self._state(kind))
        return Answer(data={"data": {"issueUpdate": {"success": True, "issue": self.issues[variables["id"]]}}})

    def _comment(self, variables: dict[str, Any]) -> Answer:
        if "input" not in variables:
            found = self.comments.get(variables["id"])
            return Answer(data={"data": {"comment": found}}) if found else self._error("Entity not found: Comment", "")
        given = variables["input"]
        if given["id"] in self.comments:
            return self._error("A comment with this id exists", "INVALID_INPUT")
        self.comments[given["id"]] = given
        return Answer(data={"data": {"commentCreate": {"success": True, "comment": {"id": given["id"]}}}})

    def said(self, issue_id: str) -> list[str]:
        return [one["body"] for one in self.comments.values() if one["issueId"] == issue_id]

    def close(self, issue_id: str, status: str = "fixed") -> None:
        self.change(issue_id, state=self._state({"fixed": "completed", "wont_fix": "canceled"}[status]))

    def state(self, issue_id: str) -> str:
        return str(self.issues[issue_id]["state"]["type"])

    def label(self, issue_id: str, *names: str) -> None:
        self.change(issue_id, labels={"nodes": [{"name": name, "color": "#D73A4A"} for name in names]})

    def notification(self, issue_id: str, action: str = "update") -> dict[str, Any]:
        now = int(datetime.now(UTC).timestamp() * 1000) + self.clock % 1000
        return {"action": action, "type": "Issue", "data": self.issues[issue_id], "webhookTimestamp": now}


class GenericDouble(Double):
    """An endpoint of the generic form; it answers with ids of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, str] = {}

    def answer(self, request: Request) -> Answer:
        document = request.json
        if document["event"] != "issue":
            return Answer(204)
        delivery = request.headers["x-service-delivery"]
        self.known.setdefault(delivery, f"EXT-{len(self.known) + 1}")
        return Answer(data={"id": self.known[delivery], "url": f"https://t.example.com/{self.known[delivery]}"})


DOUBLES: dict[str, type[Double]] = {
    "linear": LinearDouble, "github": GitHubDouble, "gitlab": GitLabDouble, "jira": JiraDouble,
    "generic": GenericDouble,
}  # fmt: skip

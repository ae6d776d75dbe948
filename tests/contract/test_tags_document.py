"""The customer's document on conventions and tags, line by line: each test names the heading and the rule it holds."""

import re
from typing import Any

import pytest

from snaglist.kernel.auth import Keys

KEY = "test-key-0123456789abcdef"
TIME = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}")
BAD_FIELDS = [
    ("name", ""),
    ("name", "   "),
    ("name", "n" * 81),
    ("color", "#12345"),
    ("color", "blue"),
    ("icon", "Bug"),
    ("icon", "i" * 33),
    ("match_word", "w" * 201),
]


@pytest.fixture
def http(client):
    """Send a request as it is: `http(method, query, body text, headers)`."""

    def send(method: str, query: str, body: str = "", **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body:
            named.setdefault("content-type", "application/json")
        return client.request(method, f"/?{query}", body.encode(), named)

    return send


@pytest.fixture
def locked(service, monkeypatch):
    """Configure a key, as with SERVICE_TOKEN."""
    monkeypatch.setattr(service, "keys", Keys(KEY, ""))


def is_failure(answer, status):
    """Tell whether an answer has a status; `error` demands the envelope."""
    return answer.status == status and answer.error != ""


class TestConventions:
    """What the service does and Content types and formats."""

    def test_endpoint_is_a_query_string_on_the_root(self, http):
        """Every endpoint is a query string on the deployment root, selected by `api`."""
        assert http("GET", "api=tags").json == {"data": []}

    def test_app_parameter(self, client):
        """`app` selects one application, the first when omitted; there is no cross-application value."""
        client.post("applications", {"name": "Second"})
        client.post("tags", {"name": "one"})
        client.post("tags", {"name": "two"}, app="second")
        for query, name in [({"app": "default"}, "one"), ({"app": "second"}, "two"), ({}, "one")]:
            assert [tag["name"] for tag in client.get("tags", **query).json["data"]] == [name]
        assert [client.get("tags", app=value).status for value in ("*", "all", "default,second")] == [422] * 3

    def test_response_body(self, http):
        """Response body: `application/json` on success and on error."""
        for answer in (http("GET", "api=tags"), http("POST", "api=tags", "{}")):
            assert answer.headers["content-type"].startswith("application/json")

    @pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
    def test_request_body(self, http, method):
        """Request body: `Content-Type: application/json` for POST, PATCH, PUT, DELETE."""
        assert is_failure(http(method, "api=tags", '{"id":1,"name":"x"}', content_type="text/plain"), 415)
        accepted = http(method, "api=tags", '{"id":1,"name":"x"}', content_type="application/json; charset=utf-8")
        assert accepted.status in (201, 404)

    def test_timestamps(self, client):
        """Timestamps: `YYYY-MM-DD HH:MM:SS`."""
        tag = client.post("tags", {"name": "x"}).json
        assert TIME.fullmatch(tag["created_at"])
        assert TIME.fullmatch(tag["updated_at"])


class TestFields:
    """Resources and their fields."""

    def test_tag(self, client):
        """Tag: the fields, their types and defaults."""
        tag = client.post("tags", {"name": " Bug ", "color": "#AbCdEf"}).json
        assert isinstance(tag["id"], int)
        assert tag["id"] >= 1
        assert (tag["name"], tag["color"], tag["icon"]) == ("Bug", "#abcdef", "tag")
        assert client.post("tags", {"name": "plain"}).json["color"] == "#64748b"

    def test_issue_count_is_live(self, client, make_issue):
        """`issue_count`: live count of issues carrying the tag, returned by the list."""
        tag_id = client.post("tags", {"name": "x"}).json["id"]
        issues = [make_issue("a"), make_issue("b")]
        counts = []
        for issue_id, action in [(issues[0], "add"), (issues[1], "add"), (issues[0], "add"), (issues[0], "remove")]:
            client.post("issue-tags", {"group_id": issue_id, "tag_id": tag_id, "action": action})
            counts.append(client.get("tags").json["data"][0]["issue_count"])
        assert counts == [1, 2, 2, 1]

    def test_rule(self, client):
        """Tag rule: `id`, `match_word`, `enabled`; a non-empty word creates a single rule, an empty one none."""
        [rule] = client.post("tags", {"name": "x", "match_word": "word"}).json["rules"]
        assert set(rule) == {"id", "match_word", "enabled"}
        assert isinstance(rule["id"], int)
        assert (rule["match_word"], rule["enabled"]) == ("word", True)
        assert client.post("tags", {"name": "y", "match_word": ""}).json["rules"] == []
        assert client.post("tags", {"name": "z"}).json["rules"] == []

    def test_assignment(self, client, make_issue):
        """Issue-tag assignment: manual or rule-made; adding through `issue-tags` marks it manual."""
        issue_id = make_issue("alpha")
        by_rule = client.post("tags", {"name": "r", "match_word": "alpha"}).json["id"]
        manual = client.post("tags", {"name": "m"}).json["id"]
        client.post("issue-tags", {"group_id": issue_id, "tag_id": manual})
        shown = {tag["id"]: tag["source"] for tag in client.get("error", id=issue_id).json["tags"]}
        assert shown == {by_rule: "rule", manual: "manual"}


class TestTags:
    """Tags: `?api=tags`."""

    def test_list(self, client):
        """GET: `{ "data": [ <tag>, ... ] }` with `issue_count` and `rules`."""
        tag = client.post("tags", {"name": "x", "match_word": "w"}).json
        assert client.get("tags").json == {"data": [tag]}
        assert {"issue_count", "rules"} <= set(tag)

    def test_create(self, client):
        """POST: status 201 with the created tag."""
        answer = client.post("tags", {"name": "x", "color": "#000000", "icon": "bug", "match_word": "w"})
        assert answer.status == 201
        assert {name: answer.json[name] for name in ("name", "color", "icon")} == {
            "name": "x",
            "color": "#000000",
            "icon": "bug",
        }

    @pytest.mark.parametrize("method", ["put", "patch"])
    def test_update(self, client, method):
        """PUT or PATCH: the updated tag; rule 1: the id in the body or in the query."""
        tag_id = client.post("tags", {"name": "x"}).json["id"]
        act = getattr(client, method)
        assert act("tags", {"id": tag_id, "name": "y"}).json["name"] == "y"
        assert act("tags", {"name": "z"}, id=tag_id).json["name"] == "z"
        assert [tag["name"] for tag in client.get("tags").json["data"]] == ["z"]

    def test_delete(self, client):
        """DELETE: `{ "id": <id>, "deleted": true }`; rule 1: the id in the body or in the query."""
        for number in range(2):
            tag_id = client.post("tags", {"name": "x"}).json["id"]
            answer = client.delete("tags", id=tag_id) if number else client.delete("tags", {"id": tag_id})
            assert (answer.status, answer.json) == (200, {"id": tag_id, "deleted": True})

    def test_rule_applies_immediately(self, client, make_issue):
        """Rule 2: when a tag is created or updated with a word, one rule exists and is applied immediately."""
        make_issue("alpha")
        make_issue("beta")
        make_issue("beta too")
        created = client.post("tags", {"name": "x", "match_word": "alpha"}).json
        assert (created["issue_count"], len(created["rules"])) == (1, 1)
        updated = client.put("tags", {"id": created["id"], "name": "x", "match_word": "beta"}).json
        assert (updated["issue_count"], len(updated["rules"])) == (2, 1)

    @pytest.mark.parametrize(
        ("title", "message", "matched"),
        [("a word here", "other", True), ("other", "a word here", True), ("a", "b", False)],
    )
    def test_what_a_rule_matches(self, client, make_issue, title, message, matched):
        """Rule 3: the issue title, the sample message (or the exception class, tested with the events)."""
        make_issue(title, description=message)
        assert client.post("tags", {"name": "x", "match_word": "word"}).json["issue_count"] == int(matched)

    def test_manual_assignments_are_preserved(self, client, make_issue):
        """Rule 4: an update clears and recomputes what the rule tagged and preserves what was tagged by hand."""
        by_rule, by_hand = make_issue("alpha"), make_issue("other")
        tag_id = client.post("tags", {"name": "x", "match_word": "alpha"}).json["id"]
        client.post("issue-tags", {"group_id": by_hand, "tag_id": tag_id})
        client.put("tags", {"id": tag_id, "name": "x", "match_word": "nothing"})
        assert client.get("error", id=by_rule).json["tags"] == []
        assert [tag["source"] for tag in client.get("error", id=by_hand).json["tags"]] == ["manual"]

    def test_delete_removes_assignments(self, client, make_issue):
        """Rule 5: when a tag is deleted, all its issue assignments are removed."""
        issue_id = make_issue("alpha")
        tag_id = client.post("tags", {"name": "x", "match_word": "alpha"}).json["id"]
        client.delete("tags", id=tag_id)
        assert client.get("error", id=issue_id).json["tags"] == []


class TestIssueTags:
    """Tag an issue: `?api=issue-tags`."""

    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
    def test_post_only(self, http, method):
        """POST only."""
        assert is_failure(http(method, "api=issue-tags"), 405)

    def test_echo(self, client, make_issue):
        """Response: the echo; `action` is `add` by default, `remove` detaches."""
        issue_id, tag_id = make_issue("a"), client.post("tags", {"name": "x"}).json["id"]
        body = {"group_id": issue_id, "tag_id": tag_id}
        for action, fields in [("add", {}), ("add", {"action": "add"}), ("remove", {"action": "remove"})]:
            answer = client.post("issue-tags", {**body, **fields})
            assert (answer.status, answer.json) == (200, {"groupId": issue_id, "tagId": tag_id, "action": action})
        assert client.get("error", id=issue_id).json["tags"] == []

    def test_later_rule_pass_does_not_undo(self, client, make_issue):
        """Rule: an added assignment is marked manual, so a later rule pass does not undo it."""
        issue_id = make_issue("alpha")
        tag_id = client.post("tags", {"name": "x", "match_word": "alpha"}).json["id"]
        client.post("issue-tags", {"group_id": issue_id, "tag_id": tag_id})
        client.put("tags", {"id": tag_id, "name": "x", "match_word": "nothing"})
        assert [tag["source"] for tag in client.get("error", id=issue_id).json["tags"]] == ["manual"]


class TestAuthentication:
    """Authentication and Cross-origin protection."""

    REQUESTS = (
        ("GET", "api=tags", ""),
        ("POST", "api=tags", '{"name":"x"}'),
        ("PUT", "api=tags", '{"id":1,"name":"x"}'),
        ("PATCH", "api=tags", '{"id":1,"name":"x"}'),
        ("DELETE", "api=tags&id=1", ""),
        ("POST", "api=issue-tags", '{"group_id":1,"tag_id":1}'),
    )

    @pytest.mark.parametrize("request_", REQUESTS)
    def test_key_is_required(self, http, locked, request_):
        """Rules 1, 3 and 4: with a key configured, a missing or wrong key yields 401 on the tags endpoints."""
        assert is_failure(http(*request_), 401)
        assert is_failure(http(*request_, x_service_token="wrong"), 401)

    @pytest.mark.parametrize("request_", REQUESTS)
    def test_key_headers(self, http, locked, request_):
        """Rule 2: the key is sent in `X-Service-Token` or as a bearer token."""
        assert http(*request_, x_service_token=KEY).status in (200, 201, 404)
        assert http(*request_, authorization=f"Bearer {KEY}").status in (200, 201, 404, 422)

    def test_without_a_key(self, http):
        """Rule 1: when it is empty, the API is unauthenticated."""
        assert http("GET", "api=tags").status == 200

    @pytest.mark.parametrize("request_", REQUESTS[1:])
    def test_foreign_origin(self, http, request_):
        """Rules 1 and 2: a state-changing request with another `Origin` is 403, without one it passes."""
        assert is_failure(http(*request_, origin="http://evil.example"), 403)
        assert is_failure(http(*request_, origin="null"), 403)
        assert http(*request_).status in (200, 201, 404)
        assert http(*request_, origin="http://testserver").status in (200, 201, 404, 422)

    @pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
    def test_reading_is_never_checked(self, http, method):
        """Rule 3: GET, HEAD and OPTIONS are never checked."""
        assert http(method, "api=tags", origin="http://evil.example").status in (200, 204)


class TestErrors:
    """Errors and Limits."""

    @pytest.mark.parametrize("body", ['{"name":', '{"name":NaN}', '{"name":"a","name":"b"}', "\x00"])
    def test_malformed(self, http, body):
        """Malformed JSON is 400."""
        assert is_failure(http("POST", "api=tags", body), 400)

    @pytest.mark.parametrize(
        "headers", [{"content_type": "text/plain"}, {"content_type": "application/json; charset=iso-8859-1"}]
    )
    def test_content_type(self, http, headers):
        """Another type or charset is 415."""
        assert is_failure(http("POST", "api=tags", '{"name":"x"}', **headers), 415)

    def test_too_large(self, http):
        """A body over 1 MiB is 413."""
        assert is_failure(http("POST", "api=tags", '{"name":"' + "x" * 1_153_434 + '"}'), 413)

    def test_not_an_object(self, http):
        """`[]` is 422, an empty body is 422 that names `name`."""
        assert is_failure(http("POST", "api=tags", "[]"), 422)
        empty = http("POST", "api=tags")
        assert is_failure(empty, 422)
        assert empty.json["error"].startswith("name: ")

    def test_malformed_query(self, http):
        """A parameter twice is 400."""
        assert is_failure(http("GET", "api=tags&app=default&app=default"), 400)

    def test_missing_tag(self, http):
        """404: tag missing on update or delete."""
        for method in ("PUT", "PATCH"):
            assert is_failure(http(method, "api=tags", '{"id":999999,"name":"x"}'), 404)
        assert is_failure(http("DELETE", "api=tags&id=999999"), 404)

    @pytest.mark.parametrize(("field", "value"), BAD_FIELDS)
    def test_validation(self, client, field, value):
        """422: bad `name`, `color`, `icon` or length, on create and on update."""
        tag_id = client.post("tags", {"name": "good"}).json["id"]
        for answer in (
            client.post("tags", {"name": "x", field: value}),
            client.put("tags", {"id": tag_id, "name": "x", field: value}),
            client.patch("tags", {"id": tag_id, "name": "x", field: value}),
        ):
            assert answer.status == 422
            assert answer.json["error"].startswith(f"{field}: ")
        assert [tag["name"] for tag in client.get("tags").json["data"]] == ["good"]

    def test_duplicate_name(self, client):
        """422: duplicate `name`."""
        client.post("tags", {"name": "x"})
        answer = client.post("tags", {"name": "x"})
        assert (answer.status, list(answer.json)) == (422, ["error"])

    @pytest.mark.parametrize("bad", [0, -1])
    def test_id_below_1(self, client, bad):
        """422: id supplied but below 1."""
        assert client.delete("tags", {"id": bad}).status == 422
        assert client.delete("tags", id=bad).status == 422
        for field in ("group_id", "tag_id"):
            assert client.post("issue-tags", {"group_id": 1, "tag_id": 1, field: bad}).status == 422

    @pytest.mark.parametrize("body", [{}, {"group_id": 1}, {"tag_id": 1}])
    def test_missing_ids(self, client, body):
        """422: `group_id` or `tag_id` missing."""
        assert client.post("issue-tags", body).status == 422

    @pytest.mark.parametrize("name", ["n", "n" * 80, "\U0001f600" * 80])
    def test_limits(self, client, name):
        """Limits: name 1-80, icon 1-32, word at most 200, colour exactly six digits: the largest values pass."""
        fields = {"name": name, "icon": "i" * 32, "match_word": "w" * 200, "color": "#FFFFFF"}
        assert client.post("tags", fields).status == 201


@pytest.fixture
def make_issue(client):
    """Make a manual issue and return its id."""

    def make(title: str, **fields: Any) -> int:
        return int(client.post("issues", {"title": title, **fields}).json["data"]["id"])

    return make

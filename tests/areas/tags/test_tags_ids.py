"""Ids and the order of checks."""

import pytest

NOT_IDS = [0, -1, 1.5, True, None, "1", [], {}, 9223372036854775808]
BIGGEST = 9223372036854775807


@pytest.mark.parametrize("bad", NOT_IDS, ids=repr)
@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_bad_ids(client, tag, method, bad):
    """422; a supplied value never falls back to the query."""
    tag_id = tag()["id"]
    act = getattr(client, method)
    for query in ({}, {"id": tag_id}):
        answer = act("tags", {"id": bad, "name": "x"}, **query)
        assert answer.status == 422
        assert answer.json["error"].startswith("id: ")
    assert [tag["name"] for tag in client.get("tags").json["data"]] == ["Payments"]


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_missing_id(client, method):
    """Without id 422."""
    answer = getattr(client, method)("tags", {"name": "x"})
    assert (answer.status, answer.json["error"][:4]) == (422, "id: ")


@pytest.mark.parametrize("query", ["0", "-1", "x", "1.5", "9223372036854775808"])
@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_bad_id_in_the_query(client, method, query):
    assert getattr(client, method)("tags", {"name": "x"}, id=query).status == 422


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_unknown_id(client, method):
    """The largest integer is an unknown id, 404."""
    act = getattr(client, method)
    assert act("tags", {"id": BIGGEST, "name": "x"}).status == 404
    assert act("tags", {"name": "x"}, id=BIGGEST).status == 404


@pytest.mark.parametrize("method", ["put", "patch"])
def test_order_of_checks(client, tag, method):
    """Shape 422, then existence 404, then uniqueness 422."""
    act = getattr(client, method)
    tag("taken")
    assert act("tags", {"id": 999999, "name": ""}).status == 422
    assert act("tags", {"id": 999999, "name": "x"}).status == 404
    assert act("tags", {"id": 999999, "name": "taken"}).status == 404
    assert act("tags", {"id": tag("other")["id"], "name": "taken"}).status == 422


def test_id_in_query_and_body(client, tag):
    """Both and equal is fine, both and different is 422."""
    first, second = tag("a")["id"], tag("b")["id"]
    assert client.put("tags", {"id": first, "name": "a2"}, id=first).json["name"] == "a2"
    assert client.patch("tags", {"name": "a3"}, id=first).json["name"] == "a3"
    assert client.delete("tags", {"id": second}, id=first).status == 422
    assert client.delete("tags", {"id": 0}, id=first).status == 422
    assert client.delete("tags", {"id": first}, id=first).status == 200
    assert client.delete("tags", id=second).status == 200


def test_whole_number_counts_as_integer(client, tag):
    """`1.0` counts as the integer 1."""
    tag_id = tag()["id"]
    assert client.delete("tags", {"id": float(tag_id)}).json == {"id": tag_id, "deleted": True}


@pytest.mark.servers
def test_delete(client, issue, tag, tags_of):
    """The issue no longer has the tag; again 404."""
    issue_id = issue("gateway timeout")
    tag_id = tag(match_word="gateway")["id"]
    assert tags_of(issue_id) == {"Payments": "rule"}
    assert client.delete("tags", id=tag_id).json == {"id": tag_id, "deleted": True}
    assert client.delete("tags", id=tag_id).status == 404
    assert tags_of(issue_id) == {}
    assert client.get("tags").json == {"data": []}


@pytest.mark.servers
def test_applications_have_their_own_tags(client):
    assert client.post("applications", {"name": "Customer Portal"}).status == 201
    assert client.post("tags", {"name": "Bug"}, app="customer-portal").status == 201
    assert client.get("tags", app="default").json == {"data": []}
    assert [tag["name"] for tag in client.get("tags", app="customer-portal").json["data"]] == ["Bug"]


@pytest.mark.servers
def test_issue_tags_echo(client, issue, tag, tags_of):
    """The echo, `manual`, and `add` by default."""
    issue_id, tag_id = issue(), tag()["id"]
    echo = {"groupId": issue_id, "tagId": tag_id}
    assert client.post("issue-tags", {"group_id": issue_id, "tag_id": tag_id}).json == {**echo, "action": "add"}
    assert tags_of(issue_id) == {"Payments": "manual"}
    assert client.get("tags").json["data"][0]["issue_count"] == 1
    body = {"group_id": issue_id, "tag_id": tag_id, "action": "remove"}
    assert client.post("issue-tags", body).json == {**echo, "action": "remove"}
    assert tags_of(issue_id) == {}
    assert client.get("tags").json["data"][0]["issue_count"] == 0


@pytest.mark.parametrize("action", ["toggle", "ADD", "add ", "", None, 1])
def test_issue_tags_action(client, issue, tag, action):
    """Exactly `add` or `remove`."""
    body = {"group_id": issue(), "tag_id": tag()["id"], "action": action}
    answer = client.post("issue-tags", body)
    assert (answer.status, answer.json["error"].split(":")[0]) == (422, "action")


@pytest.mark.parametrize("bad", [*NOT_IDS, "missing"], ids=repr)
@pytest.mark.parametrize("field", ["group_id", "tag_id"])
def test_issue_tags_bad_ids(client, issue, tag, field, bad):
    """Missing or invalid 422."""
    body = {"group_id": issue(), "tag_id": tag()["id"], field: bad}
    if bad == "missing":
        del body[field]
    answer = client.post("issue-tags", body)
    assert (answer.status, answer.json["error"].split(":")[0]) == (422, field)


def test_issue_tags_unknown(client, issue, tag):
    """Schema, then issue, then tag; an unknown one is 404 and stores nothing."""
    issue_id, tag_id = issue(), tag()["id"]
    assert client.post("issue-tags", {"group_id": BIGGEST, "tag_id": 0}).status == 422
    no_issue = client.post("issue-tags", {"group_id": BIGGEST, "tag_id": BIGGEST})
    no_tag = client.post("issue-tags", {"group_id": issue_id, "tag_id": BIGGEST})
    assert (no_issue.status, no_tag.status) == (404, 404)
    assert no_tag.json["error"] == "Unknown tag."
    assert no_issue.json["error"] != no_tag.json["error"]
    assert client.post("issue-tags", {"group_id": issue_id, "tag_id": tag_id}).status == 200


def test_issue_tags_method(client):
    """POST only."""
    answer = client.get("issue-tags")
    assert answer.status == 405
    assert set(answer.headers["allow"].replace(" ", "").split(",")) == {"POST", "OPTIONS"}

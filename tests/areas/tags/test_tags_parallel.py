"""Parallel writers."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = pytest.mark.servers


def at_once(act, arguments):
    """Run a function for each argument at the same time and return the results."""
    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(act, arguments))


def test_twenty_names(client):
    """20 parallel creates with different names → 20 × 201."""
    answers = at_once(lambda number: client.post("tags", {"name": f"tag {number}"}), range(20))
    assert [answer.status for answer in answers] == [201] * 20
    assert len(client.get("tags").json["data"]) == 20


def test_twenty_times_one_name(client):
    """Parallel creates of one name give one 201, the others 422, never 500."""
    answers = at_once(lambda number: client.post("tags", {"name": "bug" if number % 2 else "BUG"}), range(20))
    assert Counter(answer.status for answer in answers) == {201: 1, 422: 19}
    assert {answer.json["error"][:6] for answer in answers if answer.status == 422} == {"name: "}
    assert len(client.get("tags").json["data"]) == 1


def test_two_tags_take_one_name(client, tag):
    """Of two renames to one name one wins."""
    ids = [tag(name)["id"] for name in "abcdef"]
    answers = at_once(lambda tag_id: client.patch("tags", {"id": tag_id, "name": "Bug"}), ids)
    assert Counter(answer.status for answer in answers) == {200: 1, 422: 5}


def test_updates_of_one_tag(client, issue, tag, tags_of):
    """After parallel updates one rule exists, and exactly its matches are tagged."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    ids = {word: issue(word) for word in words}
    tag_id = tag("x")["id"]
    answers = at_once(lambda word: client.patch("tags", {"id": tag_id, "name": "x", "match_word": word}), words)
    assert [answer.status for answer in answers] == [200] * 6
    [last] = client.get("tags").json["data"]
    assert (len(last["rules"]), last["issue_count"]) == (1, 1)
    assert {word for word, issue_id in ids.items() if tags_of(issue_id)} == {last["match_word"]}


def test_delete_against_update_and_assignment(client, issue, tag):
    """A tag that goes meanwhile is 404, never 500."""
    issue_id = issue("alpha")
    for _ in range(4):
        tag_id = tag("x")["id"]
        body = {"id": tag_id, "name": "x", "match_word": "alpha"}
        link = {"group_id": issue_id, "tag_id": tag_id}
        acts = [
            lambda body=body: client.put("tags", body),
            lambda link=link: client.post("issue-tags", link),
            lambda tag_id=tag_id: client.delete("tags", id=tag_id),
        ] * 2
        answers = at_once(lambda act: act(), acts)
        assert {answer.status for answer in answers} <= {200, 404}
        assert client.get("tags").json["data"] == []

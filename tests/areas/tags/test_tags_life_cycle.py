"""The life cycle of an assignment, cell by cell of its table."""

import pytest

WORD, NAME = "gateway", "Payments"
STATES = ("none", "rule", "manual", "ingest", "tracker", "removed")

TABLE = {
    "none": {"add": "manual", "remove": None, "match": "rule", "no match": None},
    "rule": {"add": "manual", "remove": None, "match": "rule", "no match": None},
    "manual": {"add": "manual", "remove": None, "match": "manual", "no match": "manual"},
    "ingest": {"add": "manual", "remove": None, "match": "ingest", "no match": "ingest"},
    "tracker": {"add": "manual", "remove": None, "match": "tracker", "no match": "tracker"},
    "removed": {"add": "manual", "remove": None, "match": None, "no match": None},
}
CELLS = [(state, action, after) for state, row in TABLE.items() for action, after in row.items()]


@pytest.fixture
def life(client, issue, tag, tags_of, by_hand, sent):
    """An issue, a tag, and the ways in which one comes to the other."""

    class Life:
        issue_id = issue("gateway timeout")
        tag_id = tag(NAME)["id"]

        def bring(self, state):
            if state == "rule":
                self.rule(WORD)
            elif state in ("ingest", "tracker"):
                sent(self.issue_id, NAME, state)
            elif state in ("manual", "removed"):
                by_hand(self.issue_id, self.tag_id, "add")
                if state == "removed":
                    by_hand(self.issue_id, self.tag_id, "remove")

        def act(self, action):
            if action in ("add", "remove"):
                by_hand(self.issue_id, self.tag_id, action)
            else:
                self.rule(WORD if action == "match" else "no such word")

        def rule(self, word):
            answer = client.patch("tags", {"id": self.tag_id, "name": NAME, "match_word": word})
            assert answer.status == 200, answer.text

        def source(self):
            return tags_of(self.issue_id).get(NAME)

        def send(self, source):
            sent(self.issue_id, NAME, source)

    return Life()


@pytest.mark.parametrize(("state", "action", "after"), CELLS, ids=[f"{s}, {a}" for s, a, _ in CELLS])
def test_cell(life, state, action, after):
    """What an assignment becomes."""
    life.bring(state)
    assert life.source() == (None if state == "removed" else None if state == "none" else state)
    life.act(action)
    assert life.source() == after


@pytest.mark.parametrize("state", ["rule", "manual", "ingest", "tracker"])
def test_removal_is_remembered(life, state):
    """The memory holds against rules, senders and trackers and survives changes of the tag and its rule."""
    life.bring(state)
    life.act("remove")
    for step in (life.act, life.send):
        for value in ("match", "no match", "match") if step == life.act else ("ingest", "tracker"):
            step(value)
            assert life.source() is None


def test_removal_of_an_absent_tag_is_not_remembered(life):
    """Remove by hand where there was nothing leaves no memory."""
    life.act("remove")
    life.act("match")
    assert life.source() == "rule"


def test_add_by_hand_clears_the_memory(life, by_hand):
    """Added by hand → tagged, `manual`, and nothing is remembered any more."""
    life.bring("removed")
    life.act("add")
    assert life.source() == "manual"
    life.act("no match")
    life.act("match")
    assert life.source() == "manual"


def test_memory_goes_with_the_tag(client, life, tag, tags_of):
    """A new tag of the same name starts without memory."""
    life.bring("removed")
    assert client.delete("tags", {"id": life.tag_id}).status == 200
    tag(NAME, match_word=WORD)
    assert tags_of(life.issue_id) == {NAME: "rule"}


@pytest.mark.parametrize("source", ["ingest", "tracker"])
def test_sent_tag_does_not_change_what_is_there(life, source):
    """Tags sent by others leave an assignment by hand or by rule as it is."""
    life.bring("manual")
    life.send(source)
    assert life.source() == "manual"

"""What rules match, and the preview."""

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from snaglist.kernel import key
from snaglist.plugins.tags.rules import matches

CASES = {
    case["id"]: case
    for case in map(json.loads, (Path(__file__).parents[2] / "cases/tags.jsonl").read_text("utf-8").splitlines())
}
LITERALS = ["%", "_", "\\", "*", ".*", "?", "[a-", "[a-z]", "(", "^x$", "${jndi:", "{{7*7}}", "'", '"', "it's", ";"]
LITERALS += ["--", "50\\%", "/", "/%", "||", "%%", "\\\\", "#", "\uff05", "\uff3f", "\uff3c", "\u00df", "\U0001f41b"]


def fold(text):
    """Fold as the product does, written a second time on purpose."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


@pytest.mark.parametrize("case", [case for case in CASES.values() if "input" in case], ids=lambda case: case["id"])
def test_case(client, issue, tag, case):
    """The public cases: which titles a word tags, or that a field is refused."""
    given = json.loads(case["input"])
    if "status" in case["checks"]:
        assert client.post("tags", given).status == case["checks"]["status"]
        return
    ids = [issue(title) for title in given["issue_titles"]]
    tag_id = tag(match_word=given["match_word"])["id"]
    tagged = [ids.index(row["id"]) for row in client.get("errors", tag=tag_id, limit=200).json["data"]]
    if "tagged" in case["checks"]:
        assert sorted(tagged) == case["checks"]["tagged"]
    assert not set(tagged) & set(case["checks"].get("must_not_tag", []))


@pytest.mark.servers
@pytest.mark.parametrize(
    ("word", "tagged", "untagged"),
    [
        ("user_id", "bad user_id given", "bad userXid given"),
        ("100%", "disk 100% full", "100 percent"),
        ("überlauf", "ÜBERLAUF im Puffer", "Uberlauf"),
        ("[a-", "bad range [a-", "bad range a"),
        ("STRASSE", "Straße gesperrt", "Strase"),
        ("cafe\u0301", "CAF\u00c9 closed", "cafe closed"),
        ("50\\%", "at 50\\% now", "at 50% now"),
    ],
)
def test_check_83(client, issue, tag, tags_of, word, tagged, untagged):
    """Every character is literal, case is folded, accents count."""
    yes, no = issue(tagged), issue(untagged)
    assert tag(match_word=word)["issue_count"] == 1
    assert (tags_of(yes), tags_of(no)) == ({"Payments": "rule"}, {})


@pytest.mark.servers
def test_literals_tag_exactly_the_titles_that_hold_them(client, issue, tag):
    """No word has a meaning in any database; none raises."""
    titles = [*(f"a{literal}b" for literal in LITERALS), "quite different", "ab", "A/B"]
    ids = [issue(title) for title in titles]
    for number, word in enumerate(LITERALS):
        tag_id = tag(f"t{number}", match_word=word)["id"]
        found = {row["id"] for row in client.get("errors", tag=tag_id, limit=200).json["data"]}
        assert found == {i for i, title in zip(ids, titles, strict=True) if fold(word) in fold(title)}, word


@given(st.lists(st.text(max_size=30), max_size=3), st.text(min_size=1, max_size=6))
def test_match_is_containment_of_folded_fields(fields, word):
    """A rule matches when one field, on its own, contains the folded word."""
    assert matches(key(word), [key(field) for field in fields]) == any(fold(word) in fold(field) for field in fields)


ALPHABET = st.sampled_from("aAuÜü\u0308\u0301eEßsS%_\\[*?' /.\u0130\u0131\uff05\U0001f41bΣς")


@pytest.mark.servers
@settings(max_examples=60)
@given(data=st.data())
def test_database_agrees_with_the_rule(client, many_issues, data):
    """The database narrows, and never decides otherwise."""
    word = data.draw(st.text(ALPHABET, min_size=1, max_size=4)).strip() or "%"
    preview = client.get("tags", preview=word)
    assert preview.status == 200
    assert preview.json["preview"]["issue_count"] == sum(fold(word) in fold(title) for title in many_issues)


@pytest.fixture
def many_issues(issue):
    """Titles full of characters that mean something elsewhere."""
    parts = ["a", "A", "Ü", "u\u0308", "e\u0301", "É", "ß", "SS", "ΣΑΣ", "\u0130", "\u0131", "\U0001f41b", "x.y"]
    parts += ["%", "_", "\\", "[*]", "?'", " / ", "\uff05"]
    titles = [f"{one}{parts[(number * 7 + 3) % len(parts)]}{one}" for number, one in enumerate(parts)]
    titles += [" ".join(parts), "plain"]
    for title in titles:
        issue(title)
    return titles


@pytest.mark.servers
def test_fields(client, issue, tag, tags_of):
    """Title or sample message, each on its own; the description is the sample message."""
    in_title = issue("needle here", description="other")
    in_message = issue("other", description="a NEEDLE there")
    across = issue("other need", description="le and so on")
    assert tag(match_word="Needle")["issue_count"] == 2
    assert [bool(tags_of(i)) for i in (in_title, in_message, across)] == [True, True, False]


def test_fields_beside_the_three_do_not_count(client, issue, tag):
    """What the search also finds (frame, environment, channel) is nothing to a rule."""
    issue("other", source_frame="needle.py:1", environment="needle")
    assert tag(match_word="needle")["issue_count"] == 0
    assert tag("channel", match_word="manual")["issue_count"] == 0


def test_end_of_a_long_message(client, issue, tag, tags_of):
    """The whole sample message counts, not only what the search looks at."""
    for size in (1_995, 1_999, 2_000, 5_000, 119_000):
        issue_id = issue("long", description="x" * size + f"needle{size} end")
        assert client.get("tags", preview=f"NEEDLE{size} ").json["preview"]["issue_count"] == 1
        tag(f"t{size}", match_word=f"needle{size} ")
        assert tags_of(issue_id) == {f"t{size}": "rule"}


def test_applied_before_the_answer(client, issue, tag, tags_of):
    """The list right after shows the count, `error` the source."""
    issue_id = issue("gateway timeout")
    created = tag(match_word="gateway")
    assert created["issue_count"] == 1
    assert client.get("tags").json == {"data": [created]}
    assert tags_of(issue_id) == {"Payments": "rule"}


@pytest.mark.parametrize("method", ["put", "patch"])
def test_rebuilt_on_update(client, issue, tag, tags_of, by_hand, method):
    """Rule assignments are cleared and recomputed, one by hand survives."""
    first, second, hand = issue("alpha"), issue("beta"), issue("alpha by hand")
    tag_id = tag("x", match_word="alpha")["id"]
    by_hand(hand, tag_id, "add")
    changed = getattr(client, method)("tags", {"id": tag_id, "name": "x", "match_word": "beta"}).json
    assert changed["issue_count"] == 2
    assert [tags_of(i) for i in (first, second, hand)] == [{}, {"x": "rule"}, {"x": "manual"}]


def test_disabled_rule(client, issue, tag, tags_of):
    """A disabled rule assigns nothing, and takes back what it had assigned."""
    first = issue("alpha")
    disabled = tag("x", match_word="alpha", rule_enabled=False)
    assert (disabled["issue_count"], disabled["rules"][0]["enabled"]) == (0, False)
    body = {"id": disabled["id"], "name": "x"}
    assert client.patch("tags", {**body, "rule_enabled": True}).json["issue_count"] == 1
    assert client.patch("tags", {**body, "rule_enabled": False}).json["issue_count"] == 0
    later = issue("alpha too")
    assert (tags_of(first), tags_of(later)) == ({}, {})


def test_rule_taken_away(client, issue, tag):
    """Without a word there is no rule, and nothing that it assigned."""
    issue("alpha")
    tag_id = tag("x", match_word="alpha")["id"]
    cleared = client.patch("tags", {"id": tag_id, "name": "x", "match_word": " "}).json
    assert (cleared["match_word"], cleared["rules"], cleared["issue_count"]) == ("", [], 0)


def test_update_without_a_change_of_the_word(client, issue, tag, tags_of):
    """A rename keeps what the rule assigned."""
    issue_id = issue("alpha")
    tag_id = tag("x", match_word="alpha")["id"]
    assert client.patch("tags", {"id": tag_id, "name": "y"}).json["issue_count"] == 1
    assert tags_of(issue_id) == {"y": "rule"}


def test_two_rules_on_one_issue(issue, tag, tags_of):
    """Each rule acts by itself."""
    issue_id = issue("alpha beta")
    tag("a", match_word="alpha")
    tag("b", match_word="BETA")
    tag("c", match_word="gamma")
    assert tags_of(issue_id) == {"a": "rule", "b": "rule"}


@pytest.mark.parametrize("word", ["gate", " GATE "])
def test_preview(client, issue, tag, word):
    """How many issues a rule would match; nothing is stored."""
    issue("gateway")
    issue("door")
    assert client.get("tags", preview=word).json == {"preview": {"match_word": word.strip(), "issue_count": 1}}
    assert client.get("tags").json == {"data": []}


@pytest.mark.parametrize("word", [" ", "\u00a0", "w" * 201])
def test_bad_preview(client, word):
    """1-200 characters after trimming."""
    answer = client.get("tags", preview=word)
    assert (answer.status, answer.json["error"].split(":")[0]) == (422, "preview")


def test_empty_preview_is_not_given(client):
    """A query parameter with an empty value counts as not given."""
    assert client.get("tags", preview="").json == {"data": []}
    assert client.get("tags", preview="w" * 200).json["preview"]["issue_count"] == 0

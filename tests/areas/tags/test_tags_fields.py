"""Fields of tags and what they refuse."""

import unicodedata

import pytest

BLANKS = ["", " ", "\u00a0", "\u2003\u3000", "\n\r\t", " \u2028 \u0085"]
DEFAULTS = {"color": "#64748b", "icon": "tag", "match_word": "", "rules": [], "issue_count": 0}


def refused(answer, field):
    """Tell whether the answer is 422 and names the field."""
    return answer.status == 422 and answer.json["error"].startswith(f"{field}: ")


@pytest.mark.servers
def test_create(client):
    """The name is trimmed, the colour lower-case, the rest default."""
    answer = client.post("tags", {"name": "  Bug  ", "color": "#ABCDEF"})
    assert answer.status == 201
    tag = answer.json
    assert {"name": tag["name"], **{key: tag[key] for key in DEFAULTS}} == {
        "name": "Bug",
        **DEFAULTS,
        "color": "#abcdef",
    }
    assert (tag["created_by"], tag["updated_by"]) == ("Local", None)
    assert tag["created_at"] == tag["updated_at"]
    assert client.get("tags").json == {"data": [tag]}


@pytest.mark.servers
@pytest.mark.parametrize("name", ["x", "a" * 80, "\U0001f41b" * 80, "  " + "ß" * 80 + "\u2003"])
def test_good_names(client, name):
    """Lengths count code points after trimming."""
    answer = client.post("tags", {"name": name})
    assert (answer.status, answer.json["name"]) == (201, name.strip())


@pytest.mark.parametrize(
    "name", [*BLANKS, "a" * 81, "\U0001f41b" * 81, 5, None, [], {}, True, "a\x00b", "\ud800"], ids=repr
)
def test_bad_names(client, name):
    """Blank, too long, of another type, not storable: 422 that names the field."""
    assert refused(client.post("tags", {"name": name}), "name")
    assert client.get("tags").json["data"] == []


def test_missing_name(client):
    """The name is required by POST, PUT and PATCH."""
    assert refused(client.post("tags", {}), "name")
    tag_id = client.post("tags", {"name": "x"}).json["id"]
    assert refused(client.put("tags", {"id": tag_id, "color": "#000000"}), "name")
    assert refused(client.patch("tags", {"id": tag_id, "color": "#000000"}), "name")


@pytest.mark.parametrize(
    "color", ["#abc", "abcdef", "#abcdeg", "#12345\uff16", "#abcdef\n", "#abcdef ", " #abcdef", "#abcdef0", "", 5, []]
)
def test_bad_colors(client, color):
    """Exactly `#` and six ASCII hex digits."""
    assert refused(client.post("tags", {"name": "x", "color": color}), "color")


@pytest.mark.parametrize("icon", ["bug", "b" * 32, "a", "a-b_9"])
def test_good_icons(client, icon):
    assert client.post("tags", {"name": "x", "icon": icon}).json["icon"] == icon


@pytest.mark.parametrize("icon", ["Bug", "1bug", "büg", "b" * 33, "bug\n", "", " bug", "bug ", "-a", 1, ["a"]])
def test_bad_icons(client, icon):
    """The whole value matches the pattern."""
    assert refused(client.post("tags", {"name": "x", "icon": icon}), "icon")


@pytest.mark.parametrize("word", ["w" * 200, "  " + "\U0001f41b" * 200 + " ", "\u0390" * 200])
def test_good_words(client, word):
    """200 code points after trimming."""
    tag = client.post("tags", {"name": "x", "match_word": word}).json
    assert tag["match_word"] == word.strip()
    assert [(rule["match_word"], rule["enabled"]) for rule in tag["rules"]] == [(word.strip(), True)]


@pytest.mark.parametrize("word", ["w" * 201, "\U0001f41b" * 201, 5, [], True])
def test_bad_words(client, word):
    assert refused(client.post("tags", {"name": "x", "match_word": word}), "match_word")


@pytest.mark.parametrize("blank", BLANKS, ids=repr)
def test_blank_word_is_no_rule(client, issue, tags_of, blank):
    """Only white space is no rule, not one that matches every title with a blank."""
    issue_id = issue("two words")
    tag = client.post("tags", {"name": "x", "match_word": blank}).json
    assert (tag["match_word"], tag["rules"], tags_of(issue_id)) == ("", [], {})


@pytest.mark.parametrize("field", ["color", "icon", "match_word", "rule_enabled"])
def test_null_counts_as_omitted(client, field):
    """`null` takes the default in POST and PUT and keeps the value in PATCH."""
    given = {"name": "x", "color": "#000001", "icon": "bug", "match_word": "w", "rule_enabled": False}
    kept = client.post("tags", given).json
    patched = client.patch("tags", {"id": kept["id"], "name": "x", field: None}).json
    assert without_ids(patched) == without_ids({**kept, "updated_by": "Local", "updated_at": patched["updated_at"]})
    replaced = client.put("tags", {"id": kept["id"], **given, field: None}).json
    omitted = client.put("tags", {"id": kept["id"], **{k: v for k, v in given.items() if k != field}}).json
    assert without_ids(replaced) == without_ids(omitted)
    assert without_ids(replaced) != without_ids(patched)


def without_ids(tag):
    """Leave out what changes with each rebuild and with time."""
    rules = [(rule["match_word"], rule["enabled"]) for rule in tag["rules"]]
    return {**tag, "rules": rules, "updated_at": None}


@pytest.mark.servers
def test_put_replaces_and_patch_keeps(client):
    given = {"name": "a", "color": "#123456", "icon": "bug", "match_word": "word", "rule_enabled": False}
    tag_id = client.post("tags", given).json["id"]
    kept = client.patch("tags", {"id": tag_id, "name": "y"}).json
    assert {key: kept[key] for key in ("name", "color", "icon", "match_word")} == {
        "name": "y",
        "color": "#123456",
        "icon": "bug",
        "match_word": "word",
    }
    assert [rule["enabled"] for rule in kept["rules"]] == [False]
    replaced = client.put("tags", {"id": tag_id, "name": "x"}).json
    assert {key: replaced[key] for key in DEFAULTS} == DEFAULTS


def test_rule_id_changes_when_rebuilt(client, tag):
    first = tag("x", match_word="w")
    second = client.patch("tags", {"id": first["id"], "name": "x"}).json
    assert first["rules"][0]["id"] != second["rules"][0]["id"]


@pytest.mark.servers
@pytest.mark.parametrize(
    ("first", "second"),
    [("Bug", "bug"), ("Bug", " Bug "), ("STRASSE", "straße"), ("caf\u00e9", "cafe\u0301"), ("\u03a3", "\u03c2")],
)
def test_names_are_unique_by_key(client, tag, first, second):
    """Equal by `key()` is the same name, on every database."""
    tag(first)
    assert refused(client.post("tags", {"name": second}), "name")
    other = tag("other")
    assert refused(client.put("tags", {"id": other["id"], "name": second}), "name")
    assert refused(client.patch("tags", {"id": other["id"], "name": second}), "name")
    assert [tag["name"] for tag in client.get("tags").json["data"]] == sorted([first, "other"], key=str.casefold)


@pytest.mark.servers
@pytest.mark.parametrize(("first", "second"), [("u", "ü"), ("a", "\uff41"), ("a", "a."), ("i", "\u0131")])
def test_names_that_differ(client, tag, first, second):
    """Accents and full-width forms stay distinct."""
    tag(first)
    assert client.post("tags", {"name": second}).status == 201


@pytest.mark.servers
def test_own_name_may_stay(client, tag):
    """A tag may keep its name, in another case too."""
    tag_id = tag("Bug")["id"]
    assert client.put("tags", {"id": tag_id, "name": "Bug"}).status == 200
    assert client.patch("tags", {"id": tag_id, "name": "BUG"}).json["name"] == "BUG"


@pytest.mark.servers
def test_list_is_sorted_by_key(client, tag):
    """The order is that of `key(name)`, by code point."""
    names = ["b", "A", "é", "Z", "\U0001f41b", "ÿ", "_", "10", "9", "\uff21"]
    for name in names:
        tag(name)
    expected = sorted(names, key=lambda name: unicodedata.normalize("NFC", name.casefold()))
    assert [tag["name"] for tag in client.get("tags").json["data"]] == expected


def test_unknown_fields_are_ignored(client):
    assert client.post("tags", {"name": "x", "extra": 1, "id": "no"}).status == 201


@pytest.mark.servers
def test_refused_name_stores_nothing(client, tag):
    """A duplicate name leaves the tag, its rule and its assignments as they were."""
    tag("taken")
    before = tag("x", match_word="w")
    assert client.put("tags", {"id": before["id"], "name": "taken", "color": "#000000"}).status == 422
    assert before in client.get("tags").json["data"]

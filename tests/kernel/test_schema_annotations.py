"""Schemas and what the kernel reads in them beside JSON Schema."""

import json
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.schemas import MAX_INTEGER, Schema, Schemas

ROOT = Path(__file__).parents[2]
WORDLESS = {"pattern", "not", "contains", "minProperties", "maxProperties", "multipleOf"}
REQUESTS = sorted(
    file.relative_to(ROOT).as_posix()
    for folder in ("schemas", "plugins-extra")
    for pattern in ("*-body.json", "*-query.json", "definitions/connector-*.json")
    for file in (ROOT / folder).rglob(pattern)
    if file.name not in ("connector-plan.json", "connector-run.json")  # of answers
)


def schema(folder: Path, contents: dict[str, Any], part: str = "body") -> Schema:
    (folder / "thing").mkdir(exist_ok=True)
    (folder / "thing" / f"post-{part}.json").write_text(json.dumps(contents), encoding="utf-8")
    found = Schemas(lambda name: {}).find(folder, "thing", "POST", part)
    assert found is not None
    return found


def fields(folder: Path, **properties: Any) -> Schema:
    return schema(folder, {"type": "object", "properties": properties})


NAME = {"type": "string", "x-trim": True, "minLength": 1, "maxLength": 5}


def test_text_is_trimmed_before_it_is_measured(tmp_path: Path) -> None:
    """All Unicode white space goes; lengths count code points."""
    thing = fields(tmp_path, name=NAME)
    assert thing.check({"name": "\u00a0 abc\u2003\n"}) == ({"name": "abc"}, [])
    assert thing.check({"name": "😀" * 5})[1] == []
    assert thing.check({"name": "😀" * 6})[1] == ["name: must be 1-5 characters after trimming"]
    assert thing.check({"name": "\u00a0"})[1] == ["name: must be 1-5 characters after trimming"]


@pytest.mark.parametrize("value", [1, None, True, [], {}, 1.5])
def test_types_are_strict(tmp_path: Path, value: Any) -> None:
    assert fields(tmp_path, name=NAME).check({"name": value})[1] == ["name: must be a text"]


@pytest.mark.parametrize("value", ["1", True, None, 1.5, [], "", "1_0", "٣"])
def test_what_is_not_an_integer(tmp_path: Path, value: Any) -> None:
    assert fields(tmp_path, id={"$ref": "/definitions/id.json"}).check({"id": value})[1] == [
        "id: must be a whole number"
    ]


def test_integers(tmp_path: Path) -> None:
    thing = fields(tmp_path, id={"$ref": "/definitions/id.json"}, any={"type": "integer"})
    checked, problems = thing.check({"id": 1.0})
    assert (checked, type(checked["id"]), problems) == ({"id": 1}, int, [])
    assert thing.check({"id": 0})[1] and thing.check({"id": -1})[1] and thing.check({"id": 1e20})[1]
    assert thing.check({"id": MAX_INTEGER})[1] == []
    assert thing.check({"any": 1e300})[1] == [f"any: must be at most {MAX_INTEGER}"]


def test_case_defaults_and_null(tmp_path: Path) -> None:
    thing = fields(
        tmp_path,
        level={"type": "string", "x-upper": True, "enum": ["ERROR", "INFO"], "default": "INFO"},
        icon={"type": "string", "x-null-omits": True, "default": "tag"},
        note={"type": ["string", "null"], "x-trim": True},
    )
    assert thing.check({"icon": None}) == ({"level": "INFO", "icon": "tag"}, [])
    assert thing.check({"level": "error", "note": None})[0]["level"] == "ERROR"
    assert thing.check({"note": " x "})[0]["note"] == "x"
    assert thing.check({"level": None})[1] == ["level: must be a text"]


def test_alternatives_beside_fields(tmp_path: Path) -> None:
    """What an object is, and what one of several kinds of it adds."""
    add = {"properties": {"action": {"const": "add"}, "size": {"type": "integer", "default": 3}}}
    contents = {"type": "object", "properties": {"name": NAME, "on": {"type": "boolean", "default": True}}}
    for word in ("oneOf", "anyOf"):
        thing = schema(tmp_path, {**contents, word: [{"required": ["action"]}, {"required": ["name"]}]})
        assert thing.check({"name": " a "}) == ({"name": "a", "on": True}, [])
        assert schema(tmp_path, {**contents, word: [{"type": "object", **add}]}).check({"name": " a "})[0] == {
            "name": "a", "on": True, "size": 3,
        }  # fmt: skip


def test_the_given_value_is_not_changed(tmp_path: Path) -> None:
    given_body = {"name": " a ", "list": [{"name": " b "}]}
    inner = {"type": "array", "items": {"type": "object", "properties": {"name": NAME}}}
    checked, problems = fields(tmp_path, name=NAME, list=inner).check(given_body)
    assert (checked, problems) == ({"name": "a", "list": [{"name": "b"}]}, [])
    assert given_body == {"name": " a ", "list": [{"name": " b "}]}


@pytest.mark.parametrize(
    ("form", "text", "value"),
    [
        ("timestamp", "2026-01-03T10:00:00.9+01:00", "2026-01-03 09:00:00"),
        ("timestamp", "2026-01-03 10:00:00", "2026-01-03 10:00:00"), ("timestamp", "2026-01-03", None),
        ("moment", "2026-01-03", "2026-01-03 00:00:00"), ("moment", "2026-01-03T10:00:00Z", "2026-01-03 10:00:00"),
        ("moment", "soon", None), ("date", "2026-02-29", None), ("date", "2024-02-29", "2024-02-29"),
        ("timezone", "Europe/Berlin", "Europe/Berlin"), ("timezone", "UTC", "UTC"), ("timezone", "Mars/Base", None),
        ("timezone", "../../etc/passwd", None), ("timezone", "/etc/localtime", None), ("timezone", "", None),
        ("timezone", "Europe", None), ("timezone", "leapseconds", None),
    ],
)  # fmt: skip
def test_formats(tmp_path: Path, form: str, text: str, value: str | None) -> None:
    checked, problems = fields(tmp_path, at={"type": "string", "format": form}).check({"at": text})
    if value is None:
        assert len(problems) == 1 and problems[0].startswith("at: must be a ")
    else:
        assert (checked, problems) == ({"at": value}, [])


def test_own_messages_and_references(tmp_path: Path) -> None:
    (tmp_path / "definitions").mkdir()
    color = {"type": "string", "pattern": "^#[0-9a-f]{6}$(?!\\n)", "x-message": "must be # and six hex digits"}
    (tmp_path / "definitions" / "own.json").write_text(json.dumps({"$defs": {"color": color}}), encoding="utf-8")
    thing = fields(
        tmp_path, color={"$ref": "/definitions/own.json#/$defs/color"}, page={"$ref": "/definitions/page.json"}
    )
    assert thing.check({}) == ({"page": 1}, [])
    for text in ("#abc", "abcdef", "#abcdeg", "#abcdef\n", "", 5):
        assert thing.check({"color": text})[1] == ["color: must be # and six hex digits"]


def test_problems_name_nested_fields_in_the_order_of_the_schema(tmp_path: Path) -> None:
    event = {
        "type": "object",
        "properties": {"message": {**NAME, "x-message": "must not be blank"}},
        "required": ["message"],
    }
    contents = {
        "type": "object",
        "properties": {"first": {"type": "integer"}, "events": {"type": "array", "items": event}, "last": NAME},
        "required": ["last"],
    }
    thing = schema(tmp_path, contents)
    body = {"events": [{"message": "a"}, {"message": " "}, {}], "first": "x"}
    assert thing.check(body)[1] == [
        "first: must be a whole number", "events[1].message: must not be blank", "events[2].message: is required",
        "last: is required",
    ]  # fmt: skip
    assert thing.check([])[1] == ["body: must be an object"]


def test_query_values_are_typed(tmp_path: Path) -> None:
    properties = {
        "q": {"type": "string", "maxLength": 5},
        "page": {"$ref": "/definitions/page.json"},
        "on": {"type": "boolean"},
        "status": {"type": "array", "items": {"type": "string", "enum": ["open", "fixed"]}},
    }
    query = schema(tmp_path, {"type": "object", "properties": properties}, "query")
    assert query.read_query({}) == ({"page": 1}, [])
    assert query.read_query({"page": "", "on": "", "q": ""}) == ({"page": 1}, [])
    raw = {"page": "7", "on": "1", "status": " open,,fixed ,", "other": "x", "q": "a,b"}
    assert query.read_query(raw) == ({"page": 7, "on": True, "status": ["open", "fixed"], "q": "a,b"}, [])


@pytest.mark.parametrize("text", ["yes", "TRUE", "2", "on", "01", " true", "true "])
def test_booleans_of_a_query(tmp_path: Path, text: str) -> None:
    query = schema(tmp_path, {"properties": {"on": {"type": "boolean"}}}, "query")
    assert query.read_query({"on": text})[1] == ["on: must be true, false, 1 or 0"]


@pytest.mark.parametrize("text", ["0", "x", "-1", "1000001", "1.0", "+1", "٣", "1_0", "9" * 19, "9" * 20, "1\n", "0x1"])
def test_pages_of_a_query(tmp_path: Path, text: str) -> None:
    query = schema(tmp_path, {"properties": {"page": {"$ref": "/definitions/page.json"}}}, "query")
    _, problems = query.read_query({"page": text})
    assert len(problems) == 1 and problems[0].startswith("page: must be ")


def test_problems_of_a_query_come_in_the_order_of_the_schema(tmp_path: Path) -> None:
    properties = {"a": {"type": "string", "maxLength": 1}, "b": {"type": "integer"}, "c": {"type": "string"}}
    query = schema(tmp_path, {"type": "object", "properties": properties, "required": ["b", "c"]}, "query")
    problems = query.read_query({"b": "x", "a": "long"})[1]
    assert [problem.split(":")[0] for problem in problems] == ["a", "b", "c"]
    many = ",".join("x" * 21)
    lists = schema(tmp_path, {"properties": {"l": {"type": "array"}}}, "query")
    assert lists.read_query({"l": many})[1] == ["l: must have at most 20 values"]
    assert lists.read_query({"l": r"a=1\,5, b,\,"})[0] == {"l": ["a=1,5", "b", ","]}


def test_every_kind_of_value_in_every_kind_of_field(tmp_path: Path) -> None:
    """Whatever JSON comes, the answer is problems, never an exception."""
    kinds: list[dict[str, Any]] = [
        NAME, {"type": "integer"}, {"type": "boolean"}, {"type": "number", "minimum": 0}, {"type": ["integer", "null"]},
        {"type": "array", "items": NAME, "maxItems": 2, "uniqueItems": True},
        {"enum": ["a", 1, None]}, {"const": "YES"},
        {"type": "string", "format": "timestamp"}, {"anyOf": [NAME, {"type": "array", "items": NAME}]},
        {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"name": NAME}, "additionalProperties": False}]},
        {"type": "object", "properties": {"name": NAME}, "required": ["name"], "minProperties": 1},
    ]  # fmt: skip
    values: list[Any] = [
        None,
        True,
        0,
        1.0,
        -1,
        1e300,
        "",
        " ",
        "a",
        "a" * 9,
        "2026-01-03 10:00:00",
        [],
        ["a", "a"],
        [None],
    ]
    values += [{}, {"name": " b "}, {"name": 1}, {"other": {}}, [[[]]]]
    for number, kind in enumerate(kinds):
        folder = tmp_path / str(number)
        folder.mkdir()
        thing = fields(folder, field=kind)
        for value in values:
            _, problems = thing.check({"field": value})
            assert all(problem.startswith("field") and ": " in problem for problem in problems), (kind, value)


def unworded(node: Any, place: str = "", worded: bool = False) -> list[str]:
    """Return the rules of a schema that no sentence can be made of."""
    if isinstance(node, list):
        return [found for number, item in enumerate(node) for found in unworded(item, f"{place}/{number}", worded)]
    if not isinstance(node, dict):
        return []
    named = place.endswith(("/properties", "/$defs"))
    found = [f"{place}/{name}" for name, rule in node.items() if named and rule is False]
    if not named and "x-message" not in node and not worded:
        found += [f"{place}/{name}" for name in sorted(WORDLESS & set(node))]
    for name, inner in node.items():
        covered = name in ("anyOf", "oneOf", "not") and "x-message" in node
        found += unworded(inner, f"{place}/{name}", covered or worded)
    return found


@pytest.mark.parametrize("file", REQUESTS)
def test_every_rule_for_requests_has_words(file: str) -> None:
    """A message names the field and what it must be; "does not have the required form" says neither."""
    assert unworded(json.loads((ROOT / file).read_text(encoding="utf-8"))) == []

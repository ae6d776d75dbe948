"""What a request may cost before it is refused: sizes are checked first, and nothing is checked that is not shown."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from snaglist.kernel.errors import MAX_PROBLEMS, Invalid
from snaglist.kernel.schemas import Schema, Schemas, unsafe
from snaglist.testing import Client

pytestmark = pytest.mark.whole

ROOT = Path(__file__).parents[2]
ENOUGH = MAX_PROBLEMS + 1
BODIES = sorted(file.relative_to(ROOT / "schemas").as_posix() for file in (ROOT / "schemas").glob("*/*-body.json"))
REQUESTS = sorted(
    file.relative_to(ROOT).as_posix()
    for folder in ("schemas", "plugins-extra")
    for pattern in ("*-body.json", "*-query.json", "definitions/connector-*.json")
    for file in (ROOT / folder).rglob(pattern)
    if file.name not in ("connector-plan.json", "connector-run.json")  # of answers
)


def schema(folder: Path, contents: dict[str, Any]) -> Schema:
    (folder / "thing").mkdir(exist_ok=True)
    (folder / "thing" / "post-body.json").write_text(json.dumps(contents), encoding="utf-8")
    found = Schemas(lambda name: {}).find(folder, "thing", "POST", "body")
    assert found is not None
    return found


def work(action: Callable[..., Any], *given: Any) -> int:
    """Return how many functions a call makes: what it costs, whatever else the machine does."""
    calls = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        action(*given)
    finally:
        sys.setprofile(before)
    return calls


def values(size: int) -> Iterator[Any]:
    yield ["x"] * size
    yield [{"x": None}] * size
    yield [["x"] * (size // 10)] * 10
    yield {f"k{n}": ["x"] for n in range(size)}
    yield "x" * size


@pytest.mark.parametrize("file", BODIES)
def test_a_large_wrong_field_costs_what_a_small_one_does(file: str) -> None:
    """Every field of every request, with a hundred times more of every wrong kind of value."""
    api, part = file.split("/")
    found = Schemas(lambda name: {}).find(files("snaglist.schemas"), api, part.split("-")[0], "body")
    assert found is not None
    fields = {"config", "target", *found.contents.get("properties", {})}
    for name in sorted(fields):
        for small, large in zip(values(200), values(20_000), strict=True):
            found.check({name: small})
            costs = [work(found.check, {name: value}) for value in (small, large)]
            assert costs[1] < 4 * costs[0] + 4_000, (name, str(small)[:20])


@pytest.mark.parametrize("kind", ["local", "ssh", "url"])
def test_large_wrong_fields_of_connectors(kind: str) -> None:
    """The request of which 200,000 paths took five seconds."""
    found = Schemas(lambda name: {}).find(files("snaglist.schemas"), "connectors", "POST", "body")
    assert found is not None

    def cost(size: int) -> int:
        config = {name: value for name in ("paths", "options", "directory") for value in values(size)}
        config |= {"paths": ["x"] * size, "options": {f"k{n}": [] for n in range(size)}}
        return work(found.check, {"name": "x", "type": kind, "config": config})

    cost(1)
    assert cost(20_000) < 4 * cost(200) + 4_000


def test_lists_texts_and_objects_are_measured_before_anything_looks_inside(tmp_path: Path) -> None:
    inner = {"type": "array", "maxItems": 2, "items": {"type": "string", "pattern": "^a"}}
    thing = schema(tmp_path, {
        "type": "object",
        "properties": {
            "list": {"type": "array", "maxItems": 3, "uniqueItems": True, "items": inner, "x-message": "is wrong"},
            "plain": {"type": "array", "maxItems": 3, "minItems": 1, "items": {"type": "integer"}},
            "any": {"anyOf": [{"type": "array", "maxItems": 1, "items": {"type": "integer"}}, {"type": "null"}]},
            "map": {"type": "object", "maxProperties": 2, "additionalProperties": {"type": "string"},
                    "x-message": "must hold at most 2"},
            "text": {"type": "string", "maxLength": 3, "pattern": "^a", "format": "date"},
        },
    })  # fmt: skip
    assert thing.check({"list": [["b"]] * 4})[1] == ["list: is wrong"]
    assert thing.check({"list": [["b"], ["a"] * 3]})[1] == [
        "list[0][0]: does not have the required form", "list[1]: must have at most 2 values",
    ]  # fmt: skip
    assert thing.check({"plain": ["x"] * 4})[1] == ["plain: must have 1-3 values"]
    assert thing.check({"any": ["x", "y"]})[1] == ["any: must have at most 1 values"]
    assert thing.check({"map": {"a": 1, "b": 1, "c": 1}})[1] == ["map: must hold at most 2"]
    assert thing.check({"map": {"a": 1}})[1] == ["map.a: must be a text"]


def test_no_more_problems_are_looked_for_than_are_shown(tmp_path: Path) -> None:
    """A plugin's list without a limit is bounded by the body's, and cheap when it is wrong."""
    item = {"anyOf": [{"type": "object", "properties": {"at": {"type": "string", "format": "date"}}}, {"type": "null"}]}
    dates = {"type": "array", "items": {"type": "string", "format": "date"}}
    thing = schema(
        tmp_path, {"type": "object", "properties": {"list": {"type": "array", "items": item}, "dates": dates}}
    )
    for body in ({"list": [5]}, {"list": [[5]]}, {"dates": ["soon"]}, {"list": [{"at": "soon"}]}):
        ((name, content),) = body.items()
        assert work(thing.check, {name: content * 20_000}) < 60 * 20_000, (
            "an item is prepared, but its problem is not worded"
        )
        assert len(thing.check({name: content * 200})[1]) == ENOUGH
    assert thing.check({"dates": ["2026-01-03"] * 200})[1] == []


def test_a_list_of_distinct_things_is_looked_through_once(tmp_path: Path) -> None:
    """Comparing each with each would take hours."""
    thing = schema(tmp_path, {"properties": {"list": {"type": "array", "uniqueItems": True}}})
    mixed: list[Any] = [value for n in range(5_000) for value in (n, str(n), {"n": n}, [n], None if n else True)]
    costs = [work(thing.check, {"list": [*mixed[:size], None]}) for size in (1_000, 10_000)]
    assert costs[1] < 15 * costs[0]


@given(st.lists(st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | st.text("a1", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("a1", max_size=1), inner, max_size=2),
), max_size=6))  # fmt: skip
def test_what_counts_as_twice(tmp_path: Path, value: list[Any]) -> None:
    contents = {"properties": {"list": {"uniqueItems": True}}}
    problems = schema(tmp_path, contents).check({"list": value})[1]
    assert (problems == []) == Draft202012Validator(contents).is_valid({"list": value})
    assert problems in ([], ["list: must not hold a value twice"])


def test_what_no_schema_may_allow_ends_early() -> None:
    for bad in ("\x00", "\ud800", 2**64, {"\x00": 1}):
        assert len(unsafe({"list": [bad] * 5_000}, 9)[0]) == ENOUGH
        assert work(unsafe, [bad] * 50_000, 9) < 1_000
    assert unsafe({"a": [{"b": 1}, {"c d": ["\x00"]}], "e": "\x00"}, 9)[0] == [
        "a[1].c d[0]: must not hold U+0000", "e: must not hold U+0000",
    ]  # fmt: skip
    assert unsafe("\x00", 9)[0] == ["body: must not hold U+0000"]


def test_ten_problems_are_shown_and_that_there_are_more() -> None:
    assert Invalid(f"{n}: x" for n in range(10)).message.endswith("; 9: x")
    assert Invalid(f"{n}: x" for n in range(11)).message.endswith("; 9: x; and more")
    assert len(Invalid(["x" * 5] * 11).message) < 100


def arrays(root: Path, file: Path, node: Any, place: str) -> Iterator[tuple[str, bool]]:
    """Give every array of a request schema, and whether it has a limit; references are followed."""
    if isinstance(node, list):
        for number, inner in enumerate(node):
            yield from arrays(root, file, inner, f"{place}/{number}")
    if not isinstance(node, dict):
        return
    node = dict(node)
    reference = node.pop("$ref", "")
    if reference:
        name, _, pointer = reference.partition("#")
        file = root / name.lstrip("/") if name else file
        if not file.exists():
            root, file = ROOT / "schemas", ROOT / "schemas" / name.lstrip("/")
        target = json.loads(file.read_text(encoding="utf-8"))
        for step in pointer.strip("/").split("/") if pointer.strip("/") else ():
            target = target[step]
        node = {**target, **node}
        node.pop("$defs", None)
    kinds = node.get("type", ())
    if not place.endswith(("/properties", "/$defs")) and ("array" in kinds or "items" in node):
        yield place, "maxItems" in node
    for name, inner in node.items():
        if name != "$defs":
            yield from arrays(root, file, inner, f"{place}/{name}")


@pytest.mark.parametrize("file", REQUESTS)
def test_every_list_of_a_request_has_a_limit(file: str) -> None:
    path = ROOT / file
    found = dict(arrays(path.parents[1], path, json.loads(path.read_text(encoding="utf-8")), ""))
    assert [place for place, limited in found.items() if not limited] == []


def test_a_body_of_a_megabyte_is_refused_for_its_size(sqlite_client: Client) -> None:
    for count in (101, 200_000):
        config = {"host": "h", "user": "u", "paths": ["x"] * count}
        answer = sqlite_client.post("connectors", {"name": "x", "type": "ssh", "config": config})
        assert answer.status == 422
        assert "config.paths: must have 1-100 values" in answer.error
        assert len(answer.error) < 200

"""Query strings and bodies."""

import gzip
import io
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.kernel import bodies
from snaglist.kernel.errors import BadRequest, ServiceError, TooLarge, UnsupportedMedia
from snaglist.kernel.schemas import MAX_INTEGER, unsafe

plain = st.text(st.characters(codec="utf-8", exclude_characters="\x00"))


@given(st.dictionaries(plain.filter(bool), plain), st.sampled_from([quote, quote_plus]))
def test_parameters_come_back(values: dict[str, str], quoting: Any) -> None:
    text = "&".join(f"{quoting(name, safe='')}={quoting(value, safe='')}" for name, value in values.items())
    assert bodies.parse_query(text) == values


@given(st.text(st.characters(codec="latin-1")))
def test_any_query_string_is_read_or_refused(text: str) -> None:
    """WSGI hands over latin-1 text: nothing else than BadRequest may come of it."""
    try:
        values = bodies.parse_query(text)
    except BadRequest:
        return
    assert all("\x00" not in part for pair in values.items() for part in pair)


@pytest.mark.parametrize(
    "text", ["a=1&a=1", "a=1&%61=2", "q=%FF", "q=%", "q=%4", "q=%zz", "q=a%00b", "%00=1", "q=%ED%A0%80", "q=\xff"]
)
def test_refused_queries(text: str) -> None:
    with pytest.raises(BadRequest):
        bodies.parse_query(text)


def test_parts_of_a_query() -> None:
    assert bodies.parse_query("&&a&b=&c=1=2&d=%2B+x&") == {"a": "", "b": "", "c": "1=2", "d": "+ x"}


def environ(body: bytes, **more: str) -> dict[str, Any]:
    return {"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body)), "CONTENT_TYPE": "application/json"} | more


@pytest.mark.parametrize("length", ["-1", "1x", "１", "1, 1", "+1", "9" * 5000])
def test_bad_content_length(length: str) -> None:
    with pytest.raises(BadRequest):
        bodies.read_body(environ(b"{}", CONTENT_LENGTH=length), 10)


def test_body_limits() -> None:
    assert bodies.read_body(environ(b"0123456789"), 10) == b"0123456789"
    with pytest.raises(TooLarge):
        bodies.read_body(environ(b"01234567890"), 10)
    with pytest.raises(BadRequest):
        bodies.read_body(environ(b"01", CONTENT_LENGTH="3"), 10)


def test_body_without_a_length() -> None:
    """A server that ends the stream by itself may leave the length out; else there is no body."""
    streamed: dict[str, Any] = {"wsgi.input": io.BytesIO(b"01234567890"), "wsgi.input_terminated": True}
    with pytest.raises(TooLarge):
        bodies.read_body(streamed, 10)
    assert bodies.read_body({"wsgi.input": io.BytesIO(b"123")}, 10) == b""


@pytest.mark.parametrize(
    "body",
    [
        b'{"name":', b'{"name":NaN}', b'{"a":Infinity}', b'{"a":-Infinity}', b'{"a":1,"a":2}', b'{"a":{"b":1,"b":1}}',
        b"\xff", b'{"a":"\xed\xa0\x80"}', b"[" * 200_000, b"{}{}", b"{'a':1}", b" ",
    ],
)  # fmt: skip
def test_bodies_that_are_not_json(body: bytes) -> None:
    """What is no JSON object is 400 or 422."""
    with pytest.raises(BadRequest):
        bodies.parse_json(body)


def test_bodies_that_are_json() -> None:
    assert bodies.parse_json(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert bodies.parse_json(b"[1]") == [1]


def test_an_integer_of_any_length_is_too_large_and_no_bad_json() -> None:
    """Beyond 64 bits is 422, also beyond the digits that Python converts; the field is named."""
    for digits in ("9" * 20, "9" * 4301, "-" + "9" * 100_000):
        value = bodies.parse_json(b'{"a":1,"thing":{"id":%s}}' % digits.encode())
        assert value["a"] == 1
        assert unsafe(value, bodies.MAX_DEPTH) == (["thing.id: must be at most 9223372036854775807"], False)
    for body in (b'{"a":%s,"a":1}' % (b"9" * 5000), b"[%s,NaN]" % (b"9" * 5000)):
        with pytest.raises(BadRequest):
            bodies.parse_json(body)


@pytest.mark.parametrize("kind", ["application/problem+json; charset=UTF-8", 'Application/JSON;charset="utf-8"'])
def test_content_types_of_json(kind: str) -> None:
    bodies.check_json_type({"CONTENT_TYPE": kind})


def test_the_media_type() -> None:
    assert bodies.media_type({"CONTENT_TYPE": " Application/X-NDJSON ; charset=utf-8"}) == "application/x-ndjson"
    assert bodies.media_type({}) == ""
    with pytest.raises(UnsupportedMedia):
        bodies.media_type({"CONTENT_TYPE": "text/plain; charset=latin-1"})


@pytest.mark.parametrize(
    "kind",
    [
        "",
        "text/plain",
        "application/xml",
        "application/json; charset=iso-8859-1",
        "json",
        "text/json",
        "application/json2",
    ],
)
def test_content_types_that_are_refused(kind: str) -> None:
    with pytest.raises(UnsupportedMedia):
        bodies.check_json_type({"CONTENT_TYPE": kind})


@pytest.mark.parametrize("coding", ["gzip", "br", "identity, gzip"])
def test_content_codings_that_are_refused(coding: str) -> None:
    with pytest.raises(UnsupportedMedia):
        bodies.decode({"HTTP_CONTENT_ENCODING": coding}, b"{}")


@pytest.mark.parametrize("coding", ["", "identity", "Identity ", "deflate"])
def test_an_empty_body_has_no_coding_and_plain_ones_need_none(coding: str) -> None:
    assert bodies.decode({"HTTP_CONTENT_ENCODING": coding}, b"", 5) == b""
    if coding != "deflate":
        assert bodies.decode({"HTTP_CONTENT_ENCODING": coding}, b"abc") == b"abc"


def test_gzip_is_unpacked_up_to_a_limit() -> None:
    """A megabyte of zeros is a kilobyte packed: the limit holds while it is unpacked."""
    coded = {"HTTP_CONTENT_ENCODING": "GZIP"}
    assert bodies.decode(coded, gzip.compress(b"0123456789"), 10) == b"0123456789"
    assert bodies.decode(coded, gzip.compress(b"01234") + gzip.compress(b"56789"), 10) == b"0123456789"
    for bomb in (gzip.compress(b"01234567890"), gzip.compress(bytes(1_000_000)), gzip.compress(b"012345") * 2):
        with pytest.raises(TooLarge):
            bodies.decode(coded, bomb, 10)


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b[:5], lambda b: b"no" + b, lambda b: b + b"more",
                                    lambda b: b[:12] + b"\xff\xff" + b[14:], lambda b: b[:-8] + bytes(8)])  # fmt: skip
def test_broken_gzip(damage: Callable[[bytes], bytes]) -> None:
    with pytest.raises(BadRequest):
        bodies.decode({"HTTP_CONTENT_ENCODING": "gzip"}, damage(gzip.compress(b"0123456789" * 3)), 100)


@given(st.binary(max_size=200), st.text(st.characters(codec="latin-1"), max_size=40))
def test_any_bytes_are_json_or_a_refusal(body: bytes, kind: str) -> None:
    for content_type in (kind, "application/json"):
        try:
            bodies.check_json_type({"CONTENT_TYPE": content_type})
            bodies.parse_json(body)
        except ServiceError as error:
            assert error.status in (400, 415)
            assert error.message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_what_no_schema_may_allow(value: Any) -> None:
    """U+0000, half surrogates and numbers beyond 64 bits are named; all else passes."""
    problems, too_deep = unsafe(value, 128)
    texts, numbers = _leaves(value)
    bad_text = any("\x00" in text or any("\ud800" <= c <= "\udfff" for c in text) for text in texts)
    infinite = float("inf")
    bad_number = any(
        abs(number) > MAX_INTEGER if isinstance(number, int) else abs(number) == infinite for number in numbers
    )
    assert not too_deep
    assert bool(problems) == (bad_text or bad_number)


def _leaves(value: Any) -> tuple[list[str], list[int | float]]:
    texts: list[str] = []
    numbers: list[int | float] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, int | float):
            numbers.append(item)
        elif isinstance(item, dict):
            texts += item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return texts, numbers


def test_depth_and_names_of_unsafe_values() -> None:
    nested: Any = "x"
    for _ in range(128):
        nested = [nested]
    assert unsafe(nested, 128) == ([], False)
    assert unsafe([nested], 128)[1]
    body = json.loads('{"a":[{"b":"x\\u0000"},{"c":"\\ud800"}],"d":1e400,"e\\n":1}')
    problems, _ = unsafe(body, 128)
    assert sorted(problem.split(":")[0] for problem in problems) == ["a[0].b", "a[1].c", "d"]

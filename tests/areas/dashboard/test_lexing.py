"""Reading the text of browser modules as tokens: exact, or refused."""

from pathlib import Path

import pytest

from snaglist.plugins.dashboard.lexing import Unclear, compact, tokens

ROOT = Path(__file__).parents[3]


def texts(source: str) -> list[str]:
    """Strings, numbers, regular expressions and pieces of templates."""
    return [token.text for token in tokens(source) if token.kind == "text"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a / b / c", []),
        ("(a) / b / c", []),
        ("a[0] / b / c", ["0"]),
        ("this.if(a) / b / c", []),
        ("x.return / b / c", []),
        ("1 / `${a}` / c", ["1", "`${", "}`"]),
        ("if (a) /b/.test(c)", ["/b/"]),
        ("for await (const a of b) /c/.test(a)", ["/c/"]),
        ("await (a) / b / c", []),
        ("return /[/`]/g", ["/[/`]/g"]),
        ("a = /\\//u", ["/\\//u"]),
        ("`${/}/.test(a)}`", ["`${", "/}/", "}`"]),
        ("`a\\`${b + `c${{}}` + '}'}d$e`", ["`a\\`${", "`c${", "}`", "'}'", "}d$e`"]),
        ("'it\\'s' + \"/*\"", ["'it\\'s'", '"/*"']),
        ("// it's\na", []),
        ("/* ` */ a /= 2", ["2"]),
    ],
)
def test_texts_are_found(source: str, found: list[str]) -> None:
    assert texts(source) == found
    assert "".join(token.text for token in tokens(source)) == source


@pytest.mark.parametrize(
    "source",
    [
        "a++ / b / c",
        "function f() {} /b/.test(c)",
        "yield /b/",
        "/[[a]]/v",
        "/a",
        "'a",
        "`a${b`",
        "`a",
        "(a",
        "a)",
        "(a]",
        "a\u00a0b",
        "a\u2028b",
        "// a\u2028b",
        "\\u0061 = 1",
        "@a class B {}",
        "#!/usr/bin/env node",
    ],
)
def test_what_is_not_sure_is_refused(source: str) -> None:
    with pytest.raises(Unclear):
        tokens(source)


def test_tokens_that_stood_apart_still_do() -> None:
    assert compact(tokens("  return/**/a\n\n  // b\n  /* c\n  */ ++d  /**/ ;\n")) == "return a\n++d ;"


def test_the_dashboard_is_the_same_without_comments() -> None:
    paths = sorted((ROOT / "plugins").rglob("ui/**/*.js"))
    assert len(paths) > 50
    for path in paths:
        found = [token.text for token in tokens(path.read_text()) if token.seen]
        short = compact(tokens(path.read_text()))
        assert [token.text for token in tokens(short) if token.seen] == found, path
        assert all(token.kind != "comment" for token in tokens(short)), path

"""Read the text of a browser module as tokens: what is code, what is text, what is a comment.

Exact or not at all: where a slash may divide or open a regular expression and the tokens before it do not tell which,
the text is refused. So whatever is built on the tokens never touches a string, a template or a regular expression.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple


class Unclear(ValueError):
    """A text cannot be read for sure; the message says what stands in the way."""


class Token(NamedTuple):
    """One token. `kind` is `word`, `sign`, `text` (not to be changed), `comment`, `space` or `line` (line ends).

    `depth` tells how many brackets are open around it; a bracket itself counts as outside.
    """

    kind: str
    text: str
    start: int
    depth: int

    @property
    def seen(self) -> bool:
        """Tell whether it means something: neither space nor a comment."""
        return self.kind in ("word", "sign", "text")


_TOKEN = re.compile(
    r"(?P<space>[ \t]+)|(?P<line>(?:\r?\n)+)|(?P<comment>//[^\r\n\u2028\u2029]*|/\*[^\u2028\u2029]*?\*/)"
    r"""|(?P<text>"(?:[^"\\\r\n]|\\(?:\r\n|.))*"|'(?:[^'\\\r\n]|\\(?:\r\n|.))*'|\.?[0-9][\w.]*)"""
    r"|(?P<word>#?(?:[^\W\d]|\$)[\w$]*)"
    r"|(?P<sign>=>|\.\.\.|\?\.(?![0-9])|(?:>>>|>>|<<|\*\*|&&|\|\||\?\?|[-+*%&|^])=|[=!]==?|[<>]=|\+\+|--|&&|\|\||\?\?"
    r"|[-+*%&|^!~?:=<>.,;(){}\[\]])",
    re.DOTALL,
)
_TEMPLATE = re.compile(r"(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)
# Without the flag `v`, whose classes may hold classes.
_REGEX = re.compile(r"/(?:[^\\/\[\r\n]|\\[^\r\n]|\[(?:[^\]\\\r\n]|\\[^\r\n])*\])+/[a-uw-z]*(?![\w$])")
_CLOSING = {"(": ")", "[": "]", "{": "}", "${": "}"}
# Behind these words a value begins; behind those it depends on what they are.
_BEFORE_VALUE = {
    "return", "typeof", "case", "in", "instanceof", "delete", "void", "throw", "new", "else", "do",
    "extends", "default",
}  # fmt: skip
_UNCLEAR = {"yield", "await", "of", "let", "async", "static", "get", "set"}
_HEADS = {"if", "while", "for", "with"}


def tokens(text: str) -> list[Token]:
    """Split a text into all its tokens: joined together they are the text. Unclear for what cannot be told."""
    return list(_split(text))


def compact(found: list[Token]) -> str:
    """The text without comments, indentation and empty lines: every token that means something stays, byte for byte.

    Tokens that stood apart still do, and those that stood on two lines, for a line end may end a statement.
    """
    parts: list[str] = []
    gap = ""
    for token in found:
        if token.seen:
            parts += [gap, token.text] if parts else [token.text]
            gap = ""
        elif gap != "\n":
            gap = "\n" if "\n" in token.text or "\r" in token.text else gap or " "
    return "".join(parts)


def _split(text: str) -> Iterator[Token]:
    before: list[Token] = []  # the last two tokens that are seen
    opened: list[tuple[str, bool]] = []  # each open bracket, and whether it is the head of a statement such as `if`
    head = False  # whether the last `)` closed such a head
    at = 0
    while at < len(text):
        kind, end = _next(text, at, before, head)
        token = Token(kind, text[at:end], at, len(opened))
        if kind == "sign" and token.text in _CLOSING:
            opened.append((token.text, token.text == "(" and _heads(before)))
        elif kind == "sign" and token.text in (")", "]", "}"):
            bracket, head = opened.pop() if opened else ("", False)
            if _CLOSING.get(bracket) != token.text:
                raise Unclear(f"{token.text!r} closes nothing")
            if bracket == "${":
                token = Token("text", token.text + _piece(text, end), at, len(opened))
                end = at + len(token.text)
            else:
                token = token._replace(depth=len(opened))
        elif text[at] == "`":
            token = Token("text", "`" + _piece(text, at + 1), at, len(opened))
            end = at + len(token.text)
        if token.kind == "text" and token.text.endswith("${") and token.text[0] in "`}":
            opened.append(("${", False))
        yield token
        if token.seen:
            before = [*before[-1:], token]
        at = end
    if opened:
        raise Unclear(f"{opened[-1][0]!r} is not closed")


def _next(text: str, at: int, before: list[Token], head: bool) -> tuple[str, int]:
    """The kind and the end of the token at a place; templates are read by the caller."""
    if text[at] == "`":
        return "text", at + 1
    if found := _TOKEN.match(text, at):
        return str(found.lastgroup), found.end()
    if text[at] != "/":
        raise Unclear(f"{text[at]!r} outside a text")
    if not _value_follows(before, head):
        return "sign", at + (2 if text.startswith("/=", at) else 1)
    regex = _REGEX.match(text, at)
    if regex is None:
        raise Unclear("a regular expression of another form")
    return "text", regex.end()


def _value_follows(before: list[Token], head: bool) -> bool:
    """Tell whether a slash opens a regular expression, for a value must follow; otherwise it divides."""
    if not before:
        return True
    last = before[-1]
    if last.kind == "word":
        if len(before) > 1 and before[0].text in (".", "?."):
            return False
        if last.text in _UNCLEAR:
            raise Unclear(f"a slash behind {last.text}")
        return last.text in _BEFORE_VALUE
    if last.kind == "text":
        # The end of a hole and of its template, or a piece that opens the next hole.
        return last.text[0] in "`}" and last.text.endswith("${")
    if last.text in ("}", "++", "--"):
        raise Unclear(f"a slash behind {last.text}")
    return head if last.text == ")" else last.text != "]"


def _heads(before: list[Token]) -> bool:
    """Tell whether a bracket opens the head of a statement, behind which no division can stand."""
    names = [token.text for token in before]
    if names == ["for", "await"]:
        return True
    return bool(names) and names[-1] in _HEADS and names[0] not in (".", "?.")


def _piece(text: str, at: int) -> str:
    found = _TEMPLATE.match(text, at)
    if found is None:
        raise Unclear("a template is not closed")
    return found[0]

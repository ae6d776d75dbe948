"""Values that span blanks: quoted text and printed structures. Done before a message is split into tokens."""

import re
from collections.abc import Callable

from snaglist.plugins.issues.grouping.names import PLACEHOLDER

# A longer quotation is text with a stray quote in it.
_SHORT = "{0,500}+"
_END = r"(?=[\s,.;:!?)\]}>|=/<-]|\Z)"
_INSIDE = r"'(?![\s,.;:!?)\]}>|=/<-]|\Z)"  # an apostrophe or a doubled quote
_QUOTED_OF_VERSION_2 = re.compile(
    rf"""(?<![\w\\"])"(?:[^"\\]|\\.){_SHORT}"{_END}"""
    rf"""|(?<![\w\\'`])'(?:[^'\\]|\\.|{_INSIDE}){_SHORT}'{_END}"""
    rf"""|[“„][^“”„]{_SHORT}[”“]|«[^«»]{_SHORT}»|‘[^‘’]{_SHORT}’{_END}""",
    re.DOTALL,
)
_QUOTED = re.compile(
    rf"""(?<=\w=)"(?:[^"\\]|\\.){{0,4000}}+"{_END}|"""  # what is assigned ends with its quote, however long it is
    + _QUOTED_OF_VERSION_2.pattern,
    re.DOTALL,
)
# A text in quotes that is all of a message, or all of it before pairs of keys and values.
_WHOLE = re.compile(
    rf"""\s*+(?:"((?:[^"\\]|\\.)*+)"|'((?:[^'\\]|\\.|{_INSIDE})*+)'|[“„]([^“”„]*+)[”“]|«([^«»]*+)»)(?!\w)""", re.DOTALL
)
_PAIR_BEHIND = re.compile(r"[\s,;|]{1,8}[A-Za-z_][\w./-]{0,80}=")
_ESCAPED = re.compile(r"\\([\"'\\])")
_MOST_NESTED = 3
# A quoted name behind one of these words names a part of the program or of its schema, so it is fixed text.
_NAMED = re.compile(
    r"\b(?:key|column|table|relation|constraint|index|field|attribute|property|parameter|argument|option|variable|function"
    r"|method|class|module|interface|trait|type|schema|view|trigger|sequence|template|directive|keyword|operator"
    r"|package|extension|named?|event|listener|handler|global|constant|result|status|state|reason|reading|setting"
    r"|(?:msg|message|error|err|reason|cause|detail)[=:]) ?\Z",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$.\\:/-]*\Z")
_SENTENCE_KEY = re.compile(r"\b(?:msg|message|error|err|reason|cause|detail) ?[=:] ?\Z", re.IGNORECASE)
_CODE_KEY = re.compile(r"\b(?:code|status|errno|sqlstate) ?\Z", re.IGNORECASE)
_CODE = re.compile(r"\d{1,5}|[0-9A-Z]{5}", re.ASCII)
_REQUEST = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) /\S*")
_LOOK_BACK = 24

_STRUCTURE = re.compile(
    r"=[\w.]*+[\[({](?=.)|\{(?=\s?[\"'{\\]|[\w.-]++\s?[:=]|(?<=\w\{))(?<![\"']\{)"
    r"|\[(?<![\"']\[)(?=[\"'{])|\((?<=[a-zA-Z]\()(?=[a-z_]\w*+=)",
    re.DOTALL,
)
_QUOTED_OR_STRUCTURE = re.compile(rf"(?P<quoted>{_QUOTED.pattern})|{_STRUCTURE.pattern}", re.DOTALL)
_NESTING = re.compile(
    rf"""\"(?:[^\"\\]|\\.){_SHORT}\"|(?<!\w)'(?:[^'\\]|\\.){_SHORT}'|([\[({{])|([\])}}])""", re.DOTALL
)
_EMPTY = ("[]", "{}")
_TAIL = re.compile(r"\s*(?:(?:\[\]|\{\})\s*)*\Z")


def quoted_message(text: str) -> tuple[str, str] | None:
    """Return a message that stands in quotes, without them, and what stands behind it: nothing, or key=value pairs."""
    found = _WHOLE.match(text)
    if found is None:
        return None
    rest = text[found.end() :].rstrip()
    if rest and not _PAIR_BEHIND.match(rest):
        return None
    inner = next(part for part in found.groups() if part is not None)
    return (_ESCAPED.sub(r"\1", inner), rest) if inner.strip() else None


def mask_spans(text: str, *, cut: bool, quotations: Callable[[str], str] | None = None) -> str:
    """Mask printed structures and quotations; a trailing structure is context and goes altogether.

    `cut` tells that the text is the beginning of a longer one, so that a structure may lack its end. `quotations`
    masks the quotations as an earlier version did.
    """
    if "{" in text or "[" in text or "(" in text:
        text = _mask_structures(text, cut)
    if '"' in text or "'" in text or not text.isascii():
        text = quotations(text) if quotations else _mask_quotations(text)
    return text


def _mask_structures(text: str, cut: bool) -> str:
    kept: list[str] = []
    end = position = 0
    context = 0  # how many of the last pieces are trailing context
    opening = _QUOTED_OR_STRUCTURE if '"' in text or "'" in text else _STRUCTURE
    while found := opening.search(text, position):
        if found.lastgroup:  # a bracket within a quotation opens nothing
            position = found.end()
            continue
        start, inner = found.start(), found.end() - 1
        assigned = text[start] == "="
        start += assigned
        close = _close(text, inner)
        if close is None:
            if not cut:
                break
            close = len(text)
        if not _TAIL.match(text, end, start):
            context = 0
        bracket = text[inner]
        prefix = text[end:start]
        if bracket == "(" and not assigned:
            kept += [prefix, f"({PLACEHOLDER})"]
            context = 0
        else:
            kept += [prefix, PLACEHOLDER]
            free = not assigned and (not prefix or prefix[-1].isspace()) and start > 0
            context = context + 1 if free else 0
        end = position = close
    rest = _without_tail(text[end:])
    if context and not rest:
        del kept[len(kept) - 2 * context + 1 :]
        while len(kept) > 1 and not kept[-1].strip():
            kept.pop()
        return "".join(kept).rstrip() or PLACEHOLDER
    return "".join(kept) + rest if kept or rest.strip() else text


def _without_tail(text: str) -> str:
    """Return a text without the empty structures and blanks at its end."""
    # Not by a search for the pattern: from each blank of a long run it would try to reach the end.
    text = text.rstrip()
    end = len(text)
    while text.endswith(_EMPTY, 0, end):
        end -= 2
        while end and text[end - 1].isspace():
            end -= 1
    return text[:end]


def _close(text: str, position: int) -> int | None:
    """Return where the bracket that opens at `position` is closed."""
    depth = 0
    for found in _NESTING.finditer(text, position):
        if found[1]:
            depth += 1
        elif found[2]:
            depth -= 1
            if not depth:
                return found.end()
    return None


def _mask_quotations(text: str, depth: int = 0) -> str:
    if depth == _MOST_NESTED:
        return text
    message = quoted_message(text)
    if message is not None:
        return _mask_quotations(message[0], depth + 1) + _mask_quotations(message[1], depth + 1)

    def replace(found: re.Match[str]) -> str:
        said = _said(text, found)
        if said is None or _SENTENCE_KEY.search(text, max(0, found.start() - _LOOK_BACK), found.start()) is None:
            return PLACEHOLDER if said is None else said
        return _mask_quotations(_ESCAPED.sub(r"\1", said), depth + 1)

    return _QUOTED.sub(replace, text)


def mask_quotations_of_version_2(text: str) -> str:
    """Return the text as it was masked before quotations within sentences were looked at."""

    def replace(found: re.Match[str]) -> str:
        if len(found[0]) == len(text.strip()):
            return found[0][1:-1]
        return _said(text, found) or PLACEHOLDER

    return _QUOTED_OF_VERSION_2.sub(replace, text)


def _said(text: str, found: re.Match[str]) -> str | None:
    """Return what stays of a quotation: a code, a sentence, a name of the program; None when it is a value."""
    quoted = found[0]
    inner = quoted[1:-1]
    before = text[max(0, found.start() - _LOOK_BACK) : found.start()]
    if _CODE_KEY.search(before) and _CODE.fullmatch(inner):
        return quoted
    if _SENTENCE_KEY.search(before) or _REQUEST.match(inner):
        return inner
    return quoted if _NAMED.search(before) and _IDENTIFIER.match(inner) else None

"""Atlassian Document Format, in which Jira Cloud keeps descriptions and comments, and plain text."""

from collections.abc import Mapping
from typing import Any

from snaglist.plugins.tracker.texts import inside

_BLOCKS = ("paragraph", "heading", "codeBlock", "listItem", "blockquote", "tableRow", "rule", "mediaSingle", "panel")
_MAX_DEPTH = 50


def to_text(document: Any) -> str:
    """Return the text of a document; a string (API version 2) is text already."""
    if isinstance(document, str):
        return document
    found: list[str] = []
    _collect(document, found, 0)
    lines = [line.rstrip() for line in "".join(found).splitlines()]
    return "\n".join(line for at, line in enumerate(lines) if line or (at and lines[at - 1])).strip()


def _collect(node: Any, found: list[str], depth: int) -> None:
    if not isinstance(node, Mapping) or depth > _MAX_DEPTH:
        return
    attributes = inside(node, "attrs")
    kind = node.get("type")
    if kind == "text":
        found.append(str(node.get("text") or ""))
    elif kind == "hardBreak":
        found.append("\n")
    elif kind in ("mention", "emoji", "status", "inlineCard", "date"):
        found.append(str(attributes.get("text") or attributes.get("url") or attributes.get("shortName") or ""))
    for inner in node.get("content") or ():
        _collect(inner, found, depth + 1)
    if kind in _BLOCKS:
        found.append("\n")


def from_text(text: str) -> dict[str, Any]:
    """Return a document: what stands between fences of backticks is code as it is, each other line a paragraph."""
    content: list[dict[str, Any]] = []
    fence, code = "", list[str]()
    for line in text.splitlines():
        if fence and line == fence:
            content += [_block("codeBlock", "\n".join(code))] if any(code) else []
            fence, code = "", []
        elif fence:
            code.append(line)
        elif line.startswith("```") and not line.strip("`"):
            fence = line
        elif line.strip():
            content.append(_block("paragraph", line))
    content += [_block("codeBlock", "\n".join(code))] if any(code) else []
    return {"type": "doc", "version": 1, "content": content}


def _block(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "content": [{"type": "text", "text": text}]}

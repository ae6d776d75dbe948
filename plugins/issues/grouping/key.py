"""The grouping key: a pure function of the event that decides which issue it belongs to."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from snaglist.kernel import digest
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.grouping.frames import ExceptionParts
from snaglist.plugins.issues.grouping.names import PLACEHOLDER
from snaglist.plugins.issues.grouping.paths import path_template
from snaglist.plugins.issues.grouping.templates import template
from snaglist.plugins.issues.noting import note_failure

VERSION = 3
_MEMO_SIZE = 8192
_PLAIN_LIMIT = 500
_DIGITS = re.compile(r"\d+")


class GroupingKey:
    """Key text, its parts and its fingerprint. Equal keys may be one shared object: do not change the parts."""

    __slots__ = ("fingerprint", "key", "parts", "version")

    def __init__(self, key: str, parts: Mapping[str, Any]) -> None:
        self.fingerprint = digest(key)
        self.version = VERSION
        self.key = key
        self.parts = parts

    def __repr__(self) -> str:
        return f"GroupingKey({self.key!r})"


_text_keys: dict[tuple[int | None, str, str], GroupingKey] = {}


def grouping_key(event: Event, module_id: int | None) -> GroupingKey:
    """Return the key of an event in a module; one that masking fails for is known by its plain text."""
    try:
        return key_masked_by(template, event, module_id)
    except Exception as error:
        said = str(event.message)
        note_failure("grouping", error, f"the message with the digest {digest(said)[:32]}")
        plain = _DIGITS.sub(PLACEHOLDER, " ".join(said[:_PLAIN_LIMIT].split()))
        head = "-" if module_id is None else str(module_id)
        parts = _parts(module_id, event.family)
        return GroupingKey(f"{head}|{event.family}|plain|{plain}", parts)


def key_masked_by(mask: Callable[[str], str], event: Event, module_id: int | None) -> GroupingKey:
    """Return the key of an event with its texts masked by a function."""
    if event.fingerprint is not None:
        return _build(module_id, event.family, custom=event.fingerprint)
    if event.access is not None:
        access = event.access
        line = {"method": access.method, "path": path_template(access.path, "{id}"), "status": access.status}
        return _build(module_id, event.family, access=line)
    if event.exceptions:
        return _exception_key(mask, event, module_id)
    text = mask(event.message if event.template is None else event.template)
    known = _text_keys.get((module_id, event.family, text))
    if known is None:
        known = _build(module_id, event.family, text=text)
        if len(_text_keys) >= _MEMO_SIZE:
            _text_keys.clear()
        _text_keys[module_id, event.family, text] = known
    return known


def _exception_key(mask: Callable[[str], str], event: Event, module_id: int | None) -> GroupingKey:
    chain: dict[str, ExceptionParts] = {}
    for exception in event.exceptions:
        part = ExceptionParts(exception)
        chain.setdefault(part.text(), part)  # members of a group that are alike count once
    parts = list(chain.values())
    deciding = ExceptionParts(event.exceptions[-1])
    places = any(part.frames for part in parts)
    text = None if places and deciding.frames and not deciding.vague else _exception_text(mask, event)
    return _build(module_id, event.family, exceptions=parts, text=text)


def _exception_text(mask: Callable[[str], str], event: Event) -> str:
    raised = event.exceptions[-1].message
    said = event.message if event.template is None else event.template
    if not raised.strip() or raised in said:
        return mask(said)
    return mask(raised) if said in raised else f"{mask(said)}: {mask(raised)}"


def _build(
    module_id: int | None,
    family: str,
    *,
    exceptions: Sequence[ExceptionParts] = (),
    text: str | None = None,
    custom: str | None = None,
    access: Mapping[str, Any] | None = None,
) -> GroupingKey:
    parts = _parts(module_id, family, exceptions, text, custom)
    head = "-" if module_id is None else str(module_id)
    if custom is not None:
        return GroupingKey(f"{head}|custom|{custom}", parts)
    if access is not None:
        parts["access"] = access
        return GroupingKey(f"{head}|{family}|{access['method']} {access['path']} {access['status']}", parts)
    key = f"{head}|{family}|{';'.join(part.text() for part in exceptions)}"
    return GroupingKey(key if text is None else f"{key}|{text}", parts)


def _parts(
    module_id: int | None,
    family: str,
    exceptions: Sequence[ExceptionParts] = (),
    text: str | None = None,
    custom: str | None = None,
) -> dict[str, Any]:
    return {
        "module": module_id,
        "family": family,
        "exceptions": [{"class": part.type, "frames": part.frames} for part in exceptions],
        "template": text,
        "custom": custom,
    }

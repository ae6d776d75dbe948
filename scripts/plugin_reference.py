"""The reference in docs/plugins.md: every hook, and the public names a plugin may import, from their docstrings."""

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnCollection

from snaglist import kernel

# Of the kernel's modules these are shown with their text; the others, which plugins rarely need, as lists of names.
_SHOWN: dict[str, tuple[str, ...]] = {
    "columns": (
        "id_column", "reference", "text", "number", "real", "flag", "moment", "document", "data", "metadata",
    ),
    "database": ("upsert", "insert_ignore", "contains", "chunks"),
    "ddl": (),
    "store": ("get_setting", "put_setting", "get_settings"),
}  # fmt: skip
_AREAS: dict[str, tuple[str, ...]] = {
    "snaglist.testing": ("running_service", "Client", "Answer"),
    "snaglist.plugins.issues": (
        "Event", "ExceptionInfo", "Frame", "AccessInfo", "EventSource", "StoredEvent", "StoredBatch", "IssueChange",
        "store_events", "create_issue", "change_status", "resolve_issue_id", "stored",
    ),
    "snaglist.plugins.system": (
        "Job", "JobCall", "Cancelled", "LeaseLost", "job_reply", "job_state", "command", "group", "Session", "table",
        "HealthCheck", "Figure", "Problem", "Metric", "StoredSecret", "rows",
    ),
    "snaglist.plugins.tags": (),
    "snaglist.plugins.logs": (
        "Parser", "Clock", "LineBatch", "AccessLine", "Reader", "read_file", "allowed_roots", "stored",
    ),
    "snaglist.plugins.connectors": (),
    "snaglist.plugins.alerting": (),
    "snaglist.plugins.tracker": (),
}  # fmt: skip
MODES = """\
## Hooks

A plugin's functions are marked with `snaglist.kernel.hookimpl`; they may leave out arguments they do not need. An
argument or a hook that does not exist makes the plugin `failed`, unless it is marked `hookimpl(optionalhook=True)`, as
hooks of areas that may be missing are. Core areas are called first, then plugins by name, each after those in `after`;
`tryfirst=True` and `trylast=True` change that. Wrappers are refused.

| Mode | When | What a failure does |
|---|---|---|
| collect | once at start, before any request | the plugin is `failed` and contributes nothing; the rest starts |
| robust | inside the transaction of what happened, for plugins enabled in that application | its rows are undone, it \
shows as `last_error`, the request goes on |
| chain | as robust; the result replaces the value for the next plugin, `None` leaves it | the value stays as it was |
| direct | where something is done, as the hook says | is in the log, or as the hook says |
"""
NAMES = """\
## Names

What may be imported, and from where. [What may change](#what-may-change) says what is promised of these.
"""


def plugin_reference(hooks: Mapping[str, tuple[str, str]]) -> str:
    """Return the reference; `hooks` holds signature and text of each."""
    parts = [MODES, *(f"### `{signature}`\n\n{text}\n" for signature, text in hooks.values()), NAMES]
    parts += _module("snaglist.kernel", ())
    for name, text in re.findall(r"^- `(\w+)`: (.+)$", kernel.__doc__ or "", re.MULTILINE):
        parts += _module(f"snaglist.kernel.{name}", _SHOWN.get(name), text)
    for module, chosen in _AREAS.items():
        parts += _module(module, chosen)
    return "\n".join(parts)


def _module(name: str, chosen: Sequence[str] | None, about: str = "") -> Iterator[str]:
    """Give the entries of the `chosen` names of a module, of all of them when it is empty, and the list of the rest."""
    module = importlib.import_module(name)
    hooks = [one for one, thing in vars(module).items() if hasattr(thing, "snaglist_spec")]
    public = list(getattr(module, "__all__", hooks))
    yield f"### `{name}`\n"
    if about:
        yield f"{about[0].upper()}{about[1:]}.\n"
    shown = public if chosen == () else chosen or ()
    for item in shown:
        thing = getattr(module, item)
        # The kernel's modules, which no list chooses, have sections of their own.
        yield _entry(item, thing) + (_inside(thing) if chosen and inspect.ismodule(thing) else "")
    if rest := [item for item in public if item not in shown]:
        yield f"{'Also: ' if shown else ''}{', '.join(f'`{item}`' for item in rest)}.\n"


def _entry(name: str, thing: Any) -> str:
    if inspect.ismodule(thing):
        return f"- module `{name}`: {_first(thing)}\n"
    if not inspect.isclass(thing) and not inspect.isroutine(thing):
        return f"- `{name}`\n"
    lines = [f"#### `{name}{_signature(thing)}`\n", _text(thing), ""]
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        lines += [f"- `{member}`: {text}" for member, text in _members(thing)]
        lines += [""] if lines[-1] else []
    return "\n".join(lines)


def _inside(module: Any) -> str:
    """Return what a module promises: its functions, and the columns of each table."""
    shown = ""
    for name, thing in vars(module).items():
        full = f"{module.__name__.rpartition('.')[2]}.{name}"
        if isinstance(thing, ColumnCollection) and not name.startswith("_"):
            shown += f"  - `{full}`: {', '.join(f'`{column.key}`' for column in thing)}\n"
        elif inspect.isfunction(thing) and thing.__module__ == module.__name__ and not name.startswith("_"):
            shown += f"  - `{full}{_signature(thing)}`: {_first(thing)}\n"
    return shown


def _members(kind: type) -> Iterator[tuple[str, str]]:
    for name, member in vars(kind).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if not name.startswith("_") and inspect.isfunction(function):
            shown = name if isinstance(member, property) else f"{name}{_signature(function)}"
            yield shown, _first(function)


def _signature(thing: Any) -> str:
    """Return the arguments, with defaults as they are written; fields of a dataclass as its constructor takes them."""
    if getattr(thing, "_is_protocol", False):
        return ""
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    shown = [_parameter(one) for one in signature.parameters.values() if one.name != "self"]
    if dataclasses.is_dataclass(thing) and len(shown) > 8:
        shown = [one.partition("=")[0] if "factory" in one else one for one in shown]
    return f"({', '.join(_starred(shown, signature))})"


def _starred(shown: list[str], signature: inspect.Signature) -> list[str]:
    kinds = [one.kind for one in signature.parameters.values() if one.name != "self"]
    named = [at for at, kind in enumerate(kinds) if kind is inspect.Parameter.KEYWORD_ONLY]
    if named and inspect.Parameter.VAR_POSITIONAL not in kinds:
        return [*shown[: named[0]], "*", *shown[named[0] :]]
    return shown


def _parameter(one: inspect.Parameter) -> str:
    mark = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(one.kind, "")
    if one.default is inspect.Parameter.empty:
        return mark + one.name
    default = repr(one.default)
    return f"{one.name}={'…' if default.startswith('<') or len(default) > 30 else default}"


def _text(thing: Any) -> str:
    """Return the documentation; a generated one that repeats the signature says nothing."""
    text = inspect.cleandoc(thing.__doc__ or "")
    return "" if re.match(rf"{thing.__name__}\(", text) else text


def _first(thing: Any) -> str:
    return _text(thing).partition("\n\n")[0].replace("\n", " ")

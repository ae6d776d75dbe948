"""Exceptions as loggers put them into JSON: text, objects, objects with causes."""

from collections.abc import Mapping
from typing import Any

from snaglist.plugins.issues import CodeContext, ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces import read_trace
from snaglist.plugins.logs.parsers.traces.php import in_app, read_objects

_TYPES = ("type", "class", "name", "kind", "exception_class", "className")
_MESSAGES = ("message", "msg", "localizedMessage", "value")
_STACKS = ("stack", "stack_trace", "stacktrace", "stackTrace", "extendedStackTrace", "traceback", "trace", "backtrace")
_CAUSES = ("cause", "previous", "inner", "innerException", "caused_by")
_FUNCTIONS = ("function", "method", "methodName", "name")
_CODE = ("context_line", "code", "source_line")
_MAX_DEPTH = 20
_MAX_ITEMS = 300


def read(value: object) -> tuple[list[ExceptionInfo], str]:
    """Return the exceptions in raise order and the trace as text; both empty when nothing was understood."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _object(value, 0)
    if isinstance(value, list):
        if value and all(isinstance(item, Mapping) and "exc_type" in item for item in value):
            return _listed(value[:_MAX_DEPTH])
        lines = [item for item in value[:_MAX_ITEMS] if isinstance(item, str)]
        return _text("\n".join(lines)) if lines else ([], "")
    return [], ""


def _text(text: str) -> tuple[list[ExceptionInfo], str]:
    if text.startswith("[object] ("):
        return read_objects(text), text
    lines = text.replace("\r\n", "\n").split("\n")
    trace = read_trace(lines)
    if trace is not None and trace.exceptions:
        return trace.exceptions, text
    return [], text if len(lines) > 1 else ""


def _object(value: Mapping[str, Any], depth: int) -> tuple[list[ExceptionInfo], str]:
    name, message = _first_text(value, _TYPES), _first_text(value, _MESSAGES)
    exceptions: list[ExceptionInfo] = []
    stack = ""
    for key in _STACKS:
        given = value.get(key)
        if isinstance(given, str):
            exceptions, stack = _text(given)
        elif isinstance(given, list) and given:
            frames, stack = _frames(given, value)
            if frames and name:
                exceptions = [ExceptionInfo(name, message, frames)]
        if stack or exceptions:
            break
    if name and not exceptions:
        exceptions = [ExceptionInfo(name, message)]
    elif exceptions and name:
        exceptions[-1].type = name
        exceptions[-1].message = exceptions[-1].message or message
    if exceptions and depth < _MAX_DEPTH:
        for key in _CAUSES:
            cause = value.get(key)
            if isinstance(cause, Mapping):
                earlier, more = _object(cause, depth + 1)
                exceptions = [*earlier, *exceptions]
                stack = f"{stack}\nCaused by: {more}" if more else stack
                break
    return exceptions, stack


def _listed(items: list[Mapping[str, Any]]) -> tuple[list[ExceptionInfo], str]:
    """Read exceptions as structlog lists them: the one raised last comes first, the innermost frame last."""
    exceptions, shown = [], []
    for item in reversed(items):
        given = item.get("frames")
        frames, stack = _frames(list(reversed(given)) if isinstance(given, list) else [], {})
        name, message = _first_text(item, ("exc_type",)), _first_text(item, ("exc_value",))
        exceptions.append(ExceptionInfo(name, message, frames))
        shown += [f"{name}: {message}", stack]
    return exceptions, "\n".join(text for text in shown if text)


def _frames(items: list[Any], value: Mapping[str, Any]) -> tuple[list[Frame], str]:
    """Read a list of frames: texts, or objects with file, line and function."""
    frames: list[Frame] = []
    shown: list[str] = []
    file = value.get("file")
    if isinstance(file, str):
        items = [file, *items]
    for item in items[:_MAX_ITEMS]:
        if isinstance(item, str):
            path, _, row = item.rpartition(":")
            known = path and row.isdigit()
            frames.append(Frame(None, path, int(row[:9]), None, in_app(path)) if known else Frame(item))
            shown.append(item)
        elif isinstance(item, Mapping):
            frame = _frame(item)
            frames.append(frame)
            shown.append(f"{frame.function or '?'} ({frame.file or '?'}:{frame.line or '?'})")
    return frames, "\n".join(shown)


def _frame(item: Mapping[str, Any]) -> Frame:
    file = _first_text(item, ("file", "fileName", "filename")) or None
    owner, function = _first_text(item, ("class", "className")), _first_text(item, _FUNCTIONS)
    row = item.get("lineno") or item.get("lineNumber") or item.get("line")
    name = f"{owner}.{function}" if owner and function else function or owner or None
    code = _first_text(item, _CODE) or (_first_text(item, ("line",)) if "lineno" in item else "")
    context = CodeContext(code.strip()) if code.strip() else None
    return Frame(name, file, row if isinstance(row, int) else None, None, in_app(file), context)


def _first_text(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
    return ""

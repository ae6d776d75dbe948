"""Exceptions and stacks of a Sentry event, as data and as a text to read.

The format: https://develop.sentry.dev/sdk/foundations/transport/event-payloads/exception/ and …/stacktrace/.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from snaglist.plugins.issues import CodeContext, ExceptionInfo, Frame, clean

MAX_EXCEPTIONS = 50
MAX_FRAMES = 250
MAX_TEXT = 1_000  # of a name, a path or a line of code
AROUND = 5  # lines of code before and behind the one of a frame
MAX_MESSAGE = 100_000
_AROUND_NAMES = ("pre_context", "post_context")
_SCRIPT = ("javascript", "node")
_QUALIFIED = ("java", "kotlin", "scala", "csharp")  # whose functions have their class in `module`


def listed(value: Any) -> list[Any]:
    """Return a list that stands alone or under `values`, as both are sent; empty for what is neither."""
    if isinstance(value, dict):
        value = value.get("values", [value])
    return value if isinstance(value, list) else []


def exceptions_in(event: Mapping[str, Any]) -> list[ExceptionInfo]:
    """Return the exceptions, the one raised last at the end: the order they are sent in."""
    platform = event.get("platform")
    given = [one for one in listed(event.get("exception")) if isinstance(one, dict)]
    return [_exception(one, platform) for one in given[-MAX_EXCEPTIONS:]]


def stack_text(event: Mapping[str, Any], exceptions: Sequence[ExceptionInfo]) -> str:
    """Return the stacks as a text, each with the lines of source that were sent; without exceptions, a thread's."""
    script = event.get("platform") in _SCRIPT
    given = [one for one in listed(event.get("exception")) if isinstance(one, dict)][-MAX_EXCEPTIONS:]
    if not exceptions:
        stack = _thread_stack(event)
        return "\n".join(_lines(stack, script)) if stack else ""
    parts = []
    for one, sent in zip(exceptions, given, strict=True):
        said = f"{one.type}: {one.message}" if one.message else one.type
        lines = list(_lines(sent.get("stacktrace"), script))
        parts.append("\n".join([said, *lines] if script else [_HEADING, *lines, said] if lines else [said]))
    if script:
        return "\nCaused by: ".join(reversed(parts))
    return "\n\nDuring handling of the above exception, another exception occurred:\n\n".join(parts)


_HEADING = "Traceback (most recent call last):"


def _exception(given: Mapping[str, Any], platform: Any) -> ExceptionInfo:
    kind = _text(given.get("type")) or "Error"
    said = given.get("value")
    message = (
        clean(said[:MAX_MESSAGE]) if isinstance(said, str) else "" if said is None else clean(str(said))[:MAX_TEXT]
    )
    frames = [_frame(frame, platform) for frame in _frames(given.get("stacktrace"))]
    return ExceptionInfo(kind, message.strip(), frames[::-1])  # they are sent outermost first


def _frames(stack: Any) -> Sequence[Mapping[str, Any]]:
    frames = stack.get("frames") if isinstance(stack, dict) else None
    given = [frame for frame in frames if isinstance(frame, dict)] if isinstance(frames, list) else []
    return given[-MAX_FRAMES:]


def _frame(given: Mapping[str, Any], platform: Any) -> Frame:
    function, module = _text(given.get("function")), _text(given.get("module"))
    if function and module and platform in _QUALIFIED:
        function = f"{module}.{function}"
    return Frame(
        function,
        _place(given),
        _number(given, "lineno"),
        _number(given, "colno"),
        given.get("in_app") is not False,
        _context(given),
    )


def _context(given: Mapping[str, Any]) -> CodeContext | None:
    """Return the code of a frame; None when the line that it is at was not sent, or says nothing."""
    line = given.get("context_line")
    if not isinstance(line, str) or not line.strip():
        return None
    if given.get("in_app") is False:
        return CodeContext(_code(line))
    pre, post = (found if isinstance(found := given.get(name), list) else [] for name in _AROUND_NAMES)
    return CodeContext(_code(line), _all_code(pre[-AROUND:]), _all_code(post[:AROUND]))


def _all_code(lines: Sequence[Any]) -> tuple[str, ...]:
    return tuple(_code(line) if isinstance(line, str) else "" for line in lines)


def _code(line: str) -> str:
    return clean(line[:MAX_TEXT].rstrip())


def _place(given: Mapping[str, Any]) -> str | None:
    return _text(given.get("filename")) or _text(given.get("abs_path")) or _text(given.get("module"))


def _lines(stack: Any, script: bool) -> Iterator[str]:
    frames = _frames(stack)
    for given in reversed(frames) if script else frames:
        place, function = _place(given) or "<unknown>", _text(given.get("function"))
        line, column = _number(given, "lineno"), _number(given, "colno")
        if script:
            at = ":".join(str(part) for part in (place, line, column) if part is not None)
            yield f"    at {function} ({at})" if function else f"    at {at}"
            continue
        yield f'  File "{place}", line {line or 0}, in {function or "<unknown>"}'
        source = given.get("context_line")
        if isinstance(source, str) and source.strip():
            yield f"    {_code(source).strip()}"


def _thread_stack(event: Mapping[str, Any]) -> Any:
    threads = [one for one in listed(event.get("threads")) if isinstance(one, dict)]
    stacks = [one.get("stacktrace") for one in threads if one.get("crashed") or one.get("current")]
    return next((stack for stack in stacks if stack), event.get("stacktrace"))


def _text(value: Any) -> str | None:
    return (clean(value.strip())[:MAX_TEXT] or None) if isinstance(value, str) else None


def _number(given: Mapping[str, Any], name: str) -> int | None:
    value = given.get(name)
    return value if type(value) is int and 0 <= value < 2**31 else None

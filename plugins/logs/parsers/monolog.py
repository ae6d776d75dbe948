"""Monolog's line format, as Laravel and Symfony write it: `[time] channel.LEVEL: message context extra`."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import Event, ExceptionInfo
from snaglist.plugins.logs.parsers import json_exceptions
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.body import split_body
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.context import dump, split_context
from snaglist.plugins.logs.parsers.traces import php

_HEADER = re.compile(
    r"\[(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^\]\s]{0,20})\] ([^\s\[\]:]{1,100})"
    r"\.(DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL|ALERT|EMERGENCY):(?: |$)",
    re.ASCII,
)
_OBJECT = ' {"exception":"[object] ('


class Monolog(Parser):
    """Lines of Monolog's LineFormatter. The word before the level is the environment."""

    log_type = "monolog"
    begins = "["

    def header(self, line: str) -> tuple[re.Match[str], str] | None:
        """Match the time, the channel and the level."""
        if line[:1] != "[":
            return None
        found = _HEADER.match(line)
        return (found, line) if found else None

    def event(self, header: tuple[re.Match[str], str], lines: Sequence[str], clock: Clock) -> Event:
        """Split message, context and exception."""
        found, line = header
        time, environment, level = found.groups()
        event = Event("", severity=level, occurred_at=clock.iso(time), environment=environment)
        _fill(event, line[found.end() :], lines)
        return event


def _fill(event: Event, first: str, lines: Sequence[str]) -> None:
    text = "\n".join([first, *lines]) if lines else first
    message, trailing, values = split_context(text)
    if not trailing and lines:
        place = text.find(_OBJECT)
        if place >= 0:  # cut off in the middle of the exception, so it is no JSON any more
            message, trailing = text[:place], text[place + 1 :]
            stack = trailing[len(_OBJECT) - len("[object] (") - 1 :]
            event.exceptions, event.stack, event.message = php.read_objects(stack), stack, message.strip()
            return
    if values and isinstance(values[0], dict) and "exception" in values[0]:
        exceptions, stack = _exception(values[0]["exception"])
        if exceptions or stack:
            rest = {name: value for name, value in values[0].items() if name != "exception"}
            kept = [value for value in (rest, *values[1:]) if value]
            event.exceptions, event.stack = exceptions, stack
            event.message, event.context = message.strip(), " ".join(dump(value) for value in kept)
            return
    if lines and not trailing:
        body = split_body(first, lines)
        event.message, event.stack, event.context = body.message, body.stack, body.context
        event.exceptions = body.exceptions
        return
    event.message, event.context = message.strip(), trailing


def _exception(value: object) -> tuple[list[ExceptionInfo], str]:
    if isinstance(value, str) and value.startswith("[object] ("):
        return php.read_objects(value), value
    return json_exceptions.read(value)

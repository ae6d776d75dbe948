"""A Sentry event as an event of snaglist.

The format: https://develop.sentry.dev/sdk/foundations/transport/event-payloads/
"""

import math
import re
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from snaglist.kernel import clip, times
from snaglist.plugins.issues import Event, ExceptionInfo, clean
from snaglist.plugins.logs import MAX_BREADCRUMBS, Pruner, Pushed, by_level, redacted_names, structure_of
from snaglist_sentry.exceptions import exceptions_in, listed, stack_text

CHANNEL = "sentry"
FUTURE_SECONDS = 300
MAX_MESSAGE = 1_000_000
MAX_STACK = 1_000_000
MAX_PREVIEW = 200
MAX_FINGERPRINT = 200
MAX_ISSUE_TAGS = 20
MAX_TAG = 80
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
# A conversion of Python, of no more width than a line of a log has (docs.python.org: printf-style String Formatting).
_CONVERSION = re.compile(r"%(?:\(([^()]{1,200})\))?([#0 +-]{0,5}\d{0,3}(?:\.\d{0,3})?)[hlL]?([diouxXeEfFgGcrsa%])")
_DEFAULT = re.compile(r"\{\{\s*default\s*\}\}")
# Parts of an event that its context keeps as they are.
_KEPT = ("user", "contexts", "extra", "transaction", "logger", "dist", "platform", "sdk")


class Unfit(Exception):
    """An event that cannot be stored, and why."""


class Converter:
    """Makes events of what was sent at one time, with the names that must not be stored and those that become tags.

    `user_in` is what `user_reader` returns.
    """

    def __init__(
        self,
        now: str,
        redacted: frozenset[str],
        issue_tags: Collection[str],
        user_in: Callable[[Mapping[str, Any]], str | None],
    ) -> None:
        self._now, self._redacted, self._issue_tags, self._user_in = now, redacted, issue_tags, user_in

    def convert(self, given: Any, envelope_id: str | None = None) -> Pushed:
        """Return an event; Unfit for what says nothing. What is wrong in its optional parts is left out."""
        if not isinstance(given, dict):
            raise Unfit("must be an object")
        exceptions = exceptions_in(given)
        said, template = _said(given)
        message = _title(exceptions[-1]) if exceptions else said
        if not message:
            raise Unfit("event: must have an exception or a message")
        stack = stack_text(given, exceptions)
        moment = _moment(given.get("timestamp"), self._now)
        tags = _tags(given.get("tags"))
        context, cut = self._context(given, tags, said if exceptions and said != message else "")
        severity = by_level(given.get("level"))
        event = Event(
            message[:MAX_MESSAGE],
            severity=severity or "ERROR",
            level_source="line" if severity else "none",
            occurred_at=moment or self._now,
            time_source="event" if moment else "received",
            log_type="http",
            channel=CHANNEL,
            environment=_short(given.get("environment"), 100) or "production",
            exceptions=exceptions,
            stack=stack[:MAX_STACK],
            context=context,
            preview=context[:MAX_PREVIEW],
            release=_short(given.get("release"), 120),
            server_name=_short(given.get("server_name"), 200),
            event_id=_event_id(given.get("event_id"), envelope_id),
            template=None if exceptions else template,
            fingerprint=_fingerprint(given.get("fingerprint"), exceptions, template or said),
            tags=self._tags_of_issue(tags),
            truncated=cut or len(message) > MAX_MESSAGE or len(stack) > MAX_STACK,
            user=self._user_in({"user": given.get("user")}),
        )
        return Pushed(event, structure=structure_of(exceptions))

    def _context(self, given: Mapping[str, Any], tags: Mapping[str, str], said: str) -> tuple[str, bool]:
        values = {name: given[name] for name in _KEPT if given.get(name)}
        if said:
            values["message"] = said
        if tags:
            values["tags"] = dict(tags)
        if isinstance(given.get("request"), dict):
            values["request"] = self._request(given["request"])
        crumbs = [self._crumb(one) for one in listed(given.get("breadcrumbs")) if isinstance(one, dict)]
        if crumbs:
            values["breadcrumbs"] = crumbs[-MAX_BREADCRUMBS:]
        pruner = Pruner(self._redacted)
        return pruner.text(values), pruner.cut

    def _request(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request whose parts are objects, so that what must not be stored is found by its name."""
        request = {name: value for name, value in given.items() if name != "cookies"}
        for name in ("headers", "query_string", "data", "env"):
            value = request.get(name)
            if isinstance(value, list):
                request[name] = {str(pair[0]): pair[1] for pair in value if isinstance(pair, list) and len(pair) == 2}
            elif isinstance(value, str) and name in ("query_string", "data") and "=" in value:
                request[name] = dict(parse_qsl(value.removeprefix("?"), keep_blank_values=True)) or value
        if isinstance(request.get("url"), str):
            request["url"] = self._address(request["url"])
        return request

    def _crumb(self, given: Mapping[str, Any]) -> dict[str, Any]:
        crumb = dict(given)
        if isinstance(crumb.get("data"), dict):
            data = crumb["data"]
            crumb["data"] = {
                name: self._address(value) if isinstance(value, str) and "?" in value else value
                for name, value in data.items()
            }
        return crumb

    def _address(self, url: str) -> str:
        """Return a URL whose parameters of forbidden names have no value."""
        url = clean(url)  # lone surrogates cannot be escaped
        try:
            parts = urlsplit(url)
            pairs = parse_qsl(parts.query, keep_blank_values=True)
        except ValueError:
            return url.partition("?")[0]
        hidden = {name for name, _ in pairs if redacted_names((name,)) <= self._redacted}
        if not hidden:
            return url
        kept = [(name, "[redacted]" if name in hidden else value) for name, value in pairs]
        return urlunsplit(parts._replace(query=urlencode(kept, safe="[]")))

    def _tags_of_issue(self, tags: Mapping[str, str]) -> list[str]:
        named = [f"{name}:{value}" for name, value in tags.items() if name in self._issue_tags]
        return [tag for tag in named if len(tag) <= MAX_TAG][:MAX_ISSUE_TAGS]


def _said(given: Mapping[str, Any]) -> tuple[str, str | None]:
    """Return the message, and its template when the logger gave one; as `logentry`, or as `message` of old."""
    said, template = _read_entry(given.get("logentry"))
    return (said, template) if said else _read_entry(given.get("message"))


def _read_entry(entry: Any) -> tuple[str, str | None]:
    if isinstance(entry, str):
        return clean(entry.strip()), None
    if not isinstance(entry, dict):
        return "", None
    template = entry.get("message")
    formatted = entry.get("formatted")
    template = clean(template.strip()) if isinstance(template, str) else ""
    if not isinstance(formatted, str) or not formatted.strip():
        formatted = _filled(template, entry.get("params"))
    text = clean(formatted.strip())
    return text, template if template and template != text else None


def _filled(template: str, params: Any) -> str:
    """Fill a template of Python's `%` style; as it is when the parameters do not fit.

    A few characters can ask for any width, and for one long value any number of times: the text ends behind what is
    kept of it.
    """
    if not params or not isinstance(params, list | dict):
        return template
    parts: list[str] = []
    length = done = used = 0
    try:
        for found in _CONVERSION.finditer(template):
            name, form, kind = found.groups()
            filled = "%"
            if kind != "%":
                if (name is not None) != isinstance(params, dict):
                    return template
                value = params[name] if isinstance(params, dict) else params[used]
                used += 1
                filled = f"%{form}{kind}" % (value,)
            parts += [template[done : found.start()], filled]
            length, done = length + len(parts[-1]) + len(parts[-2]), found.end()
            if length > MAX_MESSAGE:
                return "".join(parts)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError):
        return template
    if isinstance(params, list) and used < len(params):
        return template
    return "".join([*parts, template[done:]])


def _title(exception: ExceptionInfo) -> str:
    return f"{exception.type}: {exception.message}" if exception.message else exception.type


def _moment(value: Any, now: str) -> str | None:
    """Return a time given as text or as seconds since 1970; None when it cannot be read or lies in the future."""
    try:
        if isinstance(value, str):
            moment = times.parse(value.strip())
        elif isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 and math.isfinite(value):
            moment = times.from_stamp(value)
        else:
            return None
    except (ValueError, OverflowError, OSError):
        return None
    return moment if "1970" <= moment <= times.add(now, seconds=FUTURE_SECONDS) else None


def _event_id(*candidates: Any) -> str:
    for one in candidates:
        text = one.replace("-", "").lower() if isinstance(one, str) else ""
        if _ID.fullmatch(text):
            return text
    return uuid.uuid4().hex


def _fingerprint(value: Any, exceptions: list[ExceptionInfo], text: str) -> str | None:
    """Return the sender's grouping; None for the usual one. The usual one within another is the class or message."""
    parts = [str(part) for part in value if isinstance(part, str | int | float)] if isinstance(value, list) else []
    if not parts or all(_DEFAULT.fullmatch(part) for part in parts):
        return None
    usual = exceptions[-1].type if exceptions else text
    joined = "|".join(_DEFAULT.sub(lambda _: usual, part) for part in parts)
    return clip(clean(joined), MAX_FINGERPRINT) or None


def _tags(value: Any) -> dict[str, str]:
    """Return tags, given as an object or as pairs."""
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = [(one[0], one[1]) for one in value if isinstance(one, list) and len(one) == 2]
    else:
        pairs = []
    return {clean(str(name)): clean(str(inner)) for name, inner in pairs if isinstance(inner, str | int | float)}


def _short(value: Any, limit: int) -> str | None:
    return (clean(value.strip())[:limit].rstrip() or None) if isinstance(value, str) else None

"""What is done to every event before it is grouped: plugins change it, who it happened to is read, secrets go."""

from collections.abc import Iterator, Sequence

from snaglist.kernel import Call, Option
from snaglist.plugins.issues.checking import change_events
from snaglist.plugins.issues.events import CodeContext, Event, Frame
from snaglist.plugins.issues.people import user_reader
from snaglist.plugins.issues.redaction import NAMED, Redaction, check_pattern, redaction
from snaglist.plugins.issues.values.contexts import named_values

REDACTED_KEYS = [
    "password", "passwd", "secret", "token", "api_key", "apikey", "access_token", "refresh_token", "authorization",
    "cookie", "set-cookie", "session", "csrf", "credit_card", "card_number", "cvv",
]  # fmt: skip
USER_KEYS = [
    "user.id", "user_id", "userId", "enduser.id", "user.username", "user.name", "user.email", "user.ip_address", "user",
    "username",
]  # fmt: skip


class PatternsOption(Option):
    """A configuration key that lists what is redacted wherever it stands."""

    wanted = f"a list of {', '.join(NAMED)} and expressions of RE2 that do not match empty text"

    def read(self, raw: object) -> list[str]:
        """Return the list; raises ValueError when one is no expression."""
        patterns = Option.read(self, raw)
        listed = patterns if isinstance(patterns, list) else []
        for pattern in listed:
            check_pattern(pattern)
        return listed


PRIVACY = (
    Option("privacy.redact_keys", REDACTED_KEYS, "values under these keys are never stored, and not shown of raw logs"),
    PatternsOption(
        "privacy.redact_patterns",
        [],
        f"what is never stored wherever it stands: {', '.join(NAMED)}, or expressions of RE2",
    ),
    Option("privacy.user_keys", USER_KEYS, "fields of a context that say who an event happened to; empty: nobody"),
    Option("access.remote_user", False, "the remote user in access logs is who a request happened to"),
)


def prepare_events(call: Call, events: Sequence[Event]) -> Sequence[Event]:
    """Return the events to store, changed by plugins (`events_storing`), with their users and without secrets."""
    events = change_events(call, events)
    named, user_in = call.setting("privacy.user_keys"), user_reader(call)
    hints = {name.partition(".")[0].lower() for name in named}  # PERF: reading a context costs more than looking
    from_access = call.setting("access.remote_user")
    without = redaction_of(call)
    for event in events:
        if not named:
            event.user = None
        elif event.user is None:
            if from_access and event.access is not None and event.access.user:
                event.user = event.access.user
            elif (context := event.context.lower()) and any(hint in context for hint in hints):
                event.user = user_in(named_values(event.context))
        redact(event, without)
    return events


def redaction_of(call: Call) -> Redaction:
    """Return what takes secrets out of texts, as the settings say."""
    return redaction(tuple(call.setting("privacy.redact_keys")), tuple(call.setting("privacy.redact_patterns")))


def redact(event: Event, without: Redaction) -> None:
    """Take secrets out of the texts of an event, wherever they stand."""
    frames = [frame for exception in event.exceptions for frame in exception.frames]
    if not without.finds("\n".join(_said(event, frames))):  # nearly always, and one look is quicker than many
        return
    clean = without.text
    event.message, event.context, event.stack = clean(event.message), clean(event.context), without.stack(event.stack)
    event.preview, event.user = event.preview and clean(event.preview), event.user and clean(event.user)
    event.template, event.server_name = (
        event.template and clean(event.template),
        event.server_name and clean(event.server_name),
    )
    event.tags = [*map(clean, event.tags)]
    if event.access is not None:
        event.access.path, event.access.user = clean(event.access.path), clean(event.access.user)
    for exception in event.exceptions:
        exception.type, exception.message = clean(exception.type), clean(exception.message)
    for frame in frames:
        frame.function, frame.file = frame.function and clean(frame.function), frame.file and clean(frame.file)
        if frame.context is not None:
            line, pre, post = frame.context
            around = (tuple(map(without.code, lines)) for lines in (pre, post))
            frame.context = CodeContext(without.code(line), *around)


def _said(event: Event, frames: Sequence[Frame]) -> Iterator[str]:
    yield from (event.message, event.context, event.stack, *event.tags)
    yield from (text for text in (event.user, event.template, event.server_name) if text)
    if event.access is not None:
        yield from (event.access.path, event.access.user)
    for exception in event.exceptions:
        yield from (exception.type, exception.message)
    for frame in frames:
        yield from (text for text in (frame.function, frame.file) if text)
        if frame.context is not None:
            yield from _lines(frame.context)


def _lines(context: CodeContext) -> Iterator[str]:
    yield from context.pre
    yield context.line
    yield from context.post

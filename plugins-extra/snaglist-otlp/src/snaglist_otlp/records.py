"""A log record of OpenTelemetry as an event of snaglist.

Names of attributes: https://opentelemetry.io/docs/specs/semconv/ (exceptions, service, deployment, host,
user, enduser).
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from snaglist.kernel import times
from snaglist.plugins.issues import Event, clean
from snaglist.plugins.logs import Pruner, Pushed, by_level, exceptions_of, structure_of

CHANNEL = "otlp"
FUTURE_SECONDS = 300
MAX_MESSAGE = 1_000_000
MAX_PREVIEW = 200
MAX_NAME = 255
# Every record of a resource keeps its attributes: what is longer would be stored as often as there are records.
MAX_RESOURCE = 32_768
_TOO_LONG = f"[cut: longer than {MAX_RESOURCE} characters]"
# Severity numbers come in steps of four: TRACE, DEBUG, INFO, WARN, ERROR, FATAL.
_LEVELS = ("DEBUG", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_EXCEPTION = ("exception.type", "exception.message", "exception.stacktrace")
_ENVIRONMENT = ("deployment.environment.name", "deployment.environment")
_HOST = ("host.name", "service.instance.id")


class Unfit(Exception):
    """A record that cannot be stored, and why."""


class _Resource(NamedTuple):
    """What the records of a resource share, read once: a request may hold very many of them."""

    shown: Any
    cut: bool
    environment: str
    release: str | None
    server_name: str | None
    module: str | None
    digest: Any


def count_records(request: ExportLogsServiceRequest) -> int:
    """Return how many records a request holds."""
    return sum(len(scope.log_records) for resource in request.resource_logs for scope in resource.scope_logs)


class Converter:
    """Makes events of the records of one request. `user_in` is what `user_reader` returns."""

    def __init__(self, now: str, redacted: frozenset[str], user_in: Callable[[Mapping[str, Any]], str | None]) -> None:
        self._now, self._redacted, self._user_in = now, redacted, user_in
        self._seen: Counter[str] = Counter()

    def convert_all(self, request: ExportLogsServiceRequest) -> Iterator[Pushed | Unfit]:
        """Give what becomes of each record, in order."""
        for of_resource in request.resource_logs:
            resource = _resource(of_resource.resource)
            for of_scope in of_resource.scope_logs:
                for record in of_scope.log_records:
                    try:
                        yield self._convert(record, resource, of_scope.scope.name[:MAX_NAME])
                    except Unfit as error:
                        yield error

    def _convert(self, record: LogRecord, resource: _Resource, scope: str) -> Pushed:
        attributes = _values(record.attributes)
        kind, said, stack = (_text(attributes.get(name)) for name in _EXCEPTION)
        exceptions = exceptions_of(said, kind[:MAX_NAME] or None, stack) if kind or stack else ()
        body = _value(record.body)
        message = clean((body if isinstance(body, str) else "" if body is None else json.dumps(body)).strip())
        if not message and exceptions:
            last = exceptions[-1]
            message = f"{last.type}: {last.message}" if last.message else last.type
        message = message or said or clean(record.event_name.strip())
        if not message:
            raise Unfit("body: must not be empty without an exception")
        moment = self._moment(record)
        context, cut = self._context(record, attributes, resource, scope)
        severity = _severity(record)
        event = Event(
            message[:MAX_MESSAGE],
            severity=severity or "INFO",
            level_source="line" if severity else "none",
            occurred_at=moment or self._now,
            time_source="event" if moment else "received",
            log_type="http",
            channel=CHANNEL,
            environment=resource.environment,
            exceptions=exceptions,
            stack=stack,
            context=context,
            preview=context[:MAX_PREVIEW],
            release=resource.release,
            server_name=resource.server_name,
            event_id=self._event_id(record, resource.digest.copy()),
            truncated=cut or len(message) > MAX_MESSAGE,
            user=self._user_in(attributes),
        )
        return Pushed(event, module=resource.module, structure=structure_of(exceptions))

    def _event_id(self, record: LogRecord, base: Any) -> str | None:
        """Return an id by which a request that is sent again is known: records have none of their own.

        Equal records of one request are told apart by their order. None for a record without any time.
        """
        if not record.time_unix_nano and not record.observed_time_unix_nano:
            return None
        base.update(record.SerializeToString(deterministic=True))
        digest = str(base.hexdigest())[:32]
        self._seen[digest] += 1
        number = self._seen[digest]
        return digest if number == 1 else f"{digest}.{number}"

    def _moment(self, record: LogRecord) -> str | None:
        nanoseconds = record.time_unix_nano or record.observed_time_unix_nano
        try:
            moment = times.from_stamp(nanoseconds / 1e9) if nanoseconds else None
        except (ValueError, OverflowError, OSError):
            return None
        return moment if moment and moment <= times.add(self._now, seconds=FUTURE_SECONDS) else None

    def _context(
        self, record: LogRecord, attributes: Mapping[str, Any], resource: _Resource, scope: str
    ) -> tuple[str, bool]:
        values: dict[str, Any] = {name: value for name, value in attributes.items() if name not in _EXCEPTION}
        if record.trace_id:
            values["trace_id"] = record.trace_id.hex()
        if record.span_id:
            values["span_id"] = record.span_id.hex()
        if scope:
            values["scope"] = scope
        if resource.shown:
            values["resource"] = resource.shown
        pruner = Pruner(self._redacted)
        return pruner.text(values), pruner.cut or resource.cut


def _resource(given: Any) -> _Resource:
    values = _values(given.attributes)
    cut = len(json.dumps(values, ensure_ascii=False)) > MAX_RESOURCE
    return _Resource(
        _TOO_LONG if cut else values,
        cut,
        _first(values, _ENVIRONMENT, 100) or "production",
        _first(values, ("service.version",), 120),
        _first(values, _HOST, 200),
        _module(values),
        hashlib.sha256(given.SerializeToString(deterministic=True)),
    )


def _severity(record: LogRecord) -> str:
    number = record.severity_number
    if 1 <= number <= 24:
        return _LEVELS[(number - 1) // 4]
    return by_level(record.severity_text)


def _module(resource: Mapping[str, Any]) -> str | None:
    name = _first(resource, ("service.name",), 100)
    return None if name is None or name.startswith("unknown_service") else name


def _first(values: Mapping[str, Any], names: tuple[str, ...], limit: int) -> str | None:
    return next((text for name in names if (text := _text(values.get(name)).strip()[:limit].rstrip())), None)


def _text(value: Any) -> str:
    return clean(value) if isinstance(value, str) else "" if value is None else str(value)


def _values(attributes: Any) -> dict[str, Any]:
    pairs: list[KeyValue] = list(attributes)
    return {pair.key: _value(pair.value) for pair in pairs}


def _value(value: AnyValue) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    if kind == "array_value":
        return [_value(inner) for inner in value.array_value.values]
    if kind == "kvlist_value":
        return _values(value.kvlist_value.values)
    if kind == "bytes_value":
        return value.bytes_value.hex()
    return getattr(value, kind)

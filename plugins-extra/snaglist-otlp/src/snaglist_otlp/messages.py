"""Requests and answers on the wire: protobuf, or its JSON form, in which ids are hexadecimal.

The protocol: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

import base64
import binascii
from collections.abc import Iterator
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse

from snaglist.kernel import BadRequest, Call, Reply, UnsupportedMedia, bodies

PROTOBUF = "application/x-protobuf"
JSON = "application/json"
_IDS = ("traceId", "spanId")
MAX_DEPTH = 100


def read_request(call: Call) -> ExportLogsServiceRequest:
    """Return what was exported. Raises TooLarge, UnsupportedMedia and BadRequest."""
    kind = bodies.media_type(call.environ)
    if kind not in (PROTOBUF, JSON):
        raise UnsupportedMedia(f"Content-Type: must be {PROTOBUF} or {JSON}")
    body = call.read_body(unpacked=call.setting("otlp.max_unpacked_bytes"))
    return _from_json(body) if kind == JSON else _from_protobuf(body)


def write_answer(call: Call, rejected: int, problem: str) -> Reply:
    """Return the answer in the form of the request; `partial_success` only when records were rejected."""
    answer = ExportLogsServiceResponse()
    if rejected:
        answer.partial_success.rejected_log_records = rejected
        answer.partial_success.error_message = problem
    if bodies.media_type(call.environ) == JSON:
        return Reply(json_format.MessageToDict(answer))
    return Reply(answer.SerializeToString(), content_type=PROTOBUF)


def _from_protobuf(body: bytes) -> ExportLogsServiceRequest:
    try:
        return ExportLogsServiceRequest.FromString(body)
    except DecodeError as error:
        raise BadRequest("The body is not an ExportLogsServiceRequest.") from error


def _from_json(body: bytes) -> ExportLogsServiceRequest:
    document = bodies.parse_json(body)
    if not isinstance(document, dict):
        raise BadRequest("The body is not an ExportLogsServiceRequest: must be an object.")
    try:
        for record in _records(document):
            for name in _IDS:
                if isinstance(record.get(name), str):
                    record[name] = base64.b64encode(binascii.unhexlify(record[name])).decode()
        return json_format.ParseDict(
            document, ExportLogsServiceRequest(), ignore_unknown_fields=True, max_recursion_depth=MAX_DEPTH
        )
    except (json_format.ParseError, ValueError, RecursionError) as error:
        raise BadRequest(f"The body is not an ExportLogsServiceRequest: {str(error)[:200]}") from error


def _records(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in _objects(document.get("resourceLogs")):
        for scope in _objects(resource.get("scopeLogs")):
            yield from _objects(scope.get("logRecords"))


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (one for one in value if isinstance(one, dict))

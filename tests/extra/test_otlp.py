"""snaglist-otlp: the protocol, on each database, and the real exporter of the Python SDK."""

import gzip
import json
import logging
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from snaglist.testing import Answer, Client

Serving = Callable[..., Client]
PROTOBUF = "application/x-protobuf"
TRACE = """Traceback (most recent call last):
  File "/srv/app/pay.py", line 3, in charge
    gateway.send(order)
PayError: declined"""


def text(value: str) -> dict[str, str]:
    return {"stringValue": value}


def attributes(**values: str) -> list[dict[str, Any]]:
    return [{"key": name.replace("__", "."), "value": text(value)} for name, value in values.items()]


def document(*records: dict[str, Any], **resource: str) -> dict[str, Any]:
    scope = {"scope": {"name": "shop"}, "logRecords": list(records)}
    return {"resourceLogs": [{"resource": {"attributes": attributes(**resource)}, "scopeLogs": [scope]}]}


RECORD: dict[str, Any] = {
    "timeUnixNano": "1767434400500000000",
    "severityNumber": 17,
    "body": text("Order 4711 failed"),
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "attributes": attributes(
        exception__type="PayError", exception__message="declined", exception__stacktrace=TRACE, password="hidden"
    ),
}
RESOURCE = {
    "service__name": "Billing",
    "service__version": "2.0",
    "deployment__environment__name": "staging",
    "host__name": "web-1",
}


class Exporter:
    """Sends as an exporter does."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.key = client.get("otlp-settings").json["key"]

    def post(self, body: bytes, kind: str = "application/json", **headers: str) -> Answer:
        named = {"Authorization": f"Bearer {self.key}", "Content-Type": kind}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.request("POST", "/?api=otlp-logs", body, named)

    def send(self, body: dict[str, Any]) -> Any:
        answer = self.post(json.dumps(body).encode())
        assert answer.status == 200, answer.text
        return answer.json

    def issues(self) -> list[dict[str, Any]]:
        return list(self.client.get("errors", include_context=True, include_stack=True).json["data"])


@pytest.mark.parametrize("engine", ["sqlite", "postgresql", "mariadb"])
def test_a_record_becomes_an_issue_once(serving: Serving, engine: str) -> None:
    """A request that is sent again, as exporters do when an answer was lost, stores nothing anew."""
    exporter = Exporter(serving(engine))
    for _ in range(2):
        assert exporter.send(document(RECORD, RECORD, **RESOURCE)) == {}
    (issue,) = exporter.issues()
    names = ("title", "severity", "environment", "module_name", "exception_class", "source_frame", "count", "channel")
    assert {name: issue[name] for name in names} == {
        "title": "Order 4711 failed", "severity": "ERROR", "environment": "staging", "module_name": "Billing",
        "exception_class": "PayError", "source_frame": "/srv/app/pay.py:3", "count": 2, "channel": "otlp",
    }  # fmt: skip
    context = json.loads(issue["sample_context"])
    assert (context["trace_id"], context["span_id"]) == (RECORD["traceId"], RECORD["spanId"])
    assert (context["scope"], context["password"]) == ("shop", "[redacted]")
    detail = exporter.client.get("error", id=issue["id"]).json
    assert [(row["release"], row["server_name"]) for row in detail["occurrences"]] == [("2.0", "web-1")] * 2
    day = exporter.client.get("otlp-settings").json["last_24h"]
    assert (day["accepted"], day["duplicate"]) == (2, 2)


def test_the_conventions_say_whom_it_happened_to(serving: Serving) -> None:
    exporter = Exporter(serving())
    said = [{"enduser__id": "e-1"}, {"user__email": "jo@example.com", "user__name": "jo"}, {"user__id": "7"}, {}]
    records = [{"severityNumber": 17, "body": text("boom"), "attributes": attributes(**one)} for one in said]
    exporter.send(document(*records))
    (issue,) = exporter.issues()
    events = exporter.client.get("events", id=issue["id"]).json["data"]
    assert sorted(event["user"] or "" for event in events) == ["", "7", "e-1", "jo"]
    assert issue["users"] == 3


def test_protobuf_and_gzip(serving: Serving) -> None:
    exporter = Exporter(serving())
    request = ExportLogsServiceRequest()
    record = request.resource_logs.add().scope_logs.add().log_records.add()
    record.body.string_value, record.severity_number = "boom", 21
    answer = exporter.post(gzip.compress(request.SerializeToString()), PROTOBUF, Content_Encoding="gzip")
    assert (answer.status, answer.content, answer.headers["content-type"]) == (200, b"", PROTOBUF)
    assert [(issue["title"], issue["severity"]) for issue in exporter.issues()] == [("boom", "CRITICAL")]


def test_partial_success(serving: Serving) -> None:
    """What says nothing is rejected and never comes again; the rest is stored."""
    exporter = Exporter(serving())
    message = "1 × body: must not be empty without an exception"
    assert exporter.send(document({"severityNumber": 17}, RECORD)) == {
        "partialSuccess": {"rejectedLogRecords": "1", "errorMessage": message}
    }
    request = ExportLogsServiceRequest()
    request.resource_logs.add().scope_logs.add().log_records.add()
    found = ExportLogsServiceResponse.FromString(exporter.post(request.SerializeToString(), PROTOBUF).content)
    assert found.partial_success.rejected_log_records == 1
    assert len(exporter.issues()) == 1


def test_severities_that_are_not_stored_are_left_out(serving: Serving) -> None:
    exporter = Exporter(serving())
    records = [{"severityNumber": n, "body": text(f"level {chr(96 + n)}")} for n in (1, 9, 13, 17, 21)]
    assert exporter.send(document(*records)) == {}
    assert sorted(issue["severity"] for issue in exporter.issues()) == ["CRITICAL", "ERROR", "WARNING"]
    assert exporter.client.get("otlp-settings").json["last_24h"]["filtered"] == 2


def test_the_rate_limit(serving: Serving) -> None:
    """429 with Retry-After is what exporters repeat; a part over the limit is rejected for good."""
    exporter = Exporter(serving(otlp__rate_max_events=2))
    records = [{"severityNumber": 17, "body": text(f"m {n}"), "timeUnixNano": str(n + 1)} for n in range(3)]
    answer = exporter.send(document(*records))
    assert answer == {"partialSuccess": {"rejectedLogRecords": "1", "errorMessage": "1 × over the rate limit"}}
    refused = exporter.post(json.dumps(document(RECORD)).encode())
    assert refused.status == 429 and int(refused.headers["retry-after"]) > 0


def test_more_than_one_transaction_holds(serving: Serving) -> None:
    exporter = Exporter(serving())
    records = [{"severityNumber": 17, "body": text("m"), "timeUnixNano": "5"} for _ in range(1_200)]
    for _ in range(2):
        assert exporter.send(document(*records)) == {}
    (issue,) = exporter.issues()
    assert issue["count"] == 1_200


def test_what_is_refused(serving: Serving) -> None:
    exporter = Exporter(serving(otlp__max_body_bytes=2_000, otlp__max_unpacked_bytes=5_000))
    assert exporter.post(b"{}", Authorization="Bearer wrong").status == 401
    assert exporter.post(b"{}", Authorization="Bearer wrong", X_Service_Otlp_Key=exporter.key).status == 200
    assert exporter.post(b"{}", "text/plain").status == 415
    for body in (b"{", b"[]", b'{"resourceLogs": 7}'):
        assert exporter.post(body).status == 400
    assert exporter.post(b'{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"traceId":"xyz"}]}]}]}').status == 400
    assert exporter.post(b"\xff\xff\xff", PROTOBUF).status == 400
    assert exporter.post(bytes(2_001)).status == 413
    assert exporter.post(gzip.compress(bytes(1_000_000)), Content_Encoding="gzip").status == 413
    assert exporter.post(b'{"later": 1}').json == {}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_the_exporter_of_the_python_sdk(server: Any, compression: Compression) -> None:
    """The endpoint has a query of its own; a logger's exception arrives with its frames."""
    settings = server.get("otlp-settings")
    exporter = OTLPLogExporter(
        endpoint=settings["endpoint"], headers={settings["key_header"]: settings["key"]}, compression=compression
    )
    resource = Resource.create({"service.name": "shop", "service.version": "1.2", "deployment.environment": "test"})
    provider = LoggerProvider(resource=resource)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    logger = logging.Logger("shop.pay")
    logger.addHandler(LoggingHandler(logger_provider=provider))
    try:
        raise ValueError("no amount")
    except ValueError:
        logger.exception("Order failed")
    provider.shutdown()
    (issue,) = server.wait_for_issues(1)
    assert (issue["title"], issue["exception_class"], issue["module_name"]) == ("Order failed", "ValueError", "shop")
    assert (issue["environment"], issue["severity"]) == ("test", "ERROR")
    assert "test_otlp.py" in issue["source_frame"]


def test_a_small_body_with_very_many_records_takes_little_memory(serving: Serving) -> None:
    exporter = Exporter(serving(otlp__rate_max_events=1_000))
    record = ExportLogsServiceRequest()
    record.resource_logs.add().scope_logs.add().log_records.add(severity_number=17).body.string_value = "x"
    one = record.resource_logs[0].scope_logs[0].log_records[0]
    record.resource_logs[0].scope_logs[0].log_records.extend([one] * 199_999)
    body = record.SerializeToString()
    tracemalloc.start()
    answer = exporter.post(gzip.compress(body), PROTOBUF, Content_Encoding="gzip")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    told = ExportLogsServiceResponse.FromString(answer.content).partial_success
    assert (answer.status, told.rejected_log_records) == (200, 199_000)
    assert told.error_message == "199000 × over the rate limit"
    assert peak < 60_000_000


def test_a_huge_resource_is_not_stored_with_each_record(serving: Serving) -> None:
    exporter = Exporter(serving())
    records = [{"severityNumber": 17, "body": text(f"order {number}")} for number in range(3)]
    exporter.send(document(*records, service__name="Billing", process__command_line="x" * 32_768))
    (issue,) = exporter.issues()
    assert issue["count"] == 3
    assert json.loads(issue["sample_context"])["resource"] == "[cut: longer than 32768 characters]"

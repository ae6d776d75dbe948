"""Golden files (tests/areas/logs/golden/README.md): what each writer's log is read as."""

from itertools import pairwise
from pathlib import Path

import pytest

from snaglist.plugins.issues import Event, grouping_key
from snaglist.plugins.logs.parsers import Reader

FOLDER = Path(__file__).parents[1] / "golden"
NOW = "2026-01-10 00:00:00"
STARTED = ("INFO", "shop started", [])
FAILED = ("ERROR", "payment failed", [])
CARD, BOOM = ("ValueError", "card expired"), ("Boom", "order 4711 not paid")
SCRIPT_CARD, SCRIPT_ERROR = ("TypeError", "card expired"), ("Error", "order 4711 not paid")
LINES = ("ERROR", "first line\nsecond line: ERROR in text", [])
UTF8 = ("CRITICAL", "überlauf im Puffer ✓", [])
LOW = ("WARNING", "stock is low", [])
FORMATTED = ("WARNING", "stock of mug is low: 3 left", [])
PYTHON = [STARTED, FORMATTED, LINES, ("ERROR", "payment failed", [CARD, BOOM]), UTF8]
STRUCTURED = [STARTED, LOW, LINES, ("ERROR", "payment failed", [CARD, BOOM]), UTF8]
PINO = ("ERROR", "payment failed", [SCRIPT_CARD, SCRIPT_ERROR])
PHP_CARD = ("RuntimeException", "card expired")
EXPECTED: dict[str, tuple[str, list[tuple[str, str, list[tuple[str, str]]]]]] = {
    "python_logging_default": ("console", PYTHON),
    "python_logging_dashes": ("console", PYTHON),
    "python_logging_brackets": ("console", PYTHON),
    "python_json_logger": ("json", PYTHON),
    "structlog_json": ("json", STRUCTURED),
    "structlog_json_dict": ("json", STRUCTURED),
    "structlog_logfmt": ("logfmt", STRUCTURED),
    "pino": ("json", [STARTED, LOW, LINES, PINO, UTF8]),
    "pino_iso": ("json", [STARTED, PINO]),
    "bunyan": ("json", [STARTED, LOW, LINES, ("ERROR", "payment failed", [SCRIPT_ERROR]), UTF8]),
    "winston_json": ("json", [STARTED, LOW, LINES, ("ERROR", "order 4711 not paid", [SCRIPT_ERROR])]),
    "winston_text": ("console", [STARTED, LOW, ("ERROR", "Error: order 4711 not paid", [SCRIPT_ERROR])]),
    "zap": ("json", [STARTED, FAILED]),
    "slog": ("json", [STARTED, FAILED]),
    "logrus_text": ("logfmt", [STARTED, LOW, ("CRITICAL", "payment failed", [])]),
    "serilog_clef": (
        "json",
        [
            ("INFO", "Shop 1.2 started", []),
            ("ERROR", "Order 4711 not paid", [("System.InvalidOperationException", "card expired")]),
        ],
    ),
    "log4j2_json": (
        "json",
        [STARTED, ("ERROR", "payment failed", [("java.lang.IllegalStateException", "card expired")])],
    ),
    "monolog": ("monolog", [STARTED, ("ERROR", "payment failed", [PHP_CARD])]),
    "syslog_rfc5424": ("syslog", [STARTED, ("ERROR", "payment failed: card expired", [])]),
    "syslog_rfc3164": ("syslog", [STARTED, ("ERROR", "payment failed: card expired", [])]),
    "nginx_error": (
        "nginx_error",
        [
            ("NOTICE", "signal process started", []),
            ("ERROR", "connect() failed (111: Connection refused) while connecting to upstream", []),
        ],
    ),
    "apache_error": (
        "apache_error",
        [
            ("NOTICE", "AH00489: Apache/2.4.58 (Unix) configured -- resuming normal operations", []),
            ("ERROR", "AH01114: HTTP: failed to make connection to backend: 127.0.0.1", []),
        ],
    ),
    "access_combined": ("access", [("INFO", "GET /items/4711 → 200", []), ("ERROR", "POST /pay → 502", [])]),
    "docker_json": ("container", [("INFO", "shop: shop started", []), ("ERROR", "shop: payment failed", [])]),
    "cri": ("container", [("INFO", "shop: shop started", []), ("ERROR", "shop: payment failed", [])]),
    "journal.json": ("journal", [STARTED, FAILED]),
    "structlog_console": (
        "console",
        [
            ("INFO", "shop started                   version=1.2", []),
            ("WARNING", "stock is low                   article=mug left=3", []),
            LINES,
            ("ERROR", "payment failed                 order=4711", [CARD, BOOM]),
            UTF8,
        ],
    ),
}


def read(name: str) -> tuple[str, list[Event]]:
    content = FOLDER.joinpath(f"{name}.log").read_bytes()
    reader = Reader(content, modified_at=NOW, now=NOW, channel="app.log")
    return reader.log_type, reader.feed(content) + reader.close()


def test_every_file_is_expected() -> None:
    assert {path.name.removesuffix(".log") for path in FOLDER.glob("*.log")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_writers_log_is_read(name: str) -> None:
    log_type, events = read(name)
    expected_type, expected = EXPECTED[name]
    assert log_type == expected_type
    found = [
        (event.severity, event.message, [(raised.type, raised.message) for raised in event.exceptions])
        for event in events
    ]
    assert found == expected
    assert all(event.occurred_at[:14] == "2026-01-03 10:" and event.time_source == "event" for event in events)
    size = FOLDER.joinpath(f"{name}.log").stat().st_size
    assert events[0].byte_start == 0 and events[-1].byte_end == size
    assert all(one.byte_end == other.byte_start for one, other in pairwise(events))


def test_one_failure_is_one_issue_whatever_the_library_writes() -> None:
    """The chain of exceptions and its frames decide, not the format."""
    names = ("python_logging_default", "python_logging_dashes", "python_logging_brackets", "python_json_logger")
    keys = {grouping_key(event, None).key for name in names for event in read(name)[1] if event.exceptions}
    assert len(keys) == 1
    keys = {grouping_key(read(name)[1][3], None).key for name in ("structlog_json", "structlog_json_dict")}
    assert len(keys) == 1

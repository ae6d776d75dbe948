"""What must not be stored of a log is neither stored nor shown: not in issues, not in their events, not raw."""

from pathlib import Path
from typing import Any

import pytest

from snaglist.testing import Client, running_service

LINES = (
    "2026-01-03 10:00:00 ERROR Login of jo@example.com failed: password=hunter2\n"
    '2026-01-03 10:00:01 ERROR Card 4111 1111 1111 1111 refused {"token": "tok_9f8e", "order": 7}\n'
    "2026-01-03 10:00:02 ERROR Order 4111111111111112 refused from 10.0.0.7\n"
)
SECRET = ("hunter2", "tok_9f8e", "jo@example.com", "4111 1111", "10.0.0.7")


@pytest.fixture
def shown(tmp_path: Path, make_store: Any) -> Any:
    """What a service answers about a log with secrets in it."""
    log = tmp_path / "app.log"
    log.write_text(LINES)
    config = {"privacy__redact_patterns": "card,email,ip", "ingestion__allowed_roots": str(tmp_path)}
    with running_service(tmp_path / "data", **config) as service:
        make_store(service).scan(log)
        yield Client(service)


def test_secrets_are_neither_stored_nor_shown(shown: Client) -> None:
    issues = shown.get("errors", include_context=True).json["data"]
    assert len(issues) == 3
    answers = [shown.get("source", source_id=1).text]
    for issue in issues:
        answers += [shown.get(api, id=issue["id"]).text for api in ("error", "events", "event-values")]
        (event,) = shown.get("events", id=issue["id"]).json["data"]
        answers.append(shown.get("source", occurrence=event["id"], context=3).text)
    for secret in SECRET:
        assert not any(secret in answer for answer in answers), secret
        assert shown.get("errors", q=f'"{secret}"').json["data"] == []
    assert "4111111111111112" in answers[0], "a number that is no card's stays"


def test_a_value_is_hidden_that_stands_on_the_line_behind_its_name(tmp_path: Path, make_store: Any) -> None:
    log = tmp_path / "app.log"
    log.write_text(
        '2026-01-03 10:00:00 ERROR Login failed {\n  "password":\n     "hunter2",\n  "order": 7\n}\n'
        "2026-01-03 10:00:01 ERROR Next token: [\n  tok_9f8e ]\n"
        "2026-01-03 10:00:02 ERROR The last one\n"
    )
    with running_service(tmp_path / "data", ingestion__allowed_roots=str(tmp_path)) as service:
        make_store(service).scan(log)
        client = Client(service)
        page = client.get("source", source_id=1).json["lines"]
        assert [line["text"].strip() for line in page][1:4] == ['"password":', '"[redacted]",', '"order": 7']
        second = client.get("source", source_id=1, offset=page[2]["offset"]).json["lines"]
        assert second == page[2:]
        for issue in client.get("errors").json["data"]:
            (event,) = client.get("events", id=issue["id"]).json["data"]
            for context in (1, 2, 3, 5):
                shown = client.get("source", occurrence=event["id"], context=context).text
                assert "hunter2" not in shown and "tok_9f8e" not in shown
        for secret in ("hunter2", "tok_9f8e"):
            assert client.get("source-search", pattern=secret).json["hits"] == []
        hits = client.get("source-search", pattern="ERROR", context=3).text
        assert "hunter2" not in hits and "tok_9f8e" not in hits

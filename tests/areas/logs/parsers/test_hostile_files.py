"""The time that a file takes grows with its length, whatever stands in it."""

import time

import pytest

from snaglist.plugins.logs.parsers.reader import Reader

NOW = "2025-02-12T00:00:00Z"


def seconds(text: str) -> float:
    data = text.encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    started = time.process_time()
    reader.feed(data)
    reader.close()
    return time.process_time() - started


@pytest.mark.parametrize(
    "request_line",
    ["GET /" + "a" * 2500, "GET /" + "a" * 8000 + ' HTTP/1.1" 404 9 "-" "probe"', "GET /a?" + "b=&" * 2000],
)
def test_a_long_request_costs_what_its_length_costs(request_line: str) -> None:
    line = f'203.0.113.7 - - [11/Feb/2025:07:30:15 +0000] "{request_line}\n'
    assert seconds(line * 50) < 1


@pytest.mark.parametrize("pause", ["", "\n", "\n    "])
def test_an_entry_of_nothing_but_beginnings_of_traces_is_read_in_linear_time(pause: str) -> None:
    begun = "2025-02-11 07:30:15 [job-{}] ERROR Traceback (most recent call last):" + pause
    assert seconds("\n".join(begun.format(number) for number in range(6000)) + "\n") < 4

"""Several messages of a script in one entry of a web server: the worst one names the issue, the others are context."""

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2025-03-01 00:00:00"
NOTICE = "PHP Notice:  Undefined index: latch in /srv/farm/gate.php on line 3"
WARNING = "PHP Warning:  Undefined variable $gate in /srv/farm/gate.php on line 4"
FATAL = "PHP Fatal error:  Uncaught Farm\\Stuck: the latch is stuck in /srv/farm/latch.php:14"
STACK = "\\nStack trace:\\n#0 /srv/farm/gate.php(8): lift()\\n#1 {main}\\n  thrown in /srv/farm/latch.php on line 14"


def read(text: str) -> Event:
    data = f"{text}\n".encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    [event] = [*reader.feed(data), *reader.close()]
    return event


def nginx(said: str) -> Event:
    return read(
        f'2025/02/11 07:30:15 [error] 31#31: *9 FastCGI sent in stderr: "{said}" while reading response header '
        'from upstream, client: 10.0.0.9, server: farm, request: "GET /gates HTTP/1.1"'
    )


def apache(said: str) -> Event:
    return read(f"[Tue Feb 11 07:30:15.120000 2025] [proxy_fcgi:error] [pid 7] [client 10.0.0.9:4711] {said}")


@pytest.mark.parametrize(
    "said",
    [
        f"PHP message: {NOTICE}; PHP message: {FATAL}",
        f"PHP message: {FATAL}; PHP message: {NOTICE}",
        f"PHP message: {NOTICE}PHP message: {WARNING}, PHP message: {FATAL}",
        f"PHP message: {NOTICE}\\nPHP message: {FATAL}{STACK}",
    ],
)
def test_the_fatal_one_wherever_it_stands(said: str) -> None:
    event = nginx(said)
    assert event.severity == "ERROR"
    assert [(e.type, e.message) for e in event.exceptions] == [("Farm\\Stuck", "the latch is stuck")]
    assert (event.exceptions[0].frames[0].file, event.exceptions[0].frames[0].line) == ("/srv/farm/latch.php", 14)
    assert "the latch is stuck" in event.message
    assert "Notice" not in event.message
    assert NOTICE in event.context
    assert "client: 10.0.0.9" in event.context


def test_the_first_of_those_that_are_alike_and_a_warning_before_a_notice() -> None:
    assert nginx(f"PHP message: {NOTICE}; PHP message: {WARNING}").message == WARNING
    other = NOTICE.replace("latch", "bolt")
    assert nginx(f"PHP message: {other}; PHP message: {NOTICE}").message == other


def test_words_of_the_script_itself() -> None:
    event = nginx(f"PHP message: gate 3 does not answer; PHP message: {NOTICE}")
    assert event.message == "gate 3 does not answer"


def test_apache_with_lines_in_one_and_in_a_quotation() -> None:
    event = apache(f"{NOTICE}\\n{FATAL}")
    assert [e.type for e in event.exceptions] == ["Farm\\Stuck"]
    event = apache(f"AH01071: Got error 'PHP message: {NOTICE}; PHP message: {FATAL}', referer: https://farm.test/")
    assert [(e.type, e.message) for e in event.exceptions] == [("Farm\\Stuck", "the latch is stuck")]
    assert "client: 10.0.0.9:4711" in event.context
    event = apache(f"{FATAL}, referer: https://farm.test/")
    assert [(e.type, e.message) for e in event.exceptions] == [("Farm\\Stuck", "the latch is stuck")]
    assert event.context == "client: 10.0.0.9:4711, referer: https://farm.test/"


def test_what_ended_a_script_needs_no_exception() -> None:
    memory = "PHP Fatal error:  Allowed memory size of 1024 bytes exhausted in /srv/farm/gate.php on line 9"
    parse = "PHP Parse error:  syntax error, unexpected '}' in /srv/farm/gate.php on line 9"
    for worst in (memory, parse):
        assert nginx(f"PHP message: {WARNING}; PHP message: {worst}; PHP message: {NOTICE}").message == worst


def test_process_manager_writes_a_fatal_error_as_a_notice() -> None:
    event = read(f"[11-Feb-2025 07:30:15] NOTICE: PHP message: {FATAL}")
    assert (event.severity, [e.type for e in event.exceptions]) == ("CRITICAL", ["Farm\\Stuck"])
    event = read(f"[11-Feb-2025 07:30:15] NOTICE: PHP message: {NOTICE}")
    assert (event.severity, event.message) == ("NOTICE", NOTICE)


def test_an_uncaught_exception_without_frames_is_one() -> None:
    event = read(f"[11-Feb-2025 07:30:15 UTC] {FATAL}")
    assert [(e.type, e.message) for e in event.exceptions] == [("Farm\\Stuck", "the latch is stuck")]


def test_words_about_messages_are_none() -> None:
    assert nginx("upstream said PHP message twice").message.endswith("PHP message twice")

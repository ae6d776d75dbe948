"""What belongs together where no header says so: lines of a trace, the middle of one alone, lines on one line."""

import pytest

from snaglist.plugins.logs.parsers import Reader
from snaglist.plugins.logs.parsers.escaped import unescape_lines
from snaglist.plugins.logs.parsers.traces import follow

NOW = "2025-03-01 00:00:00"

TRACES = {
    "marked frames": 'Traceback (most recent call last):\n\n> File "a.py", line 3, in f\n    g()\n   └ 1\n\nKeyError',
    "a box": "╭── Traceback (most recent call last) ──╮\n│ /srv/a.py:3 in f │\n╰───────╯\nKeyError: 1",
    "a session": "KeyError      Traceback (most recent call last)\nFile /srv/a.py:3, in f()\n---> 3 g()\n\nKeyError: 1",
    "Elixir": "GenServer A terminating\n** (KeyError) no\n    (a 1.0) lib/a.ex:3: A.f/1\nLast message: :go\nState: %{}",
    "Erlang": "** Generic server a terminating\n** Last message in was go\n** Reason for termination ==\n** {badarg}",
    "numbered frames": "A::Error: no\n0. A::f() @ 0xa1 in /usr/bin/a\n1. main @ 0xa2 in /usr/bin/a",
    "the C library": "signal 11\n/usr/lib/liba.so(f+0x12)[0x7f12]\n/usr/bin/a(+0x1f2) [0x55f1]",
    "a debugger": "signal 11\n#0  0x00007f1234 in f (a=0x0) at a.c:3\n#1  main () at a.c:9",
    "PowerShell": "Open-A : no\nAt C:\\a.ps1:3 char:5\n+   Open-A 3\n+   ~~~~~~\n    + CategoryInfo : X: (3), AError",
    "Perl": "no at a.pl line 3.\n\tmain::f(1) called at a.pl line 9",
    "Lua": "lua: a.lua:3: no\nstack traceback:\n\ta.lua:3: in function 'f'\n\t[C]: in ?",
    "Dart": "Unhandled exception:\nFormatException: no\n#0      f (package:a/a.dart:3:5)\n<asynchronous suspension>",
    "Haskell": "a: no\nCallStack (from HasCallStack):\n  error, called at a.hs:3:9 in main:A",
    "R": "Error in f(1) : no\nCalls: main -> f",
}


@pytest.mark.parametrize("name", sorted(TRACES))
def test_a_trace_is_one_entry_in_a_file_without_headers(name: str) -> None:
    data = f"all is well\n{TRACES[name]}\nall is well again\n".encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    events = [*reader.feed(data), *reader.close()]
    assert [event.byte_start for event in events] == [0, 12, len(data) - 18]


def test_a_report_of_erlang_ends_where_the_next_begins() -> None:
    state = follow.begins("=INFO REPORT==== 11-Feb-2025::07:12:39 ===")
    assert follow.advance(state, "    alarm_handler: {set,full}") == state
    assert follow.advance(state, "=ERROR REPORT==== 11-Feb-2025::07:12:39 ===") == ""
    assert follow.advance(state, "") == ""


@pytest.mark.parametrize(
    "lines",
    [
        "\tat com.acme.Gate.open(Gate.java:14)\n\tat com.acme.Farm.run(Farm.java:40)\n\t... 3 more",
        '  File "/srv/gate.py", line 14, in open\n    latch.lift()',
        "    at open (/srv/gate.js:14:3)\n\n    at node:internal/main:1:1",
        "#3 /srv/gate.php(14): Gate->open()\n#4 {main}",
        "    (farm 2.1.0) lib/farm/gate.ex:14: Farm.Gate.open/2",
        "   at Farm.Gate.Open() in /srv/Gate.cs:line 14\n--- End of stack trace from previous location ---",
        "4. Farm::open() @ 0xa1 in /usr/bin/farmd\n5. main @ 0xa2 in /usr/bin/farmd",
        "\t/srv/gate.go:14 +0x1d",
        "app/models/gate.rb:14:in 'open'\napp/models/farm.rb:3:in 'run'",
    ],
)
def test_the_middle_of_a_trace_alone(lines: str) -> None:
    assert follow.is_orphan(lines.split("\n"))


@pytest.mark.parametrize(
    "lines",
    [
        "",
        "gate opened",
        "java.lang.IllegalStateException: stuck\n\tat com.acme.Gate.open(Gate.java:14)",
        "\tat com.acme.Gate.open(Gate.java:14)\nCaused by: com.acme.Stuck: no power\n\t... 3 more",
        '  File "/srv/gate.py", line 14, in open\n    latch.lift()\nKeyError: 3',
        "    some table\n    of a report",
        "gate failed\n    at open (/srv/gate.js:14:3)",
        "   db.farm.test:5432 does not answer\n   10.0.0.1:80 does not answer",
        "  1: oats\n  2: hay",
        "  (root) CMD (run-parts)",
        "  the vet was called at 12:00:05",
    ],
)
def test_what_says_something_is_more_than_the_middle(lines: str) -> None:
    assert not follow.is_orphan(lines.split("\n"))


JAVA = "java.lang.IllegalStateException: stuck{0}{1}at com.acme.Gate.open(Gate.java:14){0}{1}at com.acme.A.b(A.java:4)"
PYTHON = 'Traceback (most recent call last):{0}  File "/srv/gate.py", line 14, in open{0}    lift(){0}KeyError: 3'


@pytest.mark.parametrize("text", [JAVA, PYTHON])
@pytest.mark.parametrize(
    ("feed", "tab"), [("#012", "#011"), ("#015#012", "#011"), ("\\012", "\\011"), ("\\n", "\\t"), ("\\r\\n", "\\t")]
)
def test_lines_that_were_written_on_one(text: str, feed: str, tab: str) -> None:
    assert unescape_lines(text.format(feed, tab)) == text.format("\n", "\t")


@pytest.mark.parametrize(
    "text",
    [
        "order #012 was paid",
        "orders #012 and #011 were paid",
        "order #012  two blanks",
        "copied C:\\new\\table to C:\\nas\\temp",
        "pattern a\\nb does not match",
        "sent 'first\\nsecond' to till 3",
        "",
    ],
)
def test_what_only_looks_like_an_escape_stays(text: str) -> None:
    assert unescape_lines(text) == text


def test_colours_of_a_text_whose_lines_were_escaped_go() -> None:
    assert unescape_lines("#033[31mfailed#033[0m#012  at line 3") == "failed\n  at line 3"

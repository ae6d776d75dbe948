"""Exports: Windows events as XML, rows with a header, PostgreSQL's csvlog."""

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2025-02-12 12:00:00"
TIME = "2025-02-11 07:30:15"
_NAMESPACE = 'xmlns="http://schemas.microsoft.com/win/2004/08/events/event"'


def read(text: str) -> list[Event]:
    data = text.encode()
    reader = Reader(data, modified_at=NOW, now="2026-01-01 00:00:00")
    return [*reader.feed(data), *reader.close()]


def xml(level: int, data: str, *, more: str = "", time: str = "2025-02-11T07:30:15.120Z", end: str = "") -> str:
    """Return an event; `end` stands between the elements."""
    return end.join((
        f"<Event {_NAMESPACE}>", "<System>", "<Provider Name='Shop' Guid='{1}'/>",
        "<EventID Qualifiers='0'>7</EventID>",
        f"<Level>{level}</Level>", f"<TimeCreated SystemTime='{time}'/>", "<Computer>box</Computer>", "</System>",
        f"<EventData>{data}</EventData>", f"{more}</Event>",
    ))  # fmt: skip


@pytest.mark.parametrize("end", ["", "\n", "\r\n    "])
@pytest.mark.parametrize("around", [("", "\n", ""), ('<?xml version="1.0"?>\n<Events>\n', "\n", "</Events>\n"),
                                    ("<Events>", "", "</Events>"), ("Record 1\n", "\nRecord 2\n", "\n")])  # fmt: skip
def test_events_one_a_line_over_several_and_all_on_one(around: tuple[str, str, str], end: str) -> None:
    begin, between, close = around
    one = xml(2, "<Data>no rate</Data>", end=end)
    two = xml(4, "<Data>fine</Data>", time="2025-02-11 07:30:15.5", end=end)
    events = read(begin + one + between + two + close)
    assert [(e.severity, e.message, e.occurred_at, e.channel, e.server_name) for e in events] == [
        ("ERROR", "no rate", TIME, "Shop", "box"),
        ("INFO", "fine", TIME, "Shop", "box"),
    ]
    assert {event.log_type for event in events} == {"windows_events"}


@pytest.mark.parametrize(
    ("level", "severity"), [(0, "INFO"), (1, "CRITICAL"), (2, "ERROR"), (3, "WARNING"), (4, "INFO"), (5, "DEBUG")]
)
def test_levels_of_windows(level: int, severity: str) -> None:
    [event] = read(xml(level, "<Data>x</Data>") + "\n")
    assert event.severity == severity


def test_the_rendered_message_wins_and_named_data_is_context() -> None:
    one, two = read(
        xml(2, "<Data Name='Code'>CHF</Data>", more="<RenderingInfo><Message>no &lt;rate&gt;</Message></RenderingInfo>")
        + "\n" + xml(2, "<Data Name='Code'>CHF</Data><Data Name='Empty'/>") + "\n"
    )  # fmt: skip
    assert (one.message, '"Code":"CHF"' in one.context) == ("no <rate>", True)
    assert (two.message, '"Code":"CHF"' in two.context) == ("Shop event 7", True)


def test_lines_of_other_formats_within_an_element_are_text_and_its_trace_is_read() -> None:
    data = "<Data>2025-02-11 07:30:17 ERROR old\nSystem.Gone: no rate\n   at Shop.Pay() in C:\\a.cs:line 3</Data>"
    [event] = read(xml(2, data, end="\n") + "\n")
    assert event.message == "2025-02-11 07:30:17 ERROR old"
    assert (event.exceptions[-1].type, event.exceptions[-1].frames[0].line) == ("System.Gone", 3)


ROWS = [
    'timestamp,level,message\n2025-02-11 07:30:15,ERROR,"no rate, sorry"\n2025-02-11 07:30:16,INFO,fine\n',
    '"Time";"Severity";"Text"\n"2025-02-11 07:30:15";"err";"no rate, sorry"\n"2025-02-11 07:30:16";"info";"fine"\n',
    "ts\tlvl\tlogger\tmsg\n1739259015.1\terror\ta\tno rate, sorry\n1739259016\tinfo\ta\tfine\n",
    'Date,Time,Log Level,Message\n2025-02-11,07:30:15,ERR,"no rate, sorry"\n2025-02-11,07:30:16,INF,fine\n',
    "Level,Date and Time,Source,Event ID,Task Category\n"
    'Error,2/11/2025 7:30:15 AM,Shop,7,None,"no rate, sorry"\nInformation,2/11/2025 7:30:16 AM,Shop,7,None,fine\n',
    '#TYPE Selected.Log\n"Message","LevelDisplayName","ProviderName","TimeCreated"\n'
    '"no rate, sorry","Error","Shop","2/11/2025 7:30:15 AM"\n"fine","Information","Shop","2/11/2025 7:30:16 AM"\n',
]


@pytest.mark.parametrize("text", ROWS)
def test_rows_below_the_names_of_their_columns(text: str) -> None:
    events = read(text)
    assert [(e.log_type, e.severity, e.message, e.occurred_at) for e in events] == [
        ("csv", "ERROR", "no rate, sorry", TIME),
        ("csv", "INFO", "fine", "2025-02-11 07:30:16"),
    ]


def test_values_in_quotes_go_over_lines_whatever_these_look_like() -> None:
    inner = 'no ""rate""\n2025-02-11 07:30:17 ERROR within\n{"level":"error"}\n\nend'.replace('{"level":"error"}', "{}")
    first, second = read(f'time,level,message\n{TIME},ERROR,"{inner}"\n{TIME},INFO,fine\n')
    assert first.message == inner.replace('""', '"')
    assert second.message == "fine"


def test_a_message_that_comes_first_may_go_over_lines() -> None:
    first, second = read(
        f'"Message","Level","Time"\n"no rate\nsorry, ""CHF""\nend","Error","{TIME}"\n"fine","Info","{TIME}"\n'
    )
    assert (first.message, first.severity, first.occurred_at) == ('no rate\nsorry, "CHF"\nend', "ERROR", TIME)
    assert (second.message, second.severity) == ("fine", "INFO")


def postgres(level: str, message: str, *, query: str = "", user: str = '"shop"') -> str:
    return (
        f'2025-02-11 07:30:15.120 UTC,{user},"orders",2117,"10.8.0.14:41022",67aafe.845,3,"INSERT",'
        f'2025-02-11 07:29:01 UTC,3/12,0,{level},23505,"{message}","Key exists.",,,,,{query},,,"psql","client"\n'
    )


def test_rows_of_postgresql_need_no_header() -> None:
    query = "\"INSERT INTO orders\nVALUES ('A')\""
    first, second = read(postgres("ERROR", 'duplicate key ""ref""', query=query) + postgres("LOG", "ready"))
    assert (first.severity, first.message, first.occurred_at) == ("ERROR", 'duplicate key "ref"', TIME)
    assert "VALUES ('A')" in first.context and "Key exists." in first.context
    assert (second.severity, second.message) == ("INFO", "ready")


def test_rows_of_postgresql_are_read_in_files_of_another_format() -> None:
    line = '{"level":"info","msg":"starting"}\n'
    events = read(line * 3 + postgres("FATAL", "too many clients") + line)
    assert [e.severity for e in events] == ["INFO"] * 3 + ["CRITICAL", "INFO"]


@pytest.mark.parametrize("text", ["name,price,level\napple,3,high\npear,4,low\n", "time,place\nnoon,hall\n",
                                  "Well, level, and message\n"])  # fmt: skip
def test_tables_that_are_no_logs_are_left_alone(text: str) -> None:
    events = read(text)
    assert {event.log_type for event in events} == {"console"}
    assert len(events) == text.count("\n")

"""Families of headers that programs of many kinds share, each shown by several of them."""

import pytest

from snaglist.plugins.logs.parsers import Reader

NOW = "2026-01-01 00:00:00"

# Lines, and of each entry: the level, whether it was written, the clock of the time ("" without one), the message.
FAMILIES = {
    "level behind a closing bracket": (
        "2025-02-11T07:30:15.120Z cpu3:1234)WARNING: till: slow\n"
        "2025-02-11 07:30:16 (main)ERROR: no rate\n"
        "2025-02-11T07:30:17.120Z cpu3:1234)Till: 31: fine\n",
        [("WARNING", "line", "07:30:15", "till: slow"), ("ERROR", "line", "07:30:16", "no rate"),
         ("INFO", "none", "07:30:17", "cpu3:1234)Till: 31: fine")],
    ),
    "bracket with number, level and source": (
        "2025-02-11T07:30:15.120+01:00 [03038 info 'tillUser'] User came\n"
        "2025-02-11 07:30:16 [7 error 'Default' opID=31] no rate\n",
        [("INFO", "line", "06:30:15", "User came"), ("ERROR", "line", "07:30:16", "no rate")],
    ),
    "level before a time, joined by signs": (
        "Thread-13::DEBUG::2025-02-11 07:30:15,120::task::568::till\n"
        "Thread-14::ERROR::2025-02-11 07:30:16,120::task::568::no rate\n"
        "pump|WARN|2025-02-11 07:30:17|slow\n",
        [("DEBUG", "line", "07:30:15", "task::568::till"), ("ERROR", "line", "07:30:16", "task::568::no rate"),
         ("WARNING", "line", "07:30:17", "slow")],
    ),
    "seconds since the start": (
        "[0.012s][info   ][gc] Using till\n[0.112s][warning][gc,heap] slow\n[    3.500120] (EE) no rate\n",
        [("INFO", "line", "", "[gc] Using till"), ("WARNING", "line", "", "[gc,heap] slow"),
         ("ERROR", "line", "", "no rate")],
    ),
    "level in angle brackets": (
        "Feb 11 07:30:15 till-3.local tilld[112] <Error>: no rate\n"
        "Feb 11 07:30:16 till-3 com.till.pump[1] (com.till.valve[31]): came\n"
        "Feb 11 07:30:17 till-3 pumpd[7] <Notice>: fine\n",
        [("ERROR", "wrapper", "07:30:15", "no rate"), ("INFO", "none", "07:30:16", "came"),
         ("NOTICE", "wrapper", "07:30:17", "fine")],
    ),
    "constants of syslog": (
        "2025.02.11 07:30:15 LOG3[6048]: no rate\n2025.02.11 07:30:16 LOG5[ui]: fine\n"
        "2025-02-11 07:30:17 LOG_ERR no pump\n",
        [("ERROR", "line", "07:30:15", "no rate"), ("NOTICE", "line", "07:30:16", "fine"),
         ("ERROR", "line", "07:30:17", "no pump")],
    ),
    "zone in front of the date": (
        "[UTC Feb 11 07:30:15] error    : 'till' no rate\n[CET Feb 11 08:30:16] info     : 'till' fine\n",
        [("ERROR", "line", "07:30:15", "'till' no rate"), ("INFO", "line", "07:30:16", "'till' fine")],
    ),
    "dates with colons, and joined by a dash": (
        "2025:02:11-07:30:15: '10.8.0.3' came\n02/11-07:30:16.123456  valve opened\n2025-02-11-07-30-17 fine\n",
        [("INFO", "none", "07:30:15", "'10.8.0.3' came"), ("INFO", "none", "07:30:16", "valve opened"),
         ("INFO", "none", "07:30:17", "fine")],
    ),
    "quoted columns": (
        '"2025-02-11 07:30:15"\t"till"\t"rates"\n"2025-02-11 07:30:16","ERROR","no rate"\n',
        [("INFO", "none", "07:30:15", '"till"\t"rates"'), ("ERROR", "line", "07:30:16", "no rate")],
    ),
    "records with the time in a form of their own": (
        "type=USER_LOGIN msg=audit(1739259015.000:4068): user pid=31 uid=0\n"
        " 31:20250211:073016.120 till started\n"
        "#1739259017\nls -l\n",
        [("INFO", "none", "07:30:15", "type=USER_LOGIN msg=audit(1739259015.000:4068): user pid=31 uid=0"),
         ("INFO", "none", "07:30:16", "till started"), ("INFO", "none", "07:30:17", "ls -l")],
    ),
    "deployment tools": (
        '<![LOG[rates read]LOG]!><time="07:30:15.766-000" date="02-11-2025" component="Till" context="" type="1">\n'
        '<![LOG[no rate\nfor CHF]LOG]!><time="08:30:16.766-60" date="2-11-2025" component="Till" type="3">\n',
        [("INFO", "line", "07:30:15", "rates read"), ("ERROR", "line", "07:30:16", "no rate\nfor CHF")],
    ),
    "XML layouts": (
        '<log4j:event logger="till.Rates" timestamp="1739259015120" level="ERROR" thread="main">\n'
        "<log4j:message><![CDATA[no rate]]></log4j:message>\n</log4j:event>\n\n"
        "<record>\n  <date>2025-02-11T07:30:16</date>\n  <millis>1739259016120</millis>\n  <logger>till</logger>\n"
        "  <level>INFO</level>\n  <message>a &lt; b</message>\n</record>\n",
        [("ERROR", "line", "07:30:15", "no rate"), ("INFO", "line", "07:30:16", "a < b")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_read(family: str) -> None:
    text, wanted = FAMILIES[family]
    data = text.encode()
    reader = Reader(data, modified_at="2025-02-11 12:00:00", now=NOW)
    events = [*reader.feed(data), *reader.close()]
    assert [
        (
            event.severity,
            event.level_source,
            event.occurred_at[11:] if event.time_source == "event" else "",
            event.message,
        )
        for event in events
    ] == wanted

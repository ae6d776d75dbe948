"""Kinds of lines that real programs write: what two unrelated programs do alike is read alike."""

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader
from snaglist.plugins.logs.parsers.within import is_log_line
from snaglist.plugins.logs.parsers.words import by_words


def read(text: str) -> list[Event]:
    """Read a file that was changed on 2 June 2025 at noon."""
    data = text.encode()
    reader = Reader(data, modified_at="2025-06-02 12:00:00", now="2025-06-03 12:00:00", channel="app.log")
    return [*reader.feed(data), *reader.close()]


def told(event: Event) -> tuple[str, str, str]:
    """Return the severity, the time ("" when it is not the line's) and the message."""
    assert event.level_source in ("line", "wrapper"), event
    return event.severity, event.occurred_at if event.time_source == "event" else "", event.message


@pytest.mark.parametrize(
    ("line", "severity", "time", "message"),
    [
        ("[0601/114930:WARNING:tray.cc(12)] no tray here", "WARNING", "2025-06-01 11:49:30", "no tray here"),
        ("[31:7:0601/114930.120400:ERROR:ui/gpu.cc:88] gpu gone", "ERROR", "2025-06-01 11:49:30", "gpu gone"),
        ("[0601/114930.120:VERBOSE1:net.cc(3)] dialling", "DEBUG", "2025-06-01 11:49:30", "dialling"),
        ("[Info: 2025-06-01 07:30:15.473059: Qx7=: a(3)] queue is up", "INFO", "2025-06-01 07:30:15", "queue is up"),
        ("[store:error,2025-06-01T07:30:15.764Z,n_1@10.0.0.8:web]no room", "ERROR", "2025-06-01 07:30:15", "no room"),
        ("[warn|2025-06-01 07:30:15|shop] slow rate", "WARNING", "2025-06-01 07:30:15", "slow rate"),
        ("[error 2025-06-01 07:30:15] no rate", "ERROR", "2025-06-01 07:30:15", "no rate"),
        ("[01Jun2025 07:30:15.523] [main/WARN] [shop/]: no mod", "WARNING", "2025-06-01 07:30:15", "no mod"),
        ("01JUN2025:07:30:15 ERROR step ended", "ERROR", "2025-06-01 07:30:15", "step ended"),
        ("Worker-7::ERROR::2025-06-01 07:30:15,119::shop::12::rates::(load) no rate", "ERROR", "2025-06-01 07:30:15",
         "shop::12::rates::(load) no rate"),
        ("Main::INFO::2025-06-01 07:30:15::till open", "INFO", "2025-06-01 07:30:15", "till open"),
        ("[2025-06-01 07:30:15.123 F6A7 error 'Shop'] no store", "ERROR", "2025-06-01 07:30:15", "no store"),
        ("2025-06-01-07.30.15.123456+060 I12H45 LEVEL: Error", "ERROR", "2025-06-01 06:30:15", ""),
        ("2025-06-01 07:30:15 shop Severity: Warning slow rate", "WARNING", "2025-06-01 07:30:15", "slow rate"),
        ("2025-06-01\t07:30:15:123\t 872\t6ec\tAgent\tWARNING: slow", "WARNING", "2025-06-01 07:30:15", "slow"),
        ("2025-06-01T07:30:15.123Z cpu0:2117)WARNING: disk 12 slow", "WARNING", "2025-06-01 07:30:15", "disk 12 slow"),
        ("[07:30:15] [Netty Worker IO Thread #0/INFO]: open", "INFO", "2025-06-02 07:30:15", "open"),
        ("[07:30:15] [Pool of the very long name - 12 - 7/ERROR]: shut", "ERROR", "2025-06-02 07:30:15", "shut"),
        ("2025-06-01 07:30:15, Info                  CBS    Failed to start", "INFO", "2025-06-01 07:30:15",
         "CBS    Failed to start"),
        ("2025-06-01 07:30:15\tWarning  \tshop\tslow rate", "WARNING", "2025-06-01 07:30:15", "shop\tslow rate"),
    ],
)  # fmt: skip
def test_a_head_in_one_bracket_or_column(line: str, severity: str, time: str, message: str) -> None:
    (event,) = read(line + "\n")
    assert told(event) == (severity, time, message)


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("06/01-07:30:15.878000  [**] odd ping [**] {ICMP} 10.0.0.1", "2025-06-01 07:30:15"),
        ("06-01-07:30:15 till opened", "2025-06-01 07:30:15"),
        ("06/01/25-07:30:15.878000  [**] odd ping [**] {ICMP} 10.0.0.1", "2025-06-01 07:30:15"),
        ("2025-06-01-07.30.15.123456 till opened", "2025-06-01 07:30:15"),
        ("2025-06-01 07.30.15 till opened", "2025-06-01 07:30:15"),
        ("01-JUN-25 07.30.15.123456 PM till opened", "2025-06-01 19:30:15"),
        ("2025-06-01 12.30.15 AM till opened", "2025-06-01 00:30:15"),
        ("2025年06月01日 07:30:15 till opened", "2025-06-01 07:30:15"),
        ("2025年6月1日7:30:15 till opened", "2025-06-01 07:30:15"),
        ("2025-06-01-07.30.15-240 till opened", "2025-06-01 11:30:15"),
    ],
)
def test_signs_between_the_parts_of_a_time(line: str, time: str) -> None:
    (event,) = read(line + "\n")
    assert (event.occurred_at, event.time_source) == (time, "event")


def test_letters_with_a_number_and_a_mark_are_levels_where_all_lines_have_them() -> None:
    lines = "".join(
        f"2025/06/01 07:30:{n:02d}.123  12{n}  34{n} {'E1!!' if n == 3 else 'D1'}   step {n}\n" for n in range(12)
    )
    assert [event.severity for event in read(lines)].count("ERROR") == 1


def test_a_file_with_one_level_tells_where_it_stands() -> None:
    quiet = "".join(
        f"2025-06-01 07:30:{n:02d} R{n} unit{n} RAS KERNEL INFO parity error corrected\n" for n in range(20)
    )
    assert {event.severity for event in read(quiet)} == {"INFO"}
    assert {event.level_source for event in read(quiet)} == {"line"}
    words = "".join(f"2025-06-01 07:30:{n:02d} the till said error {n} again\n" for n in range(20))
    assert {event.level_source for event in read(words)} == {"words"}


def test_a_time_far_behind_is_found_where_all_lines_have_it() -> None:
    lines = "".join(
        f"{n} node-{n} unix.hw net.state 17487630{n} 1 link {'down' if n % 2 else 'up'}\n" for n in range(10, 30)
    )
    assert {event.time_source for event in read(lines)} == {"event"}
    assert read(lines)[0].occurred_at == "2025-06-01 07:30:10"


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("ld.lld: error: no such library", "ERROR"),
        ("mount.nfs: warning: old protocol", "WARNING"),
        ("EXT3-fs: INFO: recovery required on readonly filesystem.", "INFO"),
        ("/srv/doc/index.rst:12: WARNING: no such page", "WARNING"),
        (r"C:\dev\shop\tax.h(39): warning C4005: defined twice", "WARNING"),
        (r"     2>C:\dev\shop\Tax.cs(137,32): error CS1591: no comment", "ERROR"),
    ],
)
def test_a_tool_names_itself_before_the_level(line: str, severity: str) -> None:
    (event,) = read(line + "\n")
    assert (event.severity, event.level_source) == (severity, "line")


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("LaTeX Warning: Reference `errors' undefined", "WARNING"),
        ("SSL library warning: verification failed", "WARNING"),
        ("Package shop Info: all failed parts are left out", ""),
        ("rsync error: timeout in data", "ERROR"),
        ("Enabling unmasked FPU exception support... done.", ""),
        ("RAS: Correctable Errors collector initialized.", ""),
    ],
)
def test_a_label_in_front_says_how_bad_a_sentence_is(text: str, severity: str) -> None:
    assert by_words(text) == severity


@pytest.mark.parametrize(
    ("line", "severity", "time", "message"),
    [
        ("Jun  1 07:30:15 10.0.0.1 %ASA-3-106023: Deny tcp", "ERROR", "2025-06-01 07:30:15", "%ASA-3-106023: Deny tcp"),
        ("%LINK-5-CHANGED: port shut", "NOTICE", "", "%LINK-5-CHANGED: port shut"),
        ("<187>31: gw1 LC/0/2/CPU0:Jun  1 07:30:15.834 : ifm[4]: %INFRA-LINK-3-UPDOWN : port down", "ERROR",
         "2025-06-01 07:30:15", "%INFRA-LINK-3-UPDOWN : port down"),
        ("RP/0/RSP0/CPU0:Jun  1 07:30:15.123 UTC: bgp[1]: %ROUTING-BGP-5-UP : neighbour", "NOTICE",
         "2025-06-01 07:30:15", "%ROUTING-BGP-5-UP : neighbour"),
        ("06-01 07:30:15.123  1000  2000 E Shop  : no rate", "ERROR", "2025-06-01 07:30:15", "Shop  : no rate"),
        ("date=2025-06-01,time=07:30:16,fw=1,level=error,msg=\"no rate\"", "ERROR", "2025-06-01 07:30:16", "no rate"),
        ("ts=2025-06-01T07:30:16Z,level=warn,msg=slow rate,id=4", "WARNING", "2025-06-01 07:30:16", "slow rate"),
        ('"2025-06-01 07:30:15","shop","ERROR","no rate"', "ERROR", "2025-06-01 07:30:15", "no rate"),
        ("2025-06-01 07:30:15 [level=warn] slow", "WARNING", "2025-06-01 07:30:15", "slow"),
        ("2025-06-01 07:30:15 [shop] [Level: error] no rate", "ERROR", "2025-06-01 07:30:15", "no rate"),
        ("2025-06-01 07:30:15;ERROR;no rate", "ERROR", "2025-06-01 07:30:15", "no rate"),
        ("[W 07:30:16.123 NotebookApp] slow", "WARNING", "2025-06-02 07:30:16", "slow"),
        ("[error 07:30:16 shop] no rate", "ERROR", "2025-06-02 07:30:16", "no rate"),
        ("[#|2025-06-01T07:30:15.123+0100|SEVERE|fish 5|shop.Rates|_ThreadID=12;|\n  no rate|#]", "ERROR",
         "2025-06-01 06:30:15", "no rate"),
        ("(Sun Jun  1 07:30:15 2025) [sssd[be[shop]]] [load] (0x0040): no backend", "ERROR", "2025-06-01 07:30:15",
         "no backend"),
        ("(2025-06-01 07:30:15): [nss] [load] (0x0400): loaded", "INFO", "2025-06-01 07:30:15", "loaded"),
    ],
)  # fmt: skip
def test_heads_of_devices_and_servers(line: str, severity: str, time: str, message: str) -> None:
    (event,) = read(line + "\n")
    assert told(event) == (severity, time, message)


def test_the_kind_of_a_record_may_stand_around_it() -> None:
    for text in (
        '{"dns": {"ts": 1748763015.5, "msg": "asked"}}',
        '{"audit":{"time":"2025-06-01T07:30:15Z","msg":"asked"}}',
    ):
        (event,) = read(text + "\n")
        assert (event.occurred_at, event.message) == ("2025-06-01 07:30:15", "asked")


def test_requests_of_a_file_that_lost_its_directives() -> None:
    lines = (
        "2025-06-01 07:30:15 ::1 GET /rates - 80 - ::1 Mozilla/5.0+(X) http://shop/ 200 0 0 18\n"
        "2025-06-01 07:30:16 10.0.0.4 POST /till id=3 443 ann 10.0.0.9 curl/8 - 500 0 64 352\n"
    )
    assert [(event.severity, event.access and event.access.status) for event in read(lines)] == [
        ("INFO", 200),
        ("ERROR", 500),
    ]


def test_a_crash_of_android_ends_with_the_next_tag() -> None:
    """Other tags go on, whatever level they have: `LowMemory: …` is no exception."""
    for around in ("06-01 07:30:15.123  1000  2000 {0} {1}: {2}\n", "06-01 07:30:15.123 {0}/{1}( 1000): {2}\n"):
        said = (
            ("I", "Shop", "opened"),
            ("E", "AndroidRuntime", "FATAL EXCEPTION: main"),
            ("E", "AndroidRuntime", "Process: com.shop, PID: 31"),
            ("E", "AndroidRuntime", "java.lang.IllegalStateException: closed"),
            ("E", "AndroidRuntime", "\tat com.shop.Till.open(Till.java:12)"),
            ("I", "Manager", "Process com.shop has died"),
            ("W", "LowMemory", "system low on memory"),
            ("E", "Linux", "no such mount"),
        )
        events = read("".join(around.format(*parts) for parts in said))
        assert [event.severity for event in events] == ["INFO", "ERROR", "INFO", "WARNING", "ERROR"]


def test_one_line_of_data_is_no_row_of_column_names() -> None:
    for line in ('[1748763015.5, {"time": "now", "message": "x"}]', '{"time", "message", "level"'):
        assert len(read(line + "\n")) == 1


def test_a_request_within_its_kind_has_its_time() -> None:
    (event,) = read('{"http": {"ts": 1748763015, "method": "GET", "uri": "/", "status_code": 200, "host": "shop"}}\n')
    assert event.occurred_at == "2025-06-01 07:30:15"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("worker 31 terminated by signal 11", "ERROR"),  # process managers, shells
        ("TNS-12541: no listener", "ERROR"),
        ("ORA-01555: snapshot too old", "ERROR"),
        ("till[31] general protection ip:5590", "ERROR"),
        ("pump invoked oom-killer", "CRITICAL"),
        ("Soft lockup on two processors", "ERROR"),
    ],
)
def test_a_phrase_of_a_failure_needs_no_other_sign(text: str, severity: str) -> None:
    assert by_words(text) == severity


def test_what_a_message_is_does_not_depend_on_the_one_before() -> None:
    assert is_log_line("#Fields: a b c")  # columns of requests, of this text alone
    assert not is_log_line("3 files copied")

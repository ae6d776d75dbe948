"""Request lines of servers, proxies, load balancers and frameworks: status, path, client, duration, time."""

import json
from typing import Any

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import AccessLine, Reader

NOW = "2025-02-11 12:00:00"
AT = "[11/Feb/2025:07:30:15 +0000]"
TIME = "2025-02-11 07:30:15"
CLIENT = "10.0.0.9"


def read(text: str) -> list[Event]:
    data = text.encode()
    reader = Reader(data, modified_at=NOW, now="2026-01-01 00:00:00")
    return [*reader.feed(data), *reader.close()]


def request_of(line: str) -> tuple[Event, AccessLine]:
    [event] = read(line + "\n")
    assert isinstance(event.access, AccessLine), line
    return event, event.access


@pytest.mark.parametrize(
    "line",
    [
        f'{CLIENT} - - {AT} "POST /orders?id=1 HTTP/1.1" 502 47',
        f'{CLIENT} - anna {AT} "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"',
        f'{CLIENT} - - [11/Feb/2025 07:30:15] "POST /orders HTTP/1.1" 502 -',
        f'{CLIENT} - - [2025-02-11T08:30:15+01:00] "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"',
        f'{CLIENT} - - [11/Feb/2025:07:30:15.120 +0000] "POST /orders HTTP/1.1" 502 47',
        f'{CLIENT} {AT} "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"',
        f'shop.example.org:443 {CLIENT} - - {AT} "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"',
        f'{CLIENT} shop.example.org - {AT} "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"',
        f'{CLIENT} - - {AT} "POST http://shop.example.org/orders HTTP/1.1" 502 47 "-" "probe/1.0"',
        f'{AT} - 502 502 - POST https shop.example.org "/orders" [Client {CLIENT}] [Length 47] [Gzip -] [Sent-to app] '
        '"p" "-"',
        f'{AT} 502 - POST https shop.example.org "/orders" [Client {CLIENT}] [Length 47] [Gzip 2.1] "p" "-"',
        f'[GIN] 2025/02/11 - 07:30:15 | 502 |     505.317µs |       {CLIENT} | POST     "/orders"',
        f"[GIN] 2025/02/11 - 07:30:15 | 502 |        1m2.5s |       {CLIENT} | POST     /orders",
        f"07:30:15 | 502 |    12.3µs |  {CLIENT} | POST | /orders | -",
        f"[pid: 31|app: 0|req: 1/1] {CLIENT} () {{38 vars in 696 bytes}} [Tue Feb 11 07:30:15 2025] POST /orders => "
        "generated 47 bytes in 129 msecs (HTTP/1.1 502) 9 headers in 378 bytes (1 switches on core 3)",
        f"Feb 11 07:30:15 lb haproxy[31]: {CLIENT}:51234 [11/Feb/2025:07:30:15.120] web~ app/app1 0/0/1/5/6 502 47 - - "
        '---- 1/1/0/0/0 0/0 {shop.example.org|} "POST /orders HTTP/1.1"',
        f'2025-02-11T07:30:15.186641Z lb {CLIENT}:44740 10.0.0.1:80 0.1 0.2 0.3 502 502 0 47 '
        '"POST http://a:80/orders HTTP/1.1"',
        f"h2 2025-02-11T07:30:15.186641Z app/lb/1 {CLIENT}:44740 - -1 -1 -1 502 - 0 47 "
        '"POST https://a:443/orders HTTP/2.0" "probe/1.0" X TLSv1.3 arn:x "Root=1" "a" "-" 0 - "forward" "-" "-"',
        f"79a59df900b949e55d96a1e698fbaced bucket {AT} {CLIENT} u1 3E57 REST.PUT.OBJECT orders "
        '"POST /orders HTTP/1.1" 502 - 47 - 7 6 "-" "probe/1.0" -',
        f'[2025-02-11T07:30:15.120Z] "POST /orders HTTP/1.1" 502 UF 0 47 5 - "{CLIENT}" "probe/1.0" "id" "shop" "-"',
        f'[2025-02-11T07:30:15.120Z] "POST /orders HTTP/2" 502 UF via_upstream - "-" 0 47 5 4 "{CLIENT}" '
        '"p" "id" "shop" "-" x',
        f"1739259015.120    505 {CLIENT} TCP_MISS/502 47 POST http://shop.example.org/orders - "
        "HIER_DIRECT/1.2.3.4 text/html",
        f"[Tue Feb 11 07:30:15 2025] {CLIENT}:51234 [502]: POST /orders - Uncaught Gone: x",
        '[11/Feb/2025 07:30:15] "POST /orders HTTP/1.1" 502 47',
    ],
)  # fmt: skip
def test_request_lines_with_a_time(line: str) -> None:
    event, access = request_of(line)
    assert (access.method, access.path, access.status) == ("POST", "/orders", 502)
    assert (event.occurred_at, event.time_source, event.severity) == (TIME, "event", "ERROR")
    assert CLIENT in (access.client, access.forwarded) or line.startswith("[11/Feb/2025 ")
    assert event.message == "POST /orders → 502"


@pytest.mark.parametrize(
    ("line", "duration"),
    [
        ("POST /orders 502 12.345 ms - 47", 12.345),
        ("POST /orders 502 47 - 1.234 ms", 1.234),
        (f"{CLIENT} - POST /orders HTTP/1.1 502 47 - 1.2 ms", 1.2),
        ("POST /orders 502 in 12ms", 12),
        ("--> POST /orders 502 12ms 45b", 12),
        ("502 POST /orders (10.0.0.9) 12.00ms", 12),
        ("502 Bad Gateway: POST - /orders in 12ms", 12),
        ('"POST http://localhost:3000/orders HTTP/1.1" from 10.0.0.9:51234 - 502 47B in 505.3µs', 0.5053),
        (f'INFO:     {CLIENT}:5000 - "POST /orders HTTP/1.1" 502 Bad Gateway', None),
        (f'{CLIENT} "POST /orders HTTP/1.1" 502 47 "-" "curl" 0.25', 250),
        ("method=POST path=/orders format=html controller=Orders action=create status=502 duration=12.3", 12.3),
        ('at=error code=H12 method=POST path="/orders?x" host=a fwd="10.0.0.9" service=30000ms status=502', 30000),
    ],
)  # fmt: skip
def test_request_lines_without_a_time(line: str, duration: float | None) -> None:
    event, access = request_of(line)
    assert (access.method, access.path, access.status, event.severity) == ("POST", "/orders", 502, "ERROR")
    assert access.duration_ms == (pytest.approx(duration) if duration is not None else None)


@pytest.mark.parametrize(
    "line",
    [
        "user said POST /orders 502 12 ms",
        "POST /orders failed with 502",
        "404 GET",
        f"2025-02-11 07:30:15 ERROR {CLIENT} - - {AT} talks nonsense",
        "method=POST status=broken path=/x",
        f"{CLIENT} is down",
    ],
)
def test_sentences_are_no_requests(line: str) -> None:
    [event] = read(line + "\n")
    assert event.access is None and event.family != "access"


@pytest.mark.parametrize(
    ("behind", "duration"),
    [
        ("", None), ("12", 12), ("0.012", 12), ("12ms", 12), ("505µs", 0.505), ("1.5s", 1500),
        ("345 0.012 [default-svc-80] [] 10.0.0.1:80 145 0.013 200 4f", 12),
        ('12 "router@docker" "http://172.18.0.2:80" 5ms', 5),
        ('rt=0.012 uct="0.000" urt="0.011"', 12), ('request_time="0.012"', 12), ('"-" 0.012', 12),
    ],
)  # fmt: skip
def test_durations_behind_the_agent(behind: str, duration: float | None) -> None:
    _, access = request_of(f'{CLIENT} - - {AT} "GET /x HTTP/1.1" 200 145 "-" "agent" {behind}'.rstrip())
    assert access.duration_ms == (pytest.approx(duration) if duration is not None else None)
    assert access.forwarded == ""


def test_whole_numbers_that_no_server_takes_in_milliseconds_are_microseconds() -> None:
    def durations(*numbers: int) -> list[float | None]:
        text = "".join(f'{CLIENT} - - {AT} "GET /x HTTP/1.1" 200 145 "-" "agent" {number}\n' for number in numbers)
        return [e.access.duration_ms for e in read(text) if isinstance(e.access, AccessLine)]

    assert durations(8200, 91000, 7400, 12000, 910) == [8.2, 91, 7.4, 12, 0.91]
    assert durations(8, 91, 74, 12000, 910) == [8, 91, 74, 12000, 910]


@pytest.mark.parametrize(
    ("front", "client", "forwarded"),
    [
        ("203.0.113.7, 172.16.0.1 10.1.1.1 - -", "10.1.1.1", "203.0.113.7, 172.16.0.1"),
        ('"203.0.113.7, 172.16.0.1" - -', "172.16.0.1", "203.0.113.7, 172.16.0.1"),
        ("203.0.113.7, 172.16.0.1 - -", "172.16.0.1", "203.0.113.7, 172.16.0.1"),
        ("[2001:db8::1]:443 - -", "2001:db8::1", ""),
    ],
)
def test_lists_of_addresses_in_front(front: str, client: str, forwarded: str) -> None:
    _, access = request_of(f'{front} {AT} "GET /x HTTP/1.1" 200 145 "-" "agent"')
    assert (access.client, access.forwarded) == (client, forwarded)


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        (r"/caf\xC3\xA9", r"\x22Mozilla/5.0\x22 till"),
        (r"/caf\xc3\xa9", r"\"Mozilla/5.0\" till"),
        ("/caf%C3%A9", r"\x22Mozilla/5.0\" till"),
        ("/caf%c3%a9", r"\"Mozilla/5.0\x22 till"),
        ("/café", r"\"Mozilla/5.0\" till"),
    ],
)
def test_one_request_whatever_the_escapes(path: str, agent: str) -> None:
    _, access = request_of(f'{CLIENT} - - {AT} "GET {path}?x=1 HTTP/1.1" 500 7 "-" "{agent}"')
    assert (access.path, access.agent) == ("/café", '"Mozilla/5.0" till')


def test_escapes_that_are_no_text_stay() -> None:
    assert request_of(f'{CLIENT} - - {AT} "GET /a%FFb%2Fc%20d HTTP/1.1" 200 7')[1].path == "/a%FFb%2Fc%20d"
    assert request_of(rf'{CLIENT} - - {AT} "\x16\x03\x01" 400 7')[1].malformed
    event, access = request_of(rf'{CLIENT} - - {AT} "GET /x\" 200 1 HTTP/1.1" 500 7')
    assert (access.status, event.severity) == (500, "ERROR")


RECORDS: list[dict[str, Any]] = [
    {"ClientIP": CLIENT, "ClientRequestMethod": "GET", "ClientRequestURI": "/x?y", "EdgeResponseStatus": 502,
     "EdgeStartTimestamp": 1739259015000000000, "OriginResponseTime": 12000000},
    {"ClientAddr": f"{CLIENT}:51234", "DownstreamStatus": 502, "Duration": 12000000, "RequestMethod": "GET",
     "RequestPath": "/x", "level": "info", "msg": "", "time": "2025-02-11T07:30:15Z"},
    {"level": "error", "ts": 1739259015.12, "logger": "http.log.access", "msg": "handled request", "status": 502,
     "duration": 0.012, "request": {"remote_ip": CLIENT, "method": "GET", "uri": "/x"}},
    {"start_time": "2025-02-11T07:30:15.120Z", "method": "GET", "path": "/x", "response_code": 502, "duration": 12,
     "downstream_remote_address": f"{CLIENT}:1234"},
    {"request": {"method": "GET", "uri": "/x", "size": 90}, "response": {"status": 502, "size": 1}, "client_ip": CLIENT,
     "latencies": {"request": 12}, "started_at": 1739259015120},
    {"severity": "ERROR", "timestamp": "2025-02-11T07:30:15.120Z",
     "httpRequest": {"requestMethod": "GET", "requestUrl": "https://a/x", "status": 502, "remoteIp": CLIENT,
                     "latency": "0.012s"}},
    {"time": "2025-02-11T07:30:15.12Z", "remote_ip": CLIENT, "method": "GET", "uri": "/x", "status": 502, "error": "",
     "latency": 12000000, "latency_human": "12ms"},
    {"level": 30, "time": 1739259015120, "pid": 3, "hostname": "box", "msg": "request completed", "responseTime": 12,
     "req": {"method": "GET", "url": "/x", "remoteAddress": f"::ffff:{CLIENT}"}, "res": {"statusCode": 502}},
    {"ip": CLIENT, "requestTime": "11/Feb/2025:07:30:15 +0000", "httpMethod": "GET", "resourcePath": "/x",
     "status": "502", "responseLatencyMs": "12", "took": "12ms"},
    {"level": "info", "ts": 1739259015.12, "msg": "/x", "status": 502, "method": "GET", "path": "/x", "ip": CLIENT,
     "latency": 0.012},
]  # fmt: skip


@pytest.mark.parametrize("record", RECORDS)
def test_requests_as_json(record: dict[str, Any]) -> None:
    event, access = request_of(json.dumps(record))
    assert (access.method, access.path, access.status, access.client) == ("GET", "/x", 502, CLIENT)
    assert (event.occurred_at, event.severity, access.duration_ms) == (TIME, "ERROR", pytest.approx(12))


@pytest.mark.parametrize(
    "record",
    [
        {"level": "error", "msg": "payment failed", "status": 502, "method": "POST", "url": "/pay"},
        {"level": "error", "logger": "http.log.error", "msg": "dial tcp: refused", "status": 502,
         "request": {"method": "GET", "uri": "/x"}},
        {"level": 50, "msg": "request errored", "err": {"type": "Gone", "message": "gone"}, "res": {"statusCode": 502},
         "req": {"method": "GET", "url": "/x"}, "pid": 1, "hostname": "box"},
        {"level": "error", "message": "no rate", "status": 502},
    ],
)  # fmt: skip
def test_what_a_program_says_about_a_request_is_no_request(record: dict[str, Any]) -> None:
    [event] = read(json.dumps(record) + "\n")
    assert (event.access, event.severity) == (None, "ERROR")
    assert event.message == record.get("msg", record.get("message"))


def test_w3c_values_in_quotes_and_behind_tabs() -> None:
    fields = "date time cs-method cs-uri-stem sc-status cs(User-Agent) c-ip time-taken"
    row = ["2025-02-11", "07:30:15", "GET", "/orders", "502", "probe 1.0 (linux)", CLIENT, "12"]
    quoted = " ".join(f'"{value}"' if " " in value else value for value in row)
    plus = " ".join(value.replace(" ", "+") for value in row)
    events = read(f"#Version: 1.0\n#Fields: {fields}\n{quoted}\n{plus}\n" + "\t".join(row) + "\n")
    lines = [event.access for event in events if isinstance(event.access, AccessLine)]
    assert [(x.status, x.path, x.agent, x.client, x.duration_ms) for x in lines] == [
        (502, "/orders", "probe 1.0 (linux)", CLIENT, 12)
    ] * 3
    assert {event.occurred_at for event in events} == {TIME}


def test_requests_and_errors_of_a_development_server_do_not_mix() -> None:
    events = read(
        '[11/Feb/2025 07:30:14] "GET /basket HTTP/1.1" 200 145\n'
        "Internal Server Error: /orders\n"
        "Traceback (most recent call last):\n"
        '  File "/srv/views.py", line 31, in post\n    return rates[code]\n'
        "KeyError: 'CHF'\n"
        '[11/Feb/2025 07:30:15] "POST /orders HTTP/1.1" 500 145\n'
    )
    assert [event.message for event in events] == [
        "GET /basket → 200", "Internal Server Error: /orders", "POST /orders → 500"
    ]  # fmt: skip
    assert events[1].exceptions[-1].type == "KeyError"


def test_what_php_says_behind_a_request_is_kept() -> None:
    event, _ = request_of(f"[Tue Feb 11 07:30:15 2025] {CLIENT}:51234 [500]: GET /x - Uncaught Gone: no rate")
    assert event.context == "Uncaught Gone: no rate"


@pytest.mark.parametrize("line", ["[" * 100_000, '"' * 100_000, "1" * 100_000, "GET /" + "x " * 50_000, "a=" * 50_000,
                                  f'{CLIENT} - - {AT} "GET /' + '\\" 200' * 20_000, "<Event " + "<Data>" * 20_000,
                                  "2025-02-11 07:30:15 UTC," + '"' * 50_000])  # fmt: skip
def test_odd_long_lines_take_no_time(line: str) -> None:
    assert len(read(line + "\n")) == 1

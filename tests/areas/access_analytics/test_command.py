"""`snaglist access`, its two ways to read a line, and its page."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from snaglist.kernel.service import Service
from snaglist.plugins.access_analytics.command.gathering import MAX_VALUES, Gathering
from snaglist.plugins.access_analytics.command.page import write_page
from snaglist.plugins.access_analytics.tally import page_of
from snaglist.plugins.logs.read import requests

pytestmark = pytest.mark.whole

Line = Callable[..., str]


def run(*arguments: str, code: int = 0) -> tuple[str, str]:
    program = [sys.executable, "-c", "from snaglist.plugins.start import main; main()"]
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def nothing(*_: Any) -> None:
    """Watch nothing."""


def test_the_report_of_files_is_that_of_the_api_and_stores_nothing(line: Line, tmp_path: Path) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    first, second = tmp_path / "a.log", tmp_path / "b.log.gz"
    first.write_text(line("/orders/1", when=when, rest=" 12") * 3 + "nonsense\n")
    second.write_bytes(gzip.compress((line("/x", 404, when=when) * 2).encode()))
    out, _ = run("--data", str(tmp_path / "data"), "--json", "access", str(first), str(second))
    report = json.loads(out)
    assert (report["from"], report["to"]) == ("2026-01-02 03:00:00", "2026-01-02 04:00:00")
    assert (report["total"], report["not_understood"], report["error_rate"]) == (5, 1, 0.4)
    assert report["top_paths"][0] == {
        "path": "/orders/{id}", "count": 3, "errors": 0, "client_errors": 0, "server_errors": 0, "bytes": 300,
        "p50_ms": 12, "p95_ms": 12, "p99_ms": 12,
    }  # fmt: skip
    assert not (tmp_path / "data").exists()
    out, _ = run("access", str(first), str(second))
    assert "requests 5" in out and "/orders/{id}" in out


def test_files_that_cannot_be_read(line: Line, tmp_path: Path) -> None:
    good, bad = tmp_path / "a.log", tmp_path / "b.log.gz"
    good.write_text(line())
    bad.write_bytes(gzip.compress(line().encode() * 100)[:-20])
    out, error = run("--json", "access", str(good), str(tmp_path / "none.log"), code=3)
    assert json.loads(out)["total"] == 1 and "none.log" in error
    none, out, error = "none.log: No such file or directory", *run("access", str(tmp_path / "none.log"), code=1)
    assert (out, error) == ("", f"snaglist: {tmp_path / none}\n")
    out, error = run("--json", "access", str(tmp_path / "none.log"), code=1)
    assert (json.loads(out), error) == ({"error": str(tmp_path / none)}, "")
    run("access", code=2)
    out, error = run("--json", "access", str(bad), code=3)
    assert f"; {json.loads(out)['total']} lines before it are counted" in error


def test_the_page_stands_alone_and_shows_hostile_text_as_text(line: Line, tmp_path: Path) -> None:
    log, page = tmp_path / "a.log", tmp_path / "out.html"
    log.write_text(line("/<script>alert(1)</script>") + line("/%00%07&amp;", agent="<b>x</b>") + line("/ünï"))
    run("access", str(log), "--html", str(page))
    text = page.read_text("utf-8")
    assert "<script" not in text and "<b>" not in text and "&lt;script&gt;" in text and "/ünï" in text
    assert not re.search(r"""(?:src|href)=|url\(|@import""", text)
    assert "\0" not in text and "\7" not in text and text.startswith("<!doctype html>")
    body = text[text.index("<body") : text.index("</body>") + 7]
    assert len(list(ElementTree.fromstring(body).iter("svg"))) >= 2


def report_of(service: Service, data: bytes, folder: Path) -> dict[str, Any]:
    log = folder / "some.log"
    log.write_bytes(data)
    gathering = Gathering(service)
    gathering.read(log, nothing)
    return gathering.report()


ADDRESS = st.sampled_from(("192.0.2.1", "::ffff:192.0.2.1", "fe80::1%eth0", '"192.0.2.7', "shop.example:443 192.0.2.7"))
STAMP = st.sampled_from(
    ("10/Oct/2024:13:55:36 +0000", "10/Oct/2024:13:15:60 +0530", "30/Feb/2024:01:00:00 +0000",
     "10/Oct/2024:25:00:00 -0100", "10/Oct/1969:13:00:00 +0000", "01/Jan/2999:00:00:00 +0000",
     "10/Okt/2024:13:55:36 +0000")
)  # fmt: skip
REQUEST = st.sampled_from(
    ("GET /a HTTP/1.1", "GET /a?b=c#d HTTP/2.0", "GET /a b HTTP/1.1", "get /a HTTP/1.1", "GET /a",
     "GET http://x/y HTTP/1.0", "-", "", "\\x16\\x03", "CONNECT a:443 HTTP/1.1", "OPTIONS * HTTP/1.0",
     "GET /a HTTP/1.1 HTTP/1.1", "PRI * HTTP/2.0",
     "GET /%2e%2f\\x22 HTTP/1.1", 'GET /"quoted" HTTP/1.1', "GET /\u2003x HTTP/1.1")
)  # fmt: skip
RESULT = st.sampled_from(("200 12", "404 -", "000 0", "600 1", "499 123456789012345678", "shop=1 2", "200", "200 1x"))
REST = st.sampled_from(
    ("", ' "-" "curl/8.0"', ' "http://a.example/" "Mozilla/5.0 Firefox/3"', ' "-" "a \\" b"', ' "-"', ' "-" "-" 12',
     ' "-" "x" 0.25', ' "-" "x" "203.0.113.9"', ' "-" "x" "203.0.113.9" 7', ' "-" "x" 12ms',
     ' "" ""', ' "-" "x" -', " ")
)  # fmt: skip


@settings(max_examples=150)
@example("192.0.2.1", "10/Oct/2024:13:55:36 +0000", "GET /a HTTP/1.1", "200 12", ' "-" "x" "203.0.113.9" 7', "\n")
@given(ADDRESS, STAMP, REQUEST, RESULT, REST, st.sampled_from(("\n", "\r\n", "", "\x1b[0m\n", "\0\n")))
def test_the_expression_of_usual_lines_says_what_the_parser_says(
    address: str, stamp: str, request: str, result: str, rest: str, end: str
) -> None:
    text = f'{address} - - [{stamp}] "{request}" {result}{rest}{end}'.encode()
    usual: list[Any] = []
    unusual: list[Any] = []
    for taken in (usual, unusual):
        lines = requests._Lines("2026-01-01 00:00:00", "latin-1", lambda *r, t=taken: t.append(r), taken.append)
        if taken is unusual:
            for line in lines._texts(text):
                lines._unusual(line)
        else:
            lines.read(text)
    assert usual == unusual


def test_usual_lines_need_no_parser(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests._Lines, "_unusual", lambda *_: pytest.fail("asked the parser"))
    taken: list[Any] = []
    lines = requests._Lines("2026-01-01 00:00:00", "latin-1", lambda *request: taken.append(request), pytest.fail)
    for rest in ("", " 1", ' "203.0.113.9" 0.5'):
        lines.read(line("/a?b", 404, rest=rest).rstrip().encode())
    assert [request[9] for request in taken] == [None, 1, 500]


def test_pieces_encodings_and_other_formats(
    sqlite_service: Service, line: Line, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    when = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    text = line("/ä", when=when) + line("/b", 500, when=when) + line("/c", when=when).rstrip()
    whole = report_of(sqlite_service, text.encode(), tmp_path)
    assert whole["total"] == 3
    monkeypatch.setattr(requests, "CHUNK_BYTES", 7)
    assert report_of(sqlite_service, text.encode(), tmp_path) == whole
    assert report_of(sqlite_service, text.encode("latin-1"), tmp_path) == whole
    assert report_of(sqlite_service, text.encode("utf-16"), tmp_path) == whole
    assert report_of(sqlite_service, b"\xef\xbb\xbf" + text.encode().replace(b"\n", b"\r\n"), tmp_path) == whole
    wrapped = "".join(f"2026-01-02T03:04:05.1Z stdout F {line}\n" for line in text.split("\n"))
    assert report_of(sqlite_service, wrapped.encode(), tmp_path) == whole


def test_memory_does_not_grow_with_values_and_hours(sqlite_service: Service, line: Line, tmp_path: Path) -> None:
    log = tmp_path / "wide.log"
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [a + b + c + "x" for a in letters for b in letters for c in letters]
    names += [f"zz{a}y" for a in letters] * 200
    assert len(set(names)) < MAX_VALUES < len({f"/{n}{m}" for n in names for m in "ab"})
    day = datetime(2025, 1, 1, tzinfo=UTC)
    with log.open("w") as target:
        for number, name in enumerate(names):
            for suffix in "ab":
                target.write(line(f"/{name}{suffix}", when=day.replace(month=1 + number % 12, hour=number % 24)))
    gathering = Gathering(sqlite_service)
    gathering.read(log, nothing)
    assert len(gathering._values["path"]) == MAX_VALUES + 1
    report = gathering.report()
    assert report["total"] == 2 * len(names) == sum(sums.hits for sums in gathering._values["path"].values())
    assert len(report["by_day"]) == 335


def test_days_without_requests_are_left_out_of_files_whose_times_lie_years_apart(
    sqlite_service: Service, line: Line, tmp_path: Path
) -> None:
    data = "".join(line(when=datetime(year, 5, 5, tzinfo=UTC)) for year in (1980, 2020))
    report = report_of(sqlite_service, data.encode(), tmp_path)
    assert [day["day"] for day in report["by_day"]] == ["1980-05-05", "2020-05-05"]


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/orders/1/items/22", "/orders/{id}/items/{id}"), ("/u/8c1f0f0e-31e2-4c6f-9d7e-0d8f5a1b2c3d", "/u/{id}"),
        ("/a%20b", "/a b"), ("/x;jsessionid=AB12", "/x"), ("/..%2fetc", "/..%2fetc"), ("/day/2026-01-02", "/day/{id}"),
        ("/f/d41d8cd98f00b204e9800998ecf8427e", "/f/{id}"), ("-", "-"), ("/a%00b", "/a\ufffdb"), ("*", "*"),
    ],
)  # fmt: skip
def test_pages(path: str, page: str) -> None:
    assert page_of(path) == page
    assert len(page_of(path * 200)) <= 300


def test_a_page_of_nothing(tmp_path: Path, sqlite_service: Service) -> None:
    report = Gathering(sqlite_service).report()
    write_page(tmp_path / "x.html", report, ["-"])
    assert report["total"] == 0 and report["window_days"] == 1

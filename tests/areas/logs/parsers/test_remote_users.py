"""Who is logged in, as access logs say it: read of all notations, and kept where `access.remote_user` wants it."""

from pathlib import Path

import pytest

from snaglist.plugins.logs.parsers import AccessLine, Reader
from snaglist.testing import Client, running_service

AT = "[11/Feb/2025:07:30:15 +0000]"
COMBINED = f'10.0.0.9 - anna {AT} "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"'
W3C = "#Fields: date time cs-username cs-method cs-uri-stem sc-status\n2025-02-11 07:30:15 {} POST /orders 502"


@pytest.mark.parametrize(
    ("text", "user"),
    [
        (COMBINED, "anna"),
        (COMBINED.replace("anna", "-"), ""),
        (f'shop.example.org:443 10.0.0.9 - anna {AT} "POST /orders HTTP/1.1" 502 47', "anna"),
        (f'10.0.0.9 - anna smith {AT} "POST /orders HTTP/1.1" 502 47', "anna smith"),
        (f'10.0.0.9 {AT} "POST /orders HTTP/1.1" 502 47 "-" "probe/1.0"', ""),
        ('{"ts": "2025-02-11T07:30:15Z", "status": 502, "request": "GET / HTTP/1.1", "remote_user": "anna"}', "anna"),
        ('{"ts": "2025-02-11T07:30:15Z", "status": 502, "request": "GET / HTTP/1.1", "remote_user": "-"}', ""),
        ('{"StartUTC": "2025-02-11T07:30:15Z", "DownstreamStatus": 502, "RequestMethod": "POST", "RequestPath": "/o",'
         ' "ClientUsername": "anna"}', "anna"),
        (W3C.format("CORP\\anna"), "CORP\\anna"),
        (W3C.format("-"), ""),
    ],
    ids=range(10),
)  # fmt: skip
def test_who_is_logged_in(text: str, user: str) -> None:
    data = (text + "\n").encode()
    reader = Reader(data, modified_at="2025-02-11 12:00:00", now="2026-01-01 00:00:00")
    [event] = [*reader.feed(data), *reader.close()]
    assert isinstance(event.access, AccessLine), text
    assert event.access.user == user


@pytest.mark.parametrize("wanted", [False, True])
def test_kept_where_it_is_wanted(fresh_data: Path, wanted: bool) -> None:
    with running_service(fresh_data, access__remote_user=wanted) as service:
        client = Client(service)
        client.feed(COMBINED + "\n", "access.log")
        (issue,) = client.get("errors").json["data"]
        assert issue["users"] == wanted
        assert [found["id"] for found in client.get("errors", user="anna").json["data"]] == [issue["id"]] * wanted

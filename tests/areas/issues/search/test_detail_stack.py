"""Library frames in stack texts of several languages (`skip_vendor`)."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from snaglist.plugins.issues.search.stack import without_libraries


def exceptions(*frames: tuple[str | None, str | None, int | None, bool]) -> list[dict[str, Any]]:
    return [
        {
            "class": "E",
            "message": "",
            "frames": [
                {"function": function, "file": file, "line": line, "column": None, "in_app": in_app}
                for function, file, line, in_app in frames
            ],
        }
    ]


JAVA = """\
com.shop.PayException: declined
\tat com.shop.Pay.charge(Pay.java:42)
\tat org.http.Client.send(Client.java:42)
\tat java.base/java.lang.Thread.run(Native Method)
Caused by: java.io.IOException: reset
\tat org.http.Socket.read(Socket.java:9)
\t... 3 more
"""
JAVA_FRAMES = exceptions(
    ("com.shop.Pay.charge", "Pay.java", 42, True),
    ("org.http.Client.send", "Client.java", 42, False),
    ("java.lang.Thread.run", None, None, False),
    ("org.http.Socket.read", "Socket.java", 9, False),
)
PHP = """\
#0 /app/vendor/guzzle/Client.php(120): request()
#1 /app/src/Pay.php(12): Client->post()
#2 {main}"""
PHP_FRAMES = exceptions(
    ("request", "/app/vendor/guzzle/Client.php", 120, False), ("post", "/app/src/Pay.php", 12, True)
)
NODE = "    at send (/srv/node_modules/got/index.js:12:3)\n    at pay (/srv/app/pay.js:12:3)\n"


def test_known_frames_decide() -> None:
    assert without_libraries(JAVA, JAVA_FRAMES) == (
        "com.shop.PayException: declined\n"
        "\tat com.shop.Pay.charge(Pay.java:42)\n"
        "Caused by: java.io.IOException: reset\n"
        "\t... 3 more\n"
    )
    assert without_libraries(PHP, PHP_FRAMES) == "#1 /app/src/Pay.php(12): Client->post()\n#2 {main}"


def test_the_verdict_of_the_parser_beats_the_look_of_the_path() -> None:
    frames = exceptions(("send", "/srv/node_modules/got/index.js", 12, True), ("pay", "/srv/app/pay.js", 12, False))
    assert without_libraries(NODE, frames) == NODE.splitlines(keepends=True)[0]


def test_without_frames_well_known_folders_decide() -> None:
    assert without_libraries(NODE, None) == "    at pay (/srv/app/pay.js:12:3)\n"
    assert without_libraries(PHP, []) == "#1 /app/src/Pay.php(12): Client->post()\n#2 {main}"


def test_quoted_source_goes_with_its_frame() -> None:
    python = (
        '  File "/usr/lib/python3.11/json/decoder.py", line 3, in decode\n'
        "    raise JSONDecodeError(x[1:2])\n"
        "          ^^^^^^^^^^^^^^^\n"
        '  File "/srv/app/pay.py", line 3, in pay\n'
        "    json.loads(text)\n"
    )
    frames = exceptions(
        ("decode", "/usr/lib/python3.11/json/decoder.py", 3, False), ("pay", "/srv/app/pay.py", 3, True)
    )
    own = '  File "/srv/app/pay.py", line 3, in pay\n    json.loads(text)\n'
    assert without_libraries(python, frames) == own
    assert without_libraries(python, []) == own


@pytest.mark.parametrize("stack", [None, ""])
def test_no_stack(stack: str | None) -> None:
    assert without_libraries(stack, JAVA_FRAMES) == stack


@given(st.text(), st.booleans())
def test_what_stays_is_lines_of_the_stack_in_order(stack: str, known: bool) -> None:
    kept = (without_libraries(stack, JAVA_FRAMES if known else None) or "").splitlines()
    lines = iter(stack.splitlines())
    assert all(line in lines for line in kept)

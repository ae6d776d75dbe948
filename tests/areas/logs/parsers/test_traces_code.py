"""The lines of code that traces print below their frames, and how often a call was made again."""

import textwrap
from typing import Any

import pytest

from snaglist.plugins.issues import grouping_key
from snaglist.plugins.logs.parsers import Reader

NOW = "2026-01-04 00:00:00"


def read(text: str) -> Any:
    """The only event of a log."""
    data = textwrap.dedent(text).lstrip("\n").encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    (event,) = [*reader.feed(data), *reader.close()]
    return event


def code(event: Any) -> list[tuple[str | None, int | None, str | None]]:
    """File, line and code of the frames of the exception raised last, innermost first."""
    return [(f.file, f.line, f.context and f.context.line) for f in event.exceptions[-1].frames]


PLAIN = """
    2026-01-03 10:00:00 ERROR no customer
    Traceback (most recent call last):
      File "/srv/shop/orders.py", line 12, in main
        charge(order)
        ~~~~~~^^^^^^^
      File "/srv/shop/generated.py", line 3, in charge
      File "/srv/shop/pay.py", line 40, in pay
        raise ValueError(
            "no customer",
        )
    ValueError: no customer
"""
DRAWN = """
    2026-01-03 10:00:00 ERROR no customer
    ╭─────────────── Traceback (most recent call last) ───────────────╮
    │ /srv/shop/orders.py:12 in main                                  │
    │                                                                 │
    │   10 def main():                                                │
    │   11 │   order = load()                                         │
    │ ❱ 12 │   charge(order)                                          │
    │   13                                                            │
    │                                                                 │
    │ /srv/shop/pay.py:40 in pay                                      │
    │                                                                 │
    │ ❱ 40 │   raise ValueError("no customer")                        │
    ╰─────────────────────────────────────────────────────────────────╯
    ValueError: no customer
"""
SESSION = """
    2026-01-03 10:00:00 ERROR a cell failed
    ---------------------------------------------------------------------------
    ValueError                                Traceback (most recent call last)
    Cell In[3], line 2
          1 order = load()
    ----> 2 charge(order)

    File /srv/shop/pay.py:40, in pay(order)
         38 def pay(order):
         39     # nobody to send it to
    ---> 40     raise ValueError("no customer")

    ValueError: no customer
"""
NODE = """
    /srv/shop/cart.js:12
        throw new Error("no cart");
        ^

    Error: no cart
        at total (/srv/shop/cart.js:12:11)
        at Object.<anonymous> (/srv/shop/index.js:3:1)
"""
RUBY = """
    app/cart.rb:4:in 'Cart#total': undefined method 'price' for nil (NoMethodError)

        item.price * 2
            ^^^^^^
    \tfrom app/main.rb:9:in '<main>'
"""
POWERSHELL = """
    2026-01-03 10:00:00 ERROR Get-Item : Cannot find path 'C:\\x' because it does not exist.
    At C:\\jobs\\clean.ps1:3 char:1
    + Get-Item C:\\x
    + ~~~~~~~~~~~~~
        + CategoryInfo          : ObjectNotFound: (C:\\x:String) [Get-Item], ItemNotFoundException
        + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetItemCommand
"""
LISTED = (
    '{"level": "error", "event": "no customer", "exception": [{"exc_type": "ValueError", "exc_value": "no customer",'
    ' "frames": [{"filename": "/srv/shop/orders.py", "lineno": 12, "name": "main", "line": "charge(order)"},'
    ' {"filename": "/srv/shop/pay.py", "lineno": 40, "name": "pay", "line": ""}]}]}\n'
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            PLAIN,
            [
                ("/srv/shop/pay.py", 40, "raise ValueError("),
                ("/srv/shop/generated.py", 3, None),
                ("/srv/shop/orders.py", 12, "charge(order)"),
            ],
        ),
        (
            DRAWN,
            [("/srv/shop/pay.py", 40, 'raise ValueError("no customer")'), ("/srv/shop/orders.py", 12, "charge(order)")],
        ),
        (
            SESSION,
            [("/srv/shop/pay.py", 40, 'raise ValueError("no customer")'), ("Cell In[3]", 2, "charge(order)")],
        ),
        (NODE, [("/srv/shop/cart.js", 12, 'throw new Error("no cart");'), ("/srv/shop/index.js", 3, None)]),
        (RUBY, [("app/cart.rb", 4, "item.price * 2"), ("app/main.rb", 9, None)]),
        (POWERSHELL, [("C:\\jobs\\clean.ps1", 3, "Get-Item C:\\x")]),
        (LISTED, [("/srv/shop/pay.py", 40, None), ("/srv/shop/orders.py", 12, "charge(order)")]),
    ],
    ids=["plain", "drawn", "session", "node", "ruby", "powershell", "listed"],
)  # fmt: skip
def test_the_line_of_code_belongs_to_its_frame(text: str, wanted: list[Any]) -> None:
    assert code(read(text)) == wanted


def test_a_call_that_was_made_again_is_counted() -> None:
    event = read("""
        Traceback (most recent call last):
          File "/srv/shop/tree.py", line 20, in <module>
            down(tree)
          File "/srv/shop/tree.py", line 9, in down
            return down(tree.left)
          [Previous line repeated 978 more times]
        RecursionError: maximum recursion depth exceeded
    """)
    assert [(frame.function, frame.repeated) for frame in event.exceptions[-1].frames] == [
        ("down", 978),
        ("<module>", 0),
    ]
    assert [said for *_, said in code(event)] == ["return down(tree.left)", "down(tree)"]


def test_code_is_no_part_of_the_grouping_key() -> None:
    other = PLAIN.replace("charge(order)", "charge(order, again=True)").replace("raise ValueError(", "fail(")
    assert code(read(PLAIN)) != code(read(other))
    assert grouping_key(read(PLAIN), None).key == grouping_key(read(other), None).key

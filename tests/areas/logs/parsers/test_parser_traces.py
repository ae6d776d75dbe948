"""Traces: exceptions in raise order, frames innermost first, library frames told apart."""

from textwrap import dedent

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2025-01-01 00:00:00"


def read(text: str) -> list[Event]:
    data = dedent(text).lstrip("\n").encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    return [*reader.feed(data), *reader.close()]


def shown(event: Event) -> list[tuple[str, str, list[tuple[str | None, str | None, int | None, bool]]]]:
    return [(e.type, e.message, [(f.function, f.file, f.line, f.in_app) for f in e.frames]) for e in event.exceptions]


def test_python_with_a_library_frame_and_a_message_of_two_lines() -> None:
    [event] = read("""
        2024-05-01 10:00:00 ERROR job failed
        Traceback (most recent call last):
          File "/srv/app.py", line 3, in run
            call()
          File "/usr/lib/python3.11/json/decoder.py", line 337, in decode
            ^^^^^
          [Previous line repeated 3 more times]
        json.decoder.JSONDecodeError: bad
        second line
    """)
    assert event.message == "job failed"
    assert shown(event) == [
        (
            "json.decoder.JSONDecodeError",
            "bad\nsecond line",
            [("decode", "/usr/lib/python3.11/json/decoder.py", 337, False), ("run", "/srv/app.py", 3, True)],
        )
    ]


def test_python_group_within_a_group_ends_with_the_outer_one() -> None:
    [event] = read("""
        2024-05-01 10:00:00 ERROR x
          + Exception Group Traceback (most recent call last):
          |   File "/a.py", line 1, in outer
          | ExceptionGroup: outer (2 sub-exceptions)
          +-+---------------- 1 ----------------
            | Exception Group Traceback (most recent call last):
            |   File "/a.py", line 2, in inner
            | ExceptionGroup: inner (1 sub-exception)
            +-+---------------- 1 ----------------
              | Traceback (most recent call last):
              |   File "/a.py", line 3, in one
              | ValueError: 1
              +------------------------------------
            +---------------- 2 ----------------
            | Traceback (most recent call last):
            |   File "/a.py", line 4, in two
            | KeyError: 2
            +------------------------------------
    """)
    assert [(e.type, e.message, e.frames[0].function) for e in event.exceptions] == [
        ("ValueError", "1", "one"),
        ("ExceptionGroup", "inner (1 sub-exception)", "inner"),
        ("KeyError", "2", "two"),
        ("ExceptionGroup", "outer (2 sub-exceptions)", "outer"),
    ]


def test_java_exception_within_the_message_line_and_modules() -> None:
    [event] = read("""
        2024-05-01 10:00:00,000 ERROR [main] c.a.X - handler failed: java.lang.IllegalStateException: no stock
        \tat app//com.acme.Job.pick(Job.java:40)
        \tat java.base/java.lang.Thread.run(Thread.java:829)
        \tat com.acme.Job.nat(Native Method)
        Caused by: com.acme.Gone
        \tat com.acme.Db.get(Db.java:2)
        \t... 2 more
    """)
    assert event.message == "handler failed"
    assert shown(event) == [
        ("com.acme.Gone", "", [("com.acme.Db.get", "Db.java", 2, True)]),
        (
            "java.lang.IllegalStateException",
            "no stock",
            [
                ("com.acme.Job.pick", "Job.java", 40, True),
                ("java.lang.Thread.run", "Thread.java", 829, False),
                ("com.acme.Job.nat", None, None, True),
            ],
        ),
    ]


def test_java_uncaught_without_a_logger() -> None:
    [event] = read("""
        Exception in thread "main" java.lang.NullPointerException: x is null
        \tat com.acme.Main.main(Main.java:5)
    """)
    said = 'Exception in thread "main" java.lang.NullPointerException: x is null'
    assert (event.severity, event.message, event.exceptions[0].type) == (
        "ERROR",
        said,
        "java.lang.NullPointerException",
    )


def test_php_uncaught_chain_prints_the_earlier_one_first() -> None:
    [event] = read("""
        [05-Mar-2024 08:15:30 UTC] PHP Fatal error:  Uncaught App\\Inner: gone in /srv/a.php:3
        Stack trace:
        #0 /srv/b.php(7): App\\load(Object(Foo))
        #1 {main}

        Next App\\Outer: cannot load in /srv/vendor/x/c.php:9
        Stack trace:
        #0 /srv/d.php(1): run()
        #1 {main}
          thrown in /srv/vendor/x/c.php on line 9
    """)
    assert event.severity == "CRITICAL"
    assert shown(event) == [
        ("App\\Inner", "gone", [("App\\load", "/srv/a.php", 3, True), ("{main}", "/srv/b.php", 7, True)]),
        ("App\\Outer", "cannot load", [("run", "/srv/vendor/x/c.php", 9, False), ("{main}", "/srv/d.php", 1, True)]),
    ]


def test_monolog_object_with_a_previous_exception() -> None:
    [event] = read(
        '[2024-05-01 10:00:00] production.ERROR: declined {"userId":5,"exception":"[object] (App\\\\Wrap(code: 0):'
        " outer at /srv/a.php:8)\n[stacktrace]\n#0 /srv/b.php(12): App\\\\Charge->run(Array, 'x')"
        "\n#1 [internal function]: f()\n#2 {main}\n"
        "\n[previous exception] [object] (App\\\\Root(code: 5): inner at /srv/c.php:9)\n[stacktrace]"
        '\n#0 {main}\n"} \n'
    )
    assert (event.message, event.context) == ("declined", '{"userId":5}')
    assert shown(event) == [
        ("App\\Root", "inner", [("{main}", "/srv/c.php", 9, True)]),
        (
            "App\\Wrap",
            "outer",
            [("App\\Charge->run", "/srv/a.php", 8, True), ("f", "/srv/b.php", 12, True)],
        ),
    ]


def test_monolog_exception_that_was_cut_off() -> None:
    [event] = read(
        '[2024-05-01 10:00:00] production.ERROR: declined {"exception":"[object] (App\\\\Gone(code: 0): no at /a.php:8)'
        "\n[stacktrace]\n#0 /b.php(12): run()\n#1 /c.ph\n"
    )
    assert event.message == "declined"
    assert event.exceptions[0].message == "no" and event.exceptions[0].frames[0].line == 8


def test_dotnet_async_and_inner_on_its_own_line() -> None:
    [event] = read("""
        2024-05-01 10:00:02.000 +00:00 [ERR] import failed
        Acme.Wrap: outer
         ---> System.IO.IOException: disk
           at System.IO.File.Read() in /_/src/File.cs:line 7
           --- End of inner exception stack trace ---
           at Acme.Job.<RunAsync>d__5.MoveNext() in C:\\b\\Job.cs:line 20
        --- End of stack trace from previous location ---
           at Acme.Main.Go(String x)
    """)
    assert event.message == "import failed"
    assert shown(event) == [
        ("System.IO.IOException", "disk", [("System.IO.File.Read", "/_/src/File.cs", 7, False)]),
        (
            "Acme.Wrap",
            "outer",
            [("Acme.Job.RunAsync", "C:\\b\\Job.cs", 20, True), ("Acme.Main.Go", None, None, True)],
        ),
    ]


def test_dotnet_words_in_another_language() -> None:
    [event] = read("""
        2024-05-01 10:00:02.000 +00:00 [ERR] x
        Acme.Wrap: aussen
           bei Acme.A.B() in C:\\b\\A.cs:Zeile 20
    """)
    assert shown(event) == [("Acme.Wrap", "aussen", [("Acme.A.B", "C:\\b\\A.cs", 20, True)])]


def test_javascript_notations() -> None:
    [event] = read("""
        2024-05-01 10:00:02 ERROR TypeError: x is not a function
            at async pay (/app/pay.js:10:5)
            at new Cart (file:///app/cart.js:1:2)
            at /app/main.js:3:4
            at Array.map (<anonymous>)
            at q (/app/node_modules/pg/q.js:5:6)
          [cause]: Error: down
            at z (/app/z.js:1:1)
    """)
    assert shown(event) == [
        ("Error", "down", [("z", "/app/z.js", 1, True)]),
        (
            "TypeError",
            "x is not a function",
            [
                ("pay", "/app/pay.js", 10, True),
                ("Cart", "file:///app/cart.js", 1, True),
                (None, "/app/main.js", 3, True),
                ("Array.map", "<anonymous>", None, False),
                ("q", "/app/node_modules/pg/q.js", 5, False),
            ],
        ),
    ]


def test_javascript_of_other_browsers() -> None:
    [event] = read("""
        2024-05-01 10:00:02 ERROR TypeError: x is undefined
        pay@https://shop.example/app.js:10:5
        @https://shop.example/app.js:1:2
    """)
    assert shown(event) == [
        (
            "TypeError",
            "x is undefined",
            [("pay", "https://shop.example/app.js", 10, True), (None, "https://shop.example/app.js", 1, True)],
        )
    ]


def test_ruby_with_the_class_behind_the_message() -> None:
    [event] = read("""
        app/x.rb:10:in 'Cart#pay': divided by 0 (ZeroDivisionError)
        \tfrom /gems/rack-3/lib/rack.rb:2:in `call'
        \tfrom app/main.rb:1:in `<main>'
    """)
    assert event.message == "ZeroDivisionError: divided by 0"
    assert shown(event) == [
        (
            "ZeroDivisionError",
            "divided by 0",
            [
                ("Cart#pay", "app/x.rb", 10, True),
                ("call", "/gems/rack-3/lib/rack.rb", 2, False),
                ("<main>", "app/main.rb", 1, True),
            ],
        )
    ]


def test_rust_panic_with_a_backtrace() -> None:
    [event] = read("""
        thread 'main' panicked at src/main.rs:4:5:
        index out of bounds
        stack backtrace:
           0: rust_begin_unwind
                     at /rustc/abc/library/std/src/panicking.rs:5:5
           1: shop::pay
                     at ./src/main.rs:4:5
        note: Some details are omitted
    """)
    assert shown(event)[0][:2] == ("panic", "index out of bounds")
    assert shown(event)[0][2][1] == ("shop::pay", "./src/main.rs", 4, True)


def test_go_fatal_error() -> None:
    event = read("""
        fatal error: all goroutines are asleep - deadlock!

        goroutine 1 [chan receive]:
        main.main()
        \t/app/main.go:9 +0x1f
        exit status 2
    """)[0]
    assert (event.severity, shown(event)) == (
        "CRITICAL",
        [("fatal error", "all goroutines are asleep - deadlock!", [("main.main", "/app/main.go", 9, True)])],
    )


def test_frames_of_an_unnamed_exception_are_a_stack() -> None:
    [event] = read("""
        2024-05-01 10:00:00 ERROR dump
        \tat com.acme.Job.pick(Job.java:40)
    """)
    assert (event.message, event.stack, event.exceptions) == ("dump", "\tat com.acme.Job.pick(Job.java:40)", [])

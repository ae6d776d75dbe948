"""Traces of further languages and libraries: what was raised, the frames innermost first, the message above."""

from textwrap import dedent

import pytest

from snaglist.plugins.issues import Event
from snaglist.plugins.logs.parsers import Reader

NOW = "2025-03-01 00:00:00"
HEAD = "2025-02-11 07:30:15 ERROR "


def read(text: str) -> list[Event]:
    data = dedent(text).lstrip("\n").encode()
    reader = Reader(data, modified_at=NOW, now=NOW)
    return [*reader.feed(data), *reader.close()]


def one(text: str) -> Event:
    """Read one entry with the text and one below it, which the trace must not take."""
    event, after = read(HEAD + dedent(text).strip("\n") + "\n2025-02-11 07:30:16 ERROR next\n")
    assert after.message == "next"
    return event


def raised(event: Event) -> list[tuple[str, str]]:
    return [(exception.type, exception.message) for exception in event.exceptions]


def places(event: Event) -> list[tuple[str | None, str | None, int | None]]:
    return [(frame.function, frame.file, frame.line) for frame in event.exceptions[-1].frames]


# --- Python as libraries print it -----------------------------------------------------------------------------


def test_python_frame_that_is_marked_and_values_below_the_code() -> None:
    event = one("""
        payout failed
        Traceback (most recent call last):

          File "/srv/pay/run.py", line 8, in <module>
            pay("NOK")
            └ <function pay at 0x7fa0>

        > File "/srv/pay/bank.py", line 44, in pay
            return banks[code].send(amount)
                   │     │          └ 12
                   │     └ 'NOK'
                   └ {}

        KeyError: 'NOK'
    """)
    assert event.message == "payout failed"
    assert raised(event) == [("KeyError", "'NOK'")]
    assert places(event) == [("pay", "/srv/pay/bank.py", 44), ("<module>", "/srv/pay/run.py", 8)]


def test_python_frames_in_a_box_with_a_cause() -> None:
    event = one("""
        sync failed
        ╭──────────────────── Traceback (most recent call last) ─────────────────────╮
        │ /srv/sync/run.py:8 in main                                                 │
        │                                                                            │
        │    7 def main():                                                           │
        │ ❱  8 │   pull("a:1 in b")                                                  │
        │                                                                            │
        │ ╭─ locals ──╮                                                              │
        │ │ at = 1:2 in │                                                            │
        │ ╰───────────╯                                                              │
        │ /srv/sync/a/very/long/folder/that/fills/the/line/pull.py:31                │
        │ in pull                                                                    │
        ╰────────────────────────────────────────────────────────────────────────────╯
        OSError: no route

        The above exception was the direct cause of the following exception:

        ╭──────────────────── Traceback (most recent call last) ─────────────────────╮
        │ C:\\sync\\run.py:12 in main                                                  │
        ╰────────────────────────────────────────────────────────────────────────────╯
        SyncError: gave up
    """)
    assert event.message == "sync failed"
    assert raised(event) == [("OSError", "no route"), ("SyncError", "gave up")]
    assert [(f.function, f.line) for f in event.exceptions[0].frames] == [("pull", 31), ("main", 8)]
    assert places(event) == [("main", "C:\\sync\\run.py", 12)]


def test_python_box_of_plain_characters_in_a_file_without_headers() -> None:
    first, event, last = read("""
        starting
        +----------------- Traceback (most recent call last) -----------------+
        | /srv/run.py:8 in main                                               |
        |   > 8     pull()                                                    |
        +---------------------------------------------------------------------+
        ValueError: bad
        stopped
    """)
    assert (first.message, last.message) == ("starting", "stopped")
    assert (raised(event), places(event)) == ([("ValueError", "bad")], [("main", "/srv/run.py", 8)])


def test_python_box_that_is_indented_as_the_messages_are() -> None:
    event = one("""
        sync failed
                            ╭─── Traceback (most recent call last) ────╮
                            │ /srv/run.py:8 in main                    │
                            ╰──────────────────────────────────────────╯
                            ValueError: bad
    """)
    assert (raised(event), places(event)) == ([("ValueError", "bad")], [("main", "/srv/run.py", 8)])


@pytest.mark.parametrize(
    ("cell", "line"),
    [("Cell In[3], line 1", 1), ("<ipython-input-3-0a> in <module>", None), ("Input In [3], in main()", None)],
)
def test_python_of_interactive_sessions(cell: str, line: int | None) -> None:
    event = one(f"""
        cell failed
        ---------------------------------------------------------------------------
        KeyError                                  Traceback (most recent call last)
        {cell}
        ----> 1 pull("NOK")

        File /srv/pull.py:31, in pull(code)
             29 def pull(code):
        ---> 31     return banks[code]

        KeyError: 'NOK'
    """)
    assert (event.message, raised(event)) == ("cell failed", [("KeyError", "'NOK'")])
    assert places(event)[0] == ("pull", "/srv/pull.py", 31)
    assert [frame.line for frame in event.exceptions[0].frames] == [31, line]


def test_python_title_behind_other_words_and_in_front_of_each_line() -> None:
    event = one("""
        worker 3 died: Traceback (most recent call last):
          File "/srv/pull.py", line 31, in pull
            return banks[code]
        KeyError: 'NOK'
    """)
    assert (event.message, raised(event)) == ("worker 3 died", [("KeyError", "'NOK'")])
    event = one("""
        failed
        pull: Traceback (most recent call last):
        pull:   File "/srv/pull.py", line 31, in pull
        pull: KeyError: 'NOK'
    """)
    assert (raised(event), places(event)) == ([("KeyError", "'NOK'")], [("pull", "/srv/pull.py", 31)])


def test_python_of_another_process_as_the_cause() -> None:
    events = read("""
        farm.pool.RemoteTraceback:
        \"\"\"
        Traceback (most recent call last):
          File "/srv/pull.py", line 31, in pull
            return banks[code]
        KeyError: 'NOK'
        \"\"\"

        The above exception was the direct cause of the following exception:

        Traceback (most recent call last):
          File "/srv/run.py", line 8, in main
            future.result()
        KeyError: 'NOK'
        all is well
    """)
    event = next(event for event in events if event.exceptions)
    assert raised(event) == [("KeyError", "'NOK'"), ("KeyError", "'NOK'")]
    assert [exception.frames[0].function for exception in event.exceptions] == ["pull", "main"]
    assert events[-1].message == "all is well"


# --- Elixir and Erlang ----------------------------------------------------------------------------------------


def test_elixir_process_that_died() -> None:
    event = one("""
        GenServer Farm.Gate terminating
        ** (MatchError) no match of right hand side value: {:error, :closed}
            (farm 2.1.0) lib/farm/gate.ex:14: Farm.Gate.open/2
            lib/farm/latch.ex:3: anonymous fn/1 in Farm.Latch.lift/1
            (stdlib 5.0) gen_server.erl:1113: :gen_server.try_handle_call/4
        Last message (from #PID<0.77.0>): {:open, 3}
        State: %{gates: 4}
    """)
    assert event.message == "GenServer Farm.Gate terminating"
    assert raised(event) == [("MatchError", "no match of right hand side value: {:error, :closed}")]
    assert places(event)[:2] == [
        ("Farm.Gate.open/2", "lib/farm/gate.ex", 14),
        ("anonymous fn/1 in Farm.Latch.lift/1", "lib/farm/latch.ex", 3),
    ]
    assert [frame.in_app for frame in event.exceptions[0].frames] == [True, True, False]


def test_elixir_exit_that_passes_an_exception_on_is_none_of_its_own() -> None:
    event = one("""
        #PID<0.512.0> running FarmWeb.Endpoint (connection #PID<0.511.0>, stream id 1) terminating
        Server: farm.test:4000 (http)
        Request: GET /gates/3
        ** (exit) an exception was raised:
            ** (KeyError) key :latch not found in: %{id: 3}
                (farm 2.1.0) lib/farm/gate.ex:20: Farm.Gate.latch/1
                (plug 1.14.0) lib/plug/router.ex:242: anonymous fn/4 in FarmWeb.Router.dispatch/2
    """)
    assert raised(event) == [("KeyError", "key :latch not found in: %{id: 3}")]
    assert places(event)[0] == ("Farm.Gate.latch/1", "lib/farm/gate.ex", 20)


def test_elixir_stop_without_frames_ends_before_what_the_process_was_doing() -> None:
    event, after = read("""
        GenServer Farm.Gate terminating
        ** (stop) :no_power
        Last message: :tick
        State: %{}
        all gates are shut
    """)
    assert (event.severity, raised(event)) == ("ERROR", [("stop", ":no_power")])
    assert after.message == "all gates are shut"


def test_erlang_reason_of_a_server_that_ended() -> None:
    event = one("""
        ** Generic server farm_gate terminating
        ** Last message in was {open,3}
        ** When Server state == #{}
        ** Reason for termination ==
        ** {{badmatch,{error,closed}},
            [{farm_gate,open,2,[{file,"src/farm_gate.erl"},{line,14}]},
             {gen_server,try_handle_call,4,[{file,"gen_server.erl"},{line,721}]}]}
    """)
    assert raised(event) == [("badmatch", "{badmatch,{error,closed}}")]
    assert places(event) == [
        ("farm_gate:open", "src/farm_gate.erl", 14),
        ("gen_server:try_handle_call", "gen_server.erl", 721),
    ]
    assert [frame.in_app for frame in event.exceptions[0].frames] == [True, False]


def test_erlang_crash_report() -> None:
    event = one("""
        crash report
          crasher:
            initial call: farm_gate:init/1
            pid: <0.12.0>
            exception error: no function clause matching
                             farm_gate:open(3) (src/farm_gate.erl, line 14)
              in function  gen_server:try_handle_call/4 (gen_server.erl, line 721)
              in call from gen_server:handle_msg/6 (gen_server.erl, line 750)
            ancestors: [farm_sup]
    """)
    assert event.exceptions[0].type == "error"
    assert [frame.line for frame in event.exceptions[0].frames] == [14, 721, 750]


@pytest.mark.parametrize(
    "said",
    [
        "CRASH REPORT Process <0.12.0> with 0 neighbours exited with reason: no match of right hand value "
        "{error,closed} in farm_gate:open/2 line 14 in gen_server:terminate/7 line 812",
        "gen_server farm_gate terminated with reason: no match of right hand value {error,closed} in "
        "farm_gate:open/2 line 14",
    ],
)
def test_erlang_report_on_one_line(said: str) -> None:
    event = one(said)
    assert event.message.endswith("reason: no match of right hand value {error,closed}")
    assert raised(event) == [("exit", "no match of right hand value {error,closed}")]
    assert places(event)[0] == ("farm_gate:open/2", None, 14)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (
            "Supervisor: {local,farm_sup}. Context: child_terminated. "
            'Reason: {badarith,[{farm,go,1,[{file,"src/farm.erl"},{line,7}]}]}. Offender: id=farm.',
            "Supervisor: {local,farm_sup}. Context: child_terminated. Reason: badarith",
        ),
        (
            'Error in process <0.1.0> with exit value:\n{badarith,[{farm,go,1,[{file,"src/farm.erl"},{line,7}]}]}',
            "Error in process <0.1.0> with exit value:\nbadarith",
        ),
        (
            "** State machine farm terminating\n** Reason for termination = error:badarith\n** Stacktrace =\n"
            '**  [{farm,go,1,[{file,"src/farm.erl"},{line,7}]}]',
            "** State machine farm terminating",
        ),
    ],
)
def test_erlang_terms_of_other_reports(said: str, message: str) -> None:
    event = one(said)
    assert event.message == message
    assert event.exceptions[0].type == "badarith"
    assert places(event) == [("farm:go", "src/farm.erl", 7)]


def test_elixir_calls_without_a_place_and_with_arguments() -> None:
    event = one("""
        Task #PID<0.77.0> started from Farm.Sup terminating
        ** (ArgumentError) errors were found at the given arguments
            :erlang.binary_to_integer("x")
            (farm 2.1.0) lib/farm/gate.ex:14: Farm.Gate.open(%{id: f(3)})
        Function: #Function<0.1/0 in Farm.Gate.run/1>
            Args: []
    """)
    assert raised(event) == [("ArgumentError", "errors were found at the given arguments")]
    assert [(name, line) for name, _, line in places(event)] == [
        (":erlang.binary_to_integer", None),
        ("Farm.Gate.open", 14),
    ]


# --- C, C++, Objective-C ----------------------------------------------------------------------------------------


def test_numbered_frames_below_an_exception_with_a_namespace() -> None:
    event = one("""
        Code: 33. Farm::GateException: the latch is stuck. Stack trace (when copying this message, include it):

        0. Farm::GateException::GateException() @ 0xa1b2 in /usr/bin/farmd
        1. ./src/Gate.cpp:14: Farm::Gate::open(int) @ 0xa1b3 in /usr/bin/farmd
    """)
    assert event.message == "Code: 33. Farm::GateException: the latch is stuck."
    assert raised(event) == [("Farm::GateException", "the latch is stuck.")]
    assert places(event)[1] == ("Farm::Gate::open(int)", "./src/Gate.cpp", 14)


def test_uncaught_exception_of_cpp_is_no_part_of_the_line_before() -> None:
    before, event = read("""
        2025-02-11 07:30:15 INFO gates are open
        terminate called after throwing an instance of 'farm::stuck'
          what():  the latch is stuck
    """)
    assert before.message == "gates are open"
    assert (event.severity, raised(event)) == ("ERROR", [("farm::stuck", "the latch is stuck")])


def test_sanitizer_report_in_a_file_without_headers() -> None:
    event, after = read("""
        ==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x4f1
        READ of size 4 at 0x602000000010 thread T0
            #0 0x4f1a in gate_open /srv/farm/gate.c:14:3
            #1 0x4f2b in main /srv/farm/main.c:40:1

        SUMMARY: AddressSanitizer: heap-use-after-free /srv/farm/gate.c:14:3 in gate_open
        all gates are shut
    """)
    assert event.exceptions[0].type == "AddressSanitizer: heap-use-after-free"
    assert places(event) == [("gate_open", "/srv/farm/gate.c", 14), ("main", "/srv/farm/main.c", 40)]
    assert after.message == "all gates are shut"


def test_objective_c_exception() -> None:
    event = one("""
        *** Terminating app due to uncaught exception 'NSRangeException', reason: 'gate 3 of 2'
        *** First throw call stack:
        (
        \t0   CoreFoundation                      0x00007fff20406707 __exceptionPreprocess + 242
        \t1   Farm                                0x000000010e3c2aaa -[Gate open:] + 31
        )
        libc++abi: terminating
    """)
    assert raised(event) == [("NSRangeException", "gate 3 of 2")]
    assert [(frame.function, frame.in_app) for frame in event.exceptions[0].frames] == [
        ("__exceptionPreprocess", False),
        ("-[Gate open:]", True),
    ]


@pytest.mark.parametrize(
    "frames",
    [
        "#0  0x00007f1234 in gate_open (g=0x0) at gate.c:14\n#1  main (argc=1, argv=0x7ff) at main.c:40",
        "/usr/lib/libfarm.so(gate_open+0x12)[0x7f12]\n/usr/bin/farm(+0x1f2) [0x55f1]",
        "*** Check failure stack trace: ***\n    @     0x7f1001  google::Fail()\n    @     0x7f10  farm::open()",
        " 1: 0xb090e0 node::Abort() [node]\n 2: 0xa1b70e node::FatalError(char const*, char const*) [node]",
        "3   Farm   0x000000010e3c2aaa gate_open + 31 (gate.swift:14)\n4   Farm   0x000000010e3c2aab main + 3",
    ],
)
def test_frames_of_nothing_named_are_a_stack_and_no_message(frames: str) -> None:
    event = one(f"the latch is stuck\n{frames}")
    assert (event.message, event.stack, list(event.exceptions)) == ("the latch is stuck", frames.rstrip(), [])


# --- Other languages -----------------------------------------------------------------------------------------


def test_perl_places_are_those_of_the_calls() -> None:
    event = one("""
        the latch is stuck at /srv/lib/Gate.pm line 14.
        \tFarm::Gate::open(Farm::Gate=HASH(0x55), 3) called at /srv/bin/farm.pl line 40
        \tmain::run() called at /srv/bin/farm.pl line 52
    """)
    assert event.message == "the latch is stuck at /srv/lib/Gate.pm line 14."
    assert raised(event) == [("die", "the latch is stuck")]
    assert places(event) == [
        ("Farm::Gate::open", "/srv/lib/Gate.pm", 14),
        ("main::run", "/srv/bin/farm.pl", 40),
        (None, "/srv/bin/farm.pl", 52),
    ]


def test_lua() -> None:
    event = one("""
        lua entry thread aborted: runtime error: gate.lua:14: attempt to index a nil value (field 'latch')
        stack traceback:
        coroutine 0:
        \tgate.lua:14: in function 'open'
        \t[C]: in function 'pcall'
        \t[string "init"]:3: in main chunk
    """)
    assert raised(event) == [("error", "attempt to index a nil value (field 'latch')")]
    assert places(event) == [("open", "gate.lua", 14), ("pcall", "[C]", None), ("main chunk", '[string "init"]', 3)]


@pytest.mark.parametrize(
    ("head", "kind", "said"),
    [
        ("Unhandled exception:\nFormatException: no number", "FormatException", "no number"),
        ("Unhandled Exception: Bad state: shut", "Exception", "Bad state: shut"),
        ("The following GateError was thrown building Gate(3):\nthe latch is stuck", "GateError", None),
    ],
)
def test_dart(head: str, kind: str, said: str | None) -> None:
    event = one(
        f"{head}\n#0      Gate.open (package:farm/gate.dart:14:5)\n<asynchronous suspension>\n"
        "#1      _rootRun (dart:async/zone.dart:1399:13)"
    )
    assert event.exceptions[0].type == kind
    assert said is None or event.exceptions[0].message == said
    assert places(event) == [("Gate.open", "package:farm/gate.dart", 14), ("_rootRun", "dart:async/zone.dart", 1399)]
    assert [frame.in_app for frame in event.exceptions[0].frames] == [True, False]


def test_haskell_places_are_those_of_the_calls() -> None:
    event = one("""
        farm: the latch is stuck
        CallStack (from HasCallStack):
          error, called at src/Gate.hs:14:9 in main:Gate
          open, called at app/Main.hs:40:3 in main:Main
    """)
    assert (event.message, raised(event)) == ("farm: the latch is stuck", [("error", "farm: the latch is stuck")])
    assert places(event) == [("open", "src/Gate.hs", 14), (None, "app/Main.hs", 40)]


def test_r() -> None:
    event = one("""
        Error in open(gate) : the latch is stuck
        Calls: main -> run -> open
    """)
    assert raised(event) == [("error", "the latch is stuck")]
    assert [name for name, _, _ in places(event)] == ["open", "run", "main"]


def test_powershell() -> None:
    event = one("""
        Open-Gate : The latch is stuck.
        At C:\\farm\\gate.ps1:14 char:5
        +     Open-Gate 3
        +     ~~~~~~~~~~~
            + CategoryInfo          : InvalidOperation: (3:Int32) [Open-Gate], LatchException
            + FullyQualifiedErrorId : Stuck,Farm.OpenGate
    """)
    assert event.message == "Open-Gate : The latch is stuck."
    assert raised(event) == [("LatchException", "The latch is stuck.")]
    assert places(event) == [(None, "C:\\farm\\gate.ps1", 14)]


def test_dotnet_aggregate_of_two() -> None:
    event = one("""
        closing failed
        System.AggregateException: One or more errors occurred. (stuck) (no power)
         ---> Farm.StuckException: stuck
           at Farm.Gate.Close(Int32 id) in /srv/Gate.cs:line 14
           --- End of inner exception stack trace ---
           at Farm.Program.Main() in /srv/Program.cs:line 40
        ---> (Inner Exception #0) Farm.StuckException: stuck
           at Farm.Gate.Close(Int32 id) in /srv/Gate.cs:line 14<---

        ---> (Inner Exception #1) Farm.PowerException: no power
           at Farm.Power.On() in /srv/Power.cs:line 3<---
    """)
    assert raised(event) == [
        ("Farm.PowerException", "no power"),
        ("Farm.StuckException", "stuck"),
        ("System.AggregateException", "One or more errors occurred. (stuck) (no power)"),
    ]
    assert [len(exception.frames) for exception in event.exceptions] == [1, 1, 1]


# --- Java frames without a file ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", ["<generated>", "Unknown Source", "Native Method", "Unknown Source:12", "SourceFile"]
)
def test_java_first_frame_without_a_file_leaves_the_others_theirs(source: str) -> None:
    event = one(f"""
        gate failed
        java.lang.IllegalStateException: stuck
        \tat com.acme.Gate$$Proxy12.open({source})
        \tat com.acme.Farm.run(Farm.java:40)
    """)
    assert raised(event) == [("java.lang.IllegalStateException", "stuck")]
    assert places(event)[0][:2] == ("com.acme.Gate$$Proxy12.open", None)
    assert places(event)[1] == ("com.acme.Farm.run", "Farm.java", 40)


def test_java_uncaught_behind_a_time_tells_the_thread_and_is_an_exception() -> None:
    [event] = read("""
        2025-02-11 07:30:15 Exception in thread "gate-3" java.lang.IllegalStateException: stuck
        \tat com.acme.Farm.run(Farm.java:40)
    """)
    assert event.severity == "ERROR"
    assert event.message == 'Exception in thread "gate-3" java.lang.IllegalStateException: stuck'
    assert raised(event) == [("java.lang.IllegalStateException", "stuck")]


# --- Tags in front of the lines -----------------------------------------------------------------------------------


def test_tags_in_front_of_each_line_are_context() -> None:
    event = one("""
        [req-9a] [till-2]  \n        [req-9a] [till-2] NoMethodError (undefined method 'open' for nil):
        [req-9a] [till-2]  \n        [req-9a] [till-2] app/models/gate.rb:14:in 'open'
        [req-9a] [till-2] app/controllers/gates_controller.rb:8:in 'show'
    """)
    assert raised(event) == [("NoMethodError", "undefined method 'open' for nil")]
    assert [line for _, _, line in places(event)] == [14, 8]
    assert event.context == "[req-9a] [till-2]"
    assert "[req-9a]" not in event.message + event.stack


def test_tags_of_other_languages_and_messages_without_a_trace() -> None:
    event = one("""
        [job 3] failed
        [job-3] Traceback (most recent call last):
        [job-3]   File "/srv/gate.py", line 14, in open
        [job-3] ValueError: stuck
    """)
    assert (raised(event), places(event)) == ([("ValueError", "stuck")], [("open", "/srv/gate.py", 14)])
    event = one("""
        [job-3] [gate] failed
        [job-3] Traceback (most recent call last):
        [job-3]   File "/srv/gate.py", line 14, in open
        [job-3] ValueError: [gate] stuck
    """)
    assert (event.message, raised(event)) == ("[gate] failed", [("ValueError", "[gate] stuck")])
    assert one("[a] first\n[a] second").message == "[a] first\n[a] second"

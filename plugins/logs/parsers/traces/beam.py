"""Elixir and Erlang: `** (Class) message` with frames below, crash reports, reasons of processes that ended."""

import re
from collections.abc import Sequence

from snaglist.plugins.issues import ExceptionInfo, Frame
from snaglist.plugins.logs.parsers.traces import follow
from snaglist.plugins.logs.parsers.traces.trace import Trace, finish, number

_STARS = re.compile(r"\s{0,40}\*\* \(([^()\n]{1,200})\) ?(.*)$")
_NESTED = "an exception was raised:"
# `(app 1.0) lib/a.ex:3: Mod.fun/1`; application or file may be missing, not both.
_FRAME = re.compile(
    r"\s+(?:\((?P<app>[\w@.-]{1,100})(?: [^()\s]{1,60})?\) )?"
    r"(?:(?P<file>[^\s:()]{1,500}\.\w{1,5}):(?P<line>\d{1,9}): )?(?P<name>\S.*)$"
)
_CALL_ALONE = re.compile(
    r"\s{4,40}(?::[a-z]\w{0,100}|(?:[A-Z]\w{0,100}\.){1,10})\.?[a-z_]\w{0,100}[?!]?(?:\(.*\)|/\d{1,3})$"
)
_REPORTED = re.compile(r"\s{0,40}(?:\*\* )?exception (error|exit|throw): (.*)$")
_CALL = re.compile(
    r"\s+in (?:function|call from) +(?P<name>\S{1,300}?/\d{1,3})"
    r"(?: \((?P<file>[^,()]{1,300}), line (?P<line>\d{1,9})\))?"
)
_CALLED = re.compile(
    r"(?P<name>[\w']{1,100}:[\w'-]{1,100})[(/][^\n]{0,2000} \((?P<file>[^,()]{1,300}), line (?P<line>\d{1,9})\)"
)
_FIELD = re.compile(r"\s{0,40}[a-z][\w ]{0,40}: ")  # the next part of a report
_REASON = re.compile(r"\*\* Reason for termination|[Rr]eason: {1,40}|exit value: {0,40}")
_TERM = '[{file,"'  # what only stacks within terms have
_TERM_PLACE = re.compile(r"\[\{file,\s{0,200}\"([^\"]{1,300})\"\},\s{0,200}\{line,\s{0,200}(\d{1,9})\}")
_TERM_CALL = re.compile(r"\{([\w']{1,100}),\s{0,200}([\w'/-]{1,100}),\s{0,200}[\d\[]")
_TERM_STACK = re.compile(r",\s{0,200}\[\{[\w']{1,100},[\w']{1,100},")
_ATOM = re.compile(r"(?:(?:error|exit|throw):)?\{{0,3}([a-z]\w{0,100})")
_ENDED = re.compile(r"(?:exited|terminated|crashed) with reason: (.*)$")
_ENDED_PLACE = re.compile(r"(?: in)? ([a-z][\w.]{0,100}:[\w'/-]{1,100}/\d{1,3}) line (\d{1,9})")
_LIBRARY = frozenset((
    "stdlib", "kernel", "erts", "ssl", "crypto", "inets", "mnesia", "elixir", "logger", "mix", "iex", "eex", "ex_unit",
    "phoenix", "phoenix_live_view", "phoenix_html", "phoenix_pubsub", "ecto", "ecto_sql", "db_connection", "postgrex",
    "myxql", "plug", "plug_cowboy", "plug_crypto", "cowboy", "cowlib", "ranch", "bandit", "telemetry", "jason",
    "absinthe", "oban", "broadway", "gen_stage", "hackney", "finch", "mint", "tesla", "swoosh",
))  # fmt: skip
_SYSTEM_MODULES = frozenset((
    "erlang", "gen", "gen_server", "gen_statem", "gen_fsm", "gen_event", "proc_lib", "supervisor", "lists", "maps",
    "ets", "dict", "timer", "application", "code", "code_server", "file", "io", "error_handler", "init",
))  # fmt: skip


def starts(line: str) -> bool:
    """Tell whether the line is one that only these traces have."""
    if "** (" in line:
        return _STARS.match(line) is not None
    if "xception " in line:
        return _REPORTED.match(line) is not None
    if _TERM in line or line.startswith("** Reason for termination"):
        return True
    return " with reason: " in line and _ENDED.search(line[-4000:]) is not None


def read(lines: Sequence[str], index: int) -> Trace | None:
    """Read whichever of the notations the first line has."""
    line = lines[index]
    if _STARS.match(line):
        return _elixir(lines, index)
    reported = _REPORTED.match(line)
    if reported:
        return _report(lines, index, reported)
    ended = None if _TERM in line else _ENDED.search(line[-4000:])
    return _ended(lines, index, ended[1]) if ended else _reason(lines, index)


def _elixir(lines: Sequence[str], index: int) -> Trace | None:
    """Read the exceptions and the indented frames below each.

    An exit that only passes an exception on is none of its own.
    """
    printed: list[ExceptionInfo] = []
    for line in lines[index:]:
        found = _STARS.match(line)
        if found:
            printed.append(ExceptionInfo(found[1].split()[0], found[2]))
            continue
        if follow.is_beam_detail(line):
            break
        current = printed[-1]
        frame = _frame(line)
        if frame is not None:
            current.frames.append(frame)
        elif current.frames and not line[:1].isspace():
            break
        elif not current.frames and len(current.message) < 10_000:
            current.message += "\n" + line
    kept = [item for item in printed if not item.message.endswith(_NESTED)]
    return finish(index, (kept or printed)[::-1])


def _frame(line: str) -> Frame | None:
    found = _FRAME.match(line) if line[:1].isspace() else None
    if found is None or not (found["app"] or found["file"] or _CALL_ALONE.match(line)):
        return None
    # Of a call with arguments that nothing matched, the arguments are values.
    name = found["name"] if found["name"].startswith("anonymous") else found["name"].partition("(")[0]
    in_app = found["app"] not in _LIBRARY and not name.startswith(":")
    return Frame(name, found["file"], number(found["line"]), None, in_app=in_app)


def _report(lines: Sequence[str], index: int, reported: re.Match[str]) -> Trace | None:
    """Read a crash report: the class of the exception, its reason, the calls below."""
    said = [reported[2]]
    frames: list[Frame] = []
    for line in lines[index + 1 :]:
        call = _CALL.match(line)
        if call:
            frames.append(_erlang(call["name"], call["file"], call["line"]))
        elif frames or _FIELD.match(line) or not line[:1].isspace():
            break
        elif len(said) < 20:
            said.append(line.strip())
    message = "\n".join(said)
    called = _CALLED.search(message[-4000:])
    if called:
        frames.insert(0, _erlang(called["name"], called["file"], called["line"]))
    return finish(index, [ExceptionInfo(reported[1], message, frames)])


def _reason(lines: Sequence[str], index: int) -> Trace | None:
    """Read the term that a process ended with: its first atom, and the places in the stack that it holds."""
    text = "\n".join(lines[index:])[:20_000]
    marked = _REASON.search(text)
    said = text[: marked.end()] if marked else ""
    text = text[len(said) :].lstrip(" =:\n*")
    frames: list[Frame] = []
    end = 0
    for place in _TERM_PLACE.finditer(text):
        call = _TERM_CALL.search(text[end : place.start()])
        frames.append(_erlang(f"{call[1]}:{call[2]}" if call else None, place[1], place[2]))
        end = place.end()
    atom = _ATOM.match(text)
    if atom is None or not (frames or said.startswith("**")):
        return None
    stack = _TERM_STACK.search(text)
    message = text[: stack.start()].removeprefix("{") if stack else text.partition("\n")[0]
    raised = ExceptionInfo(atom[1], "" if message == atom[1] else message[:1000], frames)
    if said.startswith("**") or "\n" in said:
        return finish(index, [raised])
    return finish(index + 1, [raised], f"{said.rstrip()} {message[:1000]}".strip())


def _ended(lines: Sequence[str], index: int, reason: str) -> Trace | None:
    """Read a report on one line; its calls stand behind the reason, innermost first."""
    calls = list(_ENDED_PLACE.finditer(reason))
    if not calls:
        return None
    frames = [_erlang(call[1], None, call[2]) for call in calls]
    message = reason[: calls[0].start()].strip()
    intro = lines[index][: len(lines[index]) - len(reason)] + message
    return finish(index + 1, [ExceptionInfo("exit", message, frames)], intro)


def _erlang(name: str | None, file: str | None, line: str | None) -> Frame:
    module = (name or "").partition(":")[0].strip("'")
    return Frame(name, file, number(line), None, in_app=module not in _SYSTEM_MODULES)

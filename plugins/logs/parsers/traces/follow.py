"""Which lines go on with a trace, for files where nothing else tells where an entry ends."""

import re
from collections.abc import Iterable

# Forms that only the middle of a trace has.
_TRACE = re.compile(
    r"Caused by: |Suppressed: |\.\.\. \d|#\d{1,6} |(?:PHP )?Stack trace:|PHP {3}\d|\[stacktrace\]"
    r"|\[previous exception\]|--- |---> |During handling of the above|The above exception was|created by "
    r"|stack backtrace:|note: |exit status \d|at [^\s(]{1,500}[ (]|from \S{1,500}:\d+:in |Next [\w\\]{1,200}: "
    r"|\S{1,500}\.rb:\d+:in |\S{1,200}@\S{1,500}:\d+:\d+$|\[cause\]|(?:\[[^\]\s]{1,80}\] ){1,4}\S{1,500}:\d+:in "
    # Python as libraries draw it
    r"|> File \"|[│╰├└]"
    # Elixir and Erlang
    r"|\*\* (?:Last (?:message|event)|When |Reason for |Server |State |Callback |Client )|Last message(?: |:)"
    # C and C++: numbered frames, those of the C library, of crash reports
    r"|\d{1,4}\. [^\n]{1,1000}? @ 0x[0-9a-f]|[^\s()\[\]]{1,500}\(\S{0,500}\) ?\[0x[0-9a-f]{1,16}\]$"
    r"|\d{1,4}: 0x[0-9a-f]{6}|\d{1,4} {1,6}\S[^\n]{0,60}? {1,60}0x[0-9a-f]{8}"
    r"|\*{3} (?:Check failure|First throw)"
    # Lua, Dart, Haskell, R, Rust, PowerShell
    r"|stack traceback:|coroutine \d{1,9}:|<asynchronous suspension>|CallStack \(from |Calls: \S{1,300} -> "
    r"|Stack backtrace:|(?:Caused by|Location):$"
    r"|At [^\n]{1,500}:\d{1,9} char:\d{1,9}|\+ {1,8}(?: \S|~|CategoryInfo|FullyQualifiedErrorId)"
)
_SOURCE = (  # a place in a source file
    r"\.(?:go|rb|exs?|erl|py|[cm]?[jt]sx?|rs|c|cc|cpp|hh?|hpp|mm?|lua|php|java|kt|scala|swift|dart|p[lm]|cs|fs|vb|hs):\d"
)
_FRAMES = (
    r"at |File \"|\.\.\. \d|from |Caused by: |Suppressed: ",
    r"#\d{1,5} |@ {1,20}0x|\d{1,4} {1,6}\S[^\n]{0,60}? {1,60}0x[0-9a-f]{8}",
    r"\*\* \(|\([a-z_]\w{0,100} \d[\w.-]{0,20}\) |in (?:function|call from) ",
    r"(?:\([a-z_]\w{0,100}\) )?\S{1,500}" + _SOURCE,
    r"\d{1,5}: (?:0x[0-9a-f]|[^\s:]{1,300}::)|\S{1,500}:\d{1,9}: in ",
    r"\S[^\n]{0,1000} called at \S{1,500}(?: line \d|" + _SOURCE + ")",
    r"\+ (?:CategoryInfo|FullyQualifiedErrorId)",
)
_INDENTED = re.compile(rf"\s{{1,40}}(?:{'|'.join(_FRAMES)})")
# What a trace begins with: such a line says what happened.
_SAYS = re.compile(
    r"(?:\s{0,40}(?:Caused by: |Suppressed: |\[cause\]: |\*\* \(|Exception in thread |terminate called |panic: )"
    r"|(?:[A-Za-z_$][\w$]{0,100}[.:\\]{1,2}){0,12}[A-Z_]\w{0,200}"
    r"(?:Exception|Error|Warning|Exit|Interrupt|Throwable)(?:: |:?$| \())"
)
_FRAME = re.compile(
    r"\s{0,40}(?:at [\w.$<>/@-]{1,300}\([^()\n]{0,200}\)$|File \"[^\"\n]{1,500}\", line \d|Caused by: [\w.$]{1,300}[:$]"
    r"|\.\.\. \d{1,6} (?:more|common frames)|from \S{1,500}:\d+:in |\S{1,500}\.rb:\d+:in )"
)
_LOOSE = (" ", "\t", ")", "]", "}")
_GO = re.compile(r"goroutine \d+ |[\w./*()\[\]{}-]{1,500}\(.{0,2000}\)$|created by |\[signal |rax |r\d+ ")
_RAISED = re.compile(r"[A-Za-z_][\w.]{0,300}(?::|$)")
# Node prints where it died, the line of source and a caret before the error.
_NODE_PLACE = re.compile(
    r"(?:node:[^\s:]{1,300}|(?:file://)?(?:[A-Za-z]:)?[^\s:]{0,500}[/\\][^\s:]{1,300}\.[cm]?[jt]sx?):\d{1,7}$"
)
_CARET = re.compile(r"\s{0,500}\^+$")
_NODE_VERSION = re.compile(r"Node\.js v\d")
_ANDROID = "FATAL EXCEPTION: "
_TITLE = "Traceback (most recent call last)"
_QUOTES = '"""'  # around the traceback of another process
_SESSION = re.compile(r"[\w.]{1,200}\s{2,200}Traceback")
_SESSION_LINE = ("-", "File ", "Cell ", "Input ", "<ipython", "~", "/", "\\")
_DRAWN = ("│", "╰", "├", "└", "|", "+")
_BEAM = re.compile(
    r"\*\* (?!\()|Last message|State: |Function: |Args: |Server: |Request: |Start Call: |Initial Call: |Ancestors: "
    r"|Queue: |Postponed: |Client #PID|Process Label: |Reason: "
)
_SANITIZER = re.compile(r"==\d{1,9}==(?:ERROR|WARNING): ")
_SANITIZER_LINE = re.compile(
    r"\s|==|(?:READ|WRITE|READ/WRITE) of |SUMMARY: |freed by |previously allocated |allocated by |0x[0-9a-f]|Shadow "
    r"|Address |Thread T\d|Hint: |HINT: |Direct leak|Indirect leak"
)
_BEAM_DIES = (" terminating", " terminating ", " crashed", " crashed.", " raised an exception", " raised an exception:")
_LAST_WORDS = (*_BEAM_DIES, "Unhandled exception:")
_BEAM_REPORT = re.compile(r"=[A-Z]{3,20} REPORT====")
_BEGINS = (
    ("Traceback (most recent call last):", "python"),
    ("Exception Group Traceback", "python"),
    ("panic: ", "go"),
    ("fatal error: ", "go"),
    ("goroutine ", "go"),
    ("thread '", "below"),
)
_FIRST_WORDS = tuple(beginning for beginning, _ in _BEGINS)


def begins(line: str) -> str:
    """Return the kind of trace that a line opens, "" for none."""
    text = line.lstrip(" +|")
    if text.startswith(_FIRST_WORDS):
        return next((kind for beginning, kind in _BEGINS if text.startswith(beginning)), "")
    if _TITLE in line:
        return _drawn(line)
    if line.find(_ANDROID, 0, 120) >= 0:
        return "android"
    if line.endswith(_LAST_WORDS):
        return "below" if line == "Unhandled exception:" else "beam" if line.endswith(_BEAM_DIES) else ""
    if line[:1] in ("=", "*"):
        return _report(line)
    return "node" if is_node_crash(line) else ""


def _report(line: str) -> str:
    if line.startswith("** ("):
        return "beam"
    if _BEAM_REPORT.match(line):
        return "beam-report"
    return "sanitizer" if _SANITIZER.match(line) else ""


def _drawn(line: str) -> str:
    """Return the kind of a Python traceback whose title stands behind something else."""
    if line.lstrip()[:1] in ("╭", "┌") or "---" in line:
        return "box"
    if _SESSION.match(line):
        return "session"
    return "python" if line.rstrip().endswith(f"{_TITLE}:") else ""


def is_node_crash(line: str) -> bool:
    """Tell whether a line is nothing but the place in a script with which a dying Node begins."""
    return line[-1:].isdigit() and _NODE_PLACE.match(line) is not None


def continues(line: str) -> bool:
    """Tell whether a line is the middle of something in any format: blank, indented, closing, of a trace."""
    return not line or line.startswith(_LOOSE) or line.isspace() or _TRACE.match(line) is not None


def is_frame(line: str) -> bool:
    """Tell whether a line can be nothing but a frame or a cause of a trace."""
    return _FRAME.match(line) is not None


def is_trace(line: str) -> bool:
    """Tell whether a line is of a trace, whatever stands before it."""
    return _TRACE.match(line) is not None or _INDENTED.match(line) is not None


def is_orphan(lines: Iterable[str]) -> bool:
    """Tell whether an entry is nothing but the middle of a trace: frames, and no line that says what happened."""
    framed = False
    for line in lines:
        if not line.strip():
            continue
        if _SAYS.match(line.lstrip()):
            return False
        if is_trace(line):
            framed = True
        elif not line[0].isspace():
            return False
    return framed


def advance(state: str, line: str) -> str:
    """Return the new state when the line goes on with the trace in `state`, "" when it does not.

    States: `python` within frames, `raised` after the exception line, `linked` after the sentence that
    joins two tracebacks; `box` and `session` within frames that a library drew; `beam` below the line of a
    process that died, `beam-report` within a report, which ends with an empty line; `sanitizer` within a report;
    `go` after a crash, `android` in a report of its runtime, `below` where the message stands in the next line;
    `node` at the place of a crash, `node-source` below it, `node-caret` before the error, `node-error` in its
    message, `node-stack` below, `node-end` after the last line.
    """
    if state == "python":
        if not line.strip() or line[0].isspace() or line.startswith('> File "'):
            return state
        return "raised" if _RAISED.match(line) else ""
    if state in ("box", "session"):
        drawn = line.lstrip().startswith(_DRAWN) if state == "box" else _in_session(line)
        return state if drawn else "raised" if _RAISED.match(line.lstrip()) else ""
    if state == "beam":
        return state if not line.strip() or line[0].isspace() or is_beam_detail(line) or line.startswith("** (") else ""
    if state == "sanitizer":
        return state if not line or _SANITIZER_LINE.match(line) else ""
    if state == "beam-report":
        return state if line.strip() and not _BEAM_REPORT.match(line) else ""
    if state in ("raised", "linked"):
        if not line.strip() or line == _QUOTES:
            return state
        if line.startswith(("During handling of the above", "The above exception was")):
            return "linked"
        if state == "linked" and begins(line) == "python":
            return "python"
        return ""
    if state == "go":
        return state if not line.strip() or line[0].isspace() or _GO.match(line) else ""
    if state == "android":
        texts = (line, line.partition(" ")[2].lstrip(": "), line.partition("): ")[2])
        return state if any(map(_is_android, texts)) else ""
    if state == "below":
        return "end" if line.strip() else ""
    if state.startswith("node"):
        return _advance_node(state, line)
    return ""


def _is_android(text: str) -> bool:
    name = text.partition(":")[0]
    raised = ("." in name or name.endswith(("Exception", "Error"))) and _RAISED.match(text) is not None
    return raised or text.startswith(("Process: ", "PID: ")) or is_trace(text)


def _in_session(line: str) -> bool:
    return not line.strip() or line[0].isspace() or line.startswith(_SESSION_LINE)


def is_beam_detail(line: str) -> bool:
    """Tell whether a line says what a process of Erlang or Elixir was doing when it died."""
    return _BEAM.match(line) is not None


def is_caret(line: str) -> bool:
    """Tell whether a line only points at a place in the line above."""
    return _CARET.match(line) is not None


def _advance_node(state: str, line: str) -> str:
    if state == "node":
        return "" if is_node_crash(line) else "node-source"
    if state == "node-source":
        return "node-caret" if is_caret(line) else ""
    if state == "node-caret":
        return "node-error" if line.strip() else state
    if state == "node-error":  # a message may have several lines
        return "node-stack" if not line.strip() or is_trace(line) else state
    if state == "node-stack":
        if _NODE_VERSION.match(line):
            return "node-end"
        return state if continues(line) else ""
    return ""

"""Which lines go on with a trace, for files where nothing else tells where an entry ends."""

import re

# Forms that only the middle of a trace has.
_TRACE = re.compile(
    r"Caused by: |Suppressed: |\.\.\. \d|#\d{1,6} |(?:PHP )?Stack trace:|PHP {3}\d|\[stacktrace\]"
    r"|\[previous exception\]|--- |---> |During handling of the above|The above exception was|created by "
    r"|stack backtrace:|note: |exit status \d|at [^\s(]{1,500}[ (]|from \S{1,500}:\d+:in |Next [\w\\]{1,200}: "
    r"|\S{1,500}\.rb:\d+:in |\S{1,200}@\S{1,500}:\d+:\d+$|\[cause\]|(?:\[[^\]\s]{1,80}\] ){1,4}\S{1,500}:\d+:in "
)
_INDENTED = re.compile(r"\s{1,40}(?:at |File \"|\.\.\. \d|from |Caused by: |Suppressed: )")
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
_BEGINS = (
    ("Traceback (most recent call last):", "python"),
    ("Exception Group Traceback", "python"),
    ("panic: ", "go"),
    ("fatal error: ", "go"),
    ("goroutine ", "go"),
    ("thread '", "rust"),
)


def begins(line: str) -> str:
    """Return the kind of trace that a line opens, "" for none."""
    text = line.lstrip(" +|")
    for beginning, kind in _BEGINS:
        if text.startswith(beginning):
            return kind
    return "node" if is_node_crash(line) else ""


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


def advance(state: str, line: str) -> str:
    """Return the new state when the line goes on with the trace in `state`, "" when it does not.

    States: `python` within frames, `raised` after the exception line, `linked` after the sentence that
    joins two tracebacks, `go` after a crash, `rust` at the message below a panic; `node` at the place of a
    crash, `node-source` below it, `node-caret` before the error, `node-error` in its message, `node-stack`
    below, `node-end` after the last line.
    """
    if state == "python":
        if not line.strip() or line[0].isspace():
            return state
        return "raised" if _RAISED.match(line) else ""
    if state in ("raised", "linked"):
        if not line.strip():
            return state
        if line.startswith(("During handling of the above", "The above exception was")):
            return "linked"
        if state == "linked" and begins(line) == "python":
            return "python"
        return ""
    if state == "go":
        return state if not line.strip() or line[0].isspace() or _GO.match(line) else ""
    if state == "rust":
        return "rust-end" if line.strip() else ""
    if state.startswith("node"):
        return _advance_node(state, line)
    return ""


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

"""A process that runs `snaglist import` again and again in forks of itself, so that a test can kill one anywhere.

It reads lines of JSON, the arguments of a run each; for each it prints the fork's process id when the run begins
and its exit status when it has ended. The program is loaded once, so that a kill hits the reading, not the loading.
Given the path of a journal it notes there, as it happens, what a run opens, finds, stores and changes of sources.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

from sqlalchemy import Row

from snaglist.kernel.plugins import Plugins
from snaglist.plugins.issues import Event, EventSource
from snaglist.plugins.logs.identify import start
from snaglist.plugins.logs.read import file_import, importing, open_entries
from snaglist.plugins.logs.read.files import OpenFile
from snaglist.plugins.logs.store import queries
from snaglist.plugins.system import cli

_CHANGES = ("add_source", "move_checkpoint", "change_source", "move_source", "remove_source", "join_sources",
            "move_events")  # fmt: skip
_SHOWN = ("id", "path", "generation", "identity", "offset", "first_byte", "status", "open_event", "occurrence_count")


def main() -> None:
    """Serve runs until the input ends."""
    plugins = Plugins()
    plugins.load()
    for _, made in plugins.commands():
        cli.add_command(made)
    if len(sys.argv) > 1:
        _watch(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT))
    for line in sys.stdin:
        arguments = json.loads(line)
        child = os.fork()
        if not child:
            _run(arguments)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _run(arguments: list[str]) -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        code = cli.main(arguments, standalone_mode=False)
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(70)
    os._exit(code if isinstance(code, int) else 0)


def _watch(journal: int) -> None:
    """Have everything noted by which a reading can be understood afterwards."""

    def note(text: str) -> None:  # what is written stays when the process is killed in the next moment
        os.write(journal, f"{time.monotonic():.4f} {text}\n".encode())

    def noted(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            shown = [*map(_shown, arguments[1:]), *(f"{name}={_shown(value)}" for name, value in named.items())]
            note(f"    {function.__name__} {' '.join(shown)}")
            return function(*arguments, **named)

        return call

    @contextmanager
    def open_file(path: Path, **options: Any) -> Iterator[OpenFile]:
        with opened(path, **options) as file:
            note(f"  opens {path.name} {file.state.identity}, {file.size_now} bytes")
            yield file

    opened = importing.open_file
    importing.open_file = open_file
    for name in _CHANGES:
        setattr(queries, name, noted(getattr(queries, name)))
    file_import.store_events = noted(file_import.store_events)
    for name in ("replace_event", "withdraw_event", "settle_occurrence"):
        setattr(open_entries, name, noted(getattr(open_entries, name)))
    importing.find_start = noted(importing.find_start)
    start.decide = noted(start.decide)


def _shown(value: Any) -> str:
    match value:
        case Row():
            return _shown(value._mapping)
        case Path():
            return value.name
        case EventSource():
            return f"#{value.id} {Path(value.path).name}"
        case Event():
            return f"[{value.byte_start}-{value.byte_end} {value.occurred_at[11:]}]"
        case str():
            return "/".join(value.rsplit("/", 2)[1:]) if value.startswith("/") else value
        case Sequence():
            return " ".join(map(_shown, value))
        case _ if hasattr(value, "keys"):
            return str({name: _shown(value[name]) for name in _SHOWN if name in value})
        case _ if hasattr(value, "trail"):
            trail = value.trail and value.trail.position
            return f"<{_shown(value.source)} {getattr(value, 'decision', '')} ends={value.ends} trail={trail}>"
        case _:
            return "…" if callable(value) else str(value)


if __name__ == "__main__":
    main()

"""Starts `snaglist` in forks of a process that has loaded it, which saves most of the half second that a start takes.

A test that runs `[python, "-c", MAIN, …]` gets a process of its own all the same: with its arguments, environment,
folder, umask and streams, and killed or waited for as always; only the modules were loaded before. Every other
command, and what asks for more than that, is started as always, and so is everything where no process can adopt
another's children (`prctl(2)`, PR_SET_CHILD_SUBREAPER).
"""

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

MAIN = "from snaglist.kernel.cli import main; main()"
_ORDER_BYTES = 128 * 1024
_ADOPTS = 36  # PR_SET_CHILD_SUBREAPER
_READ_AT_START = ("PYTHON", "LC_", "LANG")  # variables that the interpreter itself reads
_AS_ALWAYS = (True, None, None, None, -1, False, -1)  # signals, groups, user, umask, session, process group
_LOADED_BY_NAME = (
    "waitress.server", "sqlalchemy.dialects.sqlite", "sqlalchemy.dialects.postgresql.psycopg",
    "sqlalchemy.dialects.mysql.pymysql", "psycopg", "pymysql",
)  # fmt: skip

_Key = tuple[str, ...]
_loaded: dict[_Key, "_Loaded | None"] = {}  # None: was asked for once
_guard = threading.Lock()


class Popen(subprocess.Popen[Any]):
    """`subprocess.Popen` that forks the loaded program where the command is that."""

    def _execute_child(self, args: Any, *others: Any) -> None:
        executable, preexec, _, pass_fds, cwd, env, _, _, shell, *streams = others[:15]
        wanted = dict(os.environ if env is None else env)
        plain = not (executable or preexec or pass_fds or shell) and others[15:] == _AS_ALWAYS
        loaded = _find(args, wanted) if plain else None
        if loaded is None:
            super()._execute_child(args, *others)
            return
        given, _, _, out, _, errors = streams
        descriptors = [own if one == -1 else one for own, one in enumerate((given, out, errors))]
        self.pid = loaded.fork([os.fspath(one) for one in args[3:]], wanted, cwd, descriptors)
        self._child_created = True
        self._close_pipe_fds(*streams)


def install() -> None:
    """Let `subprocess` start the program by forks from now on."""
    if sys.platform == "linux":
        subprocess.Popen = Popen


def close() -> None:
    """End the loaded processes."""
    while _loaded:
        _, loaded = _loaded.popitem()
        if loaded is not None:
            loaded.close()


def _find(args: Any, env: Mapping[str, str]) -> "_Loaded | None":
    """Return the process that has loaded the program for such an interpreter; the first start is one as always."""
    if not isinstance(args, Sequence) or isinstance(args, str) or list(args[1:3]) != ["-c", MAIN]:
        return None
    read = sorted(f"{name}={value}" for name, value in env.items() if name.startswith(_READ_AT_START))
    key = (os.fspath(args[0]), *read)
    with _guard:
        if key in _loaded and _loaded[key] is None:
            _loaded[key] = _Loaded(key[0], env)
        return _loaded.setdefault(key, None)


class _Loaded:
    """A process that has loaded the program and forks itself."""

    def __init__(self, python: str, env: Mapping[str, str]) -> None:
        self._guard = threading.Lock()
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [python, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, env=env, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def fork(self, arguments: list[str], env: dict[str, str], cwd: Any, streams: list[int]) -> int:
        """Start the program; returns the id of its process, a child of this one."""
        folder = os.getcwd() if cwd is None else os.fspath(cwd)
        order = json.dumps([arguments, env, os.path.abspath(folder), _umask()], default=os.fsdecode).encode()
        with self._guard:
            # The process between the two ends at once; this one adopts its child.
            _adopt(True)
            try:
                socket.send_fds(self._orders, [order], streams)
                return int(self._orders.recv(32))
            finally:
                _adopt(False)

    def close(self) -> None:
        """End it."""
        self._orders.close()
        self._process.wait(timeout=30)


def _adopt(wanted: bool) -> None:
    ctypes.CDLL(None).prctl(_ADOPTS, int(wanted), 0, 0, 0)


def _umask() -> int:
    """Return the umask of this process; setting it to see it would touch other threads."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1], 8) for line in lines if line.startswith("Umask:"))


# -- in the loaded process


def _load() -> None:
    """Import all that the program may need."""
    sys.path[0] = ""  # as with -c
    import snaglist.kernel
    import snaglist.plugins

    packages = [snaglist.kernel, snaglist.plugins]
    found = [each.name for one in packages for each in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")]
    for name in [*found, *_LOADED_BY_NAME]:
        with suppress(ImportError):  # of an extra
            importlib.import_module(name)
    gc.collect()
    gc.freeze()


def _serve(orders: socket.socket) -> None:
    """Take orders until nobody gives any; returns in each process that is to become the program."""
    while True:
        order, streams, _, _ = socket.recv_fds(orders, _ORDER_BYTES, 3)
        if not order:
            os._exit(0)
        read, write = os.pipe()
        between = os.fork()
        if not between:
            child = os.fork()
            if child:
                os.write(write, str(child).encode())
                os._exit(0)
            _become(json.loads(order), streams)
            orders.detach()
            return
        os.waitpid(between, 0)
        orders.send(os.read(read, 32))
        for descriptor in (read, write, *streams):
            os.close(descriptor)


def _become(order: list[Any], streams: list[int]) -> None:
    arguments, env, folder, umask = order
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 256)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    os.umask(umask)
    os.chdir(folder)
    gc.unfreeze()
    sys.argv = ["-c", *arguments]
    eager = bool(env.get("PYTHONUNBUFFERED"))
    for name, number in (("stdin", 0), ("stdout", 1), ("stderr", 2)):
        old = getattr(sys, name)
        new = open(  # noqa: SIM115 - as long as the process
            number, "r" if name == "stdin" else "w", encoding=old.encoding, errors=old.errors, closefd=False
        )
        if name != "stdin":
            new.reconfigure(line_buffering=number == 2 or os.isatty(number), write_through=eager)
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)


if __name__ == "__main__":
    _load()
    with suppress(KeyboardInterrupt):
        _serve(socket.socket(fileno=int(sys.argv[1])))
    exec(MAIN)

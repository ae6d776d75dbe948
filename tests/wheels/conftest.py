"""Wheels and environments, quickly: packages are put into wheels by hand, and environments borrow the dependencies."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest


class Environment:
    """A virtual environment that sees the packages of this one behind its own.

    With `editables` the checkout's own snaglist is there too; without, only what is installed as files.
    """

    def __init__(self, folder: Path, *, editables: bool = True) -> None:
        venv.create(folder / "venv", with_pip=False)
        self.folder = folder
        self.python = folder / "venv" / "bin" / "python"
        site = Path(sysconfig.get_path("purelib"))
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.site = folder / "venv" / "lib" / version / "site-packages"
        line = f"import site; site.addsitedir({str(site)!r})" if editables else str(site)
        (self.site / "borrowed.pth").write_text(f"{line}\n")
        programs = {
            "pip": f'#!/bin/sh\nexec {sys.executable} -m pip --python {self.python} "$@"\n',
            "pytest": f'#!/bin/sh\nexec {self.python} -m pytest "$@"\n',
            "snaglist": f"#!{self.python}\nfrom snaglist.plugins.start import main\nmain()\n",
        }
        for name, text in programs.items():
            (self.python.parent / name).write_text(text)
            (self.python.parent / name).chmod(0o755)

    def environ(self, **more: str) -> dict[str, str]:
        """Return the variables of a process in the environment, without those of this one that steer snaglist."""
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("SERVICE_", "PYTHON", "PIP_"))
        }
        path = f"{self.python.parent}{os.pathsep}{os.environ['PATH']}"
        quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_DEPS": "1"}
        return kept | quiet | {"PATH": path} | more

    def run(self, *command: str | Path, code: int = 0, **environ: str) -> str:
        """Run a program of the environment in its folder and return what it printed."""
        done = subprocess.run(
            command, cwd=self.folder, env=self.environ(**environ), capture_output=True, text=True, timeout=560
        )
        assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def snaglist(self, *arguments: str, code: int = 0, **environ: str) -> Any:
        """Run a command with `--json` and return its document."""
        program = self.python.parent / "snaglist"
        return json.loads(self.run(program, *arguments, "--json", code=code, **environ))

    def pip(self, *arguments: str | Path) -> None:
        """Install or uninstall."""
        self.run(self.python.parent / "pip", *arguments)


def make_wheel(
    folder: Path, name: str, files: Mapping[str, str | bytes], points: Mapping[str, str], version: str = "1.0"
) -> Path:
    """Write a wheel of these files with these entry points; returns its path."""
    stem = f"{name.replace('-', '_')}-{version}"
    wheel = folder / f"{stem}-py3-none-any.whl"
    lines = "".join(f"{point} = {target}\n" for point, target in points.items())
    metadata = {
        f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/entry_points.txt": f"[snaglist.plugins]\n{lines}",
    }
    everything = {**files, **metadata}
    record = "".join(f"{path},,\n" for path in [*everything, f"{stem}.dist-info/RECORD"])
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, contents in {**everything, f"{stem}.dist-info/RECORD": record}.items():
            archive.writestr(path, contents)
    return wheel


@pytest.fixture(scope="module")
def environment_in() -> Callable[..., Environment]:
    """Make an environment in a folder."""
    return Environment


@pytest.fixture(scope="session")
def wheel() -> Callable[..., Path]:
    """Write a wheel: `wheel(folder, "snaglist-x", {"snaglist_x.py": "…"}, {"x": "snaglist_x"})`."""
    return make_wheel

"""The optional areas use no private door: each, as a stranger's wheel under another id, passes its own tests.

snaglist is installed without the area, and the area's code as a distribution of its own. Of its tests those run
that need no server: the others ask the same of other databases.
"""

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
POINTS: dict[str, str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][
    "snaglist.plugins"
]
OPTIONAL = sorted(name for name, module in POINTS.items() if not import_module(module).describe().core)
CHOSEN = ["-k", "not postgresql and not mariadb and not kill", "--maxfail", "3"]


def foreign(text: str, area: str) -> str:
    """Return code of the area (or a test of it) as the stranger has it: another package, another id."""
    package, other = f"foreign_{area}", f"x_{area}"
    text = text.replace(f"snaglist.plugins.{area}", package)
    for before, behind in (
        (r"Description\(\s*", ""), (r"Assets\(", ""), (r'"id": ', r', "enabled"'), (r'"x-plugin"\] == ', ""),
        (r'\["id"\] == ', ""), (r"plugins__enabled=\[", ""), (r'"SERVICE_PLUGINS": ', ""), (r"SERVICE_PLUGINS=", ""),
        (r"HealthCheck\(", r", "), (r"\.find\(", r"\)"),
        (r"answer(?:\.json)?\[", r"\]"), (r"\)\[", r"\]"), ("assert ", " not in "),
        (r"\.enabled\(db, ", r"\)"), (r"client\.enable\(", ""),
    ):  # fmt: skip
        text = re.sub(rf'({before})"{area}"(?={behind})', rf'\1"{other}"', text)
    return text


def contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def wheels_of(area: str, folder: Path, wheel: Callable[..., Path]) -> list[Path]:
    """Return snaglist without the area, and the area as a wheel of its own."""
    own: dict[str, bytes | str] = {}
    for part in ("hosting", "kernel", "plugins", "schemas", "testing"):
        own |= {f"snaglist/{part}/{name}": data for name, data in contents(ROOT / part)}
    own = {name: data for name, data in own.items() if not name.startswith(f"snaglist/plugins/{area}/")}
    points = {name: module for name, module in POINTS.items() if name != area}
    theirs = {
        f"foreign_{area}/{name}": foreign(data.decode(), area) if name.endswith(".py") else data
        for name, data in contents(ROOT / "plugins" / area)
    }
    return [
        wheel(folder, "snaglist", own, points, "0.1.0"),
        wheel(folder, f"foreign-{area}".replace("_", "-"), theirs, {f"x_{area}": f"foreign_{area}"}),
    ]


def copy_tests(area: str, folder: Path) -> Path:
    """Lay out the area's tests, and beside them what they read of the project."""
    tests = folder / "tests"
    shutil.copytree(
        ROOT / "tests" / "areas" / area, tests / "areas" / area, ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "tests" / "conftest.py", tests)
    (tests / "cases").symlink_to(ROOT / "tests" / "cases")
    for name in ("docs", "clients", "benchmarks", "examples", "README.md", ".node"):
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    for path in (tests / "areas" / area).rglob("*.py"):
        path.write_text(foreign(path.read_text(encoding="utf-8"), area), encoding="utf-8")
    shutil.copy(ROOT / "setup.cfg", folder)
    return tests / "areas" / area


def passes_as_a_strangers(area: str, folder: Path, environment_in: Any, wheel: Any, *chosen: str) -> str:
    place = environment_in(folder, editables=False)
    place.pip("install", "-q", *wheels_of(area, folder, wheel))
    listed = {plugin["id"]: plugin for plugin in place.snaglist("plugins", "list")["data"]}
    assert area not in listed
    assert (listed[f"x_{area}"]["source"], listed[f"x_{area}"]["status"]) == ("installed", "active"), listed
    where = place.run(place.python, "-c", "import snaglist.kernel as door; print(door.__file__)")
    assert str(folder) in where, "not the installed snaglist"
    tests = copy_tests(area, folder)
    servers = {name: value for name, value in os.environ.items() if name.startswith(("TEST_", "REQUIRE_"))}
    shown: str = place.run(
        place.python, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", *chosen, str(tests), **servers
    )
    return shown


def test_the_areas_are_found() -> None:
    assert {"alerting", "ingest", "access_analytics"} <= set(OPTIONAL)
    assert all((ROOT / "tests" / "areas" / area).is_dir() for area in OPTIONAL), "an area without tests"


@pytest.mark.parametrize("area", OPTIONAL)
def test_an_area_as_a_strangers_wheel(
    area: str, environment_in: Callable[..., Any], wheel: Callable[..., Path], tmp_path: Path
) -> None:
    shown = passes_as_a_strangers(area, tmp_path, environment_in, wheel, *CHOSEN)
    assert " passed" in shown and "failed" not in shown

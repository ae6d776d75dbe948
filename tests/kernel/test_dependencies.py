"""What is asked of other packages leaves out the versions with known advisories."""

import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
PROJECTS = [
    *ROOT.glob("pyproject.toml"), *ROOT.glob("plugins-extra/*/pyproject.toml"), *ROOT.glob("clients/*/pyproject.toml"),
    *ROOT.glob("examples/*/pyproject.toml"), *ROOT.glob("plugins/system/template/pyproject.toml.txt"),
]  # fmt: skip
# The first version without any, and the newest advisory that it is the answer to.
FIRST = {
    "aiohttp": ("3.14.3", "CVE-2026-69244"),
    "brotli": ("1.2.0", "CVE-2025-6176"),
    "click": ("8.3.3", "CVE-2026-7246"),
    "cryptography": ("50.0.0", "CVE-2026-69247, CVE-2026-69248, CVE-2026-69249"),
    "django": ("5.2.17", "CVE-2026-15307 and three more of that release"),
    "flask": ("3.1.3", "CVE-2026-27205"),
    "paramiko": ("5.0.0", "CVE-2026-44405"),
    "protobuf": ("6.33.5", "CVE-2026-0994"),
    "pymysql": ("1.1.1", "CVE-2024-36039"),
    "pytest": ("9.0.3", "CVE-2025-71176"),
    "sentry-sdk": ("2.8.0", "CVE-2024-40647"),
    "setuptools": ("83.0.0", "CVE-2026-59890"),
    "waitress": ("3.0.1", "CVE-2024-49768, CVE-2024-49769"),
}


def requirements(file: Path) -> list[Requirement]:
    read = tomllib.loads(file.read_text(encoding="utf-8").replace("PLUGIN_ID", "x").replace("PLUGIN_NAME", "x"))
    extras = read["project"].get("optional-dependencies", {}).values()
    listed = [
        *read["build-system"]["requires"],
        *read["project"].get("dependencies", []),
        *(one for extra in extras for one in extra),
    ]
    return [Requirement(one) for one in listed]


@pytest.mark.parametrize("file", PROJECTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_lower_bounds(file: Path) -> None:
    for wanted in requirements(file):
        name = canonicalize_name(wanted.name)
        lowest = [Version(bound.version) for bound in wanted.specifier if bound.operator == ">="]
        if name in FIRST:
            assert lowest and lowest[0] >= Version(FIRST[name][0]), f"{wanted}: {FIRST[name][1]}"
        try:
            assert wanted.specifier.contains(version(wanted.name), prereleases=True), wanted
        except PackageNotFoundError:
            continue  # a part that is not installed here


def test_each_of_them_is_asked_for_somewhere() -> None:
    asked = {canonicalize_name(wanted.name) for file in PROJECTS for wanted in requirements(file)}
    assert set(FIRST) <= asked

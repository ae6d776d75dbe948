"""The extra plugins use the public contract alone, as any stranger's plugin must."""

import ast
import importlib
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).parents[2] / "plugins-extra").glob("*/src/*/*.py"))
AREAS = tuple(f"snaglist.plugins.{area}" for area in ("issues", "tags", "logs", "connectors", "system"))


def test_there_are_plugins() -> None:
    assert {path.parent.name for path in SOURCES} == {"snaglist_otlp", "snaglist_prometheus", "snaglist_sentry"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_only_public_names_are_imported(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not [alias.name for alias in node.names if alias.name.startswith("snaglist.")]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snaglist."):
            module = str(node.module)
            if module.split(".")[1] == "kernel":
                continue  # tests/kernel/test_architecture.py
            assert module in (*AREAS, "snaglist.testing"), f"{path.name}: {module} is no public door"
            if module in AREAS:
                public = importlib.import_module(module).__all__
                assert [alias.name for alias in node.names if alias.name not in public] == [], path.name

"""The examples of docs/api.md: each operation has one, and all agree with the schemas (that the page is current is
tested with the other pages of reference)."""

import json
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.endpoints import METHODS
from snaglist.kernel.plugin import DISTRIBUTION
from snaglist.kernel.service import Service

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def load() -> dict[tuple[str, str], dict[str, Any]]:
    files = sorted(EXAMPLES.glob("*.json"))
    return {(file.stem, method): one for file in files for method, one in json.loads(file.read_text("utf-8")).items()}


@pytest.fixture
def operations(sqlite_service: Service) -> set[tuple[str, str]]:
    return {
        (name, method)
        for name, (endpoint, plugin) in sqlite_service.endpoints().items()
        for method in METHODS
        if plugin.distribution == DISTRIBUTION and endpoint.operation(method)
    }


def test_every_operation_has_an_example(operations: set[tuple[str, str]]) -> None:
    """Add requests to scripts/examples.py and run it, then scripts/reference.py."""
    examples = load()
    assert operations == examples.keys()
    assert [name for name, example in examples.items() if "response" not in example] == []


def test_examples_agree_with_the_schemas(sqlite_service: Service, operations: set[tuple[str, str]]) -> None:
    for (name, method), example in load().items():
        endpoint, _ = sqlite_service.endpoints()[name]

        def schema(part: str, endpoint: Any = endpoint, name: str = name, method: str = method) -> Any:
            return sqlite_service.schemas.find(endpoint.schemas, name, method, part)

        place = f"{method} {name}"
        if query := schema("query"):
            assert query.read_query(example["query"])[1] == [], place
        else:
            assert set(example["query"]) <= {"app"}, place
        if example["body"] is not None and not endpoint.raw:
            assert schema("body").check(example["body"])[1] == [], place
        assert schema("response").errors(example["response"]) == [], place
        assert 200 <= example["status"] < 300, place
        for failure in example["failures"]:
            assert failure["status"] >= 400 and failure["error"], place


def test_the_check_can_fail(sqlite_service: Service) -> None:
    endpoint, _ = sqlite_service.endpoints()["tags"]
    found = sqlite_service.schemas.find(endpoint.schemas, "tags", "get", "response")
    assert found is not None and found.errors({"data": [{"id": "1"}]}) != []

"""Short ways to issues, tags and assignments."""

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from sqlalchemy import Engine, event

from snaglist.plugins.tags import assign


@pytest.fixture
def issue(client: Any) -> Callable[..., int]:
    """Make a manual issue and return its id."""

    def make(title: str = "gateway timeout", **fields: Any) -> int:
        answer = client.post("issues", {"title": title, **fields})
        assert answer.status == 201, answer.text
        return int(answer.json["data"]["id"])

    return make


@pytest.fixture
def tag(client: Any) -> Callable[..., dict[str, Any]]:
    """Make a tag and return it."""

    def make(name: str = "Payments", **fields: Any) -> dict[str, Any]:
        answer = client.post("tags", {"name": name, **fields})
        assert answer.status == 201, answer.text
        return dict(answer.json)

    return make


@pytest.fixture
def tags_of(client: Any) -> Callable[[int], dict[str, str]]:
    """Return name → source of an issue's tags."""

    def show(issue_id: int) -> dict[str, str]:
        return {tag["name"]: tag["source"] for tag in client.get("error", id=issue_id).json["tags"]}

    return show


@pytest.fixture
def by_hand(client: Any) -> Callable[[int, int, str], None]:
    """Add a tag to an issue, or remove it, by hand."""

    def act(issue_id: int, tag_id: int, action: str) -> None:
        body = {"group_id": issue_id, "tag_id": tag_id, "action": action}
        assert client.post("issue-tags", body).status == 200

    return act


@pytest.fixture
def sent(service: Any) -> Callable[[int, str, str], None]:
    """Assign a tag by name as a sender or a tracker does."""

    def act(issue_id: int, name: str, source: str) -> None:
        call = service.call()
        with call.transaction():
            assign(call, issue_id, [name], source)

    return act


@pytest.fixture
def statements() -> Callable[[], AbstractContextManager[list[str]]]:
    """Collect the SQL that is sent while a block runs."""

    @contextmanager
    def collect() -> Iterator[list[str]]:
        sent: list[str] = []
        mine = threading.get_ident()  # the worker has statements of its own

        def listen(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
            if threading.get_ident() == mine:
                sent.append(statement)

        event.listen(Engine, "before_cursor_execute", listen)
        try:
            yield sent
        finally:
            event.remove(Engine, "before_cursor_execute", listen)

    return collect

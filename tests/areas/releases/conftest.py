"""What the tests of releases share: an application that takes events, knows deploys and has source maps."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from snaglist.plugins.issues import tables
from snaglist.testing import Answer, Client

# The map of case SM-01: `app.js:1:9` is line 2, column 3 of src/a.js; `app.js:1:26` line 1, column 18 of src/b.js.
EXAMPLE = next(
    json.loads(json.loads(line)["input"])
    for line in (Path(__file__).parents[2] / "cases/sourcemaps.jsonl").read_text("utf-8").splitlines()
    if json.loads(line)["id"] == "SM-01"
)


class Shop:
    """One application, and what a test does with it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        for answer in (
            client.post("plugins", {"id": "ingest", "enabled": True}),
            client.post("plugins", {"id": "releases", "enabled": True}),
        ):
            assert answer.status == 200, answer.text
        self.key = client.get("ingest-settings").json["key"]

    def push(self, message: str = "boom", **fields: Any) -> int:
        """Send an event; returns the id of its issue."""
        event_id = uuid.uuid4().hex
        body = json.dumps({"message": message, "event_id": event_id, **fields}).encode()
        headers = {"Content-Type": "application/json", "X-Service-Ingest-Key": self.key}
        answer = self.client.request("POST", "/?api=ingest&wait=1", body, headers)
        assert answer.status == 202 and answer.json["accepted"] == 1, answer.text
        errors = self.client.get("plugins").json["data"]
        noted = [plugin["last_error"] for plugin in errors if plugin["id"] == "releases"]
        # A hook that took two seconds is noted too, and on a busy machine any may.
        assert len(noted) == 1 and (noted[0] is None or noted[0]["message"].startswith("slow: ")), noted
        call = self.client.service.call()
        wanted = select(tables.occurrences.c.issue_id).where(tables.occurrences.c.event_id == event_id)
        with call.transaction(write=False) as db:
            return int(db.execute(wanted).scalar_one())

    def push_script(
        self, place: str = "https://shop.example/app.js:1:9", release: str | None = "v1", **more: Any
    ) -> int:
        """Send an error of a script with one frame."""
        stack = f"Error: boom\n    at t ({place})"
        return self.push("Error: boom", exception_class="Error", stack=stack, release=release, **more)

    def deploy(self, version: str, environment: str = "production", **fields: Any) -> dict[str, Any]:
        answer = self.client.post("deploys", {"version": version, "environment": environment, **fields})
        assert answer.status == 201, answer.text
        return dict(answer.json)

    def deploys(self, **query: Any) -> dict[tuple[str, str], tuple[int, int]]:
        """The counts of the deploys by version and environment."""
        answer = self.client.get("deploys", **query)
        assert answer.status == 200, answer.text
        return {
            (one["version"], one["environment"]): (one["issue_count"], one["new_issue_count"])
            for one in answer.json["data"]
        }

    def upload(self, status: int = 201, **fields: Any) -> Answer:
        body = {"release": "v1", "file": "app.js", "map": EXAMPLE, **fields}
        answer = self.client.post("source-maps", {name: value for name, value in body.items() if value is not None})
        assert answer.status == status, answer.text
        return answer

    def maps(self, **query: Any) -> list[dict[str, Any]]:
        answer = self.client.get("source-maps", **query)
        assert answer.status == 200, answer.text
        return list(answer.json["data"])

    def issue(self, issue_id: int, **query: Any) -> dict[str, Any]:
        answer = self.client.get("error", id=issue_id, **query)
        assert answer.status == 200, answer.text
        return dict(answer.json)

    def stack(self, issue_id: int, **query: Any) -> list[str]:
        """The lines of the shown trace without the first."""
        return [line.strip() for line in self.issue(issue_id, **query)["data"]["sample_stack"].split("\n")[1:]]

    def frames(self, issue_id: int, **query: Any) -> list[tuple[Any, ...]]:
        """The frames of the exception raised last: function, file, line, column."""
        frames = self.issue(issue_id, **query)["exceptions"][-1]["frames"]
        return [(one["function"], one["file"], one["line"], one["column"]) for one in frames]

    def releases(self, issue_id: int) -> dict[str, Any]:
        answer = self.client.get("issue-releases", id=issue_id)
        assert answer.status == 200, answer.text
        return dict(answer.json)


@pytest.fixture
def shop(client: Client) -> Shop:
    """An application on each of the three databases."""
    return Shop(client)


@pytest.fixture
def sqlite_shop(sqlite_client: Client) -> Shop:
    """An application on SQLite."""
    return Shop(sqlite_client)


@pytest.fixture
def example() -> dict[str, Any]:
    """The map of case SM-01."""
    return dict(EXAMPLE)

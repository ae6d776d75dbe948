"""A wheel adds a word to the search for issues and a column to their list, as docs/plugins.md shows it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).parents[2] / "docs" / "plugins.md"
ASK = """
import json
from pathlib import Path
from snaglist.testing import Client, running_service

with running_service(Path("data"), jobs=False) as service:
    client = Client(service)  # holds each answer against its schema, the column's too
    for title in ("a", "much longer"):
        client.post("issues", {"title": title})

    def asked(**query):
        answer = client.get("errors", **query)
        if answer.status != 200:
            return answer.error
        return [(row["title"], row.get("title_length")) for row in answer.json["data"]]

    def changed(word):
        return client.post("bulk-issues", {"action": "status", "status": "fixed", "filter": word}).json

    def columns():
        return client.get("errors").json["meta"].get("columns")

    drawn = [columns()]
    off = [asked(longer=3), asked(longer="x"), changed({"longer": 3})]
    client.enable("lengths")
    drawn.append(columns())
    on = [asked(longer=3), asked(longer="x"), asked(longer=3, q="much"), changed({"longer": 3}).get("updated")]
    described = client.get("openapi").json["components"]["schemas"]["errors.get-query"]["properties"]["longer"]["title"]
    print(json.dumps({"off": off, "on": on, "described": described, "drawn": drawn}))
"""


def example() -> str:
    """Return the module that the page shows."""
    found = re.search(r"```python\n(# lengths\.py\n.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    return found[1]


def test_a_wheel_adds_a_word_and_a_column(
    environment_in: Callable[..., Any], wheel: Callable[..., Path], tmp_path: Path
) -> None:
    """Where the plugin is off its word is unknown: passed over in a query, refused in a body."""
    environment = environment_in(tmp_path)
    environment.pip("install", wheel(tmp_path, "snaglist-lengths", {"lengths.py": example()}, {"lengths": "lengths"}))
    told = json.loads(environment.run(environment.python, "-c", ASK))
    both = [["much longer", None], ["a", None]]
    assert told["off"] == [both, both, {"error": "filter.longer: is not a known field"}]
    long_one = [["much longer", 11]]
    assert told["on"] == [long_one, "longer: must be a whole number", long_one, 1]
    assert told["drawn"] == [None, [{"name": "title_length", "heading": "Length"}]]
    assert told["described"] == "The title has more characters"

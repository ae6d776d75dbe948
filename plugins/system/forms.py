"""Forms of what plugins add types of: each type declares its fields in a JSON Schema, and the dashboard shows them."""

from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Any

from snaglist.kernel import Installation


def form_types(service: Installation, part: str, folders: Mapping[str, Traversable]) -> list[dict[str, Any]]:
    """Return name, title and schema of each type: of `definitions/<part>-<name>.json` in its folder of schemas.

    A type without such a file has the title and the fields that its name gives.
    """
    found = []
    for name, folder in folders.items():
        schema = service.schemas.find(folder, "definitions", part, name)
        contents: Mapping[str, Any] = schema.contents if schema else {}
        shown = {key: contents[key] for key in ("properties", "required") if key in contents}
        found.append({"name": name, "title": contents.get("title", name), "schema": {"type": "object", **shown}})
    return found

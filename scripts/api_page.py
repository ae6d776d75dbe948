"""Make docs/api.md from the registered endpoints, their schemas and the recorded examples."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

from examples import EXAMPLES, layout
from snaglist.kernel.endpoints import METHODS, Endpoint, Operation
from snaglist.kernel.plugins import DISTRIBUTION, Plugin
from snaglist.kernel.schemas import Schema
from snaglist.kernel.service import Service
from snaglist.testing import running_service

INTRODUCTION = """\
# API

Every endpoint is a query on one URL: `{base}/?api=<name>`, with JSON in and out. `app` in the query selects the
application (omitted: the first one). Times are `YYYY-MM-DD HH:MM:SS` in UTC; times with `Z` or an offset are taken too.
Lists in a query are comma-separated. A key, when one is set, is sent as `X-Service-Token` or as a Bearer token.

Every failure is `{"error": "…"}` and nothing else. Beside those shown with an operation:

| Status | When |
|---|---|
| 400 | malformed JSON, a query parameter given twice, bytes that are not UTF-8 |
| 401 | the key is missing or wrong; with a host: nobody is signed in |
| 403 | the role lacks the ability named with the operation; a browser of another origin writes |
| 404 | unknown endpoint; the plugin is disabled; the thing acted on does not exist |
| 405 | the endpoint does not know the method; `Allow` lists those it knows |
| 409 | the state does not allow it now |
| 413, 415 | the body is over the limit, or not JSON |
| 422 | a field or parameter breaks its rule, named first; unknown `app`; a related id that does not exist |
| 429 | too many different wrong keys, with `Retry-After` |
| 503 | the database is busy, away or cannot be used (the message says why), with `Retry-After` |

The first check that fails decides the answer: key, origin, syntax of the query (400), endpoint, application, plugin,
method, ability, then the body: its size, its type and syntax, and last the fields of query and body. Sizes come first
there, too: nothing looks into a list, a text or an object that is too large. The first ten problems are named, and
whether there are more. Fields that are not known are ignored, unless they are named as a problem.

Names are one line: line breaks and other control characters are 422. Characters that turn the direction of a text
are taken and given as they are; who shows them decides what becomes of them (the dashboard and the command line show
`\\u202e`).

Where an operation acts on everything unless an id or filter says on what, everything is asked for by leaving it out:
null, an empty or blank value, a name that is not known, or a field of the body in the query is 422.

Endpoints that queue a job answer 202 with `job_id` and `status`; with `wait=true` the answer is held for up to
30 seconds and is then 200 with the result.

This page is made by `python scripts/reference.py`; its examples are real answers, recorded by
`python scripts/examples.py`.
"""


def api_page() -> str:
    """Return docs/api.md."""
    with (
        tempfile.TemporaryDirectory() as folder,
        patch.dict("os.environ", clear=True),
        running_service(Path(folder) / "data", jobs=False) as service,
    ):
        own = {
            name: (endpoint, plugin)
            for name, (endpoint, plugin) in sorted(service.endpoints().items())
            if plugin.distribution == DISTRIBUTION
        }
        listed = " · ".join(f"[{name}](#{name})" for name in own)
        parts = [INTRODUCTION, listed, ""]
        for endpoint, plugin in own.values():
            parts += _endpoint(service, endpoint, plugin)
    return "\n".join(parts)


def examples_of(name: str) -> dict[str, Any]:
    """Return the recorded examples of an endpoint by method."""
    path = EXAMPLES / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def _endpoint(service: Service, endpoint: Endpoint, plugin: Plugin) -> list[str]:
    belongs = [] if plugin.core else [f"Part of the plugin `{plugin.id}`: 404 while that is disabled.", ""]
    lines = [f"## {endpoint.name}", "", *belongs]
    examples = examples_of(endpoint.name)
    for method in METHODS:
        operation = endpoint.operation(method)
        if operation:
            lines += _operation(service, endpoint, method, operation, examples.get(method, {}))
    return lines


def _operation(
    service: Service, endpoint: Endpoint, method: str, operation: Operation, example: Mapping[str, Any]
) -> list[str]:
    def schema(part: str) -> Schema | None:
        return service.schemas.find(endpoint.schemas, endpoint.name, method, part)

    resolve = _Resolver(service, endpoint)
    lines = [f"### {method.upper()} {endpoint.name}", "", _access(endpoint, operation), ""]
    for part, title in (("query", "Parameter"), ("body", "Field")):
        found = schema(part)
        fields = resolve(found.contents).get("properties", {}) if found else {}
        if found and fields:
            required = resolve(found.contents).get("required", ())
            lines += [f"| {title} | Type | Default | Meaning |", "|---|---|---|---|"]
            for name, node in fields.items():
                lines.append(_row(name, resolve(node), name in required))
            lines.append("")
    answer = schema("response")
    if answer and (title := answer.contents.get("title") or resolve(answer.contents).get("title")):
        lines += [f"Answer: {title[0].lower() + title[1:]}.", ""]
    return lines + _example(endpoint.name, method, example)


def _access(endpoint: Endpoint, operation: Operation) -> str:
    if endpoint.authenticate:
        return "Needs no key."
    return f"Needs the ability `{operation.ability}`." if operation.ability else "Needs the key, but no ability."


def _row(name: str, node: Mapping[str, Any], required: bool) -> str:
    default = "required" if required else f"`{json.dumps(node['default'])}`" if "default" in node else ""
    return f"| `{name}` | {_type(node)} | {default} | {_meaning(node)} |"


def _type(node: Mapping[str, Any]) -> str:
    kind = node.get("type")
    if kind is None and "enum" in node:
        return "string"
    if kind is None:
        options = node.get("anyOf") or node.get("oneOf") or []
        return " or ".join(dict.fromkeys(str(option.get("type", "value")) for option in options)) or "any"
    kinds = [kind] if isinstance(kind, str) else kind
    return " or ".join("list" if one == "array" else one for one in kinds)


def _meaning(node: Mapping[str, Any]) -> str:
    said = [str(node[name]).rstrip(".") for name in ("title", "description") if name in node]
    inner = node.get("items", {})
    values = node.get("enum") or (inner.get("enum") if isinstance(inner, Mapping) else None)
    if values:
        said.append(", ".join(f"`{value}`" for value in values if value is not None))
    said += [f"{name} {node[key]}" for key, name in _LIMITS if key in node]
    if "format" in node:
        said.append(_FORMATS.get(node["format"], node["format"]))
    return "; ".join(said).replace("|", "\\|")


_LIMITS = (
    ("minimum", "at least"), ("maximum", "at most"), ("minLength", "characters at least"),
    ("maxLength", "characters at most"), ("minItems", "values at least"), ("maxItems", "values at most"),
)  # fmt: skip
_FORMATS = {"timestamp": "a time", "moment": "a time or a date", "date": "a date", "timezone": "a time zone name"}


def _example(name: str, method: str, example: Mapping[str, Any]) -> list[str]:
    if "response" not in example:
        return []
    lines = ["```http", *_request(name, method, example["query"], example["body"]), "```", ""]
    lines += [f"{example['status']}:", "", "```json", layout(example["response"]), "```", ""]
    if example["failures"]:
        lines += ["| Request | Status | `error` |", "|---|---|---|"]
        for failure in example["failures"]:
            asked = _asked(name, failure["query"], failure["body"])
            lines.append(f"| {asked} | {failure['status']} | {failure['error']} |")
        lines.append("")
    return lines


def _request(name: str, method: str, query: Mapping[str, str], body: Any) -> list[str]:
    first = f"{method.upper()} /?{urlencode({'api': name, **query})}"
    if isinstance(body, str):
        return [first, "Content-Type: application/octet-stream", "", body.rstrip("\n")]
    return [first] if body is None else [first, "Content-Type: application/json", "", layout(body)]


def _asked(name: str, query: Mapping[str, str], body: Any) -> str:
    shown = (
        f"`?{urlencode({'api': name, **query})}`"
        if body is None or isinstance(body, str)
        else f"`{json.dumps(body, ensure_ascii=False)}`"
    )
    return shown.replace("|", "\\|")


class _Resolver:
    """Gives the contents of a schema node with its references followed."""

    def __init__(self, service: Service, endpoint: Endpoint) -> None:
        self._service = service
        self._endpoint = endpoint

    def __call__(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the node with what it refers to merged in."""
        merged = dict(node)
        while isinstance(reference := merged.pop("$ref", None), str):
            file, _, pointer = reference.partition("#")
            found: Any = self._service.schemas.definition(self._endpoint.schemas, file.lstrip("/"))
            for step in filter(None, pointer.split("/")):
                found = found[step]
            merged = {**found, **merged}
        return merged

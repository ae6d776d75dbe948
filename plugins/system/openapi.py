"""The OpenAPI 3.1 document, generated from the registered endpoints and their schemas."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, Installation, Operation
from snaglist.kernel.endpoints import METHODS

_COMPONENTS = "#/components/schemas/"
WRITING = ("post", "put", "patch")  # what takes the body of a raw endpoint as it is
_ERROR = {"type": "object", "properties": {"error": {"type": "string", "minLength": 1}}, "required": ["error"]}


def document(call: Call) -> dict[str, Any]:
    """Return the document for the call's application (needs an open transaction)."""
    service = call.service
    states = service.plugins.states(call.db)
    components = Components(service)
    paths: dict[str, Any] = {}
    for name, (endpoint, plugin) in sorted(service.endpoints().items()):
        enabled = plugin.core or bool(states.get(plugin.id, {}).get("enabled"))
        shown = {"x-plugin": None if plugin.core else plugin.id, "x-enabled": enabled}
        operations = {method: op for method in METHODS if (op := endpoint.operation(method))}
        paths[f"/?api={name}"] = {
            method: _operation(endpoint, method, operation, components) | shown
            for method, operation in operations.items()
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "snaglist", "version": service.version},
        "paths": paths,
        "components": {"schemas": components.schemas},
    }


def _operation(endpoint: Endpoint, method: str, operation: Operation, components: "Components") -> dict[str, Any]:
    query, body, answer = (components.of(endpoint, method, part) for part in ("query", "body", "response"))
    contents = components.contents(query)
    required = contents.get("required", ())
    described: dict[str, Any] = {
        "operationId": f"{endpoint.name}.{method}",
        "x-ability": operation.ability,
        "parameters": [
            {"name": name, "in": "query", "required": name in required, "schema": node}
            for name, node in contents.get("properties", {}).items()
        ],
    }
    if endpoint.application:
        described["parameters"].append({"name": "app", "in": "query", "schema": {"type": "string"}})
    if endpoint.raw and method in WRITING:
        octets = {"schema": {"type": "string", "format": "binary"}}
        described["requestBody"] = {"content": {"application/octet-stream": octets}}
    if body:
        described["requestBody"] = {"content": {"application/json": {"schema": body}}}
    success: dict[str, Any] = {"description": components.contents(answer).get("description") or "Success"}
    if answer:
        success["content"] = {"application/json": {"schema": answer}}
    failed = {"description": "Failure", "content": {"application/json": {"schema": _ERROR}}}
    described["responses"] = {**{str(status): success for status in operation.statuses}, "default": failed}
    return described


class Components:
    """The schema files that the document needs, each under a name of its own, with references between them."""

    def __init__(self, service: Installation) -> None:
        self._service = service
        self.schemas: dict[str, Any] = {}

    def of(self, endpoint: Endpoint, method: str, part: str) -> dict[str, str] | None:
        """Return a reference to the schema of an operation's part, None when it has none."""
        if self._service.schemas.find(endpoint.schemas, endpoint.name, method, part) is None:
            return None
        return {"$ref": _COMPONENTS + self._take(endpoint, f"{endpoint.name}/{method}-{part}.json")}

    def contents(self, reference: Mapping[str, str] | None) -> dict[str, Any]:
        """Return the schema that a reference names."""
        found: dict[str, Any] = self.schemas[reference["$ref"].removeprefix(_COMPONENTS)] if reference else {}
        return found

    def _take(self, endpoint: Endpoint, file: str) -> str:
        name = file.removeprefix("definitions/").removesuffix(".json").replace("/", ".")
        if name not in self.schemas:
            self.schemas[name] = {}  # a file may refer to itself
            contents = self._service.schemas.definition(endpoint.schemas, file)
            self.schemas[name] = self._point(endpoint, name, contents)
        return name

    def _point(self, endpoint: Endpoint, name: str, node: Any) -> Any:
        """Return a part of the file `name` whose references point into the document."""
        if isinstance(node, list):
            return [self._point(endpoint, name, item) for item in node]
        if not isinstance(node, dict):
            return node
        shown = {}
        for key, value in node.items():
            if key == "$ref" and isinstance(value, str):
                file, _, pointer = value.partition("#")
                shown[key] = _COMPONENTS + (self._take(endpoint, file.lstrip("/")) if file else name) + pointer
            elif key not in ("$schema", "$id"):
                shown[key] = self._point(endpoint, name, value)
        return shown

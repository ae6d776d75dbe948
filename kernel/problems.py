"""Words for what a schema refuses: the field, and what it must be."""

from collections.abc import Mapping
from itertools import islice
from typing import Any, cast

from jsonschema.exceptions import ValidationError

from snaglist.kernel.text import clip
from snaglist.kernel.validator import ENOUGH

Problems = list[tuple[str, str]]
_MAX_NAME = 200  # characters of a field's name that is not known


def explain(error: ValidationError) -> Problems:
    """Return what is wrong and where: pairs of a field and what it must be."""
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    rule, limit = str(error.validator), cast(Any, error.validator_value)
    value = cast(Any, error.instance)
    node: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    inside = f"{path}." if path else ""
    if rule == "required":
        return [(f"{inside}{name}", "is required") for name in limit if name not in value]
    if rule == "additionalProperties":
        known = node.get("properties", {})
        unknown = islice((name for name in value if name not in known), ENOUGH)
        return [(f"{inside}{clip(name, _MAX_NAME)}", "is not a known field") for name in unknown]
    if node.get("x-message"):
        return [(path, node["x-message"])]
    if rule in ("anyOf", "oneOf") and error.context:
        deepest = max(error.context, key=lambda inner: (len(inner.absolute_path), inner.validator != "type"))
        return explain(deepest)
    return [(path or "body", _message(rule, limit, node, value))]


def _message(rule: str, limit: Any, node: Mapping[str, Any], value: Any) -> str:
    if rule == "type":
        names = {"integer": "a whole number", "string": "a text", "boolean": "true or false", "object": "an object",
                 "array": "a list", "number": "a number", "null": "null"}  # fmt: skip
        kinds = [limit] if isinstance(limit, str) else limit
        return "must be " + " or ".join(names[kind] for kind in kinds)
    if rule in ("minLength", "maxLength"):
        low, high = node.get("minLength", 0), node.get("maxLength")
        after = " after trimming" if node.get("x-trim") else ""
        size = f"{low}-{high}" if low and high else f"at least {low}" if low else f"at most {high}"
        return f"must be {size} characters{after}"
    if rule in ("minimum", "maximum"):
        low, high = node.get("minimum"), node.get("maximum")
        if low is not None and high is not None:
            return f"must be from {low} to {high}"
        return f"must be at least {low}" if low is not None else f"must be at most {high}"
    if rule in ("minItems", "maxItems"):
        low, high = node.get("minItems", 0), node.get("maxItems")
        count = f"{low}-{high}" if low and high is not None else f"at least {low}" if low else f"at most {high}"
        return f"must have {count} values"
    if rule == "enum":
        return "must be one of " + ", ".join(map(str, limit)) + (f", not {value[:40]}" if type(value) is str else "")
    if rule == "const":
        return f"must be exactly {limit}"
    if rule == "uniqueItems":
        return "must not hold a value twice"
    return "does not have the required form"

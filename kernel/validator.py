"""The validator of requests: JSON Schema 2020-12 at a cost that the sizes of a schema bound, not the caller.

A value over its `maxItems`, `maxProperties` or `maxLength` is refused for that alone: nothing looks inside. No rule
gives more errors than an answer names, and repeated items are found in one pass. `explain` puts an error into words.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from snaglist.kernel.errors import MAX_PROBLEMS
from snaglist.kernel.text import clip

ENOUGH = MAX_PROBLEMS + 1  # what is shown, and one to know that there are more
_SIZES = {"maxItems": list, "maxProperties": dict, "maxLength": str}
_MAX_NAME = 200  # characters of a field's name that is not known
_ALWAYS = {*_SIZES, "type"}
Problems = list[tuple[str, str]]  # the field, and what it must be
Rule = Callable[[Any, Any, Any, Any], Any]


def oversized(value: Any, node: Any) -> bool:
    """Tell whether a value is larger than its node of a schema allows."""
    return any(isinstance(value, kind) and name in node and len(value) > node[name] for name, kind in _SIZES.items())


def _bounded(name: str, rule: Rule) -> Rule:
    def check(validator: Any, limit: Any, value: Any, node: Any) -> Iterator[ValidationError]:
        if name in _ALWAYS or not oversized(value, node):
            yield from islice(rule(validator, limit, value, node) or (), ENOUGH)

    return check


def _unique(validator: Any, wanted: bool, value: Any, node: Any) -> Iterator[ValidationError]:
    if wanted and isinstance(value, list) and len({_hashable(item) for item in value}) < len(value):
        yield ValidationError("holds a value twice")


def _closed(validator: Any, allowed: Any, value: Any, node: Any) -> Iterator[ValidationError]:
    """Refuse unknown fields without a look at all of them; their names are for whoever words the problem."""
    if allowed is not False or "patternProperties" in node or not isinstance(value, dict):
        yield from Draft202012Validator.VALIDATORS["additionalProperties"](validator, allowed, value, node)
    elif any(name not in node.get("properties", ()) for name in value):
        yield ValidationError("has unknown fields")


def _hashable(value: Any) -> Any:
    """Return what is equal for values that JSON calls equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, dict):
        return dict, frozenset((name, _hashable(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return list, tuple(map(_hashable, value))
    return isinstance(value, bool), value


_RULES: dict[str, Rule] = {**Draft202012Validator.VALIDATORS, "additionalProperties": _closed, "uniqueItems": _unique}
Validator = extend(  # type: ignore[no-untyped-call]
    Draft202012Validator, {name: _bounded(name, rule) for name, rule in _RULES.items()}
)


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

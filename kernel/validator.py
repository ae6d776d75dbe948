"""The validator of requests: JSON Schema 2020-12 at a cost that the sizes of a schema bound, not the caller.

A value over its `maxItems`, `maxProperties` or `maxLength` is refused for that alone: nothing looks inside. No rule
gives more errors than an answer names, and repeated items are found in one pass.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from snaglist.kernel.errors import MAX_PROBLEMS

ENOUGH = MAX_PROBLEMS + 1  # what is shown, and one to know that there are more
_SIZES = {"maxItems": list, "maxProperties": dict, "maxLength": str}
_ALWAYS = {*_SIZES, "type"}
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

"""Request and response schemas: found by name, prepared and compiled on first use.

Beside JSON Schema 2020-12 these annotations are read: `x-trim`, `x-upper`, `x-lower`, `x-line` (a name: no line breaks
and other control characters), `x-null-omits`,
`x-query-values` (an object's fields may be texts as in a query), `default`, `x-id-from-query`, `x-message`, `x-open`
(plugins add properties to this object, each with its plugin as `x-plugin`) and the formats `timestamp`, `moment`,
`date` and `timezone`. `prepare` applies them to a value before it is validated.
"""

import json
import math
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from referencing import Registry, Resource
from referencing._core import Resolver
from referencing.exceptions import NoSuchResource
from referencing.jsonschema import DRAFT202012

from snaglist.kernel import times
from snaglist.kernel.text import CONTROLS, clip
from snaglist.kernel.validator import ENOUGH, Problems, Validator, explain, oversized

_BASE = "http://schemas.invalid"
_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)
_COMMA = re.compile(r"(?<!\\),")  # one that belongs to a value has a backslash before it
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_MAX_LIST = 20
_MAX_PATH = 200
_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_INTEGER = 9_223_372_036_854_775_807
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int, float), "number": (int, float),
}  # fmt: skip


def _moment(text: str) -> str:
    return times.parse(text) if len(text) > 10 else times.parse_date(text) + " 00:00:00"


_FORMATS: dict[str, tuple[Callable[[str], str], str]] = {
    "timestamp": (times.parse, "must be a time like 2026-01-03 10:00:00 or 2026-01-03T10:00:00+01:00"),
    "moment": (_moment, "must be a time like 2026-01-03 10:00:00 or a date like 2026-01-03"),
    "date": (times.parse_date, "must be a date like 2026-01-03 that exists"),
    "timezone": (times.parse_zone, "must be a time zone name like Europe/Berlin"),
}


class Schema:
    """One schema file, ready to prepare and validate values."""

    def __init__(self, contents: dict[str, Any], uri: str, registry: Registry[Any]) -> None:
        self.contents = contents
        self._uri = uri
        self._registry = registry
        self._root = registry.resolver(uri)
        self._resolved: dict[int, tuple[Any, dict[str, Any], Resolver[Any]]] = {}
        properties = contents.get("properties", {})
        self._order = list(properties)
        # What plugins added, each with its plugin's id: unknown where that is off.
        self.added = {name: node["x-plugin"] for name, node in properties.items() if "x-plugin" in node}

    @cached_property
    def _validator(self) -> Any:
        return Validator({"$ref": self._uri}, registry=self._registry)

    @property
    def id_from_query(self) -> bool:
        """True when the body's `id` may come from the query."""
        return bool(self.contents.get("x-id-from-query"))

    def check(self, value: Any) -> tuple[Any, list[str]]:
        """Return the prepared value and the problems with it, in field order.

        When there are more problems than an answer names, they are some of them, at least one more than that.
        """
        problems: Problems = []
        return self._check(value, problems), self._sorted(problems)

    def _check(self, value: Any, problems: Problems) -> Any:
        """Return the prepared value; adds problems of fields that have none yet."""
        value = self._prepare(self.contents, self._root, value, "", problems)
        if len(problems) >= ENOUGH:
            return value
        broken = {field for field, _ in problems}
        found: dict[str, str] = {}  # one per field; that the type is wrong says more than what follows from it
        for error in self._validator.iter_errors(value):
            for field, text in explain(error):
                if field not in found or error.validator == "type":
                    found[field] = text
            if len(found) >= ENOUGH:
                break
        problems += [(field, text) for field, text in found.items() if field not in broken]
        return value

    def errors(self, value: Any) -> list[str]:
        """Return the problems with a value as it is (responses)."""
        found = [problem for error in self._validator.iter_errors(value) for problem in explain(error)]
        return self._sorted(found)

    def read_query(self, raw: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
        """Return typed query values of texts; empty texts count as not given."""
        values: dict[str, Any] = {}
        problems: Problems = []
        for name, node in self.contents.get("properties", {}).items():
            if raw.get(name):
                values[name] = raw[name]
                _take_text(values, name, self._resolve(node, self._root)[0], name, problems)
        return self._check(values, problems), self._sorted(problems)

    def _sorted(self, problems: Problems) -> list[str]:
        def position(problem: tuple[str, str]) -> int:
            name = re.split(r"[.\[]", problem[0])[0]
            return self._order.index(name) if name in self._order else len(self._order)

        unique = sorted(dict.fromkeys(problems), key=position)
        return [f"{field}: {text}" if field else text for field, text in unique]

    def _resolve(self, node: Mapping[str, Any], resolver: "Resolver[Any]") -> "tuple[dict[str, Any], Resolver[Any]]":
        """Return a node with what it refers to merged in, and the resolver for references inside."""
        known = self._resolved.get(id(node))
        if known is None:
            merged, inside = dict(node), resolver
            while "$ref" in merged:
                found = inside.lookup(merged.pop("$ref"))
                merged, inside = {**found.contents, **merged}, found.resolver
            known = self._resolved[id(node)] = (node, merged, inside)  # holds the node, so that its id stays its own
        return known[1:]

    def _prepare(self, node: Any, resolver: "Resolver[Any]", value: Any, path: str, problems: Problems) -> Any:
        """Return a value as the annotations of a node make it; values of other types are left to the validator.

        So are lists that are too long. Once there are more problems than an answer names, nothing more is looked at.
        """
        node, resolver = self._resolve(node, resolver)
        if isinstance(value, list) and oversized(value, node):
            return value
        for option in node.get("anyOf") or node.get("oneOf") or ():
            if isinstance(value, _TYPES.get(str(self._resolve(option, resolver)[0].get("type")), ())):
                value = self._prepare(option, resolver, value, path, problems)
                break
        if isinstance(value, dict):
            return self._prepare_object(node, resolver, value, path, problems)
        if isinstance(value, list) and isinstance(node.get("items"), Mapping):
            items, result = node["items"], list(value)
            for n, item in enumerate(value):
                if len(problems) >= ENOUGH:
                    break
                result[n] = self._prepare(items, resolver, item, f"{path}[{n}]", problems)
            return result
        if isinstance(value, str):
            return _prepare_text(node, value, path, problems)
        if isinstance(value, float) and value.is_integer() and "integer" in node.get("type", ()):
            if abs(value) > MAX_INTEGER:
                problems.append((path, f"must be at most {MAX_INTEGER}"))
            return int(value)
        return value

    def _prepare_object(
        self, node: Any, resolver: "Resolver[Any]", value: dict[str, Any], path: str, problems: Problems
    ) -> dict[str, Any]:
        result = dict(value)
        for name, inner in node.get("properties", {}).items():
            place = f"{path}.{name}" if path else name
            resolved, _ = self._resolve(inner, resolver)
            if name in result and result[name] is None and resolved.get("x-null-omits"):
                del result[name]
            elif node.get("x-query-values") and isinstance(result.get(name), str):
                if result[name].strip(" ,"):
                    _take_text(result, name, resolved, place, problems)
                else:  # a variable of a script that is not set: left out, it would be a filter for everything
                    problems.append((place, "must not be blank; leave it out"))
            if name in result:
                result[name] = self._prepare(inner, resolver, result[name], place, problems)
            elif "default" in resolved:
                result[name] = resolved["default"]
        return result


class Schemas:
    """All schema folders; the built-in one answers references that a plugin's folder does not.

    `added(name)` returns the properties that plugins add to the objects that are open under a name (`x-open`).
    """

    def __init__(self, added: Callable[[str], Mapping[str, Any]]) -> None:
        self._added = added
        self._lock = threading.Lock()
        self._registries: dict[str, Registry[Any]] = {}
        self._schemas: dict[tuple[str, str], Schema | None] = {}

    def find(self, root: Traversable, api: str, method: str, part: str) -> Schema | None:
        """Return `<api>/<method>-<part>.json` of a folder, None when there is none."""
        name = f"{api}/{method.lower()}-{part}.json"
        key = (str(root), name)
        if key not in self._schemas:
            with self._lock:
                self._schemas[key] = self._load(root, name)
        return self._schemas[key]

    def definition(self, root: Traversable, name: str) -> dict[str, Any]:
        """Return the contents of a file that schemas refer to, such as `definitions/issue.json`."""
        return self._find(root, name) or {}

    def _load(self, root: Traversable, name: str) -> Schema | None:
        contents = self._contents(root, name)
        if contents is None:
            return None
        registry: Registry[Any] = self._registries.get(str(root)) or Registry(retrieve=self._retriever(root))  # type: ignore[call-arg]
        # A registry that still has to retrieve a reference would do so again at every validation.
        waiting = [f"{_BASE}/{name}"]
        while waiting:
            uri = waiting.pop()
            if uri not in registry:
                found = registry.get_or_retrieve(uri)
                registry = found.registry
                waiting += [_BASE + file for file in _files_referred_to(found.value.contents)]
        self._registries[str(root)] = registry = registry.crawl()
        return Schema(contents, f"{_BASE}/{name}", registry)

    def _contents(self, root: Traversable, name: str) -> dict[str, Any] | None:
        file = root.joinpath(*name.split("/"))
        if not file.is_file():
            return None
        loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"), object_hook=self._open)
        loaded.pop("$schema", None)  # it would bring jsonschema's own validator in place of ours
        return loaded

    def _open(self, node: dict[str, Any]) -> dict[str, Any]:
        if name := node.get("x-open"):
            node["properties"] = {**self._added(name), **node.get("properties", {})}
        return node

    def _find(self, root: Traversable, name: str) -> dict[str, Any] | None:
        found = self._contents(root, name)
        return self._contents(files("snaglist.schemas"), name) if found is None else found

    def _retriever(self, root: Traversable) -> Callable[[str], Resource[Any]]:
        def retrieve(uri: str) -> Resource[Any]:
            contents = self._find(root, uri.removeprefix(_BASE).lstrip("/"))
            if contents is None:
                raise NoSuchResource(uri)
            return DRAFT202012.create_resource(contents)

        return retrieve


def _files_referred_to(node: Any) -> Iterator[str]:
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    for item in inner:
        yield from _files_referred_to(item)
    reference = node.get("$ref") if isinstance(node, dict) else None
    if isinstance(reference, str) and reference.startswith("/"):
        yield reference.partition("#")[0]


def unsafe(value: Any, max_depth: int) -> tuple[list[str], bool]:
    """Return the problems that no schema may allow (U+0000, lone surrogates, numbers beyond 64 bits), and
    whether the value nests deeper than `max_depth`. It stops where there are more problems than an answer names.
    """
    problems: list[str] = []
    steps: list[Any] = []  # the name or number in each level that leads to the item
    levels: list[Iterator[tuple[Any, Any]]] = [iter([("", value)])]
    while levels and len(problems) < ENOUGH:
        entry = next(levels[-1], None)
        if entry is None:
            levels.pop()
            continue
        steps[len(levels) - 1 :], item = entry[:1], entry[1]
        if isinstance(item, str):
            if "\x00" in item:
                problems.append(f"{_path(steps)}: must not hold U+0000")
            elif _SURROGATE.search(item):
                problems.append(f"{_path(steps)}: must not hold half of a surrogate pair")
        elif isinstance(item, int | float):
            if abs(item) > MAX_INTEGER and not (isinstance(item, float) and math.isfinite(item)):
                problems.append(f"{_path(steps)}: must be at most {MAX_INTEGER}")
        elif isinstance(item, dict | list):
            if len(levels) > max_depth:
                return problems, True
            if isinstance(item, dict) and any("\x00" in name or _SURROGATE.search(name) for name in item):
                problems.append(f"{_path(steps)}: a field name holds a character that is not allowed")
            else:
                levels.append(iter(item.items()) if isinstance(item, dict) else enumerate(item))
    return problems, False


def _path(steps: Iterable[str | int]) -> str:
    """Return the words for a place: `config.paths[3]`; the body itself is `body`."""
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return clip(words.lstrip("."), _MAX_PATH) or "body"


def _read_text(text: str, node: Mapping[str, Any]) -> Any:
    kind = node.get("type")
    if kind == "integer":
        if not _INTEGER.fullmatch(text):
            raise ValueError("must be a whole number")
        if abs(int(text)) > MAX_INTEGER:
            raise ValueError(f"must be at most {MAX_INTEGER}")
        return int(text)
    if kind == "boolean":
        if text not in _BOOLEANS:
            raise ValueError("must be true, false, 1 or 0")
        return _BOOLEANS[text]
    if kind == "array":
        items = [item.strip().replace("\\,", ",") for item in _COMMA.split(text) if item.strip()]
        if len(items) > _MAX_LIST:
            raise ValueError(f"must have at most {_MAX_LIST} values")
        return items
    return text


def _take_text(result: dict[str, Any], name: str, node: Mapping[str, Any], place: str, problems: Problems) -> None:
    """Replace a text by the value that a query would make of it."""
    text = result.pop(name)
    try:
        result[name] = _read_text(text, node)
    except ValueError as error:
        problems.append((place, node.get("x-message") or str(error)))


def _prepare_text(node: Mapping[str, Any], value: str, path: str, problems: Problems) -> str:
    if node.get("x-trim"):
        value = value.strip()
    if node.get("x-line") and CONTROLS.search(value):
        problems.append((path, "must be one line without control characters"))
    if node.get("x-upper") or node.get("x-lower"):
        value = value.upper() if node.get("x-upper") else value.lower()
    if node.get("format") in _FORMATS:
        read, message = _FORMATS[node["format"]]
        try:
            return read(value)
        except ValueError:
            problems.append((path, node.get("x-message") or message))
    return value

"""Join browser modules into one file: one request instead of many, and compressed together.

Every module keeps its text and becomes a block of its own, so that no name of one meets a name of another. What it
exports is one object, which the joined file exports as well. The way modules are written here makes this exact:
imports and exports start a line and are of the few forms below. Whatever is written otherwise is refused.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# `import a, { b, c as d } from "./e.js";` in all its parts, `import * as f from "./f.js";`, `import "./g.js";`.
IMPORT = re.compile(
    r"^import (?:(?P<default>\w+)(?:, )?)?(?:\{(?P<named>[^{}]*)\}|\* as (?P<whole>\w+))?(?: from )?"
    r'"(?P<address>\.[^"]+)";',
    re.MULTILINE,
)
# Bindings that never change: an exported `let` would have to stay in step.
EXPORT = re.compile(
    r"^export (?:(?P<default>default) (?!(?:async )?function\b|class\b)"
    r"|(?=(?:const|function|async function|class) (?P<name>\w+)))",
    re.MULTILINE,
)
STATEMENT = re.compile(r"^(?:import\b(?! *\()|export\b)", re.MULTILINE)
# What the patterns above would miss, or what leaves a block: other line ends, statements within a line, `var`.
UNSEEN = re.compile(r"\r(?!\n)|[\u2028\u2029\ufeff]|^[ \t]+(?:import|export)\b *[\w{*\"']|^var\b", re.MULTILINE)
AWAIT = re.compile(r"^(?:(?:export )?(?:const|let) [^\n]*= )?await\b", re.MULTILINE)
DYNAMIC = re.compile(r"""\bimport\((?P<quote>["'`])(?P<dots>(?:\.{1,2}/)+)""")
# Relative to the page, wherever the code stands.
ABSOLUTE = "import(new URL("


class NotJoinable(ValueError):
    """A module is written in a way that cannot be joined; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class Module:
    """One module: its name (`contributor/path`), its text, the names it imports by module, and those it exports."""

    name: str
    text: str
    imports: Mapping[str, tuple[str, ...]]
    exports: tuple[str, ...]

    @property
    def label(self) -> str:
        """The name of its object in the joined file."""
        return "$" + re.sub(r"\W", "_", self.name.removesuffix(".js"))


def read(name: str, text: str) -> Module:
    """Read the imports and exports of a module; NotJoinable for what is not understood."""
    if UNSEEN.search(text):
        raise NotJoinable(f"{name}: has var, an indented import or export, or line ends of another kind")
    imports: dict[str, tuple[str, ...]] = {}
    understood = [*IMPORT.finditer(text), *EXPORT.finditer(text)]
    for found in understood:
        if _in_text(found):
            raise NotJoinable(f"{name}: an import or export seems to stand in a template or a comment")
    if {found.start() for found in understood} != {found.start() for found in STATEMENT.finditer(text)}:
        raise NotJoinable(f"{name}: has an import or export of another form than the joined file takes")
    for found in IMPORT.finditer(text):
        target = _target(name, found["address"])
        if found["default"] and found["whole"]:
            raise NotJoinable(f"{name}: imports {target} in two ways at once")
        if target in imports:
            raise NotJoinable(f"{name}: imports {target} twice")
        named = [part.split()[0] for part in (found["named"] or "").split(",") if part.strip()]
        imports[target] = (*named, "default") if found["default"] else tuple(named)
    for pattern, what in ((AWAIT, "awaits at the top"), (re.compile(r"\bimport\.meta\b"), "uses import.meta")):
        if pattern.search(text):
            raise NotJoinable(f"{name}: {what}")
    if len(re.findall(r"\bimport\(", text)) != len(DYNAMIC.findall(text)) + text.count(ABSOLUTE):
        raise NotJoinable(f"{name}: has an import() whose address does not start with ./ or ../")
    exports = tuple(found["default"] or found["name"] for found in EXPORT.finditer(text))
    return Module(name, text, imports, exports)


def join(sources: Mapping[str, str], entries: Iterable[str], at: str) -> tuple[str, dict[str, Module]]:
    """Join the entries with all that they import; return the text for the place `at`, and what is in it, in order.

    `sources` are the texts by name. Each module runs after those that it imports, as the browser would run them.
    NotJoinable for a cycle, a module that is not there and a name that is not exported.
    """
    joined: dict[str, Module] = {}
    waiting: list[str] = []

    def add(name: str) -> None:
        if name in waiting:
            raise NotJoinable(f"{name}: imports itself, by way of {', '.join(waiting[waiting.index(name) :])}")
        if name in joined:
            return
        module = read(name, sources[name])
        waiting.append(name)
        for target, names in module.imports.items():
            if target not in sources:
                raise NotJoinable(f"{name}: imports {target}, which is not there")
            add(target)
            if missing := set(names) - set(joined[target].exports):
                raise NotJoinable(f"{name}: {target} does not export {', '.join(sorted(missing))}")
        waiting.pop()
        joined[name] = module

    for entry in entries:
        add(entry)
    labels = [module.label for module in joined.values()]
    if len(set(labels)) < len(labels):
        raise NotJoinable("two modules have names that differ in punctuation only")
    listed = ", ".join(labels)
    blocks = "".join(_block(module, joined, at) for module in joined.values())
    return f"let {listed};\n{blocks}\nexport {{ {listed} }};\n", joined


def alias(module: Module, at: str) -> str:
    """The file of a joined module at its own address: the same objects, not a second copy of them."""
    lines = [f'import {{ {module.label} }} from "{_way(module.name, at)}";']
    if names := [name for name in module.exports if name != "default"]:
        lines.append(f"export const {{ {', '.join(names)} }} = {module.label};")
    if "default" in module.exports:
        lines.append(f"export default {module.label}.default;")
    return "\n".join(lines) + "\n"


def link(name: str, text: str, joined: Mapping[str, Module], at: str) -> str:
    """The text of a module that stays a file, which takes what was joined from the joined file without a detour."""

    def taken(found: re.Match[str]) -> str:
        target = joined.get(_target(name, found["address"]))
        if target is None or _in_text(found):
            return found[0]
        return f'import {{ {target.label} }} from "{_way(name, at)}"; {_binding(found, target)}'

    return IMPORT.sub(taken, text)


def _in_text(found: re.Match[str]) -> bool:
    """Tell whether a statement seems to stand in a template or a comment; when in doubt it does."""
    before = found.string[: found.start()]
    return before.count("`") % 2 == 1 or before.rfind("/*") > before.rfind("*/")


def _block(module: Module, modules: Mapping[str, Module], at: str) -> str:
    def bound(found: re.Match[str]) -> str:
        return _binding(found, modules[_target(module.name, found["address"])])

    def moved(found: re.Match[str]) -> str:
        folder = posixpath.join(posixpath.dirname(module.name), found["dots"])
        return f"import({found['quote']}{_way(at, posixpath.normpath(folder))}/"

    text = DYNAMIC.sub(moved, EXPORT.sub(_declared, IMPORT.sub(bound, module.text)))
    offered = ", ".join("default: $default" if name == "default" else name for name in module.exports)
    return f"\n// {module.name}\n{{\n{text.strip()}\n{module.label} = {{ {offered} }};\n}}\n"


def _declared(found: re.Match[str]) -> str:
    return "const $default = " if found["default"] else ""


def _binding(found: re.Match[str], target: Module) -> str:
    """What an import declares, as declarations from the object of the imported module."""
    if found["whole"]:
        return f"const {found['whole']} = {target.label};"
    names = re.sub(r"\s+as\s+", ": ", (found["named"] or "").strip())
    if found["default"]:
        names = f"default: {found['default']}{', ' if names else ''}{names}"
    return f"const {{ {names} }} = {target.label};" if names else ""


def _target(name: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), address))


def _way(name: str, target: str) -> str:
    """The relative address of a file for an import in another."""
    way = posixpath.relpath(target, posixpath.dirname(name))
    return way if way.startswith(".") else f"./{way}"

"""Join browser modules into one file: one request instead of many, and compressed together.

Every module keeps its code, without comments and indentation, and becomes a block of its own, so that no name of one
meets a name of another. What it exports is one object, which the joined file exports as well. The way modules are
written here makes this exact: imports come first, and they and exports start a line and are of the few forms below.
Whatever is written otherwise is refused.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from snaglist.plugins.dashboard.lexing import Token, Unclear, compact, tokens

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
# Line ends that the patterns above do not know.
UNSEEN = re.compile(r"\r(?!\n)|[\u2028\u2029\ufeff]")
NONE = Token("space", "", 0, 0)
ASSIGNS = re.compile(r"(?:>>>|>>|<<|\*\*|&&|\|\||\?\?|[-+*/%&|^])?=|\+\+|--")
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
        raise NotJoinable(f"{name}: has line ends of another kind")
    try:
        text = compact(tokens(text))
        found = tokens(text)
    except Unclear as error:
        raise NotJoinable(f"{name}: cannot be read for sure: {error}") from error
    if problem := _problem(text, found):
        raise NotJoinable(f"{name}: {problem}")
    imports: dict[str, tuple[str, ...]] = {}
    for statement in IMPORT.finditer(text):
        target = _target(name, statement["address"])
        if statement["default"] and statement["whole"]:
            raise NotJoinable(f"{name}: imports {target} in two ways at once")
        if target in imports:
            raise NotJoinable(f"{name}: imports {target} twice")
        named = [part.split()[0] for part in (statement["named"] or "").split(",") if part.strip()]
        imports[target] = (*named, "default") if statement["default"] else tuple(named)
    exports = tuple(statement["default"] or statement["name"] for statement in EXPORT.finditer(text))
    functions = {one["name"] for one in EXPORT.finditer(text) if not text.startswith("const", one.end())}
    if changed := sorted(functions & _assigned([token for token in found if token.seen])):
        raise NotJoinable(f"{name}: {', '.join(changed)} seems to be assigned anew")
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
    """The text of a module that stays a file, which takes what was joined from the joined file without a detour.

    Where that cannot be done for sure it stays as it is: the detour leads to the same objects.
    """
    try:
        seen = [token for token in tokens(text) if token.seen]
    except Unclear:
        return text
    words = {token.start for token in seen if token.kind == "word"}
    if not words >= {found.start() for found in IMPORT.finditer(text)} or not _imports_first(text, seen):
        return text

    def taken(found: re.Match[str]) -> str:
        target = joined.get(_target(name, found["address"]))
        if target is None:
            return found[0]
        return f'import {{ {target.label} }} from "{_way(name, at)}"; {_binding(found, target)}'

    return IMPORT.sub(taken, text)


def _problem(text: str, found: list[Token]) -> str | None:
    """What of a module cannot be joined, or None."""
    seen = [token for token in found if token.seen]
    words = [
        (token, behind.text)
        for before, token, behind in zip([NONE, *seen], seen, [*seen[1:], NONE], strict=False)
        if token.kind == "word" and before.text not in (".", "?.")
    ]
    imports = {token.start for token, behind in words if token.text == "import" and behind not in ("(", ".", ":")}
    exports = {token.start for token, behind in words if token.text == "export" and behind != ":"}
    loads = {token.start for token, behind in words if token.text == "import" and behind == "("}
    understood = {statement.start() for pattern in (IMPORT, EXPORT) for statement in pattern.finditer(text)}
    addresses = {load.start() for load in DYNAMIC.finditer(text)}
    if not understood <= imports | exports or not addresses <= loads:
        return "an import or export seems to stand in a text or a template"
    if imports | exports != understood:
        return "has an import or export of another form than the joined file takes"
    if not _imports_first(text, seen):
        return "has an import behind other code"
    if any(token.text == "import" and behind == "." for token, behind in words):
        return "uses import.meta"
    if loads - addresses != {place.start() for place in re.finditer(re.escape(ABSOLUTE), text)}:
        return "has an import() whose address does not start with ./ or ../"
    if _awaits(seen):
        return "awaits at the top"
    if any(token.text == "var" for token, behind in words if behind != ":"):
        return "has var, which leaves a block"
    if any(token.text.startswith("$") for token, _ in words):
        return "has a name that begins with $, as those of the joined file do"
    return None


def _imports_first(text: str, seen: list[Token]) -> bool:
    """Tell whether nothing stands before an import: a browser runs what is imported before all other code."""
    statements = [(found.start(), found.end()) for found in IMPORT.finditer(text)]
    last = max((end for _, end in statements), default=0)
    head = [token for token in seen if token.start < last]
    return all(any(start <= token.start < end for start, end in statements) for token in head)


def _awaits(seen: list[Token]) -> bool:
    """Tell whether a module waits by itself, outside of all functions."""
    within = False  # in a function without brackets around its body
    for token in seen:
        if token.depth == 0 and token.text in (";", "=>"):
            within = token.text == "=>"
        elif token.depth == 0 and token.text == "await" and token.kind == "word" and not within:
            return True
    return False


def _assigned(seen: list[Token]) -> set[str]:
    """The names that may be given another value; names of the same spelling elsewhere count, too."""
    names: set[str] = set()
    groups: list[list[str]] = [[]]  # by open bracket, the names within it
    declares = [False]
    closed: list[str] = []  # the names of the bracket that was closed last, when it declared nothing
    for at, token in enumerate(seen):
        before = seen[at - 1].text if at else ""
        behind = seen[at + 1].text if at + 1 < len(seen) else ""
        if token.kind == "word":
            groups[-1].append(token.text)
            fixed = before in (".", "?.", "const", "let", "class", "function")
            stepped = before in ("++", "--") or behind in ("of", "in")
            if not fixed and (stepped or ASSIGNS.fullmatch(behind)):
                names.add(token.text)
        elif token.text in ("(", "[", "{") and token.kind == "sign":
            groups.append([])
            declares.append(before in ("const", "let"))
        elif token.text in (")", "]", "}") and token.kind == "sign":
            inner = groups.pop()
            closed = [] if declares.pop() else inner
            groups[-1] += inner
            if behind == "=" or behind in ("of", "in"):
                names |= set(closed)
    return names


def _block(module: Module, modules: Mapping[str, Module], at: str) -> str:
    def bound(found: re.Match[str]) -> str:
        return _binding(found, modules[_target(module.name, found["address"])])

    def moved(found: re.Match[str]) -> str:
        folder = posixpath.join(posixpath.dirname(module.name), found["dots"])
        return f"import({found['quote']}{_way(at, posixpath.normpath(folder))}/"

    text = DYNAMIC.sub(moved, EXPORT.sub(_declared, IMPORT.sub(bound, module.text)))
    offered = ", ".join("default: $default" if name == "default" else name for name in module.exports)
    return f"\n// {module.name}\n{{\n{text}\n{module.label} = {{ {offered} }};\n}}\n"


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

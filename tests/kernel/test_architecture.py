"""The rules that keep the house in order: who may import whom, sizes, schemas, pages of reference."""

import ast
import functools
import importlib
import io
import json
import re
import runpy
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import ColumnCollection, Table

from snaglist import kernel as door
from snaglist.kernel.endpoints import METHODS, Endpoint
from snaglist.kernel.service import Service

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("hosting", "kernel", "plugins", "schemas", "testing")
CORE_AREAS = ["system", "issues", "tags", "logs", "connectors"]  # each may import those before it
# A ratchet, to be lowered as the kernel shrinks: the aim is 3,000.
KERNEL_LINES = 3627
MODULE_LINES = 400


def modules(folder: str) -> list[Path]:
    return sorted(path for path in (ROOT / folder).rglob("*.py") if "__pycache__" not in path.parts)


def areas() -> list[str]:
    return sorted(path.parent.name for path in (ROOT / "plugins").glob("*/__init__.py"))


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    """Return the imports and comparisons of a module; several rules look at each file."""
    wanted = (ast.Import, ast.ImportFrom, ast.Compare)
    return [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, wanted)]


def imports(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of every import, also those inside functions and TYPE_CHECKING; name "" for `import x`."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from ((node.module or "", alias.name) for alias in node.names)


# -- imports


def test_the_kernel_knows_no_area() -> None:
    for path in modules("kernel"):
        for module, name in imports(path):
            assert not f"{module}.{name}".startswith("snaglist.plugins"), (path, module, name)


@pytest.mark.parametrize("area", areas())
def test_an_area_imports_the_kernel_and_public_doors_below_it_only(area: str) -> None:
    below = CORE_AREAS[: CORE_AREAS.index(area)] if area in CORE_AREAS else [] if area == "dashboard" else CORE_AREAS
    for path in modules(f"plugins/{area}"):
        for module, name in imports(path):
            if not module.startswith("snaglist"):
                continue
            parts = [*module.split("."), name]
            if parts[1] != "plugins" or parts[2] == area:
                continue
            shown = f"{path.relative_to(ROOT)} imports {name} from {module}"
            assert parts[2] in below, shown
            assert module == f"snaglist.plugins.{parts[2]}", f"{shown}: not its public door"
            assert name in importlib.import_module(module).__all__, f"{shown}: not in __all__"


def test_no_modules_of_the_kernel_import_each_other_in_a_circle() -> None:
    """Imports for types count too: what two modules say of each other cannot be read, or changed, one by one."""
    names = {".".join(("snaglist", *path.relative_to(ROOT).with_suffix("").parts)): path for path in modules("kernel")}
    names = {name.removesuffix(".__init__"): path for name, path in names.items()}
    waiting = {
        name: {f"{module}.{part}" if f"{module}.{part}" in names else module for module, part in imports(path)} - {name}
        for name, path in names.items()
    }
    while free := [name for name, targets in waiting.items() if not targets & waiting.keys()]:
        for name in free:
            del waiting[name]
    assert waiting == {}


def test_nothing_imports_this_checkout_by_its_folders() -> None:
    for path in [path for folder in (*TOPS, "tests", "benchmarks") for path in modules(folder)]:
        for module, _ in imports(path):
            assert module.split(".")[0] not in ("kernel", "plugins", "schemas", "tests"), (path, module)


def test_the_public_door() -> None:
    """A name that goes or comes is a change for plugin authors: CHANGELOG.md tells them."""
    assert door.__all__ == [
        "Actor", "Application", "Assets", "BadGateway", "BadRequest", "Call", "Conflict", "Description",
        "Endpoint", "Forbidden", "Installation", "Invalid", "NetworksOption", "NotFound",
        "Operation", "Option", "Path", "Plugin", "Reply", "SchemaStep", "ServiceError", "TooLarge",
        "TooMany", "Unauthorized", "Unavailable", "UnsupportedMedia", "UriTooLong", "UrlOption", "bodies", "clip",
        "columns", "digest", "hookimpl", "hookspec", "hookspecs", "internal_error", "key",
        "own", "paging", "read", "times", "write",
    ]  # fmt: skip
    assert all(hasattr(door, name) for name in door.__all__)
    assert list(public_modules()) == [
        "bodies", "bulk", "columns", "containment", "database", "ddl", "hookspecs", "origin", "paging",
        "privacy", "store", "text", "times",
        "app", "endpoints", "faults", "gate", "plugins", "service", "settings", "steps",
    ]  # fmt: skip
    for module, names in public_modules().items():
        assert names.isdisjoint(door.__all__) or module == "times", f"{module}: has what the door has"


def public_modules() -> dict[str, set[str]]:
    """Return the modules that the door names, each with its public names; those of `hookspecs` are its hooks."""
    found = {}
    for name in re.findall(r"^- `(\w+)`: ", door.__doc__ or "", re.MULTILINE):
        module = importlib.import_module(f"snaglist.kernel.{name}")
        hooks = [one for one, thing in vars(module).items() if hasattr(thing, "snaglist_spec")]
        found[name] = set(hooks if name == "hookspecs" else module.__all__)
        assert all(hasattr(module, one) for one in found[name]), name
    return found


def uses_of_the_kernel(source: str) -> Iterator[tuple[str, str]]:
    """Yield (module, name) of all that a file imports from the kernel, or takes from a module of it; "" is the door."""
    modules: dict[str, str] = {}
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (("", alias.name) for alias in node.names if alias.name.startswith("snaglist.kernel"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("snaglist.kernel"):
            module = str(node.module).removeprefix("snaglist.kernel").removeprefix(".")
            yield from ((module, alias.name) for alias in node.names)
            if not module:
                modules |= {alias.asname or alias.name: alias.name for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield modules[node.value.id], node.attr


@pytest.mark.parametrize("folder", ["plugins", "plugins-extra", "examples"])
def test_areas_and_plugins_use_the_public_door_of_the_kernel_alone(folder: str) -> None:
    """Built-in areas, other wheels, and what `snaglist plugin new` writes use the same names."""
    public = public_modules()
    inside = []
    for path in [*modules(folder), *(ROOT / folder).rglob("*.py.txt")]:
        for module, name in uses_of_the_kernel(path.read_text(encoding="utf-8")):
            known = {*door.__all__, *public} if not module else public.get(module, set())
            if module in door.__all__ and module not in public:
                continue  # a class or function of the door
            if name not in known:
                inside.append(f"{path.relative_to(ROOT)}: {name} of snaglist.kernel{module and '.'}{module}")
    assert inside == []


@pytest.mark.parametrize("folder", ["plugins-extra", "examples"])
def test_wheels_use_the_public_doors_of_areas(folder: str) -> None:
    for path in modules(folder):
        for module, name in imports(path):
            if module.startswith("snaglist.plugins."):
                assert name in importlib.import_module(module).__all__, f"{path.relative_to(ROOT)}: {name} of {module}"


def test_issues_and_logs_promise_columns_not_tables() -> None:
    """`stored` holds the columns. What a column is of would be a way around, so nobody asks that."""
    for area in ("issues", "logs"):
        door = importlib.import_module(f"snaglist.plugins.{area}")
        assert [name for name in door.__all__ if isinstance(getattr(door, name), Table) or name == "tables"] == []
        for columns in vars(door.stored).values():
            if isinstance(columns, ColumnCollection):
                with pytest.raises(AttributeError, match=f"nope is not promised; these .*{columns.keys()[-1]}$"):
                    columns.nope  # noqa: B018
    around = []
    for path in [path for folder in ("plugins", "plugins-extra", "examples") for path in modules(folder)]:
        if any(name == "stored" for _, name in imports(path)):
            tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            around += [path for one in tree if isinstance(one, ast.Attribute) and one.attr == "table"]
    assert around == []


@pytest.mark.parametrize("area", areas())
def test_every_area_has_a_public_door(area: str) -> None:
    package = importlib.import_module(f"snaglist.plugins.{area}")
    assert all(hasattr(package, name) for name in package.__all__)


# -- secrets


def comparisons(path: Path) -> Iterator[ast.Compare]:
    """Yield every comparison by `==` or `!=` of two things that both come from elsewhere."""
    for node in nodes(path):
        if not isinstance(node, ast.Compare) or not any(isinstance(one, ast.Eq | ast.NotEq) for one in node.ops):
            continue
        if not any(isinstance(one, ast.Constant) for one in (node.left, *node.comparators)):
            yield node


def test_secrets_are_compared_in_constant_time() -> None:
    """By `hmac.compare_digest`: how long `==` takes tells how much of a guess is right, and no other test would see it.

    So a module that works with `hmac` compares nothing by `==`, and no module what its names call a secret.
    """
    secret = re.compile(r"(signature|password|passphrase|bearer|presented|hmac)s?", re.ASCII)
    found = []
    for path in [*modules("kernel"), *modules("plugins"), *modules("plugins-extra"), *modules("clients")]:
        checks_secrets = any(module == "hmac" for module, _ in imports(path))
        for node in comparisons(path):
            named = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            named |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
            if checks_secrets or any(secret.search(name) for name in named):
                found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []


# -- sizes and packaging


def code_lines(path: Path) -> int:
    """Lines of a module without blanks, comments and docstrings."""
    source = path.read_text(encoding="utf-8")
    documentation: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            documentation |= set(range(body[0].lineno, (body[0].end_lineno or 0) + 1))
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - documentation)


def test_the_kernel_stays_small() -> None:
    assert sum(map(code_lines, modules("kernel"))) <= KERNEL_LINES


def test_no_module_is_long() -> None:
    counts = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for path in [path for top in TOPS for path in modules(top)]
    }
    assert {str(path): count for path, count in counts.items() if count > MODULE_LINES} == {}


def test_the_import_package_is_this_checkout_and_ships_every_file() -> None:
    """The links are all that is in `snaglist`; what has another ending than these is left out of the wheel."""
    assert {path.name: path.resolve() for path in (ROOT / "snaglist").iterdir()} == {t: ROOT / t for t in TOPS}
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    shipped = ["*.py", *config["options.package_data"]["*"].split()]
    files = [path for top in TOPS for path in (ROOT / top).rglob("*") if path.is_file()]
    kept = [path for path in files if "__pycache__" not in path.parts]
    assert [path for path in kept if not any(path.match(pattern) for pattern in shipped)] == []


def test_every_public_thing_is_documented() -> None:
    """ruff's D1 rules need a package to be named; here the kernel's door is asked itself."""
    for name in door.__all__:
        thing = getattr(door, name)
        assert thing.__doc__, name


# -- schemas


@pytest.fixture(scope="module")
def endpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Endpoint]:
    from snaglist.testing import running_service

    with running_service(tmp_path_factory.mktemp("endpoints") / "data", jobs=False) as service:
        failed = {plugin.id: plugin.error for plugin in service.plugins.all() if plugin.error}
        assert failed == {}
        return {name: endpoint for name, (endpoint, _) in service.endpoints().items()}


def schema_files() -> list[Path]:
    return sorted((ROOT / "schemas").rglob("*.json"))


def test_schema_files_are_valid() -> None:
    for path in schema_files():
        contents = json.loads(path.read_text(encoding="utf-8"))
        assert contents["$schema"] == "https://json-schema.org/draft/2020-12/schema", path
        Draft202012Validator.check_schema(contents)
        for node in _nodes(contents):
            pattern = node.get("pattern")
            if isinstance(pattern, str):
                re.compile(pattern)
                rule = "$ also matches before a line feed at the end; end with $(?!\\n)"
                assert not pattern.endswith("$"), f"{path}: {pattern}: {rule}"


def _nodes(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _nodes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _nodes(inner)


def test_every_operation_has_its_schemas(endpoints: dict[str, Endpoint]) -> None:
    """A response for each; a body for those that write, unless the handler authenticates the raw body itself."""
    missing = []
    for name, endpoint in endpoints.items():
        for method in METHODS:
            if endpoint.operation(method) is None:
                continue
            wanted = ["response"]
            if method != "get" and not endpoint.authenticate and not endpoint.raw and not _takes_no_body(name, method):
                wanted.append("body")
            folder = endpoint.schemas.joinpath(name)
            missing += [
                f"{name}/{method}-{part}" for part in wanted if not folder.joinpath(f"{method}-{part}.json").is_file()
            ]
    assert missing == []


def _takes_no_body(name: str, method: str) -> bool:
    return (name, method) in {("processed-retention", "post"), ("import-incoming", "post"), ("reindex", "post")}


def test_every_schema_file_is_used(endpoints: dict[str, Endpoint]) -> None:
    used = {
        f"{name}/{method}-{part}.json"
        for name, endpoint in endpoints.items()
        for method in METHODS
        if endpoint.operation(method)
        for part in ("query", "body", "response")
    }
    contents = {path: path.read_text(encoding="utf-8") for path in schema_files()}
    everything = "".join(contents.values())
    unused = []
    for path in contents:
        name = path.relative_to(ROOT / "schemas").as_posix()
        of_a_type = re.match(r"definitions/(channel|connector|tracker)-", name)  # found by the name of the type
        used_here = f'"/{name}' in everything or name in used or of_a_type
        if not used_here:
            unused.append(name)
    assert unused == []


def test_every_reference_leads_somewhere(endpoints: dict[str, Endpoint], sqlite_service: Service) -> None:
    """Compiled and asked once, with something of every kind: a broken reference would raise."""
    for name, endpoint in endpoints.items():
        for method in METHODS:
            for part in ("query", "body", "response"):
                found = sqlite_service.schemas.find(endpoint.schemas, name, method, part)
                if found:
                    for value in ({}, [], None, {"id": 1, "data": [{}], "meta": {}}):
                        found.errors(value)


def test_a_body_that_takes_its_id_from_the_query_has_it_in_the_query_schema(endpoints: dict[str, Endpoint]) -> None:
    for path in schema_files():
        if json.loads(path.read_text(encoding="utf-8")).get("x-id-from-query"):
            query = path.with_name(path.name.replace("-body", "-query"))
            assert "id" in json.loads(query.read_text(encoding="utf-8"))["properties"], path


# -- pages of reference


def test_nothing_refers_to_numbered_sections() -> None:
    """docs/api.md is the reference and has names as anchors: link those, or say the thing itself."""
    numbered = re.compile(r"§ ?\d|\b[Cc]hecks? \d")
    found = []
    for folder in (*TOPS, "plugins-extra", "clients", "examples", "benchmarks", "scripts", "docs", "tests"):
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if path.suffix not in (".py", ".js", ".ts", ".css", ".json", ".md", ".txt", ".html"):
                continue
            if parts[:2] == ("tests", "cases") or {"node_modules", "build", "__pycache__"} & set(parts):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if numbered.search(line):
                    found.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert found == []


def test_reference_pages_are_current() -> None:
    """The generated pages and the example say what the code says: `python scripts/reference.py` writes them."""
    command = [sys.executable, str(ROOT / "scripts" / "reference.py"), "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_page_of_the_architecture_names_what_is_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(rf"`((?:{'|'.join(TOPS)}|plugins-extra|clients|examples|tests)/[\w./-]*)`", page)
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert len(page.splitlines()) <= 120, "it is one page, to be read in one go"


def test_mutants_are_made_of_files_that_are_there() -> None:
    areas = runpy.run_path(str(ROOT / "scripts" / "mutants.py"), run_name="mutants")["AREAS"]
    named = [path.partition("::")[0] for changed, tests in areas.values() for path in (*changed, *tests)]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_hook_has_an_entry() -> None:
    from snaglist.kernel import hookspecs
    from snaglist.plugins import alerting, connectors, issues, logs, system, tracker

    page = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
    areas = [
        issues.hookspecs,
        logs.hookspecs,
        system.hookspecs,
        connectors.contract,
        alerting.contract,
        tracker.contract,
    ]
    for name, function in (item for module in (hookspecs, *areas) for item in vars(module).items()):
        if hasattr(function, "snaglist_spec"):
            assert f"### `{name}(" in page, name
            assert re.match(r"(Collect|Robust|Chain|Direct)\. ", function.__doc__ or ""), name
            assert "Since 0." in (function.__doc__ or ""), name


def test_every_setting_has_an_entry(sqlite_service: Service) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
    missing = [option.name for option in sqlite_service.settings.options if f"| `{option.name}`" not in page]
    assert missing == []

"""Collect the browser files of all plugins once: read, hash, compress. They are sent as they were written.

The hash covers every file, so it names one state of the whole dashboard. With it in the path, files
can be cached for ever, keep their names and import each other relatively.
"""

import gzip
import hashlib
import logging
import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable

import zstandard

from snaglist.kernel import Assets

log = logging.getLogger(__name__)

# Fixed here: the `mimetypes` module asks the operating system, which may call a module text/plain.
CONTENT_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
COMPRESSED = (".js", ".css", ".json", ".svg")
# Once for all requests, so as small as can be. Without a time of day in it gzip gives the same in every process.
PACKERS: Mapping[str, Callable[[bytes], bytes]] = {
    "zstd": lambda content: zstandard.compress(content, 19),
    "gzip": lambda content: gzip.compress(content, 9, mtime=0),
}
# Style sheets one behind the other: those of the first view, of core areas, and those in folders `screens`, of all that
# comes with snaglist.
FIRST_STYLE = "dashboard/first.css"
LATER_STYLE = "dashboard/later.css"
SCREENS = re.compile(r"\w+/screens/.*\.css")
# The module that the page starts, and what modules import when they start, as far as one look tells.
APP = "dashboard/app.js"
IMPORT = re.compile(r'^import\b[^"\'()]*["\'](\.[^"\']+)["\']', re.MULTILINE)
# A classic script before the first paint, so that a chosen theme does not flash.
THEME = "dashboard/theme.js"
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


@dataclass(frozen=True, slots=True)
class File:
    """One file as it is sent: `compressed` by the name of the coding, the best first, where compression pays."""

    content: bytes
    compressed: Mapping[str, bytes]
    content_type: str


@dataclass(slots=True)
class Bundle:
    """All files by `contributor/path`, and what the page has to load of each contributor."""

    files: dict[str, File] = field(default_factory=dict)
    contributors: list[Assets] = field(default_factory=list)
    core: Collection[str] = ()
    built_in: Collection[str] = ()
    hash: str = ""

    def styles(self) -> list[str]:
        """Return the style sheets of the page: one for all core areas, then each that another contributor asks for."""
        return [FIRST_STYLE, *self._sheets(core=False)]

    def first_modules(self) -> list[str]:
        """Return the modules that the first view needs, each behind those that it imports.

        The page names them, so that the browser fetches them at once in place of one after the other; one that is
        missing here only comes later.
        """
        found: dict[str, None] = {}
        visited: set[str] = set()

        def visit(name: str) -> None:
            if name in visited or name not in self.files:
                return
            visited.add(name)
            for address in IMPORT.findall(self.files[name].content.decode()):
                visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), address)))
            found[name] = None

        for assets in self.contributors:
            if assets.name in self.core:
                visit(f"{assets.name}/{assets.module}")
        return list(found)

    def join_styles(self) -> None:
        """Make a style sheet of those that the first view needs of the core areas, and one of all areas' screens.

        Those of anybody else stay by themselves: a bracket that they forget to close must not reach further.
        """
        order = [assets.name for assets in self.contributors if assets.name in self.built_in]
        later = [name for name in self.files if SCREENS.fullmatch(name) and name.split("/")[0] in order]
        for joined, names in (
            (FIRST_STYLE, self._sheets(core=True)),
            (LATER_STYLE, sorted(later, key=lambda name: order.index(name.split("/")[0]))),
        ):
            self.files[joined] = _file(joined, b"\n".join(self.files[name].content for name in names))

    def _sheets(self, *, core: bool) -> list[str]:
        chosen = [assets for assets in self.contributors if (assets.name in self.core) == core]
        return [f"{assets.name}/{style}" for assets in chosen for style in assets.styles]


def collect(offers: Iterable[Assets], core: Collection[str] = (), built_in: Collection[str] = ()) -> Bundle:
    """Read the files of all contributors; one that cannot be read, or whose name is taken, is left out.

    `core` names the contributors that nobody can switch off: the first view loads them at once. `built_in` names those
    that come with snaglist.
    """
    bundle = Bundle(core=core, built_in=built_in)
    taken: set[str] = set()
    for assets in offers:
        try:
            if assets.name in taken:
                raise ValueError("another plugin uses this name")
            files = {f"{assets.name}/{path}": _file(path, entry.read_bytes()) for path, entry in _walk(assets.root)}
            for needed in (assets.module, *assets.styles):
                if f"{assets.name}/{needed}" not in files:
                    raise ValueError(f"{needed} is missing")
        except (OSError, ValueError) as error:
            log.warning("dashboard: assets of %s are left out: %s", assets.name, error)
            continue
        taken.add(assets.name)
        bundle.files.update(files)
        bundle.contributors.append(assets)
    bundle.join_styles()
    bundle.hash = _hash(bundle.files)
    return bundle


def _walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        if not FILE_NAME.fullmatch(entry.name):
            continue
        if entry.is_dir():
            yield from _walk(entry, f"{prefix}{entry.name}/")
        elif _suffix(entry.name) in CONTENT_TYPES:
            yield prefix + entry.name, entry


def _file(name: str, content: bytes) -> File:
    suffix = _suffix(name)
    packed = {coding: pack(content) for coding, pack in PACKERS.items() if suffix in COMPRESSED}
    smaller = {coding: body for coding, body in packed.items() if len(body) < len(content)}
    return File(content, smaller, CONTENT_TYPES[suffix])


def _suffix(name: str) -> str:
    return name[name.rfind(".") :] if "." in name else ""


def _hash(files: dict[str, File]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{len(files[name].content)}\0".encode())
        digest.update(files[name].content)
    return digest.hexdigest()[:12]

"""`snaglist plugin new`: a package for a plugin, from the template beside this module.

The names in the template (`PLUGIN_NAME` and so on) are replaced in texts and paths alike; its files end with `.txt`, so
that nothing takes them for code of snaglist. `examples/snaglist-hello` is what `plugin new hello` writes.
"""

import re
from collections.abc import Collection, Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from snaglist.kernel import Conflict, Invalid

_NAME = re.compile(r"[a-z][a-z0-9-]{0,40}", re.ASCII)
_PREFIX = "snaglist-"  # of distributions
_SHORT = 16  # of the names of types and log formats, which columns hold


def names(name: str) -> dict[str, str]:
    """Return what stands for each name of the template; raises Invalid for a name that makes no plugin.

    The name of a distribution, `snaglist-my-plugin`, is taken for that of its plugin.
    """
    name = name.removeprefix(_PREFIX)
    if not _is_name(name):
        rule = "NAME: must be like my-plugin: 1-41 of a-z, 0-9 and dashes, a letter first and no dash last"
        meant = name.lower().replace("_", "-").removeprefix(_PREFIX)
        raise Invalid(f"{rule}; did you mean {meant}?" if _is_name(meant) else rule)
    plugin_id = name.replace("-", "_")
    return {
        "PLUGIN_NAME": name,
        "PLUGIN_ID": plugin_id,
        "PLUGIN_SHORT": plugin_id[:_SHORT].rstrip("_"),
        "PLUGIN_TITLE": name.replace("-", " ").capitalize(),
    }


def create(name: str, parent: Path, taken: Collection[str]) -> tuple[Path, list[str]]:
    """Write the package below a folder; returns its own folder and its files, relative to that, in order.

    Conflict when the folder exists, or when snaglist or an installed plugin has something of that name (`taken`).
    """
    replaced = names(name)
    name = replaced["PLUGIN_NAME"]
    if {name, replaced["PLUGIN_ID"]} & set(taken):
        raise Conflict(f"NAME: {name} is taken by an area, endpoint or command that is installed")
    folder = parent / f"{_PREFIX}{name}"
    try:
        folder.mkdir(parents=True)
    except FileExistsError as error:
        raise Conflict(f"{folder} exists already") from error
    written = []
    for path, text in _texts(files("snaglist.plugins.system") / "template", ""):
        place = _replace(path.removesuffix(".txt"), replaced)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(_replace(text, replaced), encoding="utf-8")
        written.append(place)
    return folder, sorted(written)


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and not name.endswith("-")


def _texts(folder: Traversable, base: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _texts(entry, f"{base}{entry.name}/")
        elif entry.name.endswith(".txt"):
            yield base + entry.name, entry.read_text(encoding="utf-8")


def _replace(text: str, replaced: dict[str, str]) -> str:
    for word, value in replaced.items():
        text = text.replace(word, value)
    return text

"""Write docs/api.md, docs/configuration.md, the reference in docs/plugins.md and examples/snaglist-hello from the code.

`--check` only tells whether they are current.

A reference that is written by hand is wrong after the next change, so a test runs the check.
"""

import inspect
import re
import sys
import tempfile
from pathlib import Path

from api_page import api_page
from plugin_reference import plugin_reference

from snaglist.kernel import hookspecs
from snaglist.kernel.plugin import DISTRIBUTION
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.settings import KERNEL_OPTIONS, SHORT_NAMES, Option
from snaglist.plugins import issues, logs, system
from snaglist.plugins.alerting.channels import contract as channels
from snaglist.plugins.connectors import contract as connectors
from snaglist.plugins.system.creating import create
from snaglist.plugins.system.lookalikes import ENDS, TYPED, WORDS
from snaglist.plugins.tracker import contract as trackers

DOCS = Path(__file__).resolve().parent.parent / "docs"
EXAMPLES = DOCS.parent / "examples"

GENERATED = "<!-- From here on this page is made by `python scripts/reference.py`. -->\n"

SETTINGS_INTRODUCTION = """\
# Configuration

Every key, with its default and the reason for it. Precedence: command-line flag or `create_wsgi(config=…)`,
environment, TOML file, default. Any key `section.name` can be set as `SERVICE_<SECTION>_<NAME>`; lists are
comma-separated, booleans `true`, `false`, `1` or `0`; an empty variable counts as not set. A value that does not
fit is replaced by the default and named in the warnings of `health` and `snaglist doctor`; keys marked *vital*
stop the start instead. The file is `SERVICE_CONFIG`, else `./snaglist.toml`, else `snaglist.toml` in the data
directory. This page is made by `python scripts/reference.py`.

A name that is no setting is a warning too, with one exception: while no key is set (`auth.token`), `snaglist
serve`, and `create_wsgi` without `identity`, refuse to start when such a name looks like the key: a word of it
is {words}, ends with {ends}, or is nearly {typed} (`SERVICE_TOKENS`, `service_token`, `token =` at the top of
the file, `[auth] tokn`). So do `auth.previous_token` and `host.agent_token`, which are no key by themselves.
Not looked at are names that belong to sections below with keys of their own or to a plugin (`smtp.…`,
`SERVICE_TRACKER_…`), empty values, addresses (`…://…`), and what Kubernetes sets for a service named `service`
(`SERVICE_…_PORT`, `SERVICE_…_SERVICE_HOST`). To go on without a key, take the name away, for one process with
`env -u NAME snaglist serve`.
""".format(
    words=", ".join(f"`{word}`" for word in WORDS),
    ends=", ".join(f"`{word}`" for word in ENDS),
    typed=" or ".join(f"`{word}`" for word in TYPED),
)


# Who calls the hooks of a module.
HOOKS = {
    "the kernel": hookspecs,
    "`snaglist.plugins.system`": system.hookspecs,
    "`snaglist.plugins.issues`": issues.hookspecs,
    "`snaglist.plugins.logs`": logs.hookspecs,
    "`snaglist.plugins.connectors`": connectors,
    "`snaglist.plugins.alerting`": channels,
    "`snaglist.plugins.tracker`": trackers,
}


def hooks() -> dict[str, tuple[str, str]]:
    """Return the signature and the documentation of every hook, by name: the kernel's, then those of the areas."""
    found = {}
    for owner, module in HOOKS.items():
        for name, function in vars(module).items():
            if inspect.isfunction(function) and hasattr(function, "snaglist_spec"):
                parameters = ", ".join(inspect.signature(function).parameters)
                returns = inspect.formatannotation(function.__annotations__.get("return"))
                result = "" if returns == "None" else f"Returns `{_short(returns)}`. "
                text = inspect.cleandoc(function.__doc__ or "")
                found[name] = (f"{name}({parameters})", f"{text}\n\n{result}Called by {owner}.")
    return found


def _short(annotation: str) -> str:
    """Return an annotation without the modules of its names."""
    return re.sub(r"[\w.]+\.(?=\w)", "", annotation)


def plugins_page() -> str:
    """Return docs/plugins.md: what is written by hand, then the reference."""
    by_hand = (DOCS / "plugins.md").read_text(encoding="utf-8").partition(GENERATED)[0]
    return by_hand + GENERATED + "\n" + plugin_reference(hooks())


def options() -> dict[str, list[Option]]:
    """Return the options of the kernel and of snaglist's own areas, by owner."""
    plugins = Plugins()
    plugins.load()
    found = {"kernel": list(KERNEL_OPTIONS)}
    for plugin in plugins.loaded():
        if plugin.distribution == DISTRIBUTION and (added := plugin.values(hookspecs.register_settings)):
            found[plugin.id] = added
    return found


def configuration_page() -> str:
    """Return docs/configuration.md."""
    short = {key: variable for variable, key in SHORT_NAMES.items()}
    lines = [SETTINGS_INTRODUCTION]
    for owner, listed in options().items():
        lines += [f"## {owner}", "", "| Key | Default | Meaning |", "|---|---|---|"]
        for option in listed:
            variable = f" (`{short[option.name]}`)" if option.name in short else ""
            lines.append(f"| `{option.name}`{variable} | {_default(option)} | {_meaning(option)} |")
        lines.append("")
    return "\n".join(lines)


def _default(option: Option) -> str:
    if isinstance(option.default, list):
        return f"`{', '.join(option.default)}`" if option.default else "empty list"
    if isinstance(option.default, bool):
        return f"`{str(option.default).lower()}`"
    return f"`{option.default}`" if option.default != "" else "empty"


def _meaning(option: Option) -> str:
    low, high = option.minimum, option.maximum
    limits = []
    if low is not None and high is not None:
        limits.append(f"{low}-{high}")
    elif low is not None:
        limits.append(f"at least {low}")
    elif high is not None:
        limits.append(f"at most {high}")
    if option.choices:
        limits.append("one of " + ", ".join(f"`{choice}`" for choice in option.choices))
    if option.vital:
        limits.append("*vital*")
    return "; ".join([option.reason.replace("|", "\\|"), *limits])


def _is_current(file: Path, contents: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8") == contents


PAGES = {"api.md": api_page, "plugins.md": plugins_page, "configuration.md": configuration_page}


def example() -> list[Path]:
    """Return the files of examples/snaglist-hello that are not what `snaglist plugin new hello` writes."""
    folder = EXAMPLES / "snaglist-hello"
    with tempfile.TemporaryDirectory() as made:
        written, names = create("hello", Path(made), ())
        wanted = {name: (written / name).read_text(encoding="utf-8") for name in names}
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    there = {path.as_posix() for path in files if _kept(path)}
    stale = [folder / name for name, text in wanted.items() if not _is_current(folder / name, text)]
    if "--check" not in sys.argv:
        for path in stale:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path.relative_to(folder).as_posix()], encoding="utf-8")
        for name in there - set(wanted):
            (folder / name).unlink()
    return stale + [folder / name for name in there - set(wanted)]


def _kept(path: Path) -> bool:
    """Tell the files of the example from what building and running it leaves behind."""
    left = (".pyc", ".egg-info", "__pycache__", "build", ".pytest_cache")
    return not any(part.endswith(left) for part in path.parts)


def main() -> int:
    """Write the pages, or with `--check` name those that are not current."""
    stale = [DOCS / name for name, page in PAGES.items() if not _is_current(DOCS / name, page())]
    if "--check" not in sys.argv:
        for path in stale:
            path.write_text(PAGES[path.name](), encoding="utf-8")
    stale += example()
    said = "run python scripts/reference.py" if "--check" in sys.argv else "written"
    print("\n".join(f"{path.relative_to(DOCS.parent)}: {said}" for path in stale))
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())

"""docs/plugins.md, run as it stands: its files are written, its commands give what the page shows."""

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "plugins.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)


def blocks(title: str) -> Iterator[tuple[str | None, str, str]]:
    """Yield file, language and text of each block of a section."""
    section = re.split(r"^## ", PAGE, flags=re.M)
    text = next(part for part in section if part.startswith(f"{title}\n"))
    for found in _BLOCK.finditer(text):
        yield found[1], found[2], found[3]


def run(place: Any, folder: Path, block: str) -> Path:
    """Run the commands of a block one after another; returns the folder in which they end."""
    for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, expected = step.partition("\n")
        if command.startswith("cd "):
            folder /= shlex.split(command)[1]
            continue
        environ = place.environ(PIP_NO_BUILD_ISOLATION="0")
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environ, text=True, timeout=300,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        pattern = re.escape(expected.strip()).replace(re.escape("..."), ".*")
        assert re.fullmatch(pattern, done.stdout.strip(), re.S), f"{command}\n{done.stdout}"
    return folder


@pytest.mark.parametrize("title", ["Start", "Tutorial: a log format", "Tutorial: an endpoint"])
def test_a_tutorial_works_as_written(environment_in: Callable[..., Any], tmp_path: Path, title: str) -> None:
    place = environment_in(tmp_path)
    ran = 0
    for file, language, text in blocks(title):
        if language == "console":
            run(place, tmp_path, text)
            ran += 1
        else:
            assert file, text
            path = tmp_path / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    assert ran


def test_every_file_of_a_wheel_that_plugin_new_writes_is_there(
    environment_in: Callable[..., Any], tmp_path: Path
) -> None:
    """Built and installed as a wheel, not only editable, it passes its own tests (on SQLite here)."""
    place = environment_in(tmp_path)
    made = place.snaglist("plugin", "new", "my-own-words")
    folder = tmp_path / made["path"]
    assert sorted(made["files"]) == sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    place.run(place.python.parent / "pip", "install", "-q", f"./{made['path']}", PIP_NO_BUILD_ISOLATION="0")
    shown = place.run(
        place.python, "-m", "pytest", "-q", "-W", "error", "-k", "not postgresql and not mysql", made["path"]
    )
    assert re.search(r"^8 passed", shown, re.M), shown


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("My-Own", "NAME: must be like my-plugin"),
        ("2nd", "NAME: must be like my-plugin"),
        ("own-", "NAME: must be like my-plugin"),
        ("a" * 42, "NAME: must be like my-plugin"),
        ("snaglist-", "NAME: must be like my-plugin"),
        ("foo_bar", "no dash last; did you mean foo-bar?"),
        ("snaglist_foo_bar", "no dash last; did you mean foo-bar?"),
        ("snaglist-tags", "NAME: tags is taken"),
        ("tags", "NAME: tags is taken"),
        ("doctor", "NAME: doctor is taken"),
        ("access-analytics", "NAME: access-analytics is taken"),
        ("there", "exists already"),
        ("snaglist-there", "exists already"),
    ],
)
def test_names_that_make_no_plugin(tmp_path: Path, name: str, message: str) -> None:
    """Refused with exit 1; nothing is written."""
    from click.testing import CliRunner

    from snaglist.kernel.errors import ServiceError
    from snaglist.kernel.plugins import Plugins
    from snaglist.plugins.system import cli

    plugins = Plugins()
    plugins.load()
    for _, made in plugins.commands():
        cli.add_command(made)
    (tmp_path / "snaglist-there").mkdir()
    done = CliRunner().invoke(cli, ["plugin", "new", name, "--dir", str(tmp_path)])
    assert isinstance(done.exception, ServiceError) and message in done.exception.message
    assert [path.name for path in tmp_path.iterdir()] == ["snaglist-there"]


def test_the_name_of_a_distribution_is_that_of_its_plugin(tmp_path: Path) -> None:
    """`plugin new snaglist-foo` writes what `plugin new foo` does."""
    from snaglist.plugins.system.creating import create

    folder, files = create("snaglist-foo", tmp_path / "one", ())
    same, _ = create("foo", tmp_path / "other", ())
    assert folder == tmp_path / "one" / "snaglist-foo"
    assert [(folder / file).read_bytes() for file in files] == [(same / file).read_bytes() for file in files]

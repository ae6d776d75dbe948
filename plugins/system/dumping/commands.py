"""The commands `db dump` and `db load`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from snaglist.kernel import Invalid
from snaglist.kernel.cli import Session, command, table
from snaglist.kernel.privacy import make_folder
from snaglist.plugins.system.commands import db

_LATER = "once it works, load the file again with --replace, or go on without them"


@command(db, "dump")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def db_dump(session: Session, file: Path) -> None:
    """Write one application (`--app`) or all into a portable file, while they are in use."""
    from snaglist.plugins.system.dumping.dump import dump

    service = session.open()
    applications = [session.application()] if session.app else service.applications.all()
    try:
        with session.progress("dumping") as move:
            written = dump(service, applications, file, move)
    except OSError as error:
        raise Invalid(f"{file}: {error.strerror}") from error
    for name, dumped in written.items():
        for owner, matter in dumped.left_out.items():
            session.note(f"warning: {name}: rows of {owner} are left out, because its plugin {matter}")
    _print(session, file, [{"id": name, **asdict(dumped)} for name, dumped in written.items()])


@command(db, "load")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--replace", is_flag=True, help="Load over applications that exist: what they hold is removed.")
def db_load(session: Session, file: Path, replace: bool) -> None:
    """Load applications from a file that `db dump` wrote, from any database into any other."""
    from snaglist.plugins.system.dumping.file import DumpFile
    from snaglist.plugins.system.dumping.load import Loader

    # Not started: a start would make the first application, which is then in the way.
    service = session.open(start=False)
    make_folder(service.settings.data)
    try:
        with session.progress("loading") as move:
            loader = Loader(service, file, move)
            loaded = loader.load(session.app, replace=replace)
    except OSError as error:
        raise Invalid(f"{file}: {error.strerror}") from error
    except DumpFile as error:
        raise Invalid(f"{file}: {error.message}") from error
    left_out = loader.left_out
    for name, owners in left_out.items():
        for owner, matter in owners.items():
            session.note(f"warning: {name}: rows of {owner} are left out, because its plugin {matter}; {_LATER}")
    _print(session, file, [{"id": n, "rows": count, "left_out": left_out.get(n, {})} for n, count in loaded.items()])
    session.exit(3 if left_out else 0)


def _print(session: Session, file: Path, applications: list[dict[str, Any]]) -> None:
    document = {"file": str(file), "applications": applications}
    session.print(document, table(("APPLICATION", "ROWS"), [(one["id"], one["rows"]) for one in applications]))

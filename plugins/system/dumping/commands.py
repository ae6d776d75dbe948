"""The commands `db dump` and `db load`."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from snaglist.kernel import Invalid
from snaglist.kernel.faults import Unusable
from snaglist.kernel.privacy import make_folder
from snaglist.plugins.system.command_line import Session, command, table
from snaglist.plugins.system.commands import PARTLY, db
from snaglist.plugins.system.remedies import told

_LATER = "once it works, load the file again with --replace, or go on without them"


@command(db, "dump")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def db_dump(session: Session, file: Path) -> None:
    """Write one application (`--app`) or all into a portable file, while they are in use."""
    from snaglist.plugins.system.dumping.dump import dump

    service = session.open()
    applications = [session.application()] if session.app else service.applications.all()
    left: list[Unusable] = []
    try:
        with session.progress("dumping") as move:
            written = dump(service, applications, file, move, None if session.app else left)
    except OSError as error:
        raise Invalid(f"{file}: {error.strerror}") from error
    for unusable in left:
        session.note(f"warning: not in the dump: {told(unusable)}")
    for name, dumped in written.items():
        if dumped.lost:
            session.note(
                f"warning: {name}: the database is damaged: not all of it is in the dump ({_lost(dumped.lost)})"
            )
        for owner, matter in dumped.left_out.items():
            session.note(f"warning: {name}: rows of {owner} are left out, because its plugin {matter}")
    _print(session, file, [{"id": name, **asdict(dumped)} for name, dumped in written.items()])
    session.exit(PARTLY if left or any(dumped.lost for dumped in written.values()) else 0)


def _lost(tables: dict[str, int]) -> str:
    rows = sum(number for number in tables.values() if number > 0)
    unknown = [name for name, number in tables.items() if number < 0]
    said = [f"{rows} rows of {len(tables) - len(unknown)} tables are lost"] if rows else []
    said += [f"an unknown number of rows of {', '.join(unknown)}"] if unknown else []
    return "; ".join(said)


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

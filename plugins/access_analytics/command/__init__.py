"""`snaglist access`: the report of access logs without storing anything."""

from pathlib import Path

import click

from snaglist.kernel import Invalid, ServiceError
from snaglist.plugins.access_analytics import extra
from snaglist.plugins.access_analytics.command.gathering import Gathering
from snaglist.plugins.access_analytics.command.page import write_page
from snaglist.plugins.access_analytics.command.printing import text_of
from snaglist.plugins.system import Session, command

PARTLY_DONE = 3


@command(None, "access")
@click.option("--html", metavar="OUT", help="Write the report as one page with plots, too.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
def access_command(session: Session, html: str | None, files: tuple[str, ...]) -> None:
    """Report what the requests of access logs were; stores nothing."""
    extra.require()
    service = session.open(start=False)  # for its configuration and parsers; no database is made or opened
    gathering = Gathering(service)
    failures: list[str] = []
    partly: list[str] = []
    with session.progress("reading") as move:
        for file in files:
            try:
                if said := gathering.read(Path(file), move):
                    partly.append(said)
            except ServiceError as error:
                failures.append(error.message)
    if len(failures) == len(files):
        raise Invalid(failures)
    for failure in (*failures, *partly):
        session.note(failure)
    report = gathering.report()
    if html:
        write_page(Path(html), report, files)
    session.print(report, text_of(report))
    if failures or partly:
        session.exit(PARTLY_DONE)


COMMANDS = (access_command,)

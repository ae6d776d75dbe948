"""The commands `import`, `sources move`, `explain`, `forget-user` and `demo`."""

import click

from snaglist.plugins.logs.collect.command import document, read_paths, report
from snaglist.plugins.logs.collect.follow import follow_paths
from snaglist.plugins.logs.ingestion import is_zone
from snaglist.plugins.logs.maintain import forgetting_command, relocating
from snaglist.plugins.logs.show import demo, explain
from snaglist.plugins.system import Session, command, confirmed, group

FAILED, PARTLY_DONE = 1, 3


@command(None, "import")
@click.option("--module", metavar="NAME", help="Module the files belong to; made when it is missing.")
@click.option("--timezone", metavar="ZONE", help="Zone of times without offset, like Europe/Berlin.")
@click.option("--follow", is_flag=True, help="Read on as files grow and print new issues, until interrupted.")
@click.option("--follow-links", is_flag=True, help="Read also what links in a folder lead to outside of that folder.")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
def import_command(
    session: Session,
    module: str | None,
    timezone: str | None,
    follow: bool,
    follow_links: bool,
    paths: tuple[str, ...],
) -> None:
    """Read log files and folders where they are; - is standard input.

    A link that is named itself is followed; links in a folder as long as they stay in it.

    With --follow each new issue is a line, and with --json an object a line.
    """
    _check_zone(timezone)
    if "" in paths:  # a variable of a script that is not set; to read it as the current folder surprises
        raise click.UsageError("PATH: must not be empty")
    if follow:
        follow_paths(session, paths, module=module, timezone=timezone, follow_links=follow_links)
        return
    run, results = read_paths(
        session, session.call(), paths, module=module, timezone=timezone, follow_links=follow_links
    )
    for error in run.errors:
        session.note(f"{error['file']}: {error['error']}")
    session.print(document(run, results), report(run, results))
    if run.errors:
        session.exit(PARTLY_DONE if any(result.state != "failed" for result in results) else FAILED)


sources = group(None, "sources", "Work with the files that events come from.")


@command(sources, "move")
@click.option("--all", "everywhere", is_flag=True, help="In all applications (default: one, see --app).")
@click.option("--dry-run", is_flag=True, help="Only say what would be moved.")
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
def sources_move(session: Session, old: str, new: str, everywhere: bool, dry_run: bool) -> None:
    """Tell that files read where they are went from OLD, a file or folder, to NEW.

    They are read on there, and nothing of them counts twice. Files are not touched.
    """
    if "" in (old, new):
        raise click.UsageError("OLD and NEW: must not be empty")
    moved = relocating.move(session, old, new, everywhere=everywhere, dry_run=dry_run)
    document = {"old": old, "new": new, "dry_run": dry_run, "applications": moved}
    session.print(document, relocating.report(moved, dry_run=dry_run))


@command(None, "explain")
@click.option("--timezone", metavar="ZONE", help="Zone of times without offset, like Europe/Berlin.")
@click.argument("file", metavar="FILE|-")
def explain_command(session: Session, timezone: str | None, file: str) -> None:
    """Show what becomes of each entry of a log, and why entries are one issue; stores nothing."""
    _check_zone(timezone)
    found = explain.explain(session, file, timezone)
    session.print(found, explain.report(found))


@command(None, "forget-user")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.argument("user", metavar="VALUE")
def forget_user(session: Session, user: str, yes: bool) -> None:
    """Delete all events of a user, with all that was kept of them; first it says what would go.

    VALUE is the user as events name it: an id, a name or an address. Log files are not changed: it says which of them
    still have lines of these events.
    """
    shown = forgetting_command.preview(session, user)
    session.note(forgetting_command.shown(shown))
    if shown["events"]:
        confirmed(yes, "forget-user", forgetting_command.PHRASE, "delete them for good")
    result = forgetting_command.forget(session, user)
    session.print(result, forgetting_command.done(result))


@command(None, "demo")
@click.option("--no-serve", is_flag=True, help="End after the import.")
def demo_command(session: Session, no_serve: bool) -> None:
    """Try snaglist: import sample logs into a temporary folder and serve the dashboard."""
    demo.run(session, serve=not no_serve)


def _check_zone(timezone: str | None) -> None:
    if timezone is not None and not is_zone(timezone):
        raise click.UsageError(f"--timezone: {timezone} is not a time zone name like Europe/Berlin")


COMMANDS = (
    import_command,
    explain_command,
    forget_user,
    demo_command,
    sources,
)

"""The command `snaglist hello`."""

import click

from snaglist.kernel.cli import Session, command, table


def add(cli: click.Group) -> None:
    """Add the command; it has the common options (`--app`, `--data`, `--json` …) by itself."""

    @command(cli, "hello")
    def show(session: Session) -> None:
        """Show the watched words."""
        answer = session.request("hello")
        rows = [(word["word"], word["count"], word["seen_at"]) for word in answer["data"]]
        session.print(answer, table(("WORD", "COUNT", "SEEN"), rows))

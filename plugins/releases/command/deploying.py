"""`snaglist releases deploy`."""

import click

from snaglist.plugins.releases.command.client import connect, with_server
from snaglist.plugins.system import Session, command


def add_deploy(parent: click.Group) -> None:
    """Add the command."""

    @command(parent, "deploy")
    @click.argument("release", metavar="VERSION")
    @click.option("--environment", default="production", show_default=True, help="Where it was deployed to.")
    @click.option("--ref", help="Commit, tag or branch; links to the source use it.")
    @click.option("--notes", help="A text about the release.")
    @click.option("--deployed-at", metavar="TIME", help="`YYYY-MM-DD HH:MM:SS` in UTC, or ISO 8601 (default: now).")
    @with_server
    def deploy_command(session: Session, url: str | None, release: str, **fields: str | None) -> None:
        """Note that VERSION was deployed."""
        given = {name: value for name, value in fields.items() if value is not None}
        _, made = connect(session, url).post("deploys", {"version": release, **given})
        session.print(made, f"{made['version']} deployed to {made['environment']} at {made['deployed_at']}")

"""The command `snaglist hello`."""

from snaglist.plugins.system import Session, command, table


@command(None, "hello")
def show(session: Session) -> None:
    """Show the watched words."""
    answer = session.request("hello")
    rows = [(word["word"], word["count"], word["seen_at"]) for word in answer["data"]]
    session.print(answer, table(("WORD", "COUNT", "SEEN"), rows))

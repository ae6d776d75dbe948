"""A try-out without set-up: sample logs with current times, imported into a temporary folder and served."""

import tempfile
from pathlib import Path
from typing import Any

from snaglist.plugins.logs.collect.command import read_paths, report
from snaglist.plugins.logs.show.samples import write_samples
from snaglist.plugins.system import Session, table
from snaglist.plugins.system import serve as run_server

HOST = "127.0.0.1"
# What the demo must not take from the environment: it never touches a real instance.
_OWN: dict[str, Any] = {
    "database.url": "",
    "auth.token": "",
    "auth.previous_token": "",
    "server.url": "",
    "server.host": HOST,
}
_TAGS = (
    {"name": "Payments", "color": "#0ea5e9", "icon": "tag", "match_word": "payment"},
    {"name": "Database", "color": "#f59e0b", "icon": "tag", "match_word": "database"},
    {"name": "Mail", "color": "#10b981", "icon": "tag", "match_word": "smtp"},
)
_SHOWN = 50


def run(session: Session, *, serve: bool) -> None:
    """Make the data, import, tag, print the issues, and serve until interrupted."""
    with tempfile.TemporaryDirectory(prefix="snaglist-demo-") as folder:
        service = session.open(bound=HOST, **{"server.data": folder, **_OWN})
        logs = Path(folder, "sample-logs")
        logs.mkdir()
        write_samples(logs)
        for tag in _TAGS:
            session.request("tags", "POST", tag)
        imported = report(*read_paths(session, session.call(), [str(logs)], timezone="UTC"))
        _print_issues(session, imported)
        if serve:
            run_server(service, HOST, 0, ready=lambda url: session.note(f"dashboard on {url} (Ctrl+C ends it)"))


def _print_issues(session: Session, imported: str) -> None:
    answer = session.request("errors", limit=str(_SHOWN))
    rows = [
        (
            issue["id"],
            issue["severity"],
            issue["count"],
            issue["last_seen"],
            issue["title"][:70],
            ", ".join(tag["name"] for tag in issue["tags"]),
        )
        for issue in answer["data"]
    ]
    session.print(answer, f"{imported}\n\n" + table(("ID", "SEVERITY", "COUNT", "LAST SEEN", "TITLE", "TAGS"), rows))

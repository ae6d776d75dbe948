"""The command `sync`."""

import threading
from typing import Any

import click

from snaglist.kernel import Call, NotFound, key
from snaglist.plugins.connectors import queries, runs, service
from snaglist.plugins.connectors import run_queries as sql
from snaglist.plugins.system import Session, command, table

FAILED, PARTLY_DONE = 1, 3
_LOOK_SECONDS = 0.2


@command(None, "sync")
@click.option("--connector", metavar="ID|NAME", help="One connector (default: all that are enabled).")
def sync_command(session: Session, connector: str | None) -> None:
    """Fetch and read what is new of the files of connectors, now and in this process."""
    call = session.call()
    body = {} if connector is None else {"id": _find(call, connector)}
    queued = session.request("connectors-sync", "POST", body)
    if queued["job_id"] is not None:
        _work(session, call, queued["job_id"])
    shown = call.read(lambda db: [runs.show(call, run) for run in sql.runs_of(db, queued["run_ids"])])
    session.print({"runs": shown}, _report(shown))
    failed = sum(run["status"] != "success" for run in shown)
    if failed:
        session.exit(FAILED if failed == len(shown) else PARTLY_DONE)


def _find(call: Call, given: str) -> int:
    with call.transaction(write=False) as db:
        found = queries.find_id(db, key(given))
        if found is None and given.isascii() and given.isdigit() and queries.one_connector(db, int(given[:18])):
            found = int(given)
    if found is None:
        raise NotFound(service.UNKNOWN)
    return found


def _work(session: Session, call: Call, job_id: int) -> None:
    """Run the job here, unless a worker was faster, and wait for its end."""
    jobs = call.service.jobs
    runner = threading.Thread(target=jobs.run_next, args=(call.application, "", job_id))
    runner.start()
    try:
        with session.progress("syncing") as move:
            while True:
                runner.join(_LOOK_SECONDS)
                job = call.read(lambda _: jobs.find(call, job_id))
                if not runner.is_alive() and job["status"] not in ("queued", "running"):
                    return
                move(job["done"], job["total"], job["text"] or "")
    except KeyboardInterrupt:
        call.write(lambda _: jobs.cancel(call, job_id))
        runner.join()
        raise


def _report(shown: list[dict[str, Any]]) -> str:
    headers = ("CONNECTOR", "TYPE", "FILES", "UPDATED", "BYTES", "EVENTS", "STATE", "MESSAGE")
    rows = [
        (
            r["connector_name"], r["connector_type"], r["files_discovered"], r["files_updated"], r["bytes_fetched"],
            r["events_indexed"], r["status"], r["message"],
        )
        for r in shown
    ]  # fmt: skip
    return table(headers, rows)


COMMANDS = (sync_command,)

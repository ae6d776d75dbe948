"""What is done with new events and changed issues.

Both run in somebody else's transaction: be quick, write several rows with one statement, and leave requests to other
hosts to a job (`call.enqueue`).
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call, key
from snaglist.kernel.database import upsert
from snaglist.plugins.issues import IssueChange, StoredBatch
from snaglist_hello.tables import words


def count(call: Call, batch: StoredBatch) -> None:
    """Count the watched words of a batch."""
    if batch.reread:  # these events were counted before
        return
    watched = {row.word_key: row.word for row in call.db.execute(select(words.c.word_key, words.c.word))}
    if not watched:
        return
    messages = [key(stored.event.message) for stored in batch.stored]
    found = Counter({word: sum(word in message for message in messages) for word in watched})
    rows = [
        {"word": watched[word], "word_key": word, "count": number, "seen_at": call.now}
        for word, number in sorted(found.items())  # in key order, so that two writers never wait for each other
        if number
    ]
    upsert(call.db, words, rows, keys=["word_key"], add=["count"], replace=["seen_at"])


def remark(change: IssueChange) -> Mapping[str, Any] | None:
    """Return what is added to the answer under the plugin's id; None adds nothing."""
    return {"issues": len(change.issue_ids)} if change.kind == "status" else None

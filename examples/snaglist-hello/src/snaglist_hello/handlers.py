"""HTTP in, HTTP out."""

from typing import Any

from sqlalchemy import select

from snaglist.kernel import Call, key
from snaglist.kernel.database import insert_ignore
from snaglist_hello.tables import words


def list_words(call: Call) -> dict[str, Any]:
    """List the watched words."""
    rows = call.db.execute(select(words).order_by(words.c.word_key))
    return {"data": [{"word": row.word, "count": row.count, "seen_at": row.seen_at} for row in rows]}


def watch_word(call: Call) -> dict[str, Any]:
    """Watch a word from now on; one that is watched already stays as it is."""
    word = call.body["word"]
    insert_ignore(call.db, words, [{"word": word, "word_key": key(word), "count": 0, "seen_at": call.now}])
    row = call.db.execute(select(words).where(words.c.word_key == key(word))).one()
    return {"word": row.word, "count": row.count, "seen_at": row.seen_at}

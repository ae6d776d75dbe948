"""What is stored of events so that they can be told apart: the layouts of groupings, and the columns of occurrences.

A grouping keeps each layout that its messages have, and the words of each stack that its events had, up to a bound: a
message whose layout finds no room is kept whole, as one value.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select

from snaglist.kernel import digest
from snaglist.kernel.database import chunks
from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.storing.texts import clean
from snaglist.plugins.issues.tables import grouping_texts
from snaglist.plugins.issues.values.contexts import context_values
from snaglist.plugins.issues.values.layouts import SEPARATOR, WHOLE, Layout, Pieces, split_message, stored_values
from snaglist.plugins.issues.values.words import MAX_WORDS, index_words, words_of

LAYOUT, STACK = "layout", "stack"
MAX_LAYOUTS = 50  # of a grouping
MAX_STACKS = 20
MAX_STACK_WORDS = 1_000
MAX_STACK = 20_000  # characters of a stack's text that are looked for words
CHUNK = 500
_KNOWN = select(
    grouping_texts.c.grouping_id, grouping_texts.c.digest, grouping_texts.c.id, grouping_texts.c.kind
).where(grouping_texts.c.grouping_id.in_(bindparam("some", expanding=True)))


class Described(NamedTuple):
    """What an occurrence keeps beside its place and time; the columns are named like the fields."""

    layout_id: int
    slots: str | None
    words: str | None


class _Texts:
    """The layouts and stacks of some groupings: those that are known, and those that are to be added."""

    def __init__(self, db: Connection, grouping_ids: Iterable[int]) -> None:
        self.known: dict[tuple[int, str], int] = {}
        self.room: defaultdict[tuple[int, str], int] = defaultdict(int)
        self.added: dict[tuple[int, str], dict[str, Any]] = {}
        self._read(db, sorted(set(grouping_ids)))

    def _read(self, db: Connection, grouping_ids: Sequence[int]) -> None:
        for some in chunks(grouping_ids, CHUNK):
            for grouping_id, found, text_id, kind in db.execute(_KNOWN, {"some": some}):
                if self.known.setdefault((grouping_id, found), text_id) == text_id:
                    self.room[grouping_id, kind] += 1

    def offer(self, grouping_id: int, kind: str, text: str, words: Callable[[], list[str]], most: int) -> str | None:
        """Return the digest under which a text of a grouping is kept; None where it has no room.

        `words` gives those that find it, when it is new: of a long stack they cost more than all else of an event.
        """
        name = digest(f"{kind}\n{text}")[:32]
        if (grouping_id, name) in self.known or (grouping_id, name) in self.added:
            return name
        if self.room[grouping_id, kind] >= most:
            return None
        self.room[grouping_id, kind] += 1
        self.added[grouping_id, name] = {
            "grouping_id": grouping_id,
            "kind": kind,
            "digest": name,
            "body": text,
            "words": index_words(words()) or None,
        }
        return name

    def write(self, db: Connection) -> None:
        """Store what was offered, so that all is known."""
        if self.added:
            db.execute(insert(grouping_texts), list(self.added.values()))
            self._read(db, sorted({grouping_id for grouping_id, _ in self.added}))


def describe(db: Connection, events: Sequence[tuple[Event, int]]) -> list[Described]:
    """Return what is stored of events, given with the ids of their (locked) groupings.

    New layouts and stacks are stored, in the open write transaction.
    """
    texts = _Texts(db, (grouping_id for _, grouping_id in events))
    stacks: set[tuple[int, str]] = set()
    layouts: dict[tuple[int, Pieces], str] = {}
    places: list[tuple[int, str, Layout]] = []
    for event, grouping_id in events:
        if event.exceptions and (grouping_id, event.stack) not in stacks:
            stacks.add((grouping_id, event.stack))
            said = _stack_text(event)
            texts.offer(grouping_id, STACK, said, partial(_stack_words, said, event.stack), MAX_STACKS)
        layout = split_message(event)
        name = layouts.get((grouping_id, layout.pieces))
        if name is None:
            name = _offer_layout(texts, grouping_id, layout.pieces, MAX_LAYOUTS)
            layouts[grouping_id, layout.pieces] = name or ""
        if not name:
            layout = Layout(WHOLE, (clean(event.message),))
            name = _offer_layout(texts, grouping_id, WHOLE, MAX_LAYOUTS + 1)
        places.append((grouping_id, name or "", layout))
    texts.write(db)
    return [
        Described(texts.known[grouping_id, name], stored_values(layout), _words(event, layout))
        for (event, _), (grouping_id, name, layout) in zip(events, places, strict=True)
    ]


def _offer_layout(texts: _Texts, grouping_id: int, pieces: Pieces, most: int) -> str | None:
    return texts.offer(grouping_id, LAYOUT, SEPARATOR.join(pieces), partial(words_of, " ".join(pieces)), most)


def _stack_text(event: Event) -> str:
    """Return what a stack is searched by: classes of exceptions, functions, files and lines."""
    lines = []
    for exception in event.exceptions:
        lines.append(exception.type)
        lines += [f"{frame.function or ''} {frame.file or ''} {frame.line or ''}" for frame in exception.frames]
    return clean("\n".join(lines))


def _stack_words(said: str, stack: str) -> list[str]:
    words = dict.fromkeys([*words_of(said), *words_of(stack[:MAX_STACK])])
    return list(words)[:MAX_STACK_WORDS]


def _words(event: Event, layout: Layout) -> str | None:
    """Return the words by which an event is found, for the index."""
    said = event.message
    texts = [*layout.values, event.user or "", event.server_name or ""]
    texts += [exception.message for exception in event.exceptions if exception.message not in said]
    texts += context_values(event.context)
    return index_words(words_of("\n".join(texts))[:MAX_WORDS]) or None

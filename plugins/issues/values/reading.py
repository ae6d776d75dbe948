"""What is stored of the text of an event, as it is shown and as it is searched."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

from sqlalchemy import Row, select

from snaglist.kernel import key
from snaglist.plugins.issues.tables import grouping_texts, occurrences
from snaglist.plugins.issues.values.contexts import context_values, named_values
from snaglist.plugins.issues.values.layouts import SEPARATOR, message_of, values_of
from snaglist.plugins.issues.values.names import named
from snaglist.plugins.issues.values.words import index_words, words_of

# The columns that `StoredText` reads.
COLUMNS = (
    *(occurrences.c[name] for name in ("id", "issue_id", "grouping_id", "occurred_at", "slots", "words")),
    *(occurrences.c[name] for name in ("context_preview", "user_name", "server_name", "release", "environment")),
    grouping_texts.c.body.label("layout"),
)
TEXTS = select(*COLUMNS).join_from(
    occurrences, grouping_texts, grouping_texts.c.id == occurrences.c.layout_id, isouter=True
)


def has_fixed_phrase(body: str, folded: str) -> bool:
    """Tell whether a folded text stands in what is fixed of a layout or a stack, between two values."""
    return any(folded in StoredText.fold(piece) for piece in body.split(SEPARATOR))


class StoredText:
    """The text of an event, of a row with `COLUMNS`; `message` is None where a version before this stored none."""

    def __init__(self, row: Row[Any]) -> None:
        self.row = row
        self.issue_id: int = row.issue_id
        self.pieces: list[str] = [] if row.layout is None else row.layout.split(SEPARATOR)
        self.values = values_of(self.pieces, row.slots) if self.pieces else []
        self.message = message_of(self.pieces, self.values) if self.pieces else None

    @staticmethod
    def fold(text: str) -> str:
        """Return a text as phrases are looked for in it."""
        return key(" ".join(text.split()))

    @cached_property
    def folded(self) -> str:
        """All of the text, folded."""
        row = self.row
        parts = (self.message, row.user_name, row.server_name, row.context_preview)
        return self.fold("\n".join(part for part in parts if part))

    @cached_property
    def index_words(self) -> frozenset[str]:
        """The words that find the event, as the index has them: of its values, and of what is fixed in its message."""
        fixed = index_words(words_of(" ".join(self.pieces)))
        return frozenset(f"{self.row.words or ''} {fixed}".split())

    @property
    def fields(self) -> dict[str, str]:
        """The values of the context, by name."""
        return named_values(self.row.context_preview or "")

    def named_values(self) -> list[tuple[str, str, str]]:
        """Return the values of the message: name, unit ("" without one) and text."""
        return [(*name, value) for name, value in zip(named(tuple(self.pieces)), self.values, strict=True)]

    def has_phrase(self, folded: str) -> bool:
        """Tell whether a folded text stands in it."""
        return folded in self.folded

    def has_value(self, folded: str) -> bool:
        """Tell whether a folded text is one of its values."""
        return any(self.fold(value) == folded for value in self._all_values())

    def _all_values(self) -> Iterator[str]:
        row = self.row
        yield from (value.strip("\"'") for value in self.values)
        yield from (value for value in (row.user_name, row.server_name) if value)
        yield from context_values(row.context_preview or "")

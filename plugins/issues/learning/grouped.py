"""Both stages over a set of keys that is not stored: for explaining and measuring."""

from collections.abc import Iterable

from snaglist.plugins.issues.grouping import GroupingKey
from snaglist.plugins.issues.learning.model import Model
from snaglist.plugins.issues.noting import note_failure


def context_of(key: GroupingKey) -> tuple[str, str] | None:
    """Return the part of a key beside its template, and the template; None when the key has no template."""
    template = key.parts["template"]
    return None if template is None else (key.key.removesuffix(template), template)


class GroupingModel:
    """A set of grouping keys and what is learned from their templates."""

    def __init__(self) -> None:
        self._model = Model()

    def add(self, keys: Iterable[GroupingKey]) -> None:
        """Add keys. When they cannot be learned from, nothing is learned: each key is a group."""
        try:
            self._model.add(found for key in keys if (found := context_of(key)))
        except Exception as error:
            note_failure("learning", error, "a set of templates")
            self._model = Model()

    def group(self, key: GroupingKey) -> str:
        """Return the group of a key: the key with the template that its group has in common."""
        found = context_of(key)
        return key.key if found is None else found[0] + self._model.group(*found)

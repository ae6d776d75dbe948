"""The name of somebody within texts that are kept, because they are what events were grouped by."""

import re
from collections.abc import Mapping
from typing import Any

FORGOTTEN = "[forgotten]"
_LEAST = 3  # letters of a name: shorter ones are words of any text


class Name:
    """A name, found as a whole word in any case."""

    def __init__(self, name: str) -> None:
        self._pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE) if len(name) >= _LEAST else None

    def stands_in(self, text: str) -> bool:
        """Tell whether a text holds it."""
        return self._pattern is not None and self._pattern.search(text) is not None

    def hidden(self, text: str) -> str:
        """Return a text without it."""
        return text if self._pattern is None else self._pattern.sub(FORGOTTEN, text)

    def hidden_in(self, value: Any) -> Any:
        """Return a JSON value without it."""
        if isinstance(value, str):
            return self.hidden(value)
        if isinstance(value, list):
            return [self.hidden_in(one) for one in value]
        if isinstance(value, Mapping):
            return {self.hidden(name): self.hidden_in(one) for name, one in value.items()}
        return value

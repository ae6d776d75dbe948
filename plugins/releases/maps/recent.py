"""What was used last, kept in memory up to a number of bytes."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class _Sized(Protocol):
    bytes: int


T = TypeVar("T", bound=_Sized)


class Recent(Generic[T]):
    """Things by name, for all threads of a process; the one used last always stays."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._things: OrderedDict[str, T] = OrderedDict()
        self.bytes = 0

    def get(self, name: str, make: Callable[[], T]) -> T:
        """Return a thing; `make` is asked for what is not in memory."""
        with self._lock:
            known = self._things.get(name)
            if known is not None:
                self._things.move_to_end(name)
                return known
        made = make()
        with self._lock:
            if name not in self._things:
                self._things[name] = made
                self.bytes += made.bytes
            while self.bytes > self._limit and len(self._things) > 1:
                self.bytes -= self._things.popitem(last=False)[1].bytes
        return made

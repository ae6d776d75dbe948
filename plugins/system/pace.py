"""How fast the other side moves what the server waits for."""

from time import monotonic


class Pace:
    """Bytes within a span of time. It counts from `restart`; a span in which enough moved is followed by the next."""

    def __init__(self) -> None:
        self.restart(0)

    def restart(self, moved: int) -> None:
        """Begin a span; `moved` is what was moved in all until now, in bytes."""
        self.since, self._moved = monotonic(), moved

    def advance(self, moved: int, least: int) -> None:
        """Begin the next span when at least `least` bytes moved in this one."""
        if moved - self._moved >= least:
            self.restart(moved)

    def stalled(self, moved: int, now: float, least: int, seconds: float) -> bool:
        """Tell whether fewer than `least` bytes moved in the last `seconds`; asked about once a second."""
        self.advance(moved, least)
        return now - self.since > seconds

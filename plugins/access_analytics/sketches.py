"""Sketches: how many distinct values there are, and quantiles, in bounded space and mergeable.

Distinct values: HyperLogLog with 2^12 registers, standard error 1.04 / sqrt(4096) = 1.6 % (Flajolet et al. 2007),
at most 2.1 KB stored, exact while small. Quantiles: a t-digest of compression 100 (Dunning 2019), at most 1.6 KB.
The library and what it needs take memory, so it is loaded with the first sketch.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

_LG_REGISTERS = 12
_COMPRESSION = 100


@cache
def _library() -> Any:
    import datasketches

    return datasketches


def _union(kind: Any, *sketches: Any) -> Any:
    """Return the sketch of all that some have seen, in the form of a kind."""
    union = _library().hll_union(_LG_REGISTERS)
    for sketch in sketches:
        union.update(sketch)
    return union.get_result(kind)


class Distinct:
    """A mergeable count of distinct texts."""

    __slots__ = ("_sketch", "update")

    def __init__(self, stored: bytes | None = None) -> None:
        library = _library()
        self._sketch = library.hll_sketch(_LG_REGISTERS, library.tgt_hll_type.HLL_8)
        self.update = self._sketch.update
        if stored is not None:
            self._unite(library.hll_sketch.deserialize(stored))

    def merge(self, other: "Distinct") -> None:
        """Take in what another one has seen."""
        self._unite(self._sketch, other._sketch)

    def _unite(self, *sketches: Any) -> None:
        self._sketch = _union(_library().tgt_hll_type.HLL_8, *sketches)
        self.update = self._sketch.update

    @property
    def count(self) -> int:
        """The estimate."""
        return int(self._sketch.get_estimate() + 0.5)

    def stored(self) -> bytes:
        """Return the sketch as it is kept in the database."""
        kept: bytes = _union(_library().tgt_hll_type.HLL_4, self._sketch).serialize_compact()
        return kept


class Quantiles:
    """Mergeable quantiles of numbers."""

    __slots__ = ("_sketch",)

    def __init__(self, stored: bytes | None = None) -> None:
        kind = _library().tdigest_double
        self._sketch = kind(_COMPRESSION) if stored is None else kind.deserialize(stored)

    def add(self, values: Iterable[float]) -> None:
        """Take in numbers."""
        for value in values:
            self._sketch.update(value)

    def merge(self, other: "Quantiles") -> None:
        """Take in what another one has seen."""
        if not other._sketch.is_empty():
            self._sketch.merge(other._sketch)

    @property
    def measured(self) -> int:
        """How many numbers were taken in."""
        return int(self._sketch.get_total_weight())

    def at(self, rank: float) -> int | None:
        """Return the number below which this share of the numbers lies, rounded; None when there are none."""
        return None if self._sketch.is_empty() else round(self._sketch.get_quantile(rank))

    def stored(self) -> bytes:
        """Return the sketch as it is kept in the database."""
        kept: bytes = self._sketch.serialize()
        return kept

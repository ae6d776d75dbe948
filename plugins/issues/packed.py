"""Columns whose text is kept compressed: every event rewrites the sample of its issue, and databases write it all."""

import threading
from typing import Any

import zstandard
from sqlalchemy import Column, Dialect, LargeBinary
from sqlalchemy.types import TypeDecorator, TypeEngine

from snaglist.kernel.columns import JsonText, blob

LEVEL = 1


class _Zstandard(threading.local):
    """One pair for each thread: making them takes longer than their work, and threads cannot share them."""

    def __init__(self) -> None:
        self.compressor = zstandard.ZstdCompressor(LEVEL)
        self.decompressor = zstandard.ZstdDecompressor()


_ZSTANDARD = _Zstandard()


class PackedText(TypeDecorator[Any]):
    """Text as zstd; None is SQL NULL. Only whether there is one can be asked in SQL."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Take the long bytes type of the engine."""
        return dialect.type_descriptor(blob())

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Compress."""
        return None if value is None else _ZSTANDARD.compressor.compress(value.encode())

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Give the text back."""
        return None if value is None else _ZSTANDARD.decompressor.decompress(value).decode()


class PackedJson(PackedText):
    """A JSON value as zstd; None is SQL NULL."""

    cache_ok = True
    _json = JsonText()

    def process_bind_param(self, value: Any, dialect: Dialect) -> bytes | None:
        """Write it as JSON columns do, compressed."""
        return super().process_bind_param(self._json.process_bind_param(value, dialect), dialect)

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """Read it back."""
        return self._json.process_result_value(super().process_result_value(value, dialect), dialect)


def packed_text(name: str) -> Column[str | None]:
    """A nullable column of compressed text."""
    return Column(name, PackedText(), nullable=True)


def packed_document(name: str) -> Column[Any]:
    """A nullable column of a compressed JSON value."""
    return Column(name, PackedJson(), nullable=True)

"""The library that reads maps: `symbolic`, in the extra `sourcemaps`. Without it maps are neither taken nor asked."""

from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symbolic.sourcemap import SourceMapView

MISSING = "source maps need an extra: pip install 'snaglist[sourcemaps]'"


def is_installed() -> bool:
    """Tell whether maps can be read."""
    return find_spec("symbolic") is not None


def parse(content: bytes) -> "SourceMapView":
    """Return the parsed map; ValueError when it is broken."""
    from symbolic.exceptions import SymbolicError
    from symbolic.sourcemap import SourceMapView  # 50 MB of native code: only where maps are used

    try:
        return SourceMapView.from_json_bytes(content)
    except SymbolicError as error:
        raise ValueError(str(error)) from error

"""Source maps: kept for releases, and asked where the frames of minified scripts come from."""

from snaglist.plugins.releases.maps.handlers import ENDPOINTS
from snaglist.plugins.releases.maps.library import MISSING
from snaglist.plugins.releases.maps.resolving import resolve_shown, resolve_storing

__all__ = ["ENDPOINTS", "MISSING", "resolve_shown", "resolve_storing"]

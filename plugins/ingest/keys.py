"""The ingest key of an application, and where requests present it."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call
from snaglist.plugins.logs import SenderKeys, sender_key

HEADER = "X-Service-Ingest-Key"


def _presented(call: Call, options: Mapping[str, Any]) -> str:
    """Return what the request presents: the first place that holds something decides."""
    return sender_key(call, HEADER) or (str(call.query.get("key", "")) if _by_query(options) else "")


def allows_query_key(call: Call) -> bool:
    """Tell whether the key may be presented as `?key=`, which browsers need."""
    return _by_query(KEYS.options(call))


def allow_query_key(call: Call, allowed: bool) -> None:
    """Set whether the key may be presented as `?key=`."""
    KEYS.set_options(call, {"allow_query_key": allowed})


def _by_query(options: Mapping[str, Any]) -> bool:
    return bool(options.get("allow_query_key", True))


KEYS = SenderKeys("ingest", "svk_", _presented)

"""HTTP in, HTTP out: `source-search`."""

from collections.abc import Mapping
from typing import Any

from snaglist.kernel import Call, Endpoint, own
from snaglist.plugins.logs.grep.stepping import Step


def search_sources(call: Call) -> Mapping[str, Any]:
    """Search in the raw lines of the files that are still there, a step at a time."""
    return Step(call).run()


ENDPOINTS = (Endpoint("source-search", get=own(search_sources, "issues.read")),)

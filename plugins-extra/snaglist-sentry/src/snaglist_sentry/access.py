"""Who may send, and where to: DSNs.

A DSN is `scheme://<public key>@<host>[/<mount>]/<project>`; SDKs post to `[/<mount>]/api/<project>/envelope/` and
present the public key in a header or, in browsers, in the query
(https://develop.sentry.dev/sdk/foundations/transport/authentication/).
"""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from snaglist.kernel import Call
from snaglist.plugins.logs import SenderKeys

PATHS = r"api/(?P<project>[0-9]{1,20})/(?P<kind>envelope|store)/?"
# What pages of other origins may send beside what they always may.
HEADERS = (
    "Authorization", "Baggage", "Content-Encoding", "Content-Type", "Sentry-Trace", "Traceparent", "X-Sentry-Auth",
)  # fmt: skip
EXPOSED = "Retry-After, X-Sentry-Error, X-Sentry-Rate-Limits"
_KEY = re.compile(r"(?:^sentry\s+|,\s*)sentry_key\s*=\s*([^\s,]+)", re.IGNORECASE)


def _presented(call: Call, options: Mapping[str, Any]) -> str:
    for header in (call.environ.get("HTTP_X_SENTRY_AUTH"), call.environ.get("HTTP_AUTHORIZATION")):
        found = _KEY.search(header or "")
        if found:
            return found[1]
    return str(call.query.get("sentry_key", ""))


KEYS = SenderKeys("sentry", "", _presented)


def project_number(application_id: str) -> int:
    """Return the number that stands for an application in its DSN: SDKs take digits alone. From 1 to 10⁹."""
    return int(sha256(application_id.encode()).hexdigest()[:16], 16) % 10**9 + 1


def select_application(applications: Sequence[Any], query: Mapping[str, str]) -> Any:
    """Return the application whose number stands in the path."""
    wanted = query.get("project", "")
    return next((one for one in applications if str(project_number(one.id)) == wanted.lstrip("0")), None)


def dsn(base: str, key: str, application_id: str) -> str:
    """Return the DSN of an application of a service that answers at `base`."""
    scheme, host, path, _, _ = urlsplit(base)
    return urlunsplit((scheme, f"{key}@{host}", f"{path.rstrip('/')}/{project_number(application_id)}", "", ""))

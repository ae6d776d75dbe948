"""The public door for plugin authors: everything a plugin needs is imported from here.

Names that are not listed in `__all__` here (or in the modules listed there) may change without notice.
"""

from snaglist.kernel import bodies, columns, paging, times
from snaglist.kernel.call import Actor, Call
from snaglist.kernel.endpoints import Assets, Endpoint, Operation, Path, Reply, own, read, write
from snaglist.kernel.errors import (
    BadGateway,
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    ServiceError,
    TooLarge,
    TooMany,
    Unauthorized,
    Unavailable,
    UnsupportedMedia,
)
from snaglist.kernel.hookspecs import Description, SchemaStep, hookimpl, hookspec
from snaglist.kernel.jobs import Job, JobCall, job_reply
from snaglist.kernel.settings import Option
from snaglist.kernel.text import clip, digest, key

__all__ = [
    "Actor", "Assets", "BadGateway", "BadRequest", "Call", "Conflict", "Description", "Endpoint", "Forbidden",
    "Invalid", "Job", "JobCall", "NotFound", "Operation", "Option", "Path", "Reply", "SchemaStep", "ServiceError",
    "TooLarge", "TooMany", "Unauthorized", "Unavailable", "UnsupportedMedia", "bodies", "clip", "columns", "digest",
    "hookimpl", "hookspec", "job_reply", "key", "own", "paging", "read", "times", "write",
]  # fmt: skip

"""The door of snaglist for areas and plugins: what they use of the kernel is in `__all__` here, or of a module below.

For plugins of any kind:

- `bodies`: bodies of requests, for codings and types that `Call.read_body` does not take
- `bulk`: many rows as one document
- `columns`: columns that come out equal on every database
- `containment`: calling code of other plugins
- `database`: statements that differ between databases
- `ddl`: changes of the schema, in steps
- `hookspecs`: the hooks that the kernel calls
- `origin`: names of hosts and networks
- `paging`: pages and cursors of lists
- `privacy`: files and folders that nobody else may read
- `store`: values that an application keeps under a key, and the kernel's own tables
- `text`: what names and screens may hold
- `times`: times as texts

For what runs, shows or mends an installation, as the area `system` does:

- `app`: the WSGI application
- `endpoints`: what endpoints have in common
- `faults`: what can be wrong with a database
- `gate`: requests before they are calls
- `plugins`: the plugins of a process
- `service`: one running installation
- `settings`: the configuration
- `steps`: the steps of schemas

A module's `__all__` names what may be imported from it, and nothing that is here. Every other name may change without
notice.
"""

from snaglist.kernel import bodies, columns, hookspecs, paging, times
from snaglist.kernel.applications import Application
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
    UriTooLong,
    internal_error,
)
from snaglist.kernel.hookspecs import SchemaStep, hookimpl, hookspec
from snaglist.kernel.installation import Installation
from snaglist.kernel.plugin import Description, Plugin
from snaglist.kernel.settings import NetworksOption, Option, UrlOption
from snaglist.kernel.text import clip, digest, key

__all__ = [
    "Actor", "Application", "Assets", "BadGateway", "BadRequest", "Call", "Conflict", "Description",
    "Endpoint", "Forbidden", "Installation", "Invalid", "NetworksOption", "NotFound",
    "Operation", "Option", "Path", "Plugin", "Reply", "SchemaStep", "ServiceError", "TooLarge",
    "TooMany", "Unauthorized", "Unavailable", "UnsupportedMedia", "UriTooLong", "UrlOption", "bodies", "clip",
    "columns", "digest", "hookimpl", "hookspec", "hookspecs", "internal_error", "key", "own",
    "paging", "read", "times", "write",
]  # fmt: skip

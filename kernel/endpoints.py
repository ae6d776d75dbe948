"""What an area registers to answer requests: endpoints, their operations, and replies."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Literal, cast

from snaglist.kernel.applications import Application
from snaglist.kernel.call import Call

__all__ = ["DEFAULT_BODY_LIMIT", "METHODS"]

METHODS = ("get", "post", "put", "patch", "delete")
DEFAULT_BODY_LIMIT = 1024 * 1024

Transaction = Literal["read", "write", "own"]
Handler = Callable[[Call], "Reply | Mapping[str, Any]"]


@dataclass(slots=True)
class Reply:
    """An answer that is more than `200` with a JSON object.

    `body`: a JSON value, or bytes / an iterable of bytes together with `content_type`.
    """

    body: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of an endpoint: its handler, the ability it needs, its transaction and the statuses of success.

    A handler that returns a JSON object answers with the first status.
    """

    handler: Handler
    ability: str | None
    transaction: Transaction
    statuses: tuple[int, ...]


def read(handler: Handler, ability: str | None, *statuses: int) -> Operation:
    """Operation in one read transaction that the kernel opens: `call.db`. Statuses: 200 unless others are named."""
    return Operation(handler, ability, "read", statuses or (200,))


def write(handler: Handler, ability: str | None, *statuses: int) -> Operation:
    """Operation in one write transaction that the kernel opens, and commits unless the handler raises."""
    return Operation(handler, ability, "write", statuses or (200,))


def own(handler: Handler, ability: str | None, *statuses: int) -> Operation:
    """Operation that opens short transactions itself with `call.transaction()`."""
    return Operation(handler, ability, "own", statuses or (200,))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One value of the `api` parameter.

    `schemas` is the folder that holds `<name>/<method>-{query,body,response}.json`; built-in areas
    use `snaglist.schemas`. `etag` makes GET answers carry a weak ETag and honour If-None-Match.
    `body_limit`: bytes, or the name of the setting that holds them; with `gzip` a body may be compressed, and the
    limit holds for both forms. With `raw` nobody looks at a body: the handler takes it by `call.read_body()`, and asks
    for a content type that no form of another site can send. `application=False`: it does not act on one application.

    `authenticate(call)` takes the place of the key and Origin checks: it raises Unauthorized for whoever may not
    use the endpoint, also when `call.selected` is None because there is no such application. What it needs of the
    database it asks by `call.remembered`. It is asked before query and body are looked at: `call.query` holds the
    texts as they came. The body of such an endpoint is what `call.read_body()` gives, there and in the handler.

    `select(applications, query)` returns the application of a request, for protocols that do not name it by `app`;
    None where there is no such one.

    `cross_origin` names the request headers that pages of any origin may send; naming one lets browsers use the
    endpoint from everywhere, without credentials. A reply's own `Access-Control-Expose-Headers` comes first.
    """

    name: str
    get: Operation | None = None
    post: Operation | None = None
    put: Operation | None = None
    patch: Operation | None = None
    delete: Operation | None = None
    schemas: Traversable = field(default_factory=lambda: files("snaglist.schemas"))
    body_limit: int | str = DEFAULT_BODY_LIMIT
    gzip: bool = False
    raw: bool = False
    etag: bool = False
    application: bool = True
    authenticate: Callable[[Call], None] | None = None
    cross_origin: tuple[str, ...] = ()
    select: Callable[[Sequence[Application], Mapping[str, str]], Application | None] | None = None

    def operation(self, method: str) -> Operation | None:
        """Return the operation of a method given in any case; HEAD is GET."""
        name = "get" if method.upper() == "HEAD" else method.lower()
        return cast("Operation | None", getattr(self, name) if name in METHODS else None)

    def allow(self) -> str:
        """Return the value of the `Allow` header."""
        names = [name.upper() for name in METHODS if getattr(self, name)]
        if self.get:
            names.insert(1, "HEAD")
        return ", ".join([*names, "OPTIONS"])


@dataclass(frozen=True, slots=True)
class Path:
    """A path beside `?api=`: `""` is the page at the root, others are full-match patterns below it.

    The page at the root needs the key like every request; without it the kernel answers 401, for
    browsers with this page as the body, so the page must hold no application data. Other paths are
    public and for GET. The handler gets the named groups of the match and a Call without an application; raising
    NotFound gives 404.

    With `api` in place of a handler the path is another address of that endpoint, which must be one of the same
    plugin that authenticates by itself: for protocols that cannot use `?api=`. Named groups count as query values.
    """

    pattern: str
    handler: Callable[[Mapping[str, str], Call], Reply] | None = None
    api: str = ""


@dataclass(frozen=True, slots=True)
class Assets:
    """An area's part of the dashboard: a folder of files, its entry module and style sheets."""

    name: str
    root: Traversable
    module: str
    styles: Iterable[str] = ()

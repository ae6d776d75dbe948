"""What a request or command can fail with: one class per status of the contract.

ServiceError
├── BadRequest 400 · Unauthorized 401 · Forbidden 403 · NotFound 404 · MethodNotAllowed 405
├── Conflict 409 · TooLarge 413 · UriTooLong 414 · UnsupportedMedia 415 · Invalid 422
├── HeadersTooLarge 431 · TooMany 429
└── BadGateway 502 · Unavailable 503

The message is shown to the caller as `{"error": message}`, so it never holds SQL, paths or secrets.
"""

import logging
import secrets
from collections.abc import Iterable, Mapping
from itertools import islice

from sqlalchemy.exc import SQLAlchemyError

log = logging.getLogger("snaglist")

MAX_PROBLEMS = 10


class ServiceError(Exception):
    """A failure with a status and a message that the caller may read."""

    status = 500

    def __init__(self, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.headers = dict(headers or {})


class BadRequest(ServiceError):
    """Malformed request: syntax of the URL, the body or a header."""

    status = 400


class Unauthorized(ServiceError):
    """The key is missing or wrong."""

    status = 401


class Forbidden(ServiceError):
    """Cross-origin write, refused host, or the role lacks the ability."""

    status = 403


class NotFound(ServiceError):
    """The endpoint, or the thing acted on, does not exist."""

    status = 404


class MethodNotAllowed(ServiceError):
    """The endpoint does not know this method."""

    status = 405


class Conflict(ServiceError):
    """The state does not allow the action now."""

    status = 409


class TooLarge(ServiceError):
    """The body is over the limit."""

    status = 413


class UriTooLong(ServiceError):
    """The URL is over 16 KiB."""

    status = 414


class UnsupportedMedia(ServiceError):
    """The content type or coding of the body is not accepted."""

    status = 415


class Invalid(ServiceError):
    """One or more fields break a rule; each problem reads `field: what it must be`."""

    status = 422

    def __init__(self, problems: str | Iterable[str]) -> None:
        listed = [problems] if isinstance(problems, str) else list(islice(problems, MAX_PROBLEMS + 1))
        shown = "; ".join(listed[:MAX_PROBLEMS])
        # How many more is not known: checks stop when there are more than are shown.
        super().__init__(f"{shown}; and more" if len(listed) > MAX_PROBLEMS else shown)


class HeadersTooLarge(ServiceError):
    """The headers are over 64 KiB."""

    status = 431


class TooMany(ServiceError):
    """A rate is used up; `Retry-After` says when to come back."""

    status = 429

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message, headers={"Retry-After": str(max(1, retry_after))})


class BadGateway(ServiceError):
    """A remote system refused, failed or timed out."""

    status = 502


class Unavailable(ServiceError):
    """The database, its schema or a key is not usable now."""

    status = 503

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after)})


def internal_error(error: BaseException | None, what: str = "internal error") -> ServiceError:
    """Log what nobody foresaw under a reference, and return the failure that names the reference alone."""
    reference = secrets.token_hex(6)
    # SQLAlchemy's texts repeat the parameters, which may be secrets: the log gets the driver's message only.
    if isinstance(error, SQLAlchemyError):
        error.hide_parameters = True  # type: ignore[attr-defined]
    log.error("%s, reference %s", what, reference, exc_info=error)
    return ServiceError(f"Internal error (reference {reference})")

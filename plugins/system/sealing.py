"""What seals the secrets of all applications: a part of the service.

Sealing is AES-256-GCM with a random nonce; application and field are authenticated with it, so a value that is
copied to another row or application does not open. The key is derived by scrypt from `security.secret`, else from
a key file in the data directory that is made on first need. There is no plain-text fallback.
"""

import hashlib
import logging
import os
import secrets
import struct
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sqlalchemy import select

from snaglist.kernel import Unavailable, store, times
from snaglist.kernel.database import insert_ignore
from snaglist.kernel.privacy import open_private
from snaglist.kernel.service import KEY_FILE, Service

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

log = logging.getLogger("snaglist")

_FORMAT = b"\x01"
_SALT_BYTES, _NONCE_BYTES = 16, 12
_HEAD = struct.Struct(f"c{_SALT_BYTES}s{_NONCE_BYTES}s")  # format, salt, nonce; what follows is sealed
_SHORTEST = 4  # characters of a secret: hiding what is shorter would hide more than that
_SALT_ROW = "key_derivation_salt"
_NO_KEY = "There is no key to seal secrets with: set SERVICE_SECRET, or make secret.key in the data directory usable."
_WRONG_KEY = "A stored secret cannot be opened: it was sealed with another SERVICE_SECRET, or elsewhere."


class Sealing:
    """The `Secrets` of an installation.

    `security.secret` may hold several values separated by commas: the first seals, all open, and so does a key file
    that is there, so that an installation can go over to `security.secret`.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._configured = [s for part in service.settings["security.secret"].split(",") if (s := part.strip())]
        self._file = service.settings.data / KEY_FILE
        self._salt: bytes | None = None

    def prepare(self) -> None:
        """Have the sealing key ready: deriving it takes a while, which no transaction should wait for.

        Raises Unavailable when no key can be had.
        """
        _key(self._sealing(), self._own_salt())

    def seal(self, application: str, field: str, text: str) -> bytes:
        """Seal a text for a field (such as `connectors.7.secrets`) of an application; raises Unavailable."""
        salt, nonce = self._own_salt(), os.urandom(_NONCE_BYTES)
        key = _key(self._sealing(), salt)
        body = _cipher(key).encrypt(nonce, text.encode(), _bound_to(application, field))
        return _HEAD.pack(_FORMAT, salt, nonce) + body

    def open(self, application: str, field: str, sealed: bytes) -> str:
        """Return the text; raises Unavailable when no key opens it for this application and field."""
        return self._open(application, field, sealed)[0]

    def reseal(self, application: str, field: str, sealed: bytes) -> bytes | None:
        """Return the value sealed with the first key; None when it is already, or cannot be: then the log says why."""
        try:
            text, secret = self._open(application, field, sealed)
            return None if secret == self._sealing() else self.seal(application, field, text)
        except Unavailable as error:
            log.warning("%s of application %s: %s", field, application, error.message)
            return None

    def _open(self, application: str, field: str, sealed: bytes) -> tuple[str, str]:
        from cryptography.exceptions import InvalidTag  # heavy, and only needed here

        if sealed.startswith(_FORMAT) and len(sealed) > _HEAD.size:
            _, salt, nonce = _HEAD.unpack_from(sealed)
            body, bound = sealed[_HEAD.size :], _bound_to(application, field)
            for secret in self._opening():
                try:
                    plain = _cipher(_key(secret, salt)).decrypt(nonce, body, bound)
                    return plain.decode(), secret
                except InvalidTag:
                    continue
        raise Unavailable(_WRONG_KEY)

    def _sealing(self) -> str:
        return self._configured[0] if self._configured else self._from_file(make=True)

    def _opening(self) -> list[str]:
        return [*self._configured, *([self._from_file()] if self._file.exists() else [])]

    def _from_file(self, *, make: bool = False) -> str:
        try:
            if make and not self._file.exists():
                _make_key_file(self._file)
            text = self._file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Unavailable(_NO_KEY) from error
        if not text:
            raise Unavailable(_NO_KEY)
        return text

    def _own_salt(self) -> bytes:
        """Return the salt of this installation, made on first need."""
        if self._salt is None:
            registry, table = self._service.applications.registry, store.instance
            with self._service.database.transaction(registry, write=True) as db:
                row = {"key": _SALT_ROW, "value": os.urandom(_SALT_BYTES).hex(), "updated_at": times.now()}
                insert_ignore(db, table, [row])
                self._salt = bytes.fromhex(
                    db.execute(select(table.c.value).where(table.c.key == _SALT_ROW)).scalar_one()
                )
        return self._salt


def without_secrets(message: str, secrets: Any) -> str:
    """Return what a client says about its failure without the texts in `secrets`, written plainly or for a URL."""
    if isinstance(secrets, Mapping | list):
        for one in secrets.values() if isinstance(secrets, Mapping) else secrets:
            message = without_secrets(message, one)
    elif isinstance(secrets, str):
        for form in {secrets, unquote(secrets)}:
            message = message.replace(form, "…") if len(form) >= _SHORTEST else message
    return message


@lru_cache(maxsize=64)
def _key(secret: str, salt: bytes) -> bytes:
    """Derive a key. A value carries its salt, so that it opens in another installation with the same secret."""
    # Cost: OWASP Password Storage Cheat Sheet, scrypt N=2^14 r=8 p=5 (16 MiB).
    return hashlib.scrypt(secret.encode(), salt=salt, n=2**14, r=8, p=5, dklen=32)


def _cipher(key: bytes) -> "AESGCM":
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)


def _bound_to(application: str, field: str) -> bytes:
    return f"{application}\0{field}".encode()


def _make_key_file(path: Path) -> None:
    """Write a new key under a name of its own first: other processes find a whole file or none."""
    own = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with open_private(own, "xb") as stream:
            stream.write(secrets.token_urlsafe(32).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):  # another process was first
            os.link(own, path)
    finally:
        own.unlink(missing_ok=True)

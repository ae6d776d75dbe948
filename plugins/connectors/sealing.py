"""Secrets of connectors: the write-only fields of `config`, sealed together, bound to application and connector."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy import Row, select

from snaglist.kernel import Call
from snaglist.plugins.connectors.tables import connectors
from snaglist.plugins.system import StoredSecret, rows


def seal(call: Call, connector_id: int, secrets: Mapping[str, Any]) -> bytes | None:
    """Seal what is set; None when nothing is. Raises Unavailable when no key can be had."""
    if not secrets:
        return None
    return call.service.secrets.seal(call.application.id, _field(connector_id), json.dumps(dict(secrets)))


def unseal(call: Call, connector: Row[Any]) -> dict[str, Any]:
    """Return the secrets of a connector; raises Unavailable when they cannot be opened."""
    if connector.secrets is None:
        return {}
    text = call.service.secrets.open(call.application.id, _field(connector.id), connector.secrets)
    opened: dict[str, Any] = json.loads(text)
    return opened


def stored(call: Call) -> Iterator[StoredSecret]:
    """Give the secrets of all connectors, in the open transaction."""
    shown = select(connectors.c.id, connectors.c.name, connectors.c.secrets)
    for row in call.db.execute(shown.where(connectors.c.secrets.is_not(None))).all():

        def replace(sealed: bytes, connector_id: int = row.id) -> None:
            rows.change(call.db, connectors, connector_id, secrets=sealed)

        yield StoredSecret(_field(row.id), f'secrets of the connector "{row.name}"', row.secrets, replace)


def _field(connector_id: int) -> str:
    return f"connectors.{connector_id}.secrets"

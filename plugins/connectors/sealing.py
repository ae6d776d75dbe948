"""Secrets of connectors: the write-only fields of `config`, sealed together, bound to application and connector."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.connectors import queries


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


def reseal(call: Call) -> None:
    """Seal the secrets of all connectors with the first key, in the open transaction; those of lost keys stay."""
    for row in queries.sealed_connectors(call.db):
        sealed = call.service.secrets.reseal(call.application.id, _field(row.id), row.secrets)
        if sealed is not None:
            queries.change_connector(call.db, row.id, secrets=sealed)


def _field(connector_id: int) -> str:
    return f"connectors.{connector_id}.secrets"

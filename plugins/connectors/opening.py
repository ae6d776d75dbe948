"""Opening a connector: its type, its secrets, and the one thing that may be learned on the way, a host's key."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Row

from snaglist.kernel import Call
from snaglist.plugins.connectors import sealing
from snaglist.plugins.connectors.contract import ConnectorType, Opening, Remote, RemoteFailure, types
from snaglist.plugins.connectors.tables import connectors
from snaglist.plugins.system import rows, without_secrets


def kind_of(call: Call, connector: Row[Any]) -> ConnectorType:
    """Return the type of a connector; RemoteFailure when the plugin that brought it is gone."""
    kind = types(call).get(connector.type)
    if kind is None:
        raise RemoteFailure(f"The connector type {connector.type} is not installed.")
    return kind


@contextmanager
def opened(call: Call, connector: Row[Any], *, learning: bool = False) -> Iterator[Remote]:
    """Connect, outside a transaction; with `learning` what is seen for the first time is stored.

    Raises RemoteFailure, and Unavailable when the secrets cannot be opened.
    """
    kind = kind_of(call, connector)
    secrets = sealing.unseal(call, connector)

    def learn(changes: Mapping[str, Any]) -> None:
        if learning:
            with call.transaction() as db:
                now = rows.find(db, connectors, connector.id, lock=True)
                if now is not None and now.config == connector.config:  # else somebody is changing it
                    rows.change(db, connectors, connector.id, config={**connector.config, **changes})

    try:
        with kind.open(Opening(call, connector.config, secrets, learn)) as remote:
            yield remote
    except RemoteFailure as error:
        raise RemoteFailure(without_secrets(error.message, secrets)) from error

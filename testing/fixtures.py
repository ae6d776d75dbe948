"""The fixtures of the test kit: a fresh installation on each database engine, for plugins that run pytest.

SQLite is always there. `TEST_POSTGRESQL_URL` and `TEST_MYSQL_URL` name servers (SQLAlchemy URLs of a user who may
make schemas or databases); where one is not set its tests are skipped.
"""

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from snaglist.kernel.faults import Tenant
from snaglist.kernel.service import Service
from snaglist.testing import Client, running_service

SERVERS = {"postgresql": "TEST_POSTGRESQL_URL", "mysql": "TEST_MYSQL_URL"}


@pytest.fixture
def snaglist_config() -> dict[str, Any]:
    """Configuration of `snaglist_service`, `__` for the dot: override it in a test module."""
    return {}


@pytest.fixture(params=["sqlite", *SERVERS])
def snaglist_service(
    request: pytest.FixtureRequest, tmp_path: Path, snaglist_config: dict[str, Any]
) -> Iterator[Service]:
    """A started service with a worker, on each engine; what it made on a server is removed."""
    config = dict(snaglist_config)
    if request.param in SERVERS:
        config["database__url"] = os.environ.get(SERVERS[request.param])
        config["database__prefix"] = f"t{uuid.uuid4().hex[:12]}_"
        if not config["database__url"]:
            pytest.skip(f"{SERVERS[request.param]} names no server")
    with running_service(tmp_path / "snaglist", **config) as service:
        yield service
        made: list[Tenant] = [*service.applications.refresh(), service.applications.registry]
    if request.param in SERVERS:
        for tenant in made:
            service.database.drop(tenant)
        service.close()


@pytest.fixture
def snaglist(snaglist_service: Service) -> Client:
    """A client of `snaglist_service`."""
    return Client(snaglist_service)

"""The database servers that the benchmarks use, found as the tests find them, and the databases made on them.

`TEST_POSTGRESQL_URL` and `TEST_MYSQL_URL` name them; one that does not answer is left out.
"""

import os
import sys

from sqlalchemy import create_engine, text
from sqlalchemy.exc import SQLAlchemyError

SERVERS = {
    "postgresql": os.environ.get("TEST_POSTGRESQL_URL", "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"),
    "mariadb": os.environ.get("TEST_MYSQL_URL", "mysql+pymysql://root@127.0.0.1:3306"),
}


def answers(name: str) -> bool:
    """Tell whether an engine can be measured here; says so when it cannot."""
    if name == "sqlite":
        return True
    try:
        engine = create_engine(SERVERS[name])
        with engine.connect():
            return True
    except (SQLAlchemyError, ImportError):
        print(f"{name}: no server, left out", file=sys.stderr)
        return False


def drop(name: str, prefix: str) -> None:
    """Remove every database (on PostgreSQL: schema) of an engine whose name begins so."""
    engine = create_engine(SERVERS[name], isolation_level="AUTOCOMMIT")
    postgres = name == "postgresql"
    with engine.connect() as db:
        found = db.execute(text("SELECT nspname FROM pg_namespace" if postgres else "SHOW DATABASES")).scalars()
        for each in [each for each in found if each.startswith(prefix)]:
            db.execute(text(f'DROP SCHEMA "{each}" CASCADE' if postgres else f"DROP DATABASE `{each}`"))
    engine.dispose()

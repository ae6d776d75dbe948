"""Schema steps of the area : repeatable, on every database."""

from typing import Any

import pytest
from sqlalchemy import inspect

from snaglist.plugins.issues import tables
from snaglist.plugins.issues.learning.tables import LATER
from snaglist.plugins.issues.learning.tables import TABLES as LEARNED
from snaglist.plugins.issues.steps import STEPS

pytestmark = pytest.mark.servers


def test_the_steps_make_the_tables_and_can_be_repeated(desk: Any) -> None:
    """A step that was interrupted where the database commits DDL by itself is run again."""
    application = desk.service.applications.all()[0]
    with desk.service.database.transaction(application, write=True) as db:
        db = db.execution_options(stepped=application)
        schema = db.get_execution_options().get("tenant")
        for name in ("tag_removals", "tag_rules"):
            tables.metadata.tables[name].drop(db)
        for _, step in STEPS:
            step(db)
            step(db)
        found = inspect(db)
        for table in (*tables.TABLES, *LEARNED, *LATER):
            columns = {column["name"] for column in found.get_columns(table.name, schema=schema)}
            assert columns == {column.name for column in table.columns}
            wanted = {index.name for index in table.indexes}
            assert wanted <= {index["name"] for index in found.get_indexes(table.name, schema=schema)}
    assert [name for name, _ in STEPS] == [
        "s001",
        "s002",
        "s003",
        "s004",
        "s005",
        "add_level_source",
        "add_values",
        "let_aliases_follow",
    ]


def test_every_table_of_the_area_is_made() -> None:
    from snaglist.kernel.columns import metadata

    mine = {table for table in metadata.tables.values() if table.name in vars(tables)}
    assert mine == set(tables.TABLES)

"""What other areas and plugins may read of the tables of logs: these columns stay, and keep their meaning."""

from sqlalchemy import select

from snaglist.plugins.logs import tables

_sources = tables.sources.c
sources = select(_sources.id, _sources.path, _sources.log_type, _sources.channel, _sources.module_id).selected_columns

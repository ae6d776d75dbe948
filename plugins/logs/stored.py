"""What other areas and plugins may read of the tables of logs: these columns stay, and keep their meaning."""

from snaglist.plugins.logs import tables
from snaglist.plugins.system import rows

sources = rows.promised(tables.sources, "id", "path", "log_type", "channel", "module_id")

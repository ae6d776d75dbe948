"""Base names: which files of a folder a connector takes."""

import fnmatch
import re

from snaglist.kernel import Call
from snaglist.plugins.logs import compile_pattern


def wanted_names(call: Call, glob: str) -> re.Pattern[str]:
    """Return the pattern that whole base names must match: a glob, or the log file pattern when it is empty."""
    if glob:
        return re.compile(fnmatch.translate(glob))
    return compile_pattern(call.setting("ingestion.log_file_pattern"))

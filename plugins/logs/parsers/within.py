"""Whether the message of a record is itself the line of a log, which a shipper put into an envelope."""

import re

from snaglist.plugins.logs.parsers.access import Access
from snaglist.plugins.logs.parsers.apache_error import ApacheError
from snaglist.plugins.logs.parsers.console import Console
from snaglist.plugins.logs.parsers.context import load
from snaglist.plugins.logs.parsers.fields import Fields, Names
from snaglist.plugins.logs.parsers.json_levels import find_level
from snaglist.plugins.logs.parsers.levels_first import plain
from snaglist.plugins.logs.parsers.logfmt import Logfmt
from snaglist.plugins.logs.parsers.monolog import Monolog
from snaglist.plugins.logs.parsers.nginx_error import NginxError
from snaglist.plugins.logs.parsers.syslog import Syslog
from snaglist.plugins.logs.parsers.traces import follow

# The last line of a trace, which names what was raised.
_RAISED = re.compile(r"(?:Caused by: |Suppressed: |[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt)(?:: |$))")
_MESSAGES = Names("message", "msg")
_FORMATS = (Access(), Monolog(), NginxError(), ApacheError(), Syslog(), Logfmt(), Console())


def is_trace_line(text: str) -> bool:
    """Tell whether a text begins or goes on with a trace, so that it belongs to the line before."""
    return text[:1].isspace() or bool(follow.begins(text)) or _RAISED.match(text) is not None


def is_log_line(text: str) -> bool:
    """Tell whether a text has the head of a log line."""
    line = text.split("\n", 1)[0]
    if line[:1] == "{":
        value = load(text)
        if not isinstance(value, dict):
            return False
        fields = Fields(value)
        return find_level(fields) is not None or bool(fields.text(_MESSAGES))
    return bool(plain(line).severity) or any(parser.fresh().foreign(line) is not None for parser in _FORMATS)

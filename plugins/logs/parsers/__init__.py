"""Log formats: from the bytes of a file to events.

`Reader` chooses the format, frames entries and makes events; a `Parser` knows one format. Others
register theirs with the hook `register_parsers`.
"""

from snaglist.plugins.logs.parsers.access_line import AccessLine
from snaglist.plugins.logs.parsers.base import DIRECTIVE, Parser, Wrapped
from snaglist.plugins.logs.parsers.built_in import BUILT_IN
from snaglist.plugins.logs.parsers.clock import Clock
from snaglist.plugins.logs.parsers.reader import Reader
from snaglist.plugins.logs.parsers.watched import ParserFailed, Watched

PARSER_VERSION = 3  # raise it when a parser would make other events of the same bytes

__all__ = [
    "BUILT_IN",
    "DIRECTIVE",
    "PARSER_VERSION",
    "AccessLine",
    "Clock",
    "Parser",
    "ParserFailed",
    "Reader",
    "Watched",
    "Wrapped",
]

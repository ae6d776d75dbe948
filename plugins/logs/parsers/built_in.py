"""The formats that come with the product, most specific first."""

from snaglist.plugins.logs.parsers.access import Access
from snaglist.plugins.logs.parsers.apache_error import ApacheError
from snaglist.plugins.logs.parsers.base import Parser
from snaglist.plugins.logs.parsers.cmtrace import CmTrace
from snaglist.plugins.logs.parsers.console import Console
from snaglist.plugins.logs.parsers.container import Container
from snaglist.plugins.logs.parsers.csv_rows import CsvRows
from snaglist.plugins.logs.parsers.journal import Journal
from snaglist.plugins.logs.parsers.json_lines import JsonLines
from snaglist.plugins.logs.parsers.logfmt import Logfmt
from snaglist.plugins.logs.parsers.monolog import Monolog
from snaglist.plugins.logs.parsers.nginx_error import NginxError
from snaglist.plugins.logs.parsers.prefixed import Prefixed
from snaglist.plugins.logs.parsers.slow_queries import SlowQueries
from snaglist.plugins.logs.parsers.syslog import Syslog
from snaglist.plugins.logs.parsers.windows_events import WindowsEvents
from snaglist.plugins.logs.parsers.xml_events import XmlEvents

# Where two claim a line the earlier one wins; the console takes what is left.
BUILT_IN: tuple[Parser, ...] = (
    Journal(),
    Container(),
    Prefixed(),
    Access(),
    JsonLines(),
    XmlEvents(),
    WindowsEvents(),
    CsvRows(),
    Monolog(),
    NginxError(),
    SlowQueries(),
    CmTrace(),
    ApacheError(),
    Syslog(),
    Logfmt(),
    Console(),
)

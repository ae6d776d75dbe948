"""Configuration keys of the plugin, and its limits."""

from snaglist.kernel import Option
from snaglist.plugins.logs import Rates

RATES = Rates("sentry")

OPTIONS = (
    *RATES.options,
    Option("sentry.max_body_bytes", 5_242_880, "of a request as it is sent", 1_024, 1_073_741_824),
    Option("sentry.max_unpacked_bytes", 20_971_520, "of a body unpacked", 1_024, 1_073_741_824),
    Option("sentry.url", "", "base of the shown DSN; empty: the one of the service"),
    Option("sentry.issue_tags", [], "names of an event's tags that become tags of its issue, as name:value"),
)

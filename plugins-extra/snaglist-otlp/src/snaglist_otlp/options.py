"""Configuration keys of the plugin, and its limits."""

from snaglist.kernel import Option
from snaglist.plugins.logs import Rates

RATES = Rates("otlp")

OPTIONS = (
    *RATES.options,
    Option("otlp.max_body_bytes", 5_242_880, "of a request as it is sent", 1_024, 1_073_741_824),
    Option("otlp.max_unpacked_bytes", 20_971_520, "of a gzip body unpacked", 1_024, 1_073_741_824),
    Option("otlp.url", "", "base of the shown endpoint; empty: the one of the service"),
)

"""Configuration keys of the area, and its limits."""

from snaglist.kernel import Option, UrlOption
from snaglist.plugins.ingest.wire import BrokerOption
from snaglist.plugins.logs import Rates

RATES = Rates("ingest")

OPTIONS = (
    *RATES.options,
    Option("ingest.max_body_bytes", 5_242_880, "of a request as it is sent", 1_024, 1_073_741_824),
    Option("ingest.max_unpacked_bytes", 20_971_520, "of a gzip body unpacked", 1_024, 1_073_741_824),
    BrokerOption(
        "ingest.broker", "", "NATS with JetStream that keeps events until a worker stores them; empty: none", vital=True
    ),
    UrlOption("ingest.url", "", "base of the shown address for senders; empty: the one of the service"),
)

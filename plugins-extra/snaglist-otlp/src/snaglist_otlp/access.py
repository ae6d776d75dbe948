"""The key of an application's exporters, which present it as a header."""

from snaglist.plugins.logs import SenderKeys, sender_key

HEADER = "X-Service-Otlp-Key"
# What pages of other origins may send beside what they always may.
CROSS_ORIGIN = ("Authorization", "Content-Encoding", "Content-Type", HEADER)

KEYS = SenderKeys("otlp", "svo_", lambda call, options: sender_key(call, HEADER))

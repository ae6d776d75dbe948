"""Configuration keys of the connectors area."""

from snaglist.kernel import Option

OPTIONS = (
    Option(
        "sync.interval_seconds", 30, "how often connectors whose interval has passed are looked for; 0: off", 0, 86_400
    ),
    Option(
        "sync.chunk_bytes", 8_388_608, "bytes fetched at a time; a transfer goes on after the last", 4_096, 67_108_864
    ),
    Option("sync.max_discovered_files", 10_000, "files of one connector at most", 1, 1_000_000),
    Option("sync.stale_seconds", 900, "a run without a sign of life for that long has failed", 30, 86_400),
    Option("ssh.connect_timeout", 10, "seconds to connect and to sign in", 1, 600),
    Option("retention.mirror_max_age_days", 0, "copies of remote files that old go; 0: off", 0, 36_500),
)

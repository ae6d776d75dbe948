"""Configuration keys of the logs area."""

import codecs

from snaglist.kernel import Option
from snaglist.plugins.issues import SEVERITIES
from snaglist.plugins.logs.collect.discovery import PatternOption
from snaglist.plugins.logs.ingestion import DEFAULT_SEVERITIES
from snaglist.plugins.logs.read.portions import FAILURES, KEEPING


class EncodingOption(Option):
    """A configuration key that names a text encoding."""

    wanted = "an encoding that Python knows, like utf-8 or cp1252"

    def read(self, raw: object) -> str:
        """Return the name; raises ValueError when no codec has it."""
        name = str(Option.read(self, raw))
        try:
            codecs.lookup(name)
        except LookupError as error:
            raise ValueError(self.name) from error
        return name


class SeveritiesOption(Option):
    """A configuration key that lists severities, in upper or lower case."""

    wanted = f"a list of {', '.join(SEVERITIES)}"

    def read(self, raw: object) -> list[str]:
        """Return the list; raises ValueError when it is empty or one of it is no severity."""
        named = Option.read(self, raw)
        listed = [name.upper() for name in named] if isinstance(named, list) else []
        if not listed or not set(SEVERITIES).issuperset(listed):
            raise ValueError(self.name)
        return listed


OPTIONS = (
    SeveritiesOption(
        "ingestion.default_severities", DEFAULT_SEVERITIES, "new applications store these; the rest is noise"
    ),
    Option(
        "ingestion.unlevelled",
        FAILURES,
        "lines in which no level is written: new applications keep what looks like a failure, all, or none",
        choices=KEEPING,
    ),
    PatternOption("ingestion.log_file_pattern", "", "which base names are logs; empty: the built-in pattern"),
    Option("ingestion.allowed_roots", [], "folders the API may read; empty: the logs folder and /var/log"),
    Option("ingestion.sample_bytes", 65_536, "the head of a file that decides its format", 1_024, 16_777_216),
    Option("ingestion.capture_limit", 4_194_304, "bytes kept of one event", 4_096, 67_108_864),
    Option("ingestion.message_limit", 120_000, "characters kept of a message", 100, 120_000),
    Option("ingestion.context_preview_limit", 12_000, "characters kept of an event's context", 0, 12_000),
    Option(
        "ingestion.quiet_seconds",
        10,
        "a file that did not change that long shows its last event as final; a dropped one is archived",
        0,
        86_400,
    ),
    EncodingOption(
        "ingestion.fallback_encoding", "latin-1", "of files that are not UTF-8 or UTF-16; decodes all bytes"
    ),
    Option(
        "ingestion.max_upload_bytes",
        10 * 1024**3,
        "size of a file that may be uploaded in the dashboard; 0: none may",
        0,
    ),
    Option("ingestion.interval_seconds", 30, "how often new and grown files are looked for; 0: off", 0, 86_400),
    Option("access.issue_min_status", 500, "access lines from this status on become issues", 100, 600),
    Option("retention.processed_max_age_days", 0, "archived files older than that go; 0: off", 0, 36_500),
    Option("retention.occurrences_max_age_days", 0, "occurrences of events older than that go; 0: off", 0, 36_500),
    Option("retention.max_occurrences_per_issue", 0, "the newest that an issue keeps; 0: off", 0, 1_000_000_000),
    Option("retention.interval_seconds", 900, "how often occurrences are looked through; 0: off", 0, 86_400),
    Option("retention.processed_max_files", 0, "only that many newest archived files stay; 0: off", 0, 100_000_000),
)

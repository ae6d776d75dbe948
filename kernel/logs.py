"""The service's own log: text or JSON lines on stderr."""

import json
import logging
import sys
from datetime import UTC, datetime

from snaglist.kernel.settings import Settings
from snaglist.kernel.text import harmless


class JsonLines(logging.Formatter):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Lines(logging.Formatter):
    """Text for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and those of its traceback."""
        return harmless(super().format(record))


def configure_logging(settings: Settings) -> None:
    """Send the service's log to stderr in the configured form."""
    handler = logging.StreamHandler(sys.stderr)
    plain = Lines("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if settings["log.format"] == "json" else plain)
    for name, level in (("snaglist", settings["log.level"].upper()), ("waitress", "ERROR")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)

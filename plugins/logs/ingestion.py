"""What of log files is stored: severities, lines without a level, the zone of times without offset, access lines."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from snaglist.kernel import Call, times
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.issues import RANK, SEVERITIES
from snaglist.plugins.logs.own_formats.pattern import Format
from snaglist.plugins.logs.own_formats.store import in_use
from snaglist.plugins.logs.parsers import PARSER_VERSION
from snaglist.plugins.logs.read.portions import Rules
from snaglist.plugins.logs.store import coverage, queries

LOCAL_TIME = Path("/etc/localtime")
ZONE_NAME = Path("/etc/timezone")
_FOLDER = "zoneinfo"


def is_zone(name: str) -> bool:
    """Tell whether a name is a time zone known here."""
    try:
        times.parse_zone(name)
    except ValueError:
        return False
    return True


def machine_zone(
    environ: Mapping[str, str] | None = None, local_time: Path = LOCAL_TIME, zone_name: Path = ZONE_NAME
) -> str:
    """Return the IANA name of the machine's zone by `TZ`, the local time file or its name file, else `UTC`."""
    named = (os.environ if environ is None else environ).get("TZ", "").lstrip(":")
    found = map(_plain, (named, _linked(local_time), _written(zone_name)))
    return next(filter(is_zone, found), "UTC")


def _plain(name: str) -> str:
    """Return the name of a zone without the folder of those that count leap seconds, or of those that do not."""
    return name.removeprefix("right/").removeprefix("posix/")


def _linked(local_time: Path) -> str:
    try:
        parts = local_time.resolve().parts
    except OSError:
        return ""
    return "/".join(parts[parts.index(_FOLDER) + 1 :]) if _FOLDER in parts else ""


def _written(zone_name: Path) -> str:
    try:
        return zone_name.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


_KEY = "ingestion"
DEFAULT_SEVERITIES = ["EMERGENCY", "ALERT", "CRITICAL", "ERROR", "WARNING"]


@dataclass(frozen=True, slots=True)
class Ingestion:
    """The settings of an application. `zone_known`: somebody set the zone; else it is that of the machine."""

    severities: tuple[str, ...]
    timezone: str
    access_issue_min_status: int
    unlevelled: str
    zone_known: bool = False
    formats: tuple[Format, ...] = ()  # of people's own

    @classmethod
    def load(cls, call: Call) -> Self:
        """Read them in the open transaction; what was never set has the configured default."""
        stored = get_setting(call.db, _KEY) or {}
        zone = stored.get("timezone")
        return cls(
            tuple(stored.get("severities") or default_severities(call)),
            zone or machine_zone(),
            stored.get("access_issue_min_status") or call.setting("access.issue_min_status"),
            stored.get("unlevelled") or call.setting("ingestion.unlevelled"),
            # A version before did not note it, and stored the zone of the machine with any change.
            stored.get("zone_known", zone is not None and zone != machine_zone()),
            tuple(in_use(call.db)),
        )

    @property
    def rules(self) -> Rules:
        """The filter for events of files."""
        return Rules(frozenset(self.severities), self.access_issue_min_status, self.unlevelled, self.formats)

    def stamps(self) -> list[str]:
        """Return what sources were read under if that was these settings, with and without a zone of their own."""
        return [coverage.stamp(self.rules, zone) for zone in (self.timezone, None)]


def default_severities(call: Call) -> list[str]:
    """Return the severities that new applications store."""
    return in_rank_order(set(call.setting("ingestion.default_severities")))


def in_rank_order(severities: set[str]) -> list[str]:
    """Sort severities, the most urgent first."""
    return sorted(severities, key=RANK.__getitem__)


def replace(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Set all settings; those not given take their defaults."""
    changed = Ingestion(
        tuple(in_rank_order(set(given["severities"]))),
        given.get("timezone") or machine_zone(),
        given.get("access_issue_min_status") or call.setting("access.issue_min_status"),
        given.get("unlevelled") or call.setting("ingestion.unlevelled"),
        bool(given.get("timezone")),
    )
    return _save(call, changed)


def change(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    """Set the given settings."""
    now = Ingestion.load(call)
    severities = in_rank_order(set(given["severities"])) if "severities" in given else now.severities
    changed = Ingestion(
        tuple(severities),
        given.get("timezone", now.timezone),
        given.get("access_issue_min_status", now.access_issue_min_status),
        given.get("unlevelled", now.unlevelled),
        now.zone_known or "timezone" in given,
    )
    return _save(call, changed)


def show(call: Call) -> dict[str, Any]:
    """Return the settings as the API has them."""
    now = Ingestion.load(call)
    return {
        "available_severities": list(SEVERITIES),
        "ingested_severities": list(now.severities),
        "defaults": default_severities(call),
        "timezone": now.timezone,
        "access_issue_min_status": now.access_issue_min_status,
        "unlevelled": now.unlevelled,
        "reindex_needed": queries.has_stale_source(call.db, now.stamps(), PARSER_VERSION),
    }


def _save(call: Call, changed: Ingestion) -> dict[str, Any]:
    put_setting(call.db, _KEY, {name: value for name, value in asdict(changed).items() if name != "formats"})
    return show(call)

"""The time zone of this machine, which log lines without an offset are most likely written in."""

import os
from collections.abc import Mapping
from pathlib import Path

from snaglist.kernel import times

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

"""`release-settings`: where the sources can be looked at."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from snaglist.kernel import Call, Endpoint, read, write
from snaglist.kernel.store import get_setting, put_setting

SETTING = "releases"


class ReleaseSettings(NamedTuple):
    """How a source frame becomes a link. `repo_url_template` is empty while nobody has set it."""

    repo_url_template: str = ""
    default_ref: str = ""
    path_prefixes: tuple[str, ...] = ()


def load(call: Call) -> ReleaseSettings:
    """Return the settings of the application; needs an open transaction."""
    stored = get_setting(call.db, SETTING) or {}
    return ReleaseSettings(
        stored.get("repo_url_template", ""), stored.get("default_ref", ""), tuple(stored.get("path_prefixes", ()))
    )


def get_settings(call: Call) -> Mapping[str, Any]:
    """Show the settings."""
    return _show(load(call))


def change_settings(call: Call) -> Mapping[str, Any]:
    """Replace or change the settings: the schema of PUT fills in what is not given."""
    changed = load(call)._replace(**call.body)
    changed = changed._replace(path_prefixes=tuple(dict.fromkeys(changed.path_prefixes)))
    put_setting(call.db, SETTING, changed._asdict())
    return _show(changed)


def _show(settings: ReleaseSettings) -> dict[str, Any]:
    shown = settings._asdict() | {"path_prefixes": list(settings.path_prefixes)}
    return {**shown, "configured": bool(settings.repo_url_template)}


ENDPOINTS = (
    Endpoint(
        "release-settings",
        get=read(get_settings, "releases.read"),
        put=write(change_settings, "settings.write"),
        patch=write(change_settings, "settings.write"),
    ),
)

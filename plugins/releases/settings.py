"""`release-settings`: where the sources can be looked at."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import select

from snaglist.kernel import Call, Endpoint, Invalid, read, write
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.issues import stored as issues
from snaglist.plugins.system import rows

SETTING = "releases"
PLACEHOLDERS = ("path", "line", "release", "ref")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}|[{}]")


class Repository(NamedTuple):
    """How a frame becomes the address of a line: a template, and what is removed from the start of paths."""

    template: str
    path_prefixes: Sequence[str]


class ReleaseSettings(NamedTuple):
    """How frames become links. `repo_url_template` is empty while nobody has set it.

    `modules`: for issues of a module in place of the general template and prefixes, as the API shows them.
    """

    repo_url_template: str = ""
    default_ref: str = ""
    path_prefixes: tuple[str, ...] = ()
    modules: tuple[Mapping[str, Any], ...] = ()

    def repository(self, module_id: int | None) -> Repository | None:
        """Return where the code of a module is, None when nobody has said it."""
        for one in self.modules:
            if one["module_id"] == module_id:
                return Repository(one["repo_url_template"], one["path_prefixes"])
        return Repository(self.repo_url_template, self.path_prefixes) if self.repo_url_template else None


def load(call: Call) -> ReleaseSettings:
    """Return the settings of the application; needs an open transaction."""
    stored = get_setting(call.db, SETTING) or {}
    return ReleaseSettings(
        stored.get("repo_url_template", ""),
        stored.get("default_ref", ""),
        tuple(stored.get("path_prefixes", ())),
        tuple(stored.get("modules", ())),
    )


def get_settings(call: Call) -> Mapping[str, Any]:
    """Show the settings."""
    return _show(call, load(call))


def change_settings(call: Call) -> Mapping[str, Any]:
    """Replace or change the settings: the schema of PUT fills in what is not given."""
    body = dict(call.body)
    _check_placeholders("repo_url_template", body.get("repo_url_template", ""))
    if "modules" in body:
        body["modules"] = _checked_modules(call, body["modules"])
    changed = load(call)._replace(**body)
    changed = changed._replace(path_prefixes=tuple(dict.fromkeys(changed.path_prefixes)))
    put_setting(call.db, SETTING, changed._asdict())
    return _show(call, changed)


def _checked_modules(call: Call, given: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    known = _known(call, (one["module_id"] for one in given))
    seen: set[int] = set()
    for at, one in enumerate(given):
        _check_placeholders(f"modules[{at}].repo_url_template", one["repo_url_template"])
        if one["module_id"] not in known:
            raise Invalid(f"modules[{at}].module_id: there is no module {one['module_id']}")
        if one["module_id"] in seen:
            raise Invalid(f"modules[{at}].module_id: module {one['module_id']} is there twice")
        seen.add(one["module_id"])
    return tuple({**one, "path_prefixes": list(dict.fromkeys(one["path_prefixes"]))} for one in given)


def _check_placeholders(field: str, template: str) -> None:
    for found in _PLACEHOLDER.finditer(template):
        if found[1] not in PLACEHOLDERS:
            names = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
            raise Invalid(f"{field}: {found[0]} is no placeholder; there are {names}")


def _known(call: Call, module_ids: Any) -> set[int]:
    found = rows.among(call.db, select(issues.modules.id), issues.modules.id, set(module_ids))
    return {row.id for row in found}


def _show(call: Call, settings: ReleaseSettings) -> dict[str, Any]:
    known = _known(call, (one["module_id"] for one in settings.modules))
    modules = [one for one in settings.modules if one["module_id"] in known]  # a module may be deleted
    shown = settings._asdict() | {"path_prefixes": list(settings.path_prefixes), "modules": modules}
    return {**shown, "configured": bool(settings.repo_url_template or modules)}


ENDPOINTS = (
    Endpoint(
        "release-settings",
        get=read(get_settings, "releases.read"),
        put=write(change_settings, "settings.write"),
        patch=write(change_settings, "settings.write"),
    ),
)

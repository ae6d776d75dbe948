"""Rules of `tracker-settings`: what fits together, and what a change makes void."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from sqlalchemy import Connection

from snaglist.kernel import Call, Conflict, Invalid, Unavailable, key, times
from snaglist.plugins.system import Refused, form_types
from snaglist.plugins.tracker import position, queries
from snaglist.plugins.tracker import settings as stored
from snaglist.plugins.tracker.contract import Provider, providers
from snaglist.plugins.tracker.kinds import SYNC
from snaglist.plugins.tracker.settings import PREVIOUS, PREVIOUS_HOURS, SECRETS, SHOWN, Settings
from snaglist.plugins.tracker.signatures import SECRET_FORM, is_usable

_SCOPE = ("provider", "project", "team_key", "assigned_to_me")
_LISTS = ("labels", "assignees")
_PLACES = ("endpoint_url", "project", "team_key", "account")


def show(call: Call) -> dict[str, Any]:
    """Return the settings as they are shown: of secrets only whether they are there; needs an open transaction."""
    settings = stored.load(call.db)
    where = position.load(call.db, settings.generation)
    sources = {name: stored.source(call, settings, name) for name in SECRETS}
    return {
        **{name: getattr(settings, name) for name in SHOWN},
        "api_key_configured": sources["api_key"] != "none",
        "api_key_source": sources["api_key"],
        "webhook_configured": sources["webhook_secret"] != "none",
        "webhook_secret_source": sources["webhook_secret"],
        "webhook_url": f"{call.base_url}/?api=tracker-webhook&app={quote(call.application.id)}",
        "env_key_locked": sources["api_key"] == "env",
        "at_rest_encrypted": True,
        "sync": {
            "backfill_complete": where.backfill_complete,
            "synced_through": where.synced_through,
            "in_progress": call.service.jobs.unfinished(call, SYNC),
            "last_error": where.last_error,
        },
    }


def show_with_types(call: Call) -> dict[str, Any]:
    """Return the settings, and what each provider needs of them."""
    return {**show(call), "types": _types(call)}


def _types(call: Call) -> list[dict[str, Any]]:
    """Return the providers for a form; one without a schema has all the fields that there are."""
    known = providers(call)
    shown = form_types(call.service, "tracker", {name: kind.schemas for name, kind in known.items()})
    for one in shown:
        one["schema"].setdefault("properties", {name: {"type": "string"} for name in _PLACES})
        one["reads"] = known[one["name"]].reads
    return shown


def change(call: Call) -> dict[str, Any]:
    """Check and store settings, outside a transaction, because a host is looked at. Fields not given stay.

    PUT and PATCH differ in their schemas: in what has a default.
    """
    body = call.body
    before = call.read(stored.load)
    other = body.get("provider", before.provider) != before.provider
    after = replace(before, **{name: value for name, value in body.items() if name not in SECRETS})
    kind = _provider(call, after)
    after = _tidied(after, kind)
    _check_endpoint(call, after, kind)
    call.service.secrets.prepare()
    sealed = _sealed(call, after, body, {} if other else _kept(call, before, after, kind, body))
    moved = other or any(getattr(after, name) != getattr(before, name) for name in _SCOPE)
    moved = moved or any(not stored.same(getattr(after, name), getattr(before, name)) for name in _LISTS)
    until = _previous_until(call, before, sealed)
    after = replace(
        after,
        webhook_secret_previous_until=until,
        sealed=sealed,
        generation=before.generation + moved,
        updated_at=call.now,
    )
    _check_enabled(call, after, kind)

    def store(db: Connection) -> dict[str, Any]:
        if replace(stored.lock(db), seed=before.seed) != before:  # the seed of what was never stored is always new
            raise Conflict("The settings were changed meanwhile; try again.")
        stored.save(db, after)
        call.forget()
        if moved:
            position.forget(db)
        if other:
            queries.forget_states(db)
        return show(call)

    return call.write(store)


def _provider(call: Call, settings: Settings) -> Provider:
    known = providers(call)
    if settings.provider not in known:
        raise Invalid(f"provider: must be one of {', '.join(known)}")
    return known[settings.provider]


def _tidied(settings: Settings, kind: Provider) -> Settings:
    problems = [f"{name}: a name is given twice" for name in _LISTS if _twice(getattr(settings, name))]
    project = settings.project.upper() if settings.provider == "jira" else settings.project
    if project and kind.project and not kind.project.fullmatch(project):
        problems.append(f"project: must be {kind.project_form}")
    if problems:
        raise Invalid(problems)
    people = [name.lower() if "@" in name else name for name in settings.assignees]
    return replace(settings, project=project, assignees=people, endpoint_url=settings.endpoint_url.rstrip("/"))


def _twice(names: list[str]) -> bool:
    return len({key(name) for name in names}) < len(names)


def _check_endpoint(call: Call, settings: Settings, kind: Provider) -> None:
    if not settings.endpoint_url:
        if not kind.endpoint:
            raise Invalid(f"endpoint_url: is required for {settings.provider}")
        return
    if kind.reads and not {"?", "#"}.isdisjoint(settings.endpoint_url):  # paths are added to it
        raise Invalid("endpoint_url: must not have a query or fragment")
    try:
        call.service.outbound.check_url(settings.endpoint_url)
    except Refused as error:
        raise Invalid(f"endpoint_url: {error.message}") from error


def _kept(call: Call, before: Settings, after: Settings, kind: Provider, body: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the stored secrets that stay: a stored key is not sent to another host than the one it was given for."""
    old, new = (_host(stored.address(kind, one.endpoint_url)) for one in (before, after))
    if "api_key" not in before.sealed or old in (new, None):
        return before.sealed
    if after.enabled and "api_key" not in body and not stored.configured(call, after, "api_key"):
        raise Invalid("api_key: is required again, because endpoint_url names another host than it was given for")
    return {name: text for name, text in before.sealed.items() if name != "api_key"}


def _host(address: str) -> tuple[str, str | None, int] | None:
    """Return scheme, host and port, None for no address."""
    parts = urlsplit(address)
    return (parts.scheme, parts.hostname, parts.port or (80 if parts.scheme == "http" else 443)) if address else None


def _sealed(call: Call, settings: Settings, body: Mapping[str, Any], before: Mapping[str, str]) -> dict[str, str]:
    sealed = dict(before)
    for name in SECRETS:
        if name not in body:
            continue
        if stored.configured(call, settings, name):
            raise Invalid(f"{name}: the environment sets it (SERVICE_TRACKER_{name.upper()})")
        text = body[name].strip()  # as those of the environment: a line end is copied easily
        if name == "api_key" and not (text.isascii() and text.isprintable()):
            raise Invalid("api_key: must be one line of ASCII characters")
        if name == "webhook_secret":
            if text and not is_usable(text):
                raise Invalid(f"webhook_secret: must be {SECRET_FORM}, or empty to clear it")
            _keep_previous(call, settings, sealed, text)
        sealed.pop(name, None)
        if text:
            sealed[name] = stored.seal(call, name, text)
    return sealed


def _keep_previous(call: Call, settings: Settings, sealed: dict[str, str], new: str) -> None:
    """Let the secret that `new` replaces be taken for a time; when it is cleared, what was before goes too."""
    try:
        old = stored.secret(call, settings, "webhook_secret") if "webhook_secret" in sealed else ""
    except Unavailable:  # it cannot be opened, and so opens nothing
        old = ""
    if new and new == old:
        return
    sealed.pop(PREVIOUS, None)
    if new and old and is_usable(old):
        sealed[PREVIOUS] = stored.seal(call, PREVIOUS, old)


def _previous_until(call: Call, before: Settings, sealed: Mapping[str, str]) -> str | None:
    """Return until when the secret before is taken; None when there is none."""
    if PREVIOUS not in sealed:
        return None
    kept = sealed[PREVIOUS] == before.sealed.get(PREVIOUS)
    return before.webhook_secret_previous_until if kept else times.add(call.now, seconds=3600 * PREVIOUS_HOURS)


def _check_enabled(call: Call, settings: Settings, kind: Provider) -> None:
    if not settings.enabled:
        return
    if kind.project and not settings.project:
        raise Invalid(f"project: is required for {settings.provider}, {kind.project_form}")
    name = "api_key" if kind.reads else "webhook_secret"
    if stored.lacks(call, settings, name):
        raise Invalid(stored.missing(call, name, "is required before the tracker can be enabled"))

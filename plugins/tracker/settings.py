"""The settings of an application's tracker as they are stored, its secrets, and opening the tracker with them."""

import base64
import dataclasses
import secrets as randomness
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from typing import cast
from urllib.parse import urlsplit

from sqlalchemy import Connection

from snaglist.kernel import Call, Unavailable, key
from snaglist.kernel.store import get_setting, put_setting
from snaglist.plugins.system import StoredSecret, decoded
from snaglist.plugins.tracker import queries
from snaglist.plugins.tracker.contract import Opening, Provider, Tracker, TrackerFailure, Wanted, providers
from snaglist.plugins.tracker.guarding import Guarded
from snaglist.plugins.tracker.reach import NOT_MEANT, may_go

SETTING = "tracker"
SECRETS = ("api_key", "webhook_secret")
PREVIOUS = "webhook_secret_previous"
PREVIOUS_HOURS = 24  # a secret that was replaced is taken that long, so that the tracker can be given the new one
DEFAULT = "linear"
WITHOUT_TEAMS = ("github", "gitlab", "jira", "generic")


@dataclass(frozen=True, slots=True)
class Settings:
    """What is stored. `generation` grows when the position of the pull loses its meaning; `seed` marks our items.

    `sealed` holds the stored secrets by name, sealed and in base64.
    """

    provider: str = DEFAULT
    enabled: bool = False
    endpoint_url: str = ""
    project: str = ""
    team_key: str = ""
    account: str = ""
    labels: list[str] = field(default_factory=list)
    assigned_to_me: bool = False
    assignees: list[str] = field(default_factory=list)
    status_writeback: bool = False
    status_writeback_comment: bool = True
    status_pull: bool = True
    webhook_secret_previous_until: str | None = None
    updated_at: str | None = None
    generation: int = 0
    seed: str = field(default_factory=lambda: randomness.token_hex(6))
    sealed: Mapping[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> Wanted:
        """Which items are pulled."""
        return Wanted(
            "" if self.provider in WITHOUT_TEAMS else self.team_key,
            self.project,
            tuple(self.labels),
            tuple(self.assignees),
            self.assigned_to_me,
        )


SHOWN = tuple(one.name for one in fields(Settings) if one.name not in ("generation", "seed", "sealed"))


def load(db: Connection) -> Settings:
    """Return the settings of the application, the defaults where nothing was stored."""
    return Settings(**(get_setting(db, SETTING) or {}))


def save(db: Connection, settings: Settings) -> None:
    """Store settings."""
    put_setting(db, SETTING, asdict(settings))


def configured(call: Call, settings: Settings, name: str) -> str:
    """Return a secret that the configuration gives for this tracker, "" for none."""
    given = str(call.setting(f"tracker.{name}")).strip()
    if not given or name != "api_key":  # the other one signs, and is not sent
        return given
    kind = providers(call).get(settings.provider)
    return given if kind and may_go(call, address(kind, settings.endpoint_url)) else ""


def lacks(call: Call, settings: Settings, name: str) -> bool:
    """Tell whether a secret is missing."""
    return source(call, settings, name) == "none"


def missing(call: Call, name: str, what: str) -> str:
    """Return the message about a secret that is missing: `what` of it, and why the one of the environment is not it."""
    return f"{name}: {what}; {NOT_MEANT}" if str(call.setting(f"tracker.{name}")).strip() else f"{name}: {what}"


def source(call: Call, settings: Settings, name: str) -> str:
    """Return where a secret comes from: env, stored or none."""
    return "env" if configured(call, settings, name) else "stored" if settings.sealed.get(name) else "none"


def secret(call: Call, settings: Settings, name: str) -> str:
    """Return a secret, "" when there is none; raises Unavailable when a stored one cannot be opened."""
    sealed = settings.sealed.get(name)
    if (given := configured(call, settings, name)) or not sealed:
        return given
    return _open(call, name, sealed)


def webhook_secrets(call: Call, settings: Settings) -> list[str]:
    """Return the secrets that webhooks may be signed with: the one in force, and for a time the one before it."""
    secrets = [secret(call, settings, "webhook_secret")]
    if configured(call, settings, "webhook_secret"):
        secrets.append(str(call.setting("tracker.previous_webhook_secret")).strip())
    elif (before := settings.sealed.get(PREVIOUS)) and call.now < (settings.webhook_secret_previous_until or ""):
        with suppress(Unavailable):  # the one in force is enough
            secrets.append(_open(call, PREVIOUS, before))
    return secrets


def _open(call: Call, name: str, sealed: str) -> str:
    try:
        return call.service.secrets.open(call.application.id, _field(name), base64.b64decode(sealed))
    except ValueError as error:
        raise Unavailable(f"The stored {name} is damaged; set it anew.") from error


def seal(call: Call, name: str, text: str) -> str:
    """Return a secret sealed for the application."""
    return base64.b64encode(call.service.secrets.seal(call.application.id, _field(name), text)).decode()


def stored(call: Call) -> Iterator[StoredSecret]:
    """Give the sealed secrets, in the open transaction."""
    for name, value in load(call.db).sealed.items():

        def replace(again: bytes, name: str = name) -> None:
            before = load(call.db)
            save(call.db, dataclasses.replace(before, sealed={**before.sealed, name: base64.b64encode(again).decode()}))

        yield StoredSecret(_field(name), f"{name} of the tracker", decoded(value), replace)


def provider(call: Call, settings: Settings) -> Provider:
    """Return the provider of the settings; raises TrackerFailure when it is not installed any more."""
    found = providers(call).get(settings.provider)
    if found is None:
        raise TrackerFailure(f"The provider {settings.provider} is not installed.")
    return found


def open_tracker(call: Call, settings: Settings, *, patient: bool = True) -> Tracker:
    """Open the tracker of the settings; outside a transaction. Raises TrackerFailure or Unavailable."""
    kind = provider(call, settings)
    if kind.reads and lacks(call, settings, "api_key"):
        raise TrackerFailure(missing(call, "api_key", "is not set"))
    opening = Opening(
        call,
        address(kind, settings.endpoint_url),
        settings.account,
        secret(call, settings, "api_key"),
        secret(call, settings, "webhook_secret"),
        settings.wanted,
        patient,
    )
    return cast(Tracker, Guarded(kind.open(opening)))


def address(kind: Provider, given: str) -> str:
    """Return where the API is: an address without a path stands for the vendor's usual one."""
    if not given:
        return kind.endpoint
    bare = given.rstrip("/")
    return bare + kind.default_path if not urlsplit(bare).path else bare


def same(one: list[str], other: list[str]) -> bool:
    """Tell whether two lists hold the same names."""
    return {key(name) for name in one} == {key(name) for name in other}


def lock(db: Connection) -> Settings:
    """Return the settings, kept from others until the end of the transaction."""
    return Settings(**(queries.locked_setting(db, SETTING) or {}))


def _field(name: str) -> str:
    return f"tracker.{name}"

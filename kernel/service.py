"""One running snaglist: settings, plugins, databases and jobs, put together."""

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from snaglist.kernel import store
from snaglist.kernel.addresses import parse_networks
from snaglist.kernel.applications import Application, Applications
from snaglist.kernel.auth import Keys
from snaglist.kernel.call import LOCAL, Actor, Call
from snaglist.kernel.database import Database
from snaglist.kernel.endpoints import Endpoint
from snaglist.kernel.errors import Unavailable
from snaglist.kernel.jobs import Jobs
from snaglist.kernel.origin import Hosts, is_loopback
from snaglist.kernel.outbound import Outbound
from snaglist.kernel.plugins import DISTRIBUTION, Plugin, Plugins
from snaglist.kernel.privacy import make_folder, narrow
from snaglist.kernel.schemas import Schemas
from snaglist.kernel.secrets import KEY_FILE, Secrets
from snaglist.kernel.settings import ConfigurationError, Settings
from snaglist.kernel.steps import CORE, Step, StepFailed, Steps

log = logging.getLogger("snaglist")

_CREATED = "application"
_OTHER_STEPS = "The database schema does not fit this version: run `snaglist db upgrade`."
_UNLIKE = "The table {} was made by an unreleased version: `snaglist db dump` with that, `db load --replace` with this."


class WrongSchema(Unavailable):
    """The application's database is behind or newer than the code."""


class Service:
    """The parts of one installation in one process. `start` makes it usable."""

    def __init__(self, settings: Settings, *, bound: str | None = None) -> None:
        self.version = version("snaglist")
        self.settings = settings
        self.keys = Keys(settings["auth.token"], settings["auth.previous_token"])
        self.plugins = Plugins(settings["plugins.disabled"], trace=settings["log.hook_trace"])
        self.plugins.load(reserved=_reserved(settings))
        self.database = Database(settings)
        self.schemas = Schemas()
        self.jobs = Jobs(self)
        self.steps = Steps(self.database, store.schema_step, self._owners)
        self.registry_steps = Steps(self.database, store.registry_schema_step, lambda: [])
        self.applications = Applications(self)
        self.secrets = Secrets(self)
        self.outbound = Outbound(parse_networks(settings["outbound.allow_private"]))
        self.proxies = parse_networks(settings["server.trusted_proxies"])
        # Set by a host that can name its people: (environ, application id) → `id` and `label` of each.
        self.assignable_users: Callable[[Mapping[str, Any], str], list[dict[str, str]]] | None = None
        self.bound = bound
        self.hosts = self._hosts()
        self._take_contributions()

    def start(self) -> None:
        """Make the registry, the first application and, when configured, apply pending schema steps."""
        try:
            make_folder(self.settings.data)
        except OSError as error:
            raise ConfigurationError(f"server.data: {self.settings.data}: {error.strerror}") from error
        narrow(self.settings.data / KEY_FILE)
        self.applications.start(upgrade=self.settings["database.auto_upgrade"])
        for application in self.applications.all():
            try:
                self.introduce(application)
            except WrongSchema as error:
                log.error("application %s: %s", application.id, error.message)

    def close(self) -> None:
        """Close all connections."""
        self.database.dispose()

    def call(self, application: Application | None = None, actor: Actor | None = LOCAL) -> Call:
        """Return a call for work outside a request; without an application it acts on the first."""
        return Call(self, application or self.applications.all()[0], actor)

    @property
    def file_node(self) -> str:
        """The node that tells equal paths of several machines apart, empty where one machine has all files."""
        if self.database.engine_name == "sqlite" or self.settings["server.shared_data"]:
            return ""
        return str(self.settings.node)

    def require_schema(self, application: Application) -> None:
        """Raise Unavailable when the application's database is behind or newer than the code."""
        state = self.applications.state(application)
        if not state.current:
            raise WrongSchema(_UNLIKE.format(state.unlike) if state.unlike else _OTHER_STEPS, retry_after=10)

    def endpoints(self) -> dict[str, tuple[Endpoint, Plugin]]:
        """All endpoints by name with the plugin they belong to."""
        return {e.name: (e, plugin) for plugin in self.plugins.loaded() for e in plugin.endpoints}

    def body_limit(self, endpoint: Endpoint) -> int:
        """Return how many bytes a body for this endpoint may have."""
        limit = endpoint.body_limit
        return limit if isinstance(limit, int) else int(self.settings[limit])

    def show_path(self, call: Call, path: str | Path) -> str:
        """Return a path as the caller may see it: relative to the data directory, else in full or its base name."""
        text, root = str(path), f"{self.settings.data}{os.sep}"
        if text.startswith(root):
            return text.removeprefix(root)
        return text if not os.path.isabs(text) or call.may("connectors.write") else os.path.basename(text)

    def introduce(self, application: Application) -> None:
        """Give a new application its plugins' state and tell the plugins, once."""
        call = self.call(application, None)
        with call.transaction(write=False) as db:
            if store.get_setting(db, _CREATED):
                return
        with call.transaction() as db:
            enabled = set(self.settings["plugins.enabled"])
            for plugin in self.plugins.loaded():
                if plugin.id in enabled and not plugin.core:
                    self.plugins.switch(call, plugin, True)
            call.emit("application_changed", change="created")
            store.put_setting(db, _CREATED, {"version": self.version})

    def _owners(self) -> list[str]:
        return [plugin.id for plugin in self.plugins.loaded()]

    def _take_contributions(self) -> None:
        self.registry_steps.add(Step(CORE, "s001", store.create_registry))
        self.steps.add(Step(CORE, "s001", store.create_core))
        for plugin in self.plugins.loaded():
            try:  # snaglist's own are held by its tests
                self.schemas.verify(plugin.endpoints if plugin.distribution != DISTRIBUTION else ())
            except ValueError as error:
                self.plugins.fail(plugin, "register_endpoints", error)
        for plugin in self.plugins.loaded():
            for option in plugin.options:
                self.settings.add(option)
            for job in plugin.jobs:
                self.jobs.add(plugin.id, job)
            for step in plugin.steps:
                self.steps.add(step)

    def upgrade_application(self, application: Application) -> list[Step]:
        """Apply pending steps; a plugin whose step fails is taken out, so that the rest goes on without it."""
        while True:
            try:
                return self.steps.upgrade(application)
            except StepFailed as failure:
                plugin = self.plugins.find(failure.step.owner)
                if plugin is None or plugin.core:
                    raise
                self.take_out(plugin, f"step {failure.step.name}", failure.__cause__ or failure)

    def take_out_older(self, newer: Iterable[tuple[str, str]]) -> bool:
        """Take out installed plugins older than their tables, which the rest can do without; True for any."""
        found = [(self.plugins.find(owner), step) for owner, step in newer]
        older = [(plugin, step) for plugin, step in found if plugin and plugin.distribution != DISTRIBUTION]
        for plugin, step in older:
            self.take_out(plugin, f"step {step}", "the database is of a newer version of this plugin: install that")
        return bool(older)

    def take_out(self, plugin: Plugin, hook: str, error: BaseException | str) -> None:
        """Go on without a plugin that does not work with the databases."""
        self.plugins.fail(plugin, hook, error)
        self.steps.forget(plugin.id)
        self.jobs.forget(plugin.id)

    def _hosts(self) -> Hosts:
        bound = self.bound or ""
        open_loopback = not self.keys.required and bool(bound) and is_loopback(bound)
        allowed, url = self.settings["server.allowed_hosts"], self.settings["server.url"]
        return Hosts(allowed, url, open_loopback=open_loopback, bound=bound)


def _reserved(settings: Settings) -> dict[str, set[str]]:
    return {
        "options": {option.name for option in settings.options},
        "tables": {table.name for table in (store.schema_step, store.settings, store.jobs)},
    }

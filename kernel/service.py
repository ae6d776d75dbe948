"""One running snaglist: settings, plugins, databases and jobs, put together."""

import logging
import threading
from collections.abc import Callable, Container, Iterable, Mapping
from functools import partial
from importlib.metadata import version
from typing import Any, TypeVar, cast

from snaglist.kernel import hookspecs, store
from snaglist.kernel.applications import Application, Applications
from snaglist.kernel.auth import Keys
from snaglist.kernel.call import LOCAL, Actor, Call
from snaglist.kernel.database import Database
from snaglist.kernel.endpoints import Endpoint
from snaglist.kernel.errors import Unavailable
from snaglist.kernel.faults import BEHIND, NEWER, Unusable
from snaglist.kernel.installation import Jobs, Outbound, Secrets
from snaglist.kernel.origin import Hosts, is_loopback, parse_networks
from snaglist.kernel.plugin import DISTRIBUTION, Plugin
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.privacy import make_folder, narrow
from snaglist.kernel.schemas import Schemas
from snaglist.kernel.settings import ConfigurationError, Settings
from snaglist.kernel.steps import CORE, Step, StepFailed, Steps

__all__ = ["CREATED", "KEY_FILE", "Service"]

log = logging.getLogger("snaglist")

CREATED = "application"
KEY_FILE = "secret.key"
T = TypeVar("T")


class Service:
    """The parts of one installation in one process. `start` makes it usable."""

    def __init__(self, settings: Settings, *, bound: str | None = None, plugins: Plugins | None = None) -> None:
        self.version = version("snaglist")
        self.settings = settings
        self.keys = Keys(settings["auth.token"], settings["auth.previous_token"])
        self.plugins = plugins or Plugins.of(settings)
        self.database = Database(settings)
        self.schemas = Schemas(lambda name: self.plugins.types(hookspecs.open_schemas)[name](self))
        self.steps = Steps(self.database, store.schema_step, lambda: [plugin.id for plugin in self.plugins.loaded()])
        self.registry_steps = Steps(self.database, store.registry_schema_step, lambda: [])
        self.applications = Applications(
            self.database,
            settings,
            self.steps,
            self.registry_steps,
            upgrade=self.upgrade_application,
            take_out_older=self.take_out_older,
        )
        self._parts: dict[Any, Any] = {}
        self._making = threading.RLock()
        self.jobs: Jobs
        self.secrets: Secrets
        self.outbound: Outbound
        self.proxies = parse_networks(settings["server.trusted_proxies"])
        # Set by a host that can name its people: (environ, application id) → `id` and `label` of each.
        self.assignable_users: Callable[[Mapping[str, Any], str], list[dict[str, str]]] | None = None
        # Set by a host too: environ → the address where its people sign in, "" when it does not say.
        self.login_url: Callable[[Mapping[str, Any]], str] | None = None
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
        self.applications.start()
        for application in self.applications.all():
            try:  # what is wrong with one of them keeps no other from working
                self._start_application(application)
            except Unavailable as error:
                if error.__cause__ is None:  # else the log has it
                    log.error("%s `snaglist doctor` says what to do.", error.message)

    def _start_application(self, application: Application) -> None:
        self.applications.try_folders(application)
        if self.settings["database.auto_upgrade"]:
            self.upgrade_registered(application)
        self.introduce(application)

    def close(self) -> None:
        """Close all connections."""
        self.database.dispose()

    def call(self, application: Application | None = None, actor: Actor | None = LOCAL) -> Call:
        """Return a call for work outside a request; without an application it acts on the first."""
        return Call(self, application or self.applications.all()[0], actor)

    def part(self, make: "Callable[[Service], T]") -> T:
        """Return what `make` made of this service: on the first call, or before."""
        with self._making:
            if make not in self._parts:
                self._parts[make] = make(self)
            return cast("T", self._parts[make])

    @property
    def file_node(self) -> str:
        """The node that tells equal paths of several machines apart, empty where one machine has all files."""
        if self.database.engine_name == "sqlite" or self.settings["server.shared_data"]:
            return ""
        return str(self.settings.node)

    def require_schema(self, application: Application) -> None:
        """Raise Unusable when the application's database is not as the code needs it."""
        state = self.applications.state(application)
        if not state.current:
            fault = state.fault or (NEWER if state.newer else BEHIND)
            what = ""
            if fault is NEWER and (version := self._made_by(application)):
                what = f"The {application.label} {fault.said}, {version}"
            self.database.faults.note(application, fault)  # last: a transaction that went well would disprove it
            raise Unusable(application, fault, what)

    def _made_by(self, application: Application) -> str:
        """Return the other version that made a database, or upgraded it last; "" where it did not say."""
        with self.database.transaction(application, write=False) as db:
            version: str = store.get_setting(db, CREATED, {}).get("version", "")
        return "" if version == self.version else version

    def endpoints(self) -> dict[str, tuple[Endpoint, Plugin]]:
        """All endpoints by name with the plugin they belong to."""
        return {found.name: (found, plugin) for plugin, found in self.plugins.added(hookspecs.register_endpoints)}

    def body_limit(self, endpoint: Endpoint) -> int:
        """Return how many bytes a body for this endpoint may have."""
        limit = endpoint.body_limit
        return limit if isinstance(limit, int) else int(self.settings[limit])

    def introduce(self, application: Application) -> None:
        """Give a new application its plugins' state and tell the plugins, once."""
        call = self.call(application, None)
        if call.read(lambda db: store.get_setting(db, CREATED)):
            return
        with call.transaction() as db:
            enabled = set(self.settings["plugins.enabled"])
            for plugin in self.plugins.loaded():
                if plugin.id in enabled and not plugin.core:
                    self.plugins.switch(call, plugin, True)
            self.plugins.emit(hookspecs.application_changed, call, "created", every=True)
            store.put_setting(db, CREATED, {"version": self.version})

    def _take_contributions(self) -> None:
        self.registry_steps.add(Step(CORE, "s001", store.create_registry))
        self.registry_steps.add(Step(CORE, "s002", store.create_activity))
        self.steps.add(Step(CORE, "s001", store.create_core))
        for plugin in self.plugins.loaded():
            for option in plugin.values(hookspecs.register_settings):
                # A vital one that is wrong is for the operator to mend.
                self.plugins.attempt(
                    plugin, "register_settings", partial(self.settings.add, option), ConfigurationError
                )
        for asked, check in self.plugins.calls(hookspecs.check_plugin):
            for plugin in self.plugins.loaded():
                self.plugins.attempt(asked, "check_plugin", partial(self._refuse, plugin, check))
        for plugin in self.plugins.loaded():
            for name, make in plugin.added.get("service_parts", ()):
                self.plugins.attempt(plugin, "service_parts", partial(self._add_part, name, make), ConfigurationError)
        for plugin in self.plugins.loaded():
            for _, step in plugin.added.get("register_steps", ()):
                self.steps.add(step)

    def _refuse(self, plugin: Plugin, check: Callable[..., Iterable[tuple[str, BaseException | str]]]) -> None:
        for hook, what in check(self, plugin):
            self.plugins.fail(plugin, hook, what)

    def _add_part(self, name: str, make: "Callable[[Service], object]") -> None:
        setattr(self, name, make(self))

    def upgrade_registered(self, application: Application) -> list[Step]:
        """Apply pending steps to a known application; its database is never made anew: Unusable where it is gone."""
        state = self.steps.state(application)
        if state.fault:
            raise Unusable(application, state.fault)
        if not state.pending:
            return []
        applied = self.upgrade_application(application)
        with self.database.transaction(application, write=True) as db:
            if store.get_setting(db, CREATED):
                store.put_setting(db, CREATED, {"version": self.version})
        return applied

    def upgrade_application(
        self, application: Application, *, only: Container[tuple[str, str]] | None = None
    ) -> list[Step]:
        """Apply pending steps (of `only`) to a database that is there.

        A plugin whose step fails is taken out, so that the rest goes on without it.
        """
        applied: list[Step] = []
        while True:
            try:
                return applied + self.steps.upgrade(application, only=only)
            except StepFailed as failure:
                applied += failure.applied
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

    def _hosts(self) -> Hosts:
        bound = self.bound or ""
        open_loopback = not self.keys.required and bool(bound) and is_loopback(bound)
        allowed, url = self.settings["server.allowed_hosts"], self.settings["server.url"]
        return Hosts(allowed, url, open_loopback=open_loopback, bound=bound)

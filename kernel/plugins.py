"""Plugins: found by entry point, loaded one by one so that a broken one harms nobody, asked at call time.

Nothing is registered or unregistered at run time: whether a plugin is on in an application is read from
that application's database with every request or batch, so a switch holds in every process at once.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from importlib import metadata
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any

import click
import pluggy
from sqlalchemy import Connection, Table

from snaglist.kernel import hookspecs, store, times
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.endpoints import Assets, Endpoint, Path
from snaglist.kernel.engines import TransactionEnded, ends_transaction, is_aborted
from snaglist.kernel.hookspecs import Description
from snaglist.kernel.jobs import Job
from snaglist.kernel.plugin import BLOCKED, DISTRIBUTION, Plugin, way_on
from snaglist.kernel.settings import Option
from snaglist.kernel.steps import Step
from snaglist.kernel.text import clip

if TYPE_CHECKING:
    from snaglist.kernel.call import Call

log = logging.getLogger("snaglist")

GROUP = "snaglist.plugins"
entry_points: Any = cache(metadata.entry_points)  # searching what is installed takes longer than the rest of a start
_ID = re.compile(r"[a-z][a-z0-9_]{0,40}", re.ASCII)
_SETTING = "plugin."
# The area `system` registers `check(plugin, hook, *new)` of this kind: it raises for what a plugin may not hand over.
REGISTRATION = "registration"
# And `look(service, plugin)`: it gives hooks and what is wrong with what they registered, now that all is there.
WHOLE = "whole_registration"
_MESSAGE = 300
Check = Callable[[Any], Any]
TypeCheck = Callable[[str, Any], None]
_SLOW_SECONDS = 2.0  # a hook runs inside the transaction of a request or batch: others wait for it


def _as_it_is(value: Any) -> Any:
    return value


class Plugins:
    """All plugins of this process and the fan-out of hooks to them."""

    def __init__(self, disabled: Iterable[str] = (), *, trace: bool = False) -> None:
        self._manager = pluggy.PluginManager("snaglist")
        self._manager.add_hookspecs(hookspecs)
        self._disabled = {normal(name) for name in disabled}
        self._plugins: dict[str, Plugin] = {}
        self._types: dict[str, dict[str, Any]] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self._asking = threading.RLock()  # or other threads would find some of a kind while the first one asks
        self._trace = trace

    def load(self) -> None:
        """Load every entry point of the group; failures are recorded, never raised."""
        for point in sorted(entry_points(group=GROUP), key=lambda p: (_about(p.dist)[0] != DISTRIBUTION, p.name)):
            self._load(point, *_about(point.dist))
        for plugin in self.loaded():
            try:
                self._check(plugin, "describe", plugin.description)
            except Exception as error:
                plugin.description = Description(plugin.id, plugin.id, "", "", "")  # what it says can be shown nowhere
                self.fail(plugin, "load", error)
        self._sort()
        for plugin in self.loaded():
            self._collect(plugin)

    def all(self) -> list[Plugin]:
        """Every plugin found, failed ones included, in load order."""
        return list(self._plugins.values())

    def loaded(self) -> list[Plugin]:
        """The plugins that work, in load order: core areas first."""
        return [plugin for plugin in self._plugins.values() if plugin.error is None]

    def find(self, plugin_id: str) -> Plugin | None:
        """Return a plugin by id."""
        return self._plugins.get(plugin_id)

    def fail(self, plugin: Plugin, hook: str, error: BaseException | str) -> None:
        """Take a plugin out because a hook of it failed at start."""
        message = error if isinstance(error, str) else describe(error)
        plugin.error, plugin.failed_hook, plugin.failed_at = clip(message, _MESSAGE), hook, times.now()
        log.error("plugin %s failed in %s: %s; %s", plugin.id, hook, plugin.error, way_on(plugin))

    def assets(self) -> list[Assets]:
        """The dashboard parts of all loaded plugins."""
        return [assets for plugin in self.loaded() for assets in plugin.assets]

    def types(self, kind: str, check: TypeCheck | None = None) -> Mapping[str, Any]:
        """Return what plugins registered for a kind, such as connector types, by name.

        `check(name, value)` raises for a value that is none of the kind; the plugin that registers it is `failed`.
        """
        with self._asking:
            if kind not in self._types:
                known: dict[str, Any] = {}
                self._types[kind] = known
                for plugin in self.loaded():
                    own: dict[str, Any] = {}
                    register = partial(self._take_type, plugin, kind, own, check)
                    if self._attempt(plugin, "register_types", kind=kind, register=register):
                        known |= own
                        self._owners |= {(kind, name): plugin.id for name in own}
            return self._types[kind]

    def _take_type(
        self, plugin: Plugin, kind: str, own: dict[str, Any], check: TypeCheck | None, name: str, value: Any
    ) -> None:
        if name in own or name in self._types[kind]:
            raise ValueError(f"{name} is registered already")
        self._check(plugin, "register_types", kind, name, value)
        if check:
            check(name, value)
        own[name] = value

    def owner(self, kind: str, name: str) -> str:
        """Return the id of the plugin that registered a value of a kind under a name."""
        return self._owners[kind, name]

    def commands(self, cli: Any) -> None:
        """Let plugins add commands to the command line."""
        for plugin in self.loaded():
            before, options = dict(cli.commands), list(cli.params)
            fine = self._attempt(plugin, "register_commands", cli=cli)
            found = cli.commands if isinstance(cli.commands, dict) else {"commands": None}
            if odd := [name for name, added in found.items() if not isinstance(added, click.Command)]:
                self.fail(plugin, "register_commands", f"{odd[0]!r} is no command of click")
                fine = False
            if replaced := [name for name, known in before.items() if found.get(name) is not known]:
                self.fail(plugin, "register_commands", f"command {replaced[0]} is registered already")
            cli.params = options
            if replaced or not fine:
                cli.commands = before
            for name in found.keys() - before.keys():
                self._check(plugin, "register_commands", found[name])

    # -- state per application

    def enabled(self, db: Connection, plugin_id: str) -> bool:
        """Tell whether a plugin works and is on in the application of the transaction."""
        plugin = self._plugins.get(plugin_id)
        if plugin is None or plugin.error is not None:
            return False
        return plugin.core or bool((store.get_setting(db, _SETTING + plugin_id) or {}).get("enabled"))

    def states(self, db: Connection) -> dict[str, dict[str, Any]]:
        """Return the stored state of every plugin: `enabled` and `last_error`."""
        return {key.removeprefix(_SETTING): value for key, value in store.get_settings(db, _SETTING).items()}

    def is_failing(self, db: Connection, plugin: Plugin, hook: str) -> bool:
        """Tell whether the last error of a plugin in the application of the transaction is that of this hook."""
        state = store.get_setting(db, _SETTING + plugin.id) or {}
        return (state.get("last_error") or {}).get("hook") == hook

    def switch(self, call: "Call", plugin: Plugin, on: bool) -> None:
        """Store the new state and tell the plugin."""
        changed = self._store(call, plugin, enabled=on).get("enabled", False) != on
        call.forget()
        if changed:
            self.emit("plugin_switched", call, only=plugin, on=on)

    # -- fan-out

    def emit(self, hook: str, call: "Call", *check: Check, only: Plugin | None = None, **known: Any) -> dict[str, Any]:
        """Call a robust hook of the enabled plugins; returns their results by plugin id, each as `check` returns it."""
        accept = check[0] if check else _as_it_is
        active = self._active(hook, call, only)
        results = {plugin.id: self._guarded(plugin, state, hook, call, known, accept) for plugin, state in active}
        return {plugin_id: result for plugin_id, result in results.items() if result is not None}

    def chain(self, hook: str, call: "Call", name: str, value: Any, *rules: Check) -> Any:
        """Pass a value through the enabled plugins; a failing one, or one whose result is refused, leaves it."""
        copy, check = rules or (_as_it_is, _as_it_is)
        for plugin, state in self._active(hook, call, None):
            given = copy(value)

            def checked(result: Any, given: Any = given) -> Any:  # what was changed in place is checked too
                return check(given if result is None else result)

            changed = self._guarded(plugin, state, hook, call, {name: given}, checked)
            value = value if changed is None else changed
        return value

    def _active(self, hook: str, call: "Call", only: Plugin | None) -> list[tuple[Plugin, dict[str, Any]]]:
        asked = [plugin for plugin in self.loaded() if hook in plugin.hooks and only in (None, plugin)]
        if asked and call.plugin_states is None:
            call.plugin_states = self.states(call.db)
        states = call.plugin_states or {}
        every = only is not None or hook == "application_changed"
        found = [(plugin, states.get(plugin.id, {})) for plugin in asked]
        return [(plugin, state) for plugin, state in found if every or plugin.core or state.get("enabled")]

    def _guarded(
        self, plugin: Plugin, state: dict[str, Any], hook: str, call: "Call", arguments: dict[str, Any], check: Check
    ) -> Any:
        """Call a hook in a savepoint and return its result as `check` does; None when it failed."""
        begun = time.monotonic()
        try:
            with call.savepoint():
                result = contained(lambda: check(self._call(plugin, hook, call=call, **arguments)))
                if call.connection and is_aborted(call.connection):
                    raise RuntimeError("a failed statement was ignored")
        except Exception as error:
            if isinstance(error, TransactionEnded):
                log.error("plugin %s, hook %s: %s", plugin.id, hook, error)
            if ends_transaction(error):
                raise
            log.exception("plugin %s failed in %s", plugin.id, hook)
            self.note(call, plugin, hook, describe(error))
            return None
        took = time.monotonic() - begun
        if took > _SLOW_SECONDS:
            log.warning("plugin %s took %.1f s in %s", plugin.id, took, hook)
            self.note(call, plugin, hook, f"slow: took {took:.1f} s, and everything waits for it; use a job")
        elif (state.get("last_error") or {}).get("hook") == hook:
            self.note(call, plugin, hook, None)
        return result

    def note(self, call: "Call", plugin: Plugin, hook: str, message: str | None) -> None:
        """Store what went wrong in an application as the plugin's `last_error`, None when it is well again.

        In the open transaction; nothing is stored in one for reading.
        """
        if call.read_only:
            return
        self._store(call, plugin, last_error=message and {"hook": hook, "message": message, "at": times.now()})

    def _store(self, call: "Call", plugin: Plugin, **changed: Any) -> dict[str, Any]:
        """Change a plugin's state in the application and return what it was."""
        state = store.get_setting(call.db, _SETTING + plugin.id) or {}
        store.put_setting(call.db, _SETTING + plugin.id, {**state, **changed})
        call.plugin_states = None
        return state

    # -- loading

    def _load(self, point: EntryPoint, distribution: str, version: str) -> None:
        name = point.name if point.name not in self._plugins else f"{distribution}:{point.name}"
        plugin = Plugin(name, distribution, Description(name, name, "", "", version))
        self._plugins[name] = plugin
        denied = {normal(point.name), normal(distribution)} & self._disabled
        if denied and distribution != DISTRIBUTION:  # not even imported
            self.fail(plugin, "load", BLOCKED)
            return
        if name != point.name:
            self.fail(plugin, "load", f"the id {point.name} is taken by another plugin")
            return
        try:
            contained(self._import, point, plugin)
            if denied and not plugin.core:  # core areas are always there: everything else stands on them
                self.fail(plugin, "load", BLOCKED)
        except Exception as error:
            self.fail(plugin, "load", error)

    def _import(self, point: EntryPoint, plugin: Plugin) -> None:
        module = point.load()
        self._manager.register(module, plugin.id)
        plugin.hooks = dict(self._implementations(module))
        description = module.describe()
        if not isinstance(description, Description) or not _ID.fullmatch(description.id):
            raise TypeError("describe() must return a Description whose id is like my_plugin")
        if description.id != plugin.id:
            raise ValueError(f"describe() says id {description.id}, the entry point {plugin.id}")
        if description.core and plugin.distribution != DISTRIBUTION:
            raise ValueError("describe(): only areas of snaglist itself can be core")
        plugin.description = description

    def _implementations(self, module: Any) -> Iterator[tuple[str, pluggy.HookImpl]]:
        for caller in self._manager.get_hookcallers(module) or ():
            if not caller.has_spec():
                raise ValueError(f"unknown hook {caller.name}")
            implementation = next(i for i in caller.get_hookimpls() if i.plugin is module)
            if implementation.hookwrapper or implementation.wrapper:
                raise ValueError(f"{caller.name}: wrappers are not supported")
            yield caller.name, implementation

    def _sort(self) -> None:
        """Core areas first, each after those it names in `after`, so that foreign keys find their tables."""
        waiting = sorted(self._plugins.values(), key=lambda p: not p.core)
        ordered: dict[str, Plugin] = {}
        while waiting:
            ids = {plugin.id for plugin in waiting}
            ready = next((p for p in waiting if not ids & set(p.description.after) - {p.id}), waiting[0])
            waiting.remove(ready)
            ordered[ready.id] = ready
        self._plugins = ordered

    def _collect(self, plugin: Plugin) -> None:
        """Call the collect hooks of a plugin."""

        def taking(hook: str, kind: type, name: str, added: str) -> Callable[[Any], None]:
            """Return `register()` for things of a kind, told apart by an attribute, in a list of the plugin."""

            def register(new: Any) -> None:
                if not isinstance(new, kind):
                    raise TypeError(f"register() takes {kind.__name__}, not {type(new).__name__}")
                self._check(plugin, hook, new)
                wanted = getattr(new, name)
                taken = {getattr(item, name) for other in self.loaded() for item in getattr(other, added)}
                if wanted in taken:
                    raise ValueError(f"{kind.__name__.lower()} {wanted} is registered already")
                getattr(plugin, added).append(new)

            return register

        def parser(new: Any) -> None:
            self._check(plugin, "register_parsers", new)
            plugin.parsers.append(new)

        def health_check(name: str, check: Callable[[], bool]) -> None:
            self._check(plugin, "health_checks", name, check)
            plugin.checks.append((name, check))

        step = taking("register_steps", Step, "label", "steps")
        registrars: dict[str, Callable[..., None]] = {
            "register_endpoints": taking("register_endpoints", Endpoint, "name", "endpoints"),
            "register_paths": taking("register_paths", Path, "pattern", "paths"),
            "register_tables": taking("register_tables", Table, "name", "tables"),
            "register_steps": lambda name, run: step(Step(plugin.id, name, run)),
            "register_settings": taking("register_settings", Option, "name", "options"),
            "register_jobs": taking("register_jobs", Job, "kind", "jobs"),
            "register_parsers": parser,
            "health_checks": health_check,
        }
        for hook, register in registrars.items():
            self._attempt(plugin, hook, register=register)
        self._attempt(plugin, "dashboard_assets", taking("dashboard_assets", Assets, "name", "assets"))

    def _check(self, plugin: Plugin, hook: str, *new: Any) -> None:
        for check in self.types(REGISTRATION).values():
            contained(check, plugin, hook, *new)

    def _attempt(self, plugin: Plugin, hook: str, take: Callable[[Any], None] | None = None, **arguments: Any) -> bool:
        """Call a collect hook and take in what it returns; a plugin whose hook fails is taken out."""
        if hook not in plugin.hooks or plugin.error is not None:
            return False

        def attempt() -> None:
            result = self._call(plugin, hook, **arguments)
            if take and result is not None:
                take(result)

        try:
            contained(attempt)
        except Exception as error:
            self.fail(plugin, hook, error)
        return plugin.error is None

    def _call(self, plugin: Plugin, hook: str, **known: Any) -> Any:
        """Call an implementation with the arguments it asks for."""
        implementation = plugin.hooks[hook]
        if self._trace:
            log.info("hook %s.%s(%s)", plugin.id, hook, ", ".join(implementation.argnames))
        return implementation.function(**{name: known[name] for name in implementation.argnames})


@cache  # every answer of a distribution parses its file of metadata anew
def _about(distribution: Any) -> tuple[str, str]:
    """Return name and version of what a plugin was installed from; its file of metadata may be damaged."""
    if distribution is None:
        return DISTRIBUTION, ""
    try:
        return str(distribution.name or "unknown"), str(distribution.version or "")
    except Exception:
        return "unknown", ""


def normal(name: str) -> str:
    """Return the name of a plugin or distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()

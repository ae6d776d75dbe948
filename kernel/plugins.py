"""Plugins: found by entry point, loaded one by one so that a broken one harms nobody, asked at call time.

pluggy finds the implementations of a hook and checks their arguments. They are called one by one, because each is
contained by itself. Whether a plugin is on in an application is a row of its settings: a batch reads it, requests
remember it for a second at most (`Call.remembered`).
"""

import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from importlib import metadata
from importlib.metadata import EntryPoint
from inspect import getmembers, isfunction, signature
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args, get_origin, get_type_hints

import click
import pluggy
from sqlalchemy import Connection

from snaglist.kernel import hookspecs, store, times
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.engines import TransactionEnded, ends_transaction, is_aborted
from snaglist.kernel.plugin import BLOCKED, DISTRIBUTION, Description, Plugin, normal, way_on
from snaglist.kernel.settings import Settings
from snaglist.kernel.steps import Step
from snaglist.kernel.text import clip

if TYPE_CHECKING:
    from snaglist.kernel.call import Call

__all__ = ["DISTRIBUTION", "Plugins", "normal", "way_on"]

log = logging.getLogger("snaglist")
P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
R = TypeVar("R")

GROUP = "snaglist.plugins"
CORE_GROUP = "snaglist.core"  # the areas of GROUP that cannot be switched off, so that this is known before an import
CHANGED = 'see "Changes of the contract in 0.2" in docs/plugins.md'
entry_points: Any = cache(metadata.entry_points)  # searching what is installed takes longer than the rest of a start
_ID = re.compile(r"[a-z][a-z0-9_]{0,40}", re.ASCII)
_TYPE = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)
_SETTING = "plugin."
_MESSAGE = 300
_SLOW_SECONDS = 2.0  # a hook runs inside the transaction of a request or batch: others wait for it
# What two plugins cannot both add, and the attribute that tells; of dataclasses it is `name`.
_UNIQUE = {
    "register_paths": "pattern", "register_tables": "name", "register_steps": "label", "register_commands": "name",
}  # fmt: skip
# These are not collected with the others: they are asked before there are hooks, or by the command line only.
_APART = ("describe", "register_hookspecs", "register_commands")


class Plugins:
    """All plugins of this process and the fan-out of hooks to them."""

    def __init__(self, disabled: Iterable[str] = (), *, trace: bool = False) -> None:
        self._manager = pluggy.PluginManager("snaglist")
        self._manager.add_hookspecs(hookspecs)
        self._disabled = {normal(name) for name in disabled}
        self._plugins: dict[str, Plugin] = {}
        self._own: set[tuple[str, str]] = set()  # plugins, with the hooks that they brought
        self._trace = trace

    @classmethod
    def of(cls, settings: Settings) -> "Plugins":
        """Load the plugins as the settings say."""
        plugins = cls(settings["plugins.disabled"], trace=settings["log.hook_trace"])
        plugins.load()
        return plugins

    def load(self) -> None:
        """Load every entry point of the group; failures are recorded, never raised."""
        core = {point.name for point in entry_points(group=CORE_GROUP)}
        for point in sorted(entry_points(group=GROUP), key=lambda p: (_about(p.dist)[0] != DISTRIBUTION, p.name)):
            self._load(point, *_about(point.dist), core)
        self._sort()
        for hook, prepare in (("register_hookspecs", self._add_hookspecs), ("load", self._register)):
            for plugin in self.loaded():
                self.attempt(plugin, hook, partial(prepare, plugin))
        for plugin in self.loaded():
            for hook in plugin.hooks:
                if hook not in _APART and not self._specification(hook).argnames:
                    self.attempt(plugin, hook, partial(self._collect, plugin, hook))

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

    def attempt(self, plugin: Plugin, hook: str, ask: Callable[[], object], let: Any = ()) -> None:
        """Ask a plugin something at start; when it fails, it is taken out. `let` goes through."""
        if plugin.error is None:
            try:
                contained(ask)
            except let:
                raise
            except Exception as error:
                self.fail(plugin, hook, error)

    def added(self, hook: Callable[[], Sequence[T]]) -> list[tuple[Plugin, T]]:
        """Return what plugins added by a collect hook, each with its plugin."""
        return [(plugin, value) for plugin, _ in self.calls(hook) for value in plugin.values(hook)]

    def types(self, hook: Callable[[], Mapping[str, T]]) -> dict[str, T]:
        """Return what plugins added by name by a collect hook."""
        return {name: value for plugin, _ in self.calls(hook) for name, value in plugin.added.get(hook.__name__, ())}

    def calls(self, hook: Callable[P, R]) -> list[tuple[Plugin, Callable[P, R]]]:
        """Return the implementations of a hook in their order, each with its plugin, for whoever calls them itself."""
        name = hook.__name__
        asked = [plugin for plugin in self.loaded() if name in plugin.hooks]
        asked.sort(key=lambda plugin: plugin.hooks[name].trylast - plugin.hooks[name].tryfirst)
        return [(plugin, self._implementation(plugin, name)) for plugin in asked]

    def commands(self) -> list[tuple[Plugin, click.Command]]:
        """Ask the plugins for their commands."""
        for plugin, _ in self.calls(hookspecs.register_commands):
            self.attempt(plugin, "register_commands", partial(self._collect, plugin, "register_commands"))
        return self.added(hookspecs.register_commands)

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
            self.emit(hookspecs.plugin_switched, call, on, only=plugin)

    # -- fan-out

    def emit(
        self,
        hook: Callable[["Call", V], R],
        call: "Call",
        value: V,
        check: Callable[[Any], R] | None = None,
        *,
        only: Plugin | None = None,
        every: bool = False,
    ) -> dict[str, R]:
        """Call a robust hook of the plugins that are on, `only` of one, or of `every` one; returns results by plugin.

        `check` returns a result as it is to be taken; when it raises, the plugin failed.
        """
        results: dict[str, R] = {}
        for plugin, function, state in self._active(hook, call, only, every):
            result = self._guarded(plugin, state, hook.__name__, call, partial(function, call, value), check)
            if result is not None:
                results[plugin.id] = result
        return results

    def chain(
        self,
        hook: Callable[["Call", T], T | None],
        call: "Call",
        value: T,
        copy: Callable[[T], T] | None = None,
        check: Callable[[Any], T] | None = None,
    ) -> T:
        """Pass a value through the plugins that are on; one that fails, or whose result is refused, leaves it.

        `copy` makes what a plugin gets and may change; `check` returns a result as it is to be taken.
        """
        for plugin, function, state in self._active(hook, call):
            given = copy(value) if copy else value

            def ask(function: Callable[["Call", T], T | None] = function, given: T = given) -> T:
                changed = function(call, given)
                return given if changed is None else changed  # what was changed in place is checked too

            changed = self._guarded(plugin, state, hook.__name__, call, ask, check)
            value = value if changed is None else changed
        return value

    def _active(
        self, hook: Callable[P, R], call: "Call", only: Plugin | None = None, every: bool = False
    ) -> list[tuple[Plugin, Callable[P, R], dict[str, Any]]]:
        asked = [(plugin, function) for plugin, function in self.calls(hook) if only in (None, plugin)]
        if asked and call.plugin_states is None:
            call.plugin_states = self.states(call.db)
        states = call.plugin_states or {}
        found = [(plugin, function, states.get(plugin.id, {})) for plugin, function in asked]
        return [one for one in found if only or every or one[0].core or one[2].get("enabled")]

    def _guarded(
        self,
        plugin: Plugin,
        state: dict[str, Any],
        hook: str,
        call: "Call",
        ask: Callable[[], Any],
        check: Callable[[Any], Any] | None,
    ) -> Any:
        """Call a hook in a savepoint and return its result as `check` does; None when it failed."""
        begun = time.monotonic()
        try:
            with call.savepoint():
                result = contained(lambda: check(ask()) if check else ask())
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
        if not call.read_only:
            self._store(call, plugin, last_error=message and {"hook": hook, "message": message, "at": times.now()})

    def _store(self, call: "Call", plugin: Plugin, **changed: Any) -> dict[str, Any]:
        """Change a plugin's state in the application and return what it was."""
        state = store.get_setting(call.db, _SETTING + plugin.id) or {}
        store.put_setting(call.db, _SETTING + plugin.id, {**state, **changed})
        call.plugin_states = None
        return state

    # -- loading

    def _load(self, point: EntryPoint, distribution: str, version: str, core: set[str]) -> None:
        name = point.name if point.name not in self._plugins else f"{distribution}:{point.name}"
        plugin = self._plugins[name] = Plugin(name, distribution, Description(name, name, "", "", version))
        denied = {normal(point.name), normal(distribution)} & self._disabled
        if denied and not (distribution == DISTRIBUTION and point.name in core):  # not even imported
            self.fail(plugin, "load", BLOCKED)
        elif name != point.name:
            self.fail(plugin, "load", f"the id {point.name} is taken by another plugin")
        else:
            self.attempt(plugin, "load", partial(self._import, point, plugin))

    def _import(self, point: EntryPoint, plugin: Plugin) -> None:
        plugin.module = point.load()
        description = plugin.module.describe()
        if not isinstance(description, Description) or not _ID.fullmatch(description.id):
            raise TypeError("describe() must return a Description whose id is like my_plugin")
        if description.id != plugin.id:
            raise ValueError(f"describe() says id {description.id}, the entry point {plugin.id}")
        if description.core and plugin.distribution != DISTRIBUTION:
            raise ValueError("describe(): only areas of snaglist itself can be core")
        plugin.description = description

    def _add_hookspecs(self, plugin: Plugin) -> None:
        if hasattr(plugin.module, "register_hookspecs"):
            namespace = plugin.module.register_hookspecs()
            for name, function in getmembers(namespace, lambda one: hasattr(one, "snaglist_spec")):
                self._own.add((plugin.id, name))
                if not signature(function).parameters:
                    _returned(function)  # before others can implement it
            self._manager.add_hookspecs(namespace)

    def _register(self, plugin: Plugin) -> None:
        """Let pluggy look at the implementations of a plugin, and note them."""
        module = plugin.module
        for name, function in getmembers(module, isfunction):
            if hasattr(function, "snaglist_impl") and {"register", "cli"} & {*signature(function).parameters}:
                raise ValueError(f"{name}(): since 0.2 a hook returns what it adds: {CHANGED}")
        self._manager.register(module, plugin.id)
        for caller in self._manager.get_hookcallers(module) or ():
            implementation = next(one for one in caller.get_hookimpls() if one.plugin is module)
            if not caller.has_spec() and not implementation.optionalhook:
                raise ValueError(f"unknown hook {caller.name}; one of an area that may be missing is an `optionalhook`")
            if implementation.hookwrapper or implementation.wrapper:
                raise ValueError(f"{caller.name}: wrappers are not supported")
            if caller.has_spec():
                plugin.hooks[caller.name] = implementation

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

    def _collect(self, plugin: Plugin, hook: str) -> None:
        """Take in what a plugin adds; a value of another kind than the hook returns, or a name taken, is refused."""
        taken = {name for other in self.loaded() for name, _ in other.added.get(hook, ())} - {None}
        checks = [check for one, check in self.calls(hookspecs.check_added) if one.core or (one.id, hook) in self._own]
        kind, found = _read(self._specification(hook).function, self._implementation(plugin, hook)(), plugin.id)
        for name, value in found:
            if not isinstance(value, kind):
                raise TypeError(f"{hook}() must return {kind.__name__}, not {type(value).__name__}")
            for check in checks:
                check(plugin, hook, name, value)
            if attribute := _UNIQUE.get(hook, "name" if is_dataclass(value) and name is None else ""):
                name = getattr(value, attribute)
            if name in taken:
                raise ValueError(f"{kind.__name__.lower()} {name} is registered already")
            taken |= {name} - {None}
            plugin.added.setdefault(hook, []).append((name, value))

    def _specification(self, hook: str) -> Any:
        return getattr(self._manager.hook, hook).spec

    def _implementation(self, plugin: Plugin, hook: str) -> Callable[..., Any]:
        """Return an implementation as a function of all arguments of its hook."""
        implementation, names = plugin.hooks[hook], self._specification(hook).argnames

        def call(*arguments: Any, **named: Any) -> Any:
            if self._trace:
                log.info("hook %s.%s(%s)", plugin.id, hook, ", ".join(implementation.argnames))
            known = dict(zip(names, arguments, strict=False)) | named
            return implementation.function(**{name: known[name] for name in implementation.argnames})

        return call


@cache
def _returned(function: Callable[..., Any]) -> tuple[type, Any]:
    """Return what kind of collection a hook returns, and of which class what is in it is; raises for anything else."""
    returns = get_type_hints(function).get("return")
    collection, kinds = get_origin(returns), get_args(returns)
    if not isinstance(collection, type) or not issubclass(collection, Iterable):
        raise TypeError(f"{function.__name__}(): a hook without arguments returns a Sequence[…] or a Mapping[str, …]")
    return collection, get_origin(kinds[-1]) or kinds[-1]


def _read(function: Callable[..., Any], result: Any, owner: str) -> tuple[type, Iterable[tuple[Any, Any]]]:
    """Return the class that a collect hook adds, and pairs of name and value of a result; a name only in a mapping."""
    collection, kind = _returned(function)
    if result is None:
        return kind, ()
    by_name = issubclass(collection, Mapping)
    if isinstance(result, Mapping) != by_name or isinstance(result, str) or not hasattr(result, "__iter__"):
        wanted, given = collection.__name__.lower(), type(result).__name__
        raise TypeError(f"{function.__name__}() must return a {wanted} of {kind.__name__}, not {given}")
    if by_name:
        if odd := [name for name in result if not isinstance(name, str) or not _TYPE.fullmatch(name)]:
            raise ValueError(f"{function.__name__}(): {odd[0]!r:.60}: a name must be like my_type")
        return kind, result.items()
    if kind is tuple:
        return Step, ((None, Step(owner, name, run)) for name, run in result)
    return kind, ((None, value) for value in result)


@cache  # every answer of a distribution parses its file of metadata anew
def _about(distribution: Any) -> tuple[str, str]:
    """Return name and version of what a plugin was installed from; its file of metadata may be damaged."""
    if distribution is None:
        return DISTRIBUTION, ""
    try:
        return str(distribution.name or "unknown"), str(distribution.version or "")
    except Exception:
        return "unknown", ""

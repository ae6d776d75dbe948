"""One plugin: what is known of it and what it contributes."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pluggy

T = TypeVar("T")
DISTRIBUTION = "snaglist"
BLOCKED = "blocked by plugins.disabled"


@dataclass(frozen=True, slots=True)
class Description:
    """What a plugin is. `id`: `^[a-z][a-z0-9_]{0,40}$`, equal to its entry point's name.

    Core areas cannot be switched off. `after` names plugins whose tables this one's refer to. `lacks` says what
    does not work until something is installed; the list of plugins and `snaglist doctor` show it.
    """

    id: str
    name: str
    description: str
    category: str
    version: str
    core: bool = False
    after: tuple[str, ...] = ()
    lacks: str = ""

    def __post_init__(self) -> None:
        """Refuse what could not be shown or put in order."""
        for name in ("name", "description", "category", "version", "lacks"):
            if not isinstance(getattr(self, name), str):
                raise TypeError(f"describe(): {name}: must be a text, not {getattr(self, name)!r:.60}")
        if not isinstance(self.after, tuple | list) or not all(isinstance(one, str) for one in self.after):
            raise TypeError(f"describe(): after: must be a tuple of texts, not {self.after!r:.60}")


@dataclass(slots=True)
class Plugin:
    """One entry point and what it contributes; `error` is set when it could not be loaded."""

    id: str
    distribution: str
    description: Description
    module: Any = None
    hooks: dict[str, pluggy.HookImpl] = field(default_factory=dict)
    error: str | None = None
    failed_hook: str = "load"
    failed_at: str | None = None
    added: dict[str, list[tuple[Any, Any]]] = field(default_factory=dict)  # by collect hook: names, if any, and values

    def values(self, hook: Callable[[], Sequence[T]]) -> list[T]:
        """Return what it added by a collect hook."""
        return [value for _, value in self.added.get(hook.__name__, ())]

    @property
    def core(self) -> bool:
        """True for areas that cannot be switched off."""
        return self.description.core


def way_on(plugin: Plugin) -> str:
    """Return in words how to go on beside a plugin that failed; its data stays, whatever is done."""
    if plugin.core:
        return "it is a part of snaglist"
    if plugin.error == BLOCKED:
        return "taken out of there, it is back with its data"
    return f"all else goes on without it; mend it, uninstall it, or set SERVICE_DISABLED_PLUGINS={plugin.id}"


def normal(name: str) -> str:
    """Return the name of a plugin or distribution as it is compared."""
    return re.sub(r"[-_.]+", "-", name.strip()).lower()

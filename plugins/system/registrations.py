"""What plugins register, looked at when they do: what is only used later would fail there, in somebody else's work.

For the hooks `check_added` and `check_plugin`. Each `check_…` raises TypeError or ValueError; the plugin is `failed`
then, with the message.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from itertools import product
from pathlib import PurePosixPath
from typing import Any

import click
from jsonschema import Draft202012Validator
from sqlalchemy import Table

from snaglist.kernel import Assets, Endpoint, Operation, Option, Path, Plugin, ServiceError, hookspecs, store
from snaglist.kernel.containment import contained, describe
from snaglist.kernel.endpoints import METHODS
from snaglist.kernel.plugins import DISTRIBUTION
from snaglist.kernel.service import Service
from snaglist.kernel.settings import KERNEL_OPTIONS, ConfigurationError
from snaglist.kernel.steps import Step, StepFailed
from snaglist.plugins.system.hookspecs import HealthCheck, register_jobs
from snaglist.plugins.system.jobs import tables
from snaglist.plugins.system.jobs.job import Job

log = logging.getLogger("snaglist")

_ENDPOINT = re.compile(r"[a-z][a-z0-9-]{0,63}", re.ASCII)
_SETTING = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+", re.ASCII)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", re.ASCII)
# As long as the columns that hold them.
_KIND, _UNIT, _STEP = 40, 20, 100
# What a command raises to say something to its user.
_SAID = (
    click.ClickException,
    click.Abort,
    click.exceptions.Exit,
    ServiceError,
    ConfigurationError,
    StepFailed,
    OSError,
)
_KERNEL_TABLES = {table.name for table in (store.schema_step, store.settings, tables.jobs)}


def _text(what: str, value: Any, longest: int | None = None, *, empty: bool = False) -> None:
    if not isinstance(value, str) or not (value.strip() or empty):
        raise TypeError(f"{what}: must be a text, not {value!r:.60}")
    if longest is not None and len(value) > longest:
        raise ValueError(f"{what}: must have at most {longest} characters")


def _callable(what: str, value: Any, *, optional: bool = False) -> None:
    if not callable(value) and not (optional and value is None):
        raise TypeError(f"{what}: must be a function, not {value!r:.60}")


def _texts(what: str, value: Any) -> None:
    if not isinstance(value, tuple | list) or not all(isinstance(one, str) for one in value):
        raise TypeError(f"{what}: must be a tuple of texts, not {value!r:.60}")


def _pattern(what: str, value: Any) -> None:
    _text(what, value, empty=True)
    try:
        re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{what}: {value!r:.60} is no regular expression: {error}") from error


def _number(what: str, value: Any, kinds: tuple[type, ...] = (int,), least: float | None = None) -> None:
    fits: bool = type(value) in kinds and (least is None or value >= least)
    if not fits:
        raise TypeError(f"{what}: must be a number{'' if least is None else f' from {least}'}, not {value!r:.60}")


def check_endpoint(new: Endpoint) -> None:
    """Look at the fields of an endpoint; whether its schemas can be used is looked at when all are there."""
    if not isinstance(new.name, str) or not _ENDPOINT.fullmatch(new.name):
        raise ValueError(f"endpoint {new.name!r}: name must be like my-endpoint")
    what = f"endpoint {new.name}"
    for method in METHODS:
        if (operation := getattr(new, method)) is not None:
            _check_operation(f"{what}, {method}", operation)
    if not hasattr(new.schemas, "joinpath"):
        raise TypeError(f"{what}: schemas: must be a folder like files(__name__) / 'schemas', not {new.schemas!r:.60}")
    if not isinstance(new.body_limit, str):  # else the name of a setting, which the kernel looks for
        _number(f"{what}: body_limit", new.body_limit, least=0)
    _callable(f"{what}: authenticate", new.authenticate, optional=True)
    _callable(f"{what}: select", new.select, optional=True)
    _texts(f"{what}: cross_origin", new.cross_origin)
    if unfit := [name for name in new.cross_origin if not _TOKEN.fullmatch(name)]:
        raise ValueError(f"{what}: cross_origin: {unfit[0]!r} is no name of a header")


def _check_operation(what: str, operation: Any) -> None:
    if not isinstance(operation, Operation):
        raise TypeError(f"{what}: must be read(…), write(…) or own(…), not {operation!r:.60}")
    _callable(f"{what}: handler", operation.handler)
    if operation.ability is not None:
        _text(f"{what}: ability", operation.ability)
    if operation.transaction not in ("read", "write", "own"):
        raise ValueError(f"{what}: transaction must be read, write or own, not {operation.transaction!r:.60}")
    statuses = operation.statuses
    if not isinstance(statuses, tuple) or not statuses or not all(type(s) is int and 200 <= s < 600 for s in statuses):
        raise ValueError(f"{what}: statuses must be numbers from 200 to 599, not {statuses!r:.60}")


def check_path(new: Path, endpoints: list[Endpoint]) -> None:
    """Look at a path; `endpoints` are those of the same plugin."""
    _pattern("path", new.pattern)
    _callable(f"path {new.pattern!r}: handler", new.handler, optional=True)
    own = {endpoint.name for endpoint in endpoints if endpoint.authenticate}
    if (new.handler is None) == (not new.api) or (new.api and new.api not in own):
        raise ValueError(f"path {new.pattern!r}: needs a handler, or the api of an own endpoint with authenticate")


def check_table(new: Table) -> None:
    """Look at a table: what it refers to must be there, or no dump could put the tables in order."""
    if new.name in _KERNEL_TABLES:
        raise ValueError(f"table {new.name} is registered already")
    for key in new.foreign_keys:
        key.column  # noqa: B018 - raises for a table or column that there is not


def check_step(new: Step) -> None:
    """Look at a schema step."""
    _text("step", new.name, _STEP)
    _callable(f"step {new.name}", new.run)


def check_option(new: Option) -> None:
    """Look at a configuration key; its default has to fit."""
    if not isinstance(new.name, str) or not _SETTING.fullmatch(new.name):
        raise ValueError(f"setting {new.name!r:.60}: name must be like my_plugin.key")
    if any(new.name == option.name for option in KERNEL_OPTIONS):
        raise ValueError(f"option {new.name} is registered already")
    what = f"setting {new.name}"
    _text(f"{what}: reason", new.reason, empty=True)
    _pattern(f"{what}: pattern", new.pattern)
    _texts(f"{what}: choices", new.choices)
    for limit in (new.minimum, new.maximum):
        if limit is not None:
            _number(f"{what}: limits", limit, (int, float))
    if isinstance(new.default, list):
        _texts(f"{what}: default", new.default)
    elif type(new.default) not in (bool, int, float, str):
        raise TypeError(f"{what}: default: must be a text, number, boolean or list of texts, not {new.default!r:.60}")
    try:
        new.read(new.default)
        new.wanted  # noqa: B018 - is said of a value that does not fit
    except Exception as error:
        raise ValueError(f"{what}: its own default does not fit: {type(error).__name__}: {error}") from error


def check_job(new: Job) -> None:
    """Look at a kind of job; the setting that `every` names is looked for by the kernel."""
    _text("job: kind", new.kind, _KIND)
    what = f"job {new.kind}"
    _callable(f"{what}: run", new.run)
    for name in ("due", "rests", "watch"):
        _callable(f"{what}: {name}", getattr(new, name), optional=True)
    _text(f"{what}: unit", new.unit, _UNIT, empty=True)
    _number(f"{what}: max_attempts", new.max_attempts, least=1)
    if new.every is not None:
        _text(f"{what}: every", new.every)


def check_health_check(new: HealthCheck) -> None:
    """Look at a check of the health."""
    _text("health check", new.name)
    what = f"health check {new.name}"
    _callable(what, new.check)
    _callable(f"{what}: asked", new.asked)
    _text(f"{what}: hint", new.hint)


def check_assets(new: Assets, plugin_id: str) -> None:
    """Look at a plugin's part of the dashboard."""
    if new.name != plugin_id:
        raise ValueError(f"dashboard_assets(): name must be {plugin_id}, the plugin's id")
    if not hasattr(new.root, "joinpath"):
        raise TypeError(f"dashboard_assets(): root: must be a folder like files(__name__) / 'ui', not {new.root!r:.60}")
    _text("dashboard_assets(): module", new.module)
    _texts("dashboard_assets(): styles", new.styles)
    for name in (new.module, *new.styles):
        if ".." in PurePosixPath(name).parts or not new.root.joinpath(name).is_file():
            raise ValueError(f"dashboard_assets(): there is no file {name}")


def check(plugin: Plugin, hook: str, value: Any) -> None:
    """Look at what a plugin hands over in a collect hook."""
    if hook in _CHECKS:
        _CHECKS[hook](value)
    elif hook == "register_paths":
        check_path(value, plugin.values(hookspecs.register_endpoints))
    elif hook == "dashboard_assets":
        check_assets(value, plugin.id)
    elif hook == "register_commands" and plugin.distribution != DISTRIBUTION:
        name_failures(plugin, value)


def name_failures(plugin: Plugin, command: click.Command) -> None:
    """Let a command, and those below it, say whose it is when it fails unforeseen; `sys.exit` is no failure."""
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        name_failures(plugin, below)
    callback = command.callback
    if callback is None:
        return

    @wraps(callback)
    def run(*arguments: Any, **named: Any) -> Any:
        try:
            return contained(callback, *arguments, **named)
        except _SAID:
            raise
        except Exception as error:
            if isinstance(error.__cause__, SystemExit):
                raise error.__cause__ from None
            log.debug("command %s of plugin %s failed", command.name, plugin.id, exc_info=error)
            said = f"command {command.name} of plugin {plugin.id} failed: {describe(error)}"
            raise click.ClickException(said) from error

    command.callback = run


def look(service: Service, plugin: Plugin) -> Iterator[tuple[str, BaseException | str]]:
    """Give hooks and what is wrong with what they added: settings that they name, parts, schemas of endpoints."""
    named: list[tuple[str, Any]] = [("register_jobs", job.every) for job in plugin.values(register_jobs)]
    endpoints = plugin.values(hookspecs.register_endpoints)
    named += [("register_endpoints", endpoint.body_limit) for endpoint in endpoints]
    numbers = {option.name for option in service.settings.options if type(option.default) in (int, float)}
    for hook, name in named:
        if isinstance(name, str) and name not in numbers:
            yield hook, f"there is no setting {name} that is a number"
    for name, _ in plugin.added.get("service_parts", ()):
        if hasattr(service, name):
            yield "service_parts", f"a service has {name} already"
    try:  # snaglist's own are held by its tests
        contained(_check_schemas, service, endpoints if plugin.distribution != DISTRIBUTION else ())
    except Exception as error:
        yield "register_endpoints", error


def _check_schemas(service: Service, endpoints: Iterable[Endpoint]) -> None:
    """Raise ValueError, naming the file, when a schema of these endpoints cannot be used or is missing."""
    for endpoint, method, part in product(endpoints, METHODS, ("query", "body", "response")):
        try:
            found = service.schemas.find(endpoint.schemas, endpoint.name, method, part)
            if found is None and _is_needed(endpoint, method, part):
                raise FileNotFoundError("is missing; is its folder package data?")
            Draft202012Validator.check_schema(found.contents if found else True)
        except Exception as error:
            reason = getattr(error, "message", error)
            raise ValueError(f"schema {endpoint.name}/{method}-{part}.json: {reason}") from error


def _is_needed(endpoint: Endpoint, method: str, part: str) -> bool:
    """Tell whether a method has to describe a part: its answer, and the body unless the endpoint reads it."""
    with_body = method in ("post", "put", "patch") and not endpoint.authenticate
    return endpoint.operation(method) is not None and part in (("response", "body") if with_body else ("response",))


_CHECKS: dict[str, Callable[..., None]] = {
    "register_endpoints": check_endpoint,
    "register_tables": check_table,
    "register_steps": check_step,
    "register_settings": check_option,
    "register_jobs": check_job,
    "health_checks": check_health_check,
}

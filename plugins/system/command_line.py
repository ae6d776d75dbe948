"""The command line: a session with the common options; the commands come from the areas.

Results go to stdout, messages and progress to stderr.
"""

import functools
import json
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NoReturn

import click

from snaglist.kernel import Actor, Application, Call, Invalid, NotFound
from snaglist.kernel.gate import Gate
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.service import Service
from snaglist.kernel.settings import Settings
from snaglist.kernel.text import harmless, query_text, visible

COMMAND_LINE = Actor("cli", "cli", ("owner",))
COMMON = ("app", "data", "config", "json", "quiet")


class JsonLines(logging.Formatter):
    """One JSON object per record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


class Lines(logging.Formatter):
    """Text for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line of a record, and those of its traceback."""
        return harmless(super().format(record))


def configure_logging(settings: Settings) -> None:
    """Send the service's log to stderr in the configured form."""
    handler = logging.StreamHandler(sys.stderr)
    plain = Lines("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(JsonLines() if settings["log.format"] == "json" else plain)
    for name, level in (("snaglist", settings["log.level"].upper()), ("waitress", "ERROR")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)


class Session:
    """One run of a command: its common options, and the service opened on first use."""

    def __init__(self, options: Mapping[str, Any], plugins: Plugins | None = None) -> None:
        self.app: str | None = options.get("app")
        self.as_json = bool(options.get("json"))
        self.quiet = bool(options.get("quiet"))
        self._data = options.get("data")
        self._config = options.get("config")
        self._plugins = plugins
        self._service: Service | None = None

    def settings(self, **overrides: Any) -> Settings:
        """Read the configuration."""
        chosen = {"server.data": self._data, "config": self._config, **overrides}
        return Settings({name: value for name, value in chosen.items() if value is not None})

    @property
    def plugins(self) -> Plugins:
        """The plugins of this process: loaded once, without those that the configuration keeps out."""
        if self._plugins is None:
            self._plugins = Plugins.of(self.settings())
        return self._plugins

    def open(self, *, bound: str | None = None, start: bool = True, **overrides: Any) -> Service:
        """Open the service once; later calls return the same."""
        if self._service is None:
            settings = self.settings(**overrides)
            configure_logging(settings)
            self._service = Service(settings, bound=bound, plugins=self._plugins)
            if start:
                self._service.start()
        return self._service

    def application(self) -> Application:
        """The application chosen by `--app`, by default the first."""
        applications = self.open().applications
        found = applications.all()[0] if self.app is None else applications.find(self.app)
        if found is None:
            raise Invalid(f"--app: there is no application {self.app!r}: see `snaglist apps list`")
        return found

    def call(self) -> Call:
        """Return a call of the chosen application, acting as the command line."""
        return Call(self.open(), self.application(), COMMAND_LINE)

    def request(self, api: str, method: str = "GET", body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """Run an operation of the API in this process and return its JSON answer; raises ServiceError."""
        service = self.open()
        if api not in (endpoints := service.endpoints()):
            raise NotFound(f"There is no endpoint {api}: see its plugin in `snaglist doctor`.")
        call = Call(service, self.application() if endpoints[api][0].application else None, COMMAND_LINE)
        texts = {name: query_text(value) for name, value in query.items() if value is not None}
        return Gate(service).perform(call, api, method, texts, dict(body or {})).body

    def print(self, document: Any, text: str) -> None:
        """Print the result: the document with `--json` (in ASCII: every terminal and pipe takes it), else the text."""
        click.echo(json.dumps(document) if self.as_json else harmless(text))

    def note(self, text: str) -> None:
        """Print a message for people to stderr, unless `--quiet`."""
        if not self.quiet:
            click.echo(harmless(text), err=True)

    def exit(self, code: int) -> NoReturn:
        """End the command with an exit code."""
        raise click.exceptions.Exit(code)

    @contextmanager
    def progress(self, title: str) -> Iterator[Callable[[int, int | None, str], None]]:
        """Give a function `(done, total, text)` that moves a progress bar; it shows on terminals only."""
        if self.as_json or self.quiet or not sys.stderr.isatty():
            yield lambda done, total, text: None
            return
        from rich.console import Console  # heavy, and only needed here
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}", markup=False)
        with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=None, text="")
            yield lambda done, total, text: bar.update(task, completed=done, total=total, text=harmless(text))

    def close(self) -> None:
        """Close what was opened."""
        if self._service:
            self._service.close()


def confirmed(yes: bool, command: str, phrase: str, what: str) -> None:
    """Have a phrase typed before a command does what cannot be undone, unless the caller said --yes."""
    if not yes and not sys.stdin.isatty():
        raise click.UsageError(f"{command} needs --yes when there is no terminal to ask on")
    if not yes and click.prompt(f'Type "{phrase}" to {what}', err=True) != phrase:
        raise Invalid(f"must be exactly {phrase}")


def _cell(text: str) -> str:
    """Keep a text on its line: a name with a line break would print a row of its own."""
    return visible(text).replace("\n", "\\n")


def table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return an aligned table, a line for each row; columns that hold numbers are right-aligned."""
    cells = [list(headers), *(["" if cell is None else _cell(str(cell)) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = [bool(rows) and all(isinstance(row[i], int | None) for row in rows) for i in range(len(headers))]
    lines = [[c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric, strict=True)] for row in cells]
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _common(function: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--app", metavar="ID", help="Application to act on (default: the first)."),
        click.option("--data", metavar="DIR", help="Data directory (default: ./data, or SERVICE_DATA)."),
        click.option("--config", metavar="FILE", help="Configuration file (TOML)."),
        click.option("--json", "json", is_flag=True, default=None, help="Print one JSON document."),
        click.option("--quiet", is_flag=True, default=None, help="No messages and no progress."),
        click.version_option(package_name="snaglist", message="snaglist %(version)s"),
    )
    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(options), function)


def _parents(context: click.Context) -> Iterator[click.Context]:
    while context.parent:
        context = context.parent
        yield context


def group(parent: click.Group | None, name: str, text: str) -> click.Group:
    """Make a group of commands below another one; without one it is for `register_commands`.

    The common options may stand behind its name too.
    """
    return (parent.group if parent else click.group)(name, help=text)(_common(lambda **_: None))


def command(parent: click.Group | None, name: str, **attributes: Any) -> Callable[[Callable[..., None]], click.Command]:
    """Make a function a command of a group, or for `register_commands` without one.

    It gets a Session first, then its own arguments. The common options may stand before or after the command's name.
    """

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(**arguments: Any) -> None:
            own = {option: arguments.pop(option) for option in COMMON}
            context = click.get_current_context()
            given = [own, *(parent.params for parent in _parents(context))]
            options = {o: next((p[o] for p in given if p.get(o) is not None), None) for o in COMMON}
            session = Session(options, context.find_object(Plugins))
            try:
                function(session, **arguments)
            finally:
                session.close()

        return (parent.command if parent else click.command)(name, **attributes)(_common(run))

    return decorate


@click.group(context_settings={"help_option_names": ["--help"], "max_content_width": 100})
@_common
def cli(**_: Any) -> None:
    """Read logs, group them into issues, and serve a dashboard and a JSON API."""

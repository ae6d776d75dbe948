"""The program `snaglist`: it asks the plugins for their commands, runs one, and says what went wrong.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 partly done, 130 interrupted.
"""

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

import click

from snaglist.kernel import ServiceError, Unavailable
from snaglist.kernel.faults import Unusable
from snaglist.kernel.plugins import Plugins
from snaglist.kernel.settings import ConfigurationError, Settings
from snaglist.kernel.steps import StepFailed
from snaglist.kernel.text import harmless
from snaglist.plugins.system import Session, cli, told

_AGAIN_SECONDS = 0.05  # by then the finalizer has ended


def main() -> NoReturn:
    """Run the command line; the entry point of the console script."""
    sys.unraisablehook = _unraisable
    code = run()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what ends already is not interrupted
    sys.exit(code)


def run() -> int:
    """Run the command that `sys.argv` names, say what went wrong, and return the exit code."""
    try:
        plugins = Plugins.of(_early_settings(sys.argv[1:]))
        cli.commands = {str(made.name): made for _, made in plugins.commands()}
        code = cli.main(standalone_mode=False, obj=plugins)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, click.Abort):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough: a second one would leave nothing said
        return _fail("interrupted", 130)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code, error)
    except Unusable as error:
        # Files are named to people only.
        return _fail(error.message if "--json" in sys.argv else told(error) + _reason(error), 1)
    except (ServiceError, ConfigurationError, StepFailed) as error:
        return _fail(f"{error}{_reason(error)}", 1)
    except BrokenPipeError:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - so that the end does not fail again
        return 1
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _fail(f"{place}{error.strerror or type(error).__name__}", 1)
    except Exception as error:
        said = f"unexpected failure: {type(error).__name__}: {getattr(error, 'orig', error)}".rstrip()
        said += "; SERVICE_LOG_LEVEL=debug shows where"
        return _fail(traceback.format_exc() if os.environ.get("SERVICE_LOG_LEVEL") == "debug" else said, 1)


def _unraisable(lost: Any) -> None:
    """Send an interrupt again that came while a finalizer ran: Python drops what is raised there."""
    if issubclass(lost.exc_type, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        again = threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True  # a program that ends by then has nothing left to interrupt
        with suppress(KeyboardInterrupt):  # of two at once, one is passed on
            again.start()
    else:
        sys.__unraisablehook__(lost)


def _early_settings(arguments: Sequence[str]) -> Settings:
    """Read the configuration that says which plugins give commands; what is wrong with it the command says itself."""
    parser = click.Command("snaglist", params=[one for one in cli.params if one.name in ("config", "data")])
    parser.allow_extra_args = parser.ignore_unknown_options = True
    given = parser.make_context("snaglist", list(arguments), resilient_parsing=True).params
    try:
        return Session(given).settings()
    except ConfigurationError:
        return Session({"config": os.devnull}).settings()


def _reason(error: Exception) -> str:
    """Return in brackets what the driver said when a database is not usable."""
    cause = error.__cause__ if isinstance(error, Unavailable) else None
    return f" ({' '.join(str(getattr(cause, 'orig', cause)).split())})" if cause else ""


def _fail(message: str, code: int, error: click.ClickException | None = None) -> int:
    if "--json" in sys.argv:
        with suppress(OSError):  # that the output cannot be written may be what failed
            click.echo(json.dumps({"error": message}))
    elif isinstance(error, click.UsageError):
        error.show()
    else:
        click.echo(harmless(f"snaglist: {message}"), err=True)
    return code

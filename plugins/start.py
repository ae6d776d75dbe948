"""The console script `snaglist`.

Its imports take a moment, and an interrupt in that moment is no failure to be shown with a traceback. Therefore this
module imports next to nothing until then.
"""

import os
import signal
import sys
from typing import NoReturn

_INTERRUPTED = b'{"error": "interrupted"}\n'  # written out: what makes JSON may not be imported yet


def main() -> NoReturn:
    """Run the command line; an interrupt before it can handle one ends the process with exit code 130."""
    given = signal.getsignal(signal.SIGINT)
    if given is signal.default_int_handler:  # otherwise the caller ignores interrupts
        signal.signal(signal.SIGINT, _interrupted)
    from snaglist.plugins.program import main as program

    signal.signal(signal.SIGINT, given)
    program()


def _interrupted(*_: object) -> NoReturn:
    if "--json" in sys.argv:
        os.write(1, _INTERRUPTED)
    os._exit(130)

"""The console script `snaglist`.

Its imports take a moment, and an interrupt in that moment is no failure to be shown with a traceback. Therefore this
module is not part of the kernel: its package imports all of it.
"""

import os
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; an interrupt before it can handle one ends the process with exit code 130."""
    given = signal.getsignal(signal.SIGINT)
    if given is signal.default_int_handler:  # otherwise the caller ignores interrupts
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from snaglist.kernel.cli import main as run

    signal.signal(signal.SIGINT, given)
    run()

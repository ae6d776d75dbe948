"""Standard input as a log: the bytes are kept like a mirror, so that the issues they make can show them."""

import secrets
import shutil
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from snaglist.kernel import Call, times
from snaglist.kernel.privacy import PRIVATE, make_folder, open_private
from snaglist.plugins.logs.read.importing import import_file
from snaglist.plugins.logs.read.parsing import Reading
from snaglist.plugins.logs.read.results import FileResult

STANDARD_INPUT = "-"
FOLDER = "stdin"
NAME = "stdin"


def keep_piped(call: Call, stream: BinaryIO, reading: Reading) -> FileResult:
    """Read a stream to its end and import it as a new source: every run counts."""
    stamp = times.read(times.now()).strftime("%Y%m%d%H%M%S")
    kept = call.application.sources.resolve() / FOLDER / f"{stamp}-{secrets.token_hex(3)}" / NAME
    make_folder(kept.parent, PRIVATE)
    try:
        with open_private(kept, "xb") as target:
            shutil.copyfileobj(stream, target)
    except BaseException:  # interrupted, or the disk is full: half a stream is of no use
        shutil.rmtree(kept.parent, ignore_errors=True)
        raise
    result = import_file(call, kept, replace(reading, final=True, complete=True))
    result.path = Path(STANDARD_INPUT)
    return result

"""What came so far of a file that is handed over: a file of its own beside those that are read, until all is there.

A piece is written where it belongs, so that one that is sent again, because its answer was lost, changes nothing. Only
the first piece makes the part: one that comes again when all is in place finds none.
"""

import errno
import os
import secrets
import shutil
import time
from contextlib import suppress
from filecmp import cmp
from pathlib import Path

from snaglist.kernel import Call, Conflict, Invalid, NotFound, Unavailable, times
from snaglist.kernel.privacy import open_private
from snaglist.plugins.logs.collect.unfinished import forget_old, part_name
from snaglist.plugins.logs.uploading.names import numbered

_UNKNOWN = "Unknown upload: send the file again."  # if it is in place already, the answer says so
_FULL = (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))


def add_piece(call: Call, token: str | None, offset: int, size: int, piece: bytes) -> str:
    """Write a piece and return the token of the part; without one it is the first piece of a file."""
    if offset + len(piece) > size:
        raise Invalid("size: is less than what was sent")
    if token is None:
        if offset:
            raise Invalid("upload: must be given with an offset")
        forget_old(call.application.logs)
        _check_room(call, size)
        token, mode = secrets.token_hex(16), "xb"
    else:
        _check_room(call, len(piece))
        mode = "r+b"
    try:
        with open_private(_at(call, token), mode) as file:
            here = file.seek(0, os.SEEK_END)
            if offset > here:
                raise Conflict(f"{here} bytes are here: go on from there.")
            file.seek(offset)
            file.write(piece)
    except FileNotFoundError as error:
        raise NotFound(_UNKNOWN) from error
    except OSError as error:
        raise _failed(error) from error
    return token


def finish(call: Call, token: str, size: int, name: str, modified_at: str | None) -> tuple[Path, bool]:
    """Give a file that is whole its place in the folder `logs`; also tells whether an equal one lay there already."""
    part = _at(call, token)
    try:
        with open(part, "r+b") as file:
            file.truncate(size)
            os.fsync(file.fileno())
        place, equal = _placed(part, name)
        if modified_at is not None and not equal:  # not before: an old part looks like one whose rest did not come
            at = min(times.read(modified_at).timestamp(), time.time())
            with suppress(FileNotFoundError):  # read and archived already
                os.utime(place, (at, at))
        return place, equal
    except FileNotFoundError as error:
        raise NotFound(_UNKNOWN) from error
    except OSError as error:
        raise _failed(error) from error


def discard(call: Call, token: str) -> None:
    """Forget what came so far of a file."""
    try:
        _at(call, token).unlink()
    except FileNotFoundError as error:
        raise NotFound("Unknown upload.") from error


def _placed(part: Path, name: str) -> tuple[Path, bool]:
    for place in numbered(part.parent, name):
        try:
            _give_name(part, place)
        except FileExistsError:
            if _is_equal(part, place):
                part.unlink(missing_ok=True)
                return place, True
            continue
        _keep_folder(place.parent)
        return place, False
    raise Conflict("Too many files of this name lie in the folder.")


def _give_name(part: Path, place: Path) -> None:
    """Give a part its name, whole and at once; FileExistsError when another file has it."""
    try:
        os.link(part, place)
    except (FileExistsError, FileNotFoundError):
        raise
    except OSError:  # a file system without hard links: the name is taken first, so that no other file is replaced
        open_private(place, "xb").close()
        try:
            os.replace(part, place)
        except OSError:
            place.unlink()
            raise
    else:
        part.unlink(missing_ok=True)  # a piece that was sent again may have ended first


def _is_equal(part: Path, place: Path) -> bool:
    with suppress(OSError):
        return not place.is_symlink() and place.is_file() and cmp(part, place, shallow=False)
    return False


def _keep_folder(folder: Path) -> None:
    """See that the new name outlasts a loss of power, where the system has a way."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _check_room(call: Call, size: int) -> None:
    try:
        free = shutil.disk_usage(call.application.logs).free - call.setting("health.min_free_bytes")
    except OSError as error:
        raise _failed(error) from error
    if size > free:
        raise Unavailable(f"The disk has no room for this: {size} bytes are needed, {max(0, free)} may be used.")


def _failed(error: OSError) -> Unavailable:
    if error.errno in _FULL:
        return Unavailable("The disk is full.")
    return Unavailable(f"The file could not be written: {error.strerror or error}.")


def _at(call: Call, token: str) -> Path:
    return call.application.logs / part_name(token)

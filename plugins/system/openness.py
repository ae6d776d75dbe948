"""What users of the machine who have nothing to do with snaglist may read or change in the data directory."""

import stat
from contextlib import suppress
from pathlib import Path

from snaglist.kernel.installation import KEY_FILE
from snaglist.kernel.service import Service


def open_to_others(service: Service) -> list[str]:
    """Return a warning for each file or folder that is not the owner's (and of a group that he lets in) alone."""
    data, applications = service.settings.data, service.applications.all()
    databases = [service.applications.registry.file, *(one.file for one in applications)]
    found = [
        f"{path}: any user of this machine may read it: chmod o= {path}"
        for path in [
            *(data / name for name in (KEY_FILE, "snaglist.toml")),
            *(data.glob("keys/*") if _mode(data / "keys") & stat.S_IXOTH else ()),
            *(Path(f"{database}{suffix}") for database in databases for suffix in ("", "-wal")),
            *(folder for one in applications for folder in (one.processed, one.sources)),
        ]
        if (mode := _mode(path)) & (stat.S_IXOTH if stat.S_ISDIR(mode) else stat.S_IROTH)
    ]
    folders = [data, data / "applications", *(one.folder for one in applications)]
    found += [f"{path}: any user may put files in: chmod o-w {path}" for path in folders if _mode(path) & stat.S_IWOTH]
    return found


def _mode(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mode
    return 0

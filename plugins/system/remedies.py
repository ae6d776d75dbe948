"""What an operator can do about a database that cannot be used."""

from snaglist.kernel import ServiceError
from snaglist.kernel.faults import BEHIND, DAMAGED, DENIED, FOREIGN, FULL, MISSING, NEWER, READONLY, Unusable

_BRING_BACK = "bring {file} back (a disk that is not mounted? a backup?), load a dump with `snaglist --app {id} db load"
_BRING_BACK += " FILE --replace`, or begin anew with `snaglist apps recreate {id}`"
_SAVE = "save what can be read with `snaglist --app {id} db dump FILE`, then load that, or an older dump, with"
_SAVE += " `snaglist --app {id} db load FILE --replace`, or, without one, begin anew with `snaglist apps recreate {id}`"
_SAVE += "; the damaged file stays beside it"
_REMEDIES = {
    DAMAGED: _SAVE,
    MISSING: _BRING_BACK,
    FOREIGN: _BRING_BACK + "; what is there now stays beside it",
    DENIED: "give it to the user that runs snaglist: `chown -R USER {folder}`; on a server grant the rights",
    READONLY: "make {folder}, the files in it and their disk (on a server: it) writable",
    FULL: "free space on the disk of {folder} (or of the server)",
    NEWER: "upgrade this program",
    BEHIND: "run `snaglist db upgrade`",
}
_OF_THE_REGISTRY = dict.fromkeys(
    (DAMAGED, MISSING, FOREIGN),
    "bring {file} back, or enter the applications that are there anew: `snaglist apps adopt`",
)


def told(error: ServiceError) -> str:
    """Return the message of a failure; of a database that cannot be used with what to do, which names files too."""
    if not isinstance(error, Unusable):
        return error.message
    tenant, remedies = error.tenant, _REMEDIES if error.tenant.id else _REMEDIES | _OF_THE_REGISTRY
    named = remedies[error.fault].format(id=tenant.id, file=tenant.file, folder=tenant.file.parent)
    return f"{error.message.removesuffix('.')}: {named}"

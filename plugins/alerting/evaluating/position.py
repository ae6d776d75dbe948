"""How far rules were asked. Events are looked at as they are stored, so there is a position only when that failed.

`alerts.position` is then the id of the first occurrence that has to be looked at again.
"""

from sqlalchemy import delete, select

from snaglist.kernel import Call, store
from snaglist.plugins.alerting.evaluating import queries
from snaglist.plugins.issues import StoredBatch

SETTING = "alerts.position"


def fall_behind(call: Call, batch: StoredBatch) -> None:
    """Have a batch looked at again."""
    first = queries.first_of_batch(call.db, batch.source.id, batch.stored[0].event.byte_start)
    known = read(call, lock=True)
    if first is not None and (known is None or first < known):
        store.put_setting(call.db, SETTING, first)


def read(call: Call, *, lock: bool = False) -> int | None:
    """Return the position, None when nothing is left; with `lock` nobody else moves it in this transaction."""
    wanted = select(store.settings.c.value).where(store.settings.c.key == SETTING)
    found = call.db.execute(wanted.with_for_update() if lock else wanted).scalar()
    return None if found is None else int(found)


def move(call: Call, first_id: int | None) -> None:
    """Go on to an occurrence, or to the end."""
    if first_id is None:
        call.db.execute(delete(store.settings).where(store.settings.c.key == SETTING))
    else:
        store.put_setting(call.db, SETTING, first_id)

"""SQL of messages."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, Row, Select, delete, func, or_, select, update

from snaglist.plugins.alerting.tables import channels, outbox, rules

WAITING = ("queued", "retrying")
COUNTED = (*WAITING, "sent", "failed")


def counted_since(db: Connection, since: str) -> int:
    """Return how many messages were let through since a time; digests are not counted."""
    let_through = (outbox.c.status.in_(COUNTED), outbox.c.created_at >= since, outbox.c.trigger_type != "digest")
    return int(db.execute(select(func.count()).select_from(outbox).where(*let_through)).scalar_one())


def waiting(db: Connection) -> dict[str, int]:
    """Return how many messages wait to be sent, by status."""
    grouped = select(outbox.c.status, func.count()).where(outbox.c.status.in_(WAITING)).group_by(outbox.c.status)
    return dict.fromkeys(WAITING, 0) | {status: number for status, number in db.execute(grouped)}


def oldest_waiting(db: Connection) -> str | None:
    """Return when the oldest message that waits was made."""
    found: str | None = db.scalar(select(func.min(outbox.c.created_at)).where(outbox.c.status.in_(WAITING)))
    return found


def held_back(db: Connection, since: str, until: str, detail: str) -> Sequence[Row[Any]]:
    """Return `channel_id`, `rule_name` and `number` of messages that were suppressed between two times."""
    here = (outbox.c.status == "suppressed", outbox.c.created_at >= since, outbox.c.created_at < until)
    grouped = (
        select(outbox.c.channel_id, rules.c.name.label("rule_name"), func.count().label("number"))
        .select_from(outbox.outerjoin(rules, rules.c.id == outbox.c.rule_id))
        .where(*here, outbox.c.detail == detail, outbox.c.channel_id.is_not(None))
        .group_by(outbox.c.channel_id, rules.c.name)
        .order_by(outbox.c.channel_id, func.count().desc(), rules.c.name)
    )
    return db.execute(grouped).all()


def is_due(db: Connection, now: str) -> bool:
    """Tell whether a message waits to be sent now."""
    return db.execute(_due(now).limit(1)).first() is not None


def claim(db: Connection, now: str, until: str, job_id: int, size: int) -> Sequence[Row[Any]]:
    """Return due messages, fresh ones first, and keep other jobs from taking them until a time."""
    wanted = _due(now).order_by(outbox.c.attempts, outbox.c.id).limit(size)
    found = db.execute(wanted.with_for_update(skip_locked=True)).all()
    if found:
        mine = update(outbox).where(outbox.c.id.in_([row.id for row in found]))
        db.execute(mine.values(next_attempt_at=until, job_id=job_id))
    return found


def release(db: Connection, job_id: int, now: str) -> None:
    """Make due what a job claimed and did not get to."""
    left = (outbox.c.job_id == job_id, outbox.c.status.in_(WAITING))
    db.execute(update(outbox).where(*left).values(next_attempt_at=now, job_id=None))


def release_some(db: Connection, ids: Collection[int], now: str) -> None:
    """Make claimed messages due again."""
    db.execute(update(outbox).where(outbox.c.id.in_(sorted(ids))).values(next_attempt_at=now, job_id=None))


def shown_messages() -> Select[Any]:
    """Select messages with their rules and channels, the newest first."""
    shown = select(outbox, rules.c.name.label("rule_name"), channels.c.name.label("channel_name"))
    shown = shown.outerjoin(rules, rules.c.id == outbox.c.rule_id)
    return shown.outerjoin(channels, channels.c.id == outbox.c.channel_id).order_by(outbox.c.id.desc())


def has_newer(db: Connection, since: str) -> bool:
    """Tell whether there are messages from a time on."""
    return db.execute(select(outbox.c.id).where(outbox.c.created_at >= since).limit(1)).first() is not None


def has_older(db: Connection, before: str) -> bool:
    """Tell whether there are messages from before a time."""
    return db.execute(select(outbox.c.id).where(outbox.c.created_at < before).limit(1)).first() is not None


def forget_older(db: Connection, before: str) -> None:
    """Delete messages from before a time; one that waits so long waits for nothing."""
    db.execute(delete(outbox).where(outbox.c.created_at < before))


def _due(now: str) -> Select[Any]:
    """Waiting messages whose time has come, unless their channel is left alone for a while."""
    alone = select(channels.c.id).where(channels.c.retry_at > now)
    reachable = or_(outbox.c.channel_id.is_(None), outbox.c.channel_id.not_in(alone))
    return select(outbox).where(outbox.c.status.in_(WAITING), outbox.c.next_attempt_at <= now, reachable)

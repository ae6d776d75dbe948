"""What a batch adds, counted in one pass in memory, so that statements go per group and not per event."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from snaglist.plugins.issues.events import Event
from snaglist.plugins.issues.facets import Facet, Span
from snaglist.plugins.issues.grouping import GroupingKey
from snaglist.plugins.issues.storing.texts import short


@dataclass(slots=True)
class Group:
    """The events of a batch that share a fingerprint, or an issue.

    `latest` is the event that is latest by its time, `order` its position in the batch.
    """

    key: GroupingKey
    span: Span
    latest: Event
    order: int
    hours: Counter[str] = field(default_factory=Counter)
    facets: dict[Facet, Span] = field(default_factory=dict)

    def include(self, other: "Group") -> None:
        """Add another group."""
        if (other.span.last, other.order) > (self.span.last, self.order):
            self.latest, self.order = other.latest, other.order
        self.span.include(other.span)
        self.hours.update(other.hours)
        for facet, span in other.facets.items():
            if known := self.facets.get(facet):
                known.include(span)
            else:
                self.facets[facet] = Span(span.count, span.first, span.last)


@dataclass(slots=True)
class Tally:
    """A counted batch: groups by fingerprint, events by day and severity."""

    groups: dict[str, Group] = field(default_factory=dict)
    days: Counter[tuple[str, str]] = field(default_factory=Counter)


# Events that agree in all of these are counted together: fingerprint, hour, severity, environment, release, channel,
# host, user.
_Alike = tuple[str, str, str, str, str | None, str, str | None, str | None]


def tally(events: Sequence[Event], keys: Iterable[GroupingKey], path: str) -> Tally:
    """Count a batch; `keys` are the grouping keys of the events, `path` the source of all."""
    alike: dict[_Alike, list[int]] = {}
    by_fingerprint: dict[str, GroupingKey] = {}
    for order, (event, key) in enumerate(zip(events, keys, strict=True)):
        same = (
            key.fingerprint,
            event.occurred_at[:13],
            event.severity,
            event.environment,
            event.release,
            event.channel,
            event.server_name,
            event.user,
        )
        orders = alike.get(same)
        if orders is None:
            alike[same] = [order]
            by_fingerprint[key.fingerprint] = key
        else:
            orders.append(order)
    counted = Tally()
    for same, orders in alike.items():
        _count(counted, by_fingerprint[same[0]], [(events[order].occurred_at, order) for order in orders], events, path)
    return counted


def _count(counted: Tally, key: GroupingKey, times: list[tuple[str, int]], events: Sequence[Event], path: str) -> None:
    last, order = max(times)
    latest = events[order]
    span = Span(len(times), min(times)[0], last)
    group = Group(key, span, latest, order, Counter({latest.occurred_at[:13] + ":00:00": span.count}))
    for facet, value in (
        ("environment", short(latest.environment, 100)),
        ("release", short(latest.release or "", 120)),
        ("channel", short(latest.channel, 255)),
        ("host", short(latest.server_name or "", 200)),
        ("user", short(latest.user or "", 200)),
        ("source", path),
    ):
        if value:
            group.facets[facet, value] = Span(span.count, span.first, span.last)
    counted.days[last[:10], latest.severity] += span.count
    if known := counted.groups.get(key.fingerprint):
        known.include(group)
    else:
        counted.groups[key.fingerprint] = group

"""What surrounds a list of issues: how many there are in each status, and when their events were.

Both follow the filters of the list. Work is bounded: issues are counted as far as the list counts them. Of a search for
words the bars have the events that hold them where these are few enough to be looked at, else all events of the issues
that it found. Only where the bars have none, events of any time are looked at, for the last one.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, select

from snaglist.kernel import Call, times
from snaglist.plugins.issues.contract import Condition
from snaglist.plugins.issues.events import RANK
from snaglist.plugins.issues.search import queries
from snaglist.plugins.issues.search.bars import FEW_ISSUES, Bars, Chart, bars_over, by_hours, by_minutes
from snaglist.plugins.issues.search.filters import conditions, given
from snaglist.plugins.issues.search.finding import Searched, search
from snaglist.plugins.issues.search.hits import Hits, find_hits
from snaglist.plugins.issues.search.scope import Scope, read_scope
from snaglist.plugins.issues.search.sorting import Sort
from snaglist.plugins.issues.search.summary import STATUS_ORDER
from snaglist.plugins.issues.tables import issue_totals, issues
from snaglist.plugins.system import rows

FEW_SEARCHED = 200  # the events of so many are looked for words


def activity(call: Call) -> dict[str, Any]:
    """Return the answer of `issue-activity`; needs an open transaction."""
    scope = read_scope(call.query)
    text = call.query.get("q")
    searched = search(call, text, scope) if text else None
    within = conditions(call, call.query, scope, searched)
    statuses, counted = _statuses(call, scope, searched)
    total, exact = _total(call, statuses, within, counted=counted)
    chart, hits, last_seen = _over_time(call, scope, within, searched)
    return {
        "statuses": [{"status": name, "groups_count": statuses.get(name, 0)} for name in STATUS_ORDER],
        "statuses_exact": counted,
        "total": total,
        "total_exact": exact,
        "last_seen": last_seen,
        "from": times.show(chart.bars.start),
        "to": chart.bars.end,
        "step": chart.bars.step,
        "counted": "all" if hits is None else "matching",
        "series": [
            {"severity": name, "counts": chart.counts[name]} for name in sorted(chart.counts, key=RANK.__getitem__)
        ],
        "complete": chart.since is None,
        "complete_from": chart.since,
    }


def _over_time(
    call: Call, scope: Scope, within: Sequence[Condition], searched: Searched | None
) -> tuple[Chart, Hits | None, str | None]:
    """Return the chart, the events in it that hold what was searched for, and the time of the last event.

    Without hits, the chart has all events of the issues.
    """
    anywhen = conditions(call, call.query, Scope(), searched)
    bars = bars_over(call, scope)
    hits = _hits(call, within, searched, bars.span) if searched else None
    if hits is None:
        chart = _draw(call, scope, bars, anywhen, within)
    else:
        whole = [issues.c.id.in_(hits.whole)]
        chart = _draw(call, scope, bars, whole, whole)
        _add(chart, call.db, hits)
        if chart.counts:
            return chart, hits, max([*hits.times(), _last_seen(call.db, whole, Scope(end=scope.end)) or ""])
    if searched is None or chart.counts:
        return chart, None, _last_seen(call.db, anywhen)
    ever = search(call, call.query["q"], Scope()) if scope else searched
    latest = conditions(call, call.query, Scope(), ever)
    ever_hits = _hits(call, latest, ever, Scope())
    if ever_hits is None:  # nobody can say when the last one was: then all events count, as where the bars have many
        chart = chart if hits is None else _draw(call, scope, bars, anywhen, within)
        return chart, None, _last_seen(call.db, latest) if chart.counts else None
    last = _last_seen(call.db, [issues.c.id.in_(ever_hits.whole)])
    return chart, ever_hits, max([*ever_hits.times(), last or ""]) or None


def _draw(call: Call, scope: Scope, bars: Bars, anywhen: Sequence[Condition], within: Sequence[Condition]) -> Chart:
    """Return the bars with all events of the issues that pass."""
    return by_minutes(call, scope, within) or by_hours(call.db, anywhen, within, bars)


def _hits(call: Call, where: Sequence[Condition], searched: Searched, span: Scope) -> Hits | None:
    """Return the events in a range that match, of issues that pass; None where there is too much to look at."""
    ids = queries.find(call.db, where, FEW_SEARCHED + 1)
    return find_hits(call, ids, searched, span) if len(ids) <= FEW_SEARCHED else None


def _add(chart: Chart, db: Connection, hits: Hits) -> None:
    """Count the events that a search found."""
    found = rows.among(db, select(issues.c.id, issues.c.severity), issues.c.id, list(hits.events))
    for issue_id, severity in found:
        for at in hits.events[issue_id]:
            chart.add(severity, at)


def _statuses(call: Call, scope: Scope, searched: Searched | None) -> tuple[dict[str, int], bool]:
    """Return the number of issues by status under all other filters, and whether all were counted."""
    query = {name: value for name, value in call.query.items() if name != "status"}
    words = given(call, query)
    if not scope and searched is None and all(word.name in queries.TOTALS for word, _ in words):
        tests = [issue_totals.c[word.name].in_(values) for word, values in words]
        sums = select(issue_totals.c.status, func.sum(issue_totals.c.issues)).where(*tests)
        return {name: int(found) for name, found in call.db.execute(sums.group_by(issue_totals.c.status))}, True
    found = queries.by_status(call.db, conditions(call, query, scope, searched), queries.COUNTED + 1)
    return found, sum(found.values()) <= queries.COUNTED


def _total(call: Call, statuses: Mapping[str, int], within: Sequence[Condition], *, counted: bool) -> tuple[int, bool]:
    """Return how many issues pass all filters, and whether that is exact."""
    if counted:
        return sum(statuses.get(name, 0) for name in set(call.query.get("status") or STATUS_ORDER)), True
    found = queries.count(call.db, within, queries.COUNTED + 1)
    return min(found, queries.COUNTED), found <= queries.COUNTED


def _last_seen(db: Connection, where: Sequence[Condition], span: Scope | None = None) -> str | None:
    """Return the time of the last event of all issues that pass, of any time or in a range."""
    where = [*where, issues.c.count > 0]
    ids = queries.find(db, where, FEW_ISSUES)
    few = ids if len(ids) < FEW_ISSUES else None
    latest = queries.page(db, where, few, Sort((span or Scope()).last_seen), 1, 0, None)
    return str(latest[0].value) if latest else None

"""The answer of `metrics`: figures of every application whose plugin is on, and of this process.

Areas and plugins add figures of an application by the hook `register_metrics`.
"""

import logging
import shutil
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from snaglist.kernel import Call, NotFound, Reply
from snaglist.plugins.system import hookspecs
from snaglist_prometheus.requests import REQUESTS

ID = "prometheus"
log = logging.getLogger("snaglist")


class Metrics:
    """The handler of `metrics`."""

    def show(self, call: Call) -> Reply:
        """Return the text format; NotFound while the plugin is on in no application of the caller."""
        figures = _Figures(call)
        if not figures.shown:
            raise NotFound(f"The plugin {ID} is disabled in every application.")
        registry = CollectorRegistry()
        registry.register(figures)
        text = generate_latest(registry) + generate_latest(REQUESTS.registry)
        return Reply(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


class _Figures(Collector):
    """What the databases and the disk say at this moment."""

    def __init__(self, call: Call) -> None:
        self._rows: dict[str, list[tuple[Mapping[str, str], float]]] = {}
        self._about: dict[str, str] = {}
        self.shown = 0
        service = call.service
        for application in service.applications.all():
            if call.may_in(application, "metrics.read"):
                self._add_application(service.call(application, None))
        self._add_disk(call)

    def collect(self) -> Iterator[Metric]:
        """Give the families in the order of their names."""
        for name, rows in sorted(self._rows.items()):
            labels = sorted({label for given, _ in rows for label in given})
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            family = kind(f"snaglist_{name}", self._about[name], labels=labels)
            for given, value in rows:
                family.add_metric([given.get(label, "") for label in labels], value)
            yield family

    def _add_application(self, call: Call) -> None:
        app, up = call.application.id, 1.0
        try:
            with call.transaction(write=False) as db:
                if not call.enabled(ID):
                    return
                for name, read in call.service.plugins.types(hookspecs.register_metrics).items():
                    try:
                        with db.begin_nested():
                            self._add(name, read.__doc__ or name, read(call), app)
                    except Exception:
                        log.exception("the figure %s failed", name)
                        up = 0.0
        except Exception:
            log.exception("the application %s has no figures", app)
            up = 0.0
        self.shown += 1
        self._add("up", "Whether all figures of the application could be read", [({}, up)], app)
        if call.application.file.is_file():
            size = float(call.application.file.stat().st_size)
            self._add("database_bytes", "Size of the SQLite file of the application", [({}, size)], app)

    def _add_disk(self, call: Call) -> None:
        usage = shutil.disk_usage(call.service.settings.data)
        for name, value in (("disk_free_bytes", usage.free), ("disk_total_bytes", usage.total)):
            about = "Of the file system of the data directory, as this node sees it"
            self._add(name, about, [({}, float(value))])

    def _add(self, name: str, about: str, figures: Iterable[tuple[Mapping[str, str], float]], app: str = "") -> None:
        # All of them first: what fails half way must not stay.
        rows = [({"app": app, **labels} if app else labels, value) for labels, value in figures]
        self._rows.setdefault(name, []).extend(rows)
        self._about[name] = " ".join(about.split("\n\n")[0].split())

"""Requests that this process answered: how many, and how long they took."""

import time

from prometheus_client import CollectorRegistry, Counter, Histogram

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Requests:
    """Counters of one process, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("endpoint", "method", "status")
        self._answered = Counter(
            "snaglist_requests", "Requests answered by this process", labels, registry=self.registry
        )
        self._seconds = Histogram(
            "snaglist_request_seconds", "Time to an answer", ("endpoint",), buckets=BUCKETS, registry=self.registry
        )

    def observe(self, endpoint: str | None, method: str, status: int, started: float) -> None:
        """Count a request; what is no endpoint counts as one of no name, and a strange method as `other`."""
        known = method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "other"
        self._answered.labels(endpoint or "", known, status).inc()
        self._seconds.labels(endpoint or "").observe(time.perf_counter() - started)


REQUESTS = Requests()

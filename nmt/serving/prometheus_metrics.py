"""What Prometheus collects of a server."""

import functools
from collections.abc import Callable

import prometheus_client as prometheus
from prometheus_client import exposition

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
SENTENCES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
CONTENT_TYPE = exposition.CONTENT_TYPE_LATEST
OTHER = "other"  # the route of requests for paths that do not exist


class Metrics:
    """The counters of a server, in a registry of its own: several servers may be in a process."""

    def __init__(self, waiting: Callable[[], int]):
        self.registry = prometheus.CollectorRegistry()
        counter = functools.partial(prometheus.Counter, registry=self.registry)
        gauge = functools.partial(prometheus.Gauge, registry=self.registry)
        histogram = functools.partial(prometheus.Histogram, registry=self.registry)
        self.requests = counter(
            "nmt_requests_total", "Requests by route and HTTP status.", ["route", "status"]
        )
        self.seconds = histogram(
            "nmt_request_seconds", "Seconds until the answer, by route.", ["route"], buckets=SECONDS
        )
        self.characters = counter(
            "nmt_characters_total", "Characters translated.", ["source", "target"]
        )
        self.batch = histogram("nmt_batch_texts", "Texts per batch.", buckets=SENTENCES)
        self.reloads = counter("nmt_reloads_total", "Reloads of the runs by result.", ["result"])
        for result in ("done", "failed"):
            self.reloads.labels(result)
        self.cached = counter(
            "nmt_cache_texts_total", "Texts that the cache was asked for, by result.", ["result"]
        )
        for result in ("hit", "miss"):
            self.cached.labels(result)
        self.suggestions = counter(
            "nmt_suggestions_total", "Suggested translations that were stored."
        )
        self.loaded_at = gauge(
            "nmt_loaded_timestamp_seconds",
            "When the runs that translate now were loaded; 0 before.",
        )
        gauge("nmt_waiting_requests", "Requests in the queue.").set_function(waiting)
        prometheus.ProcessCollector(registry=self.registry)

    def count(self, route: str, status: int, seconds: float) -> None:
        """Counts a request that was answered, or refused, after so many seconds."""
        self.requests.labels(route, str(status)).inc()
        self.seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Returns all figures in Prometheus's text format."""
        return prometheus.generate_latest(self.registry)

"""Counts and latencies of requests, in files that all web processes of a machine share.

prometheus-client reads `PROMETHEUS_MULTIPROC_DIR` when it is imported, so this module sets it, and
imports the library later. Each process writes files of its own; `/metrics` adds them up, whichever
process answers.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from crowdgrade.home import create_private_folder

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Counter, Histogram

logger = logging.getLogger(__name__)

BUCKETS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper limits of the latency's buckets, in seconds."""
UNKNOWN: Final = "none"
"""The view of a request that no view answered, such as 404."""
FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_lock = threading.Lock()
os.environ[FOLDER_VARIABLE] = str(settings.METRICS_FOLDER)


@cache
def load_request_metrics() -> tuple[Counter, Histogram]:
    """Return the counter and the histogram of requests, created on the first call.

    Raises OSError if the folder of their files cannot be written.
    """
    create_private_folder(settings.METRICS_FOLDER)
    from prometheus_client import CollectorRegistry, Counter, Histogram

    _reserve_metric_files()
    # Not in the default registry: the sum over all processes is read from the files.
    registry = CollectorRegistry()
    counter = Counter(
        "crowdgrade_requests",
        "Requests by view, method and status.",
        ("view", "method", "status"),
        registry=registry,
    )
    histogram = Histogram(
        "crowdgrade_request_seconds",
        "Seconds from request to response by view.",
        ("view",),
        buckets=BUCKETS,
        registry=registry,
    )
    return counter, histogram


def _reserve_metric_files() -> None:
    """Make the metrics library reserve disk space before it maps files into memory.

    The library creates sparse files. The first write to a page then needs disk space, and on a full
    disk the system kills the process by SIGBUS. A failed reservation raises an OSError instead.
    """
    from prometheus_client import mmap_dict, values

    class ReservedDict(mmap_dict.MmapedDict):
        """File-backed dictionary that reserves its disk space before it grows."""

        def __init__(self, filename: str, read_mode: bool = False) -> None:
            if not read_mode:
                _reserve_disk_space(filename, mmap_dict._INITIAL_MMAP_SIZE)
            super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]

        def _init_value(self, key: str) -> None:
            """Add a key, after reserving the disk space for it."""
            # The library doubles the file until the entry fits: four bytes, the key, two numbers.
            needed, capacity = self._used + len(key.encode()) + 32, self._capacity
            while needed > capacity:
                capacity *= 2
            if capacity > self._capacity:
                _reserve_disk_space(self._fname, capacity)
            super()._init_value(key)  # type: ignore[no-untyped-call]

    values.MmapedDict = ReservedDict  # type: ignore[attr-defined]


def _reserve_disk_space(filename: str, size: int) -> None:
    """Reserve disk space for a file up to `size`; raise `OSError` if the disk is full."""
    with Path(filename).open("ab") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)


def register_request_metrics(registry: CollectorRegistry) -> None:
    """Add the requests of all web processes of this machine to a registry."""
    load_request_metrics()
    from prometheus_client import multiprocess

    multiprocess.MultiProcessCollector(registry, str(settings.METRICS_FOLDER))  # type: ignore[no-untyped-call]


class MetricsMiddleware:
    """Counts each request by view, method and status, and measures its latency by view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response, after counting the request."""
        began = time.perf_counter()
        response = self.get_response(request)
        count_request(request, response.status_code, time.perf_counter() - began)
        return response


def count_request(request: HttpRequest, status: int, seconds: float) -> None:
    """Count a request and its latency; only log it if the metrics cannot be written."""
    match = request.resolver_match
    view = match.view_name if match is not None and match.view_name else UNKNOWN
    # A client may send any method: others than HTTP's own would be labels without end.
    method = request.method if request.method in METHODS else "OTHER"
    try:
        with _lock:
            counter, histogram = load_request_metrics()
            counter.labels(view, method, str(status)).inc()
            histogram.labels(view).observe(seconds)
    except OSError as error:
        logger.warning("the request was not counted: %s", error)


METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

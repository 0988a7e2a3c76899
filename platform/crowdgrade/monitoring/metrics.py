"""Metrics of runs, queues, models and payments, read from the database when they are requested.

The database knows the whole installation: any web process of any machine gives the same numbers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Any, Final

from django.db import Error
from django.db.models import Count, F, Sum
from django.db.models.functions import Now
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    Metric,
    SummaryMetricFamily,
)
from prometheus_client.registry import Collector

from annotations.models import BonusPayment, Decision
from crowdgrade.monitoring.requests import register_request_metrics
from crowdgrade.outages import find_outage
from evaluation.models import LLMResponse, Removal, Run
from evaluation.models.runs import UNFINISHED
from evaluation.runs.background.progress import count_running_processes
from evaluation.runs.run_types import list_asking_kinds

logger = logging.getLogger(__name__)

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def format_metrics() -> bytes:
    """Return all metrics in Prometheus's text format, encoded."""
    registry = CollectorRegistry()
    register_request_metrics(registry)
    registry.register(DatabaseCollector())
    return generate_latest(registry)


class DatabaseCollector(Collector):
    """Prometheus collector of metrics that are read from the database."""

    def collect(self) -> Iterable[Metric]:
        """Yield the current metrics; in an outage only `crowdgrade_database_up`, which is 0."""
        metrics: list[Metric] = []
        try:
            metrics = [
                *_collect_queue_metrics(),
                *_collect_run_metrics(),
                _build_reply_metric(),
                *_collect_payment_metrics(),
            ]
        except Error as error:
            if find_outage(error) is None:
                raise
            # The counts of requests are not in the database, and are wanted most in an outage.
            logger.warning("the metrics lack those of the database: %s", error)
        yield GaugeMetricFamily(
            "crowdgrade_database_up",
            "1 if the database answers; 0 if not: then its metrics are missing.",
            value=float(bool(metrics)),
        )
        yield from metrics

    def describe(self) -> Iterable[Metric]:
        """Return [], so that registering the collector does not query the database."""
        return []


def _collect_queue_metrics() -> Iterator[Metric]:
    """Yield the metrics of queues and background processes."""
    unfinished = GaugeMetricFamily(
        "crowdgrade_runs_unfinished", "Runs that have not ended, by state and lane.",
        labels=("state", "lane"),
    )  # fmt: skip
    asking = set(list_asking_kinds())
    counts: dict[tuple[str, str], int] = dict.fromkeys(
        ((state, lane) for state in UNFINISHED for lane in ("asking", "computing")), 0
    )
    rows = Run.objects.filter(state__in=UNFINISHED).values_list("state", "kind")
    for state, kind, n in rows.annotate(n=Count("pk")).order_by():
        counts[state, "asking" if kind in asking else "computing"] += n
    for (state, lane), n in counts.items():
        unfinished.add_metric((state, lane), n)
    yield unfinished
    yield GaugeMetricFamily(
        "crowdgrade_removals_unfinished",
        "Deletions and erasures that have not ended.",
        value=Removal.objects.filter(finished_at=None).count(),
    )
    yield GaugeMetricFamily(
        "crowdgrade_background_processes",
        "Background processes with a sign of life in the last 20 seconds.",
        value=count_running_processes(),
    )
    oldest = (
        Run.objects.filter(state=Run.State.QUEUED).order_by("created_at").annotate(now=Now())
    ).first()
    waits = 0.0 if oldest is None else (oldest.now - oldest.created_at).total_seconds()
    yield GaugeMetricFamily(
        "crowdgrade_oldest_queued_run_seconds",
        "Age of the oldest queued run, 0 without one.",
        value=max(0.0, waits),
    )


def _collect_run_metrics() -> Iterator[Metric]:
    """Yield the metrics of runs."""
    seconds = SummaryMetricFamily(
        "crowdgrade_run_seconds", "Seconds from the start to the end of runs, by type and state.",
        labels=("type", "state"),
    )  # fmt: skip
    ended = Run.objects.filter(finished_at__isnull=False, started_at__isnull=False)
    rows = ended.values_list("kind", "state").annotate(
        n=Count("pk"), total=Sum(F("finished_at") - F("started_at"))
    )
    for kind, state, n, total in rows.order_by("kind", "state"):
        seconds.add_metric((kind, state), n, total.total_seconds())
    yield seconds


def _build_reply_metric() -> Metric:
    """Return the metric of models' replies."""
    replies = GaugeMetricFamily(
        "crowdgrade_model_replies", "Stored replies of language models, by status.",
        labels=("status",),
    )  # fmt: skip
    rows = LLMResponse.objects.values_list("status").annotate(n=Count("pk")).order_by("status")
    for status, n in rows:
        replies.add_metric((status,), n)
    return replies


def _collect_payment_metrics() -> Iterator[Metric]:
    """Yield the metrics of payments."""
    decisions = CounterMetricFamily(
        "crowdgrade_decisions", "Entries of decisions in the ledger, by kind.", labels=("kind",)
    )
    kinds: Any = Decision.objects.values_list("kind").annotate(n=Count("pk")).order_by("kind")
    for kind, n in kinds:
        decisions.add_metric((kind,), n)
    yield decisions
    payments = CounterMetricFamily(
        "crowdgrade_bonus_entries", "Entries of bonus payments in the ledger, by event.",
        labels=("event", "currency"),
    )  # fmt: skip
    amounts = CounterMetricFamily(
        "crowdgrade_bonus_amount", "Sum of the amounts of bonus entries, by event.",
        labels=("event", "currency"),
    )  # fmt: skip
    rows = BonusPayment.objects.values_list("event", "currency")
    sums = rows.annotate(n=Count("pk"), total=Sum("amount")).order_by("event", "currency")
    for event, currency, n, total in sums:
        payments.add_metric((event, currency), n)
        amounts.add_metric((event, currency), float(total))
    yield payments
    yield amounts

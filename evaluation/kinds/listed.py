"""Runs as a list shows them: what each is called, and whether it counts for its set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.kinds.registry import options_of
from evaluation.models import Run, RunOfRecord
from evaluation.reports.called import Called, all_called


@dataclass(frozen=True)
class ListedRun:
    """A run, what it is called, and whether it is the official run of its set."""

    run: Run
    called: Called
    is_of_record: bool


def listed(runs: Iterable[Run]) -> list[ListedRun]:
    """Return runs with what they are called, by two queries at most.

    Whether one is of record comes with those of `in_short`.
    """
    rows = list(runs)
    of_record = _of_record([run for run in rows if run.archived_at is None])
    names = all_called([(run, options_of(run)) for run in rows])
    return [
        ListedRun(run, name, run.pk in of_record) for run, name in zip(rows, names, strict=True)
    ]


def _of_record(runs: list[Run]) -> set[int]:
    if all(hasattr(run, "is_of_record") for run in runs):
        return {run.pk for run in runs if getattr(run, "is_of_record", False)}
    kept = RunOfRecord.objects.filter(run__in=[run.pk for run in runs])
    return set(kept.values_list("run_id", flat=True))

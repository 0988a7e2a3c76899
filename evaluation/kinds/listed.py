"""Runs as a list shows them: what each is called, and whether it counts for its set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.kinds.registry import options_of
from evaluation.models import Run, RunOfRecord
from evaluation.reports.called import Called, all_called


@dataclass(frozen=True)
class ListedRun:
    """A run, what it is called, and whether it is the run of record of its set."""

    run: Run
    called: Called
    is_of_record: bool


def listed(runs: Iterable[Run]) -> list[ListedRun]:
    """Return runs with what they are called, by four queries at most."""
    rows = list(runs)
    kept = RunOfRecord.objects.filter(run__in=[run.pk for run in rows if run.archived_at is None])
    of_record = set(kept.values_list("run_id", flat=True))
    names = all_called([(run, options_of(run)) for run in rows])
    return [
        ListedRun(run, name, run.pk in of_record) for run, name in zip(rows, names, strict=True)
    ]

"""Build lists of runs: each run with its title, and whether it is its set's official run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.models import Run, RunOfRecord
from evaluation.runs.reports.run_titles import RunTitle, build_titles
from evaluation.runs.run_types.registry import get_options


@dataclass(frozen=True)
class ListedRun:
    """A run with its title, and whether it is the official run of its question set."""

    run: Run
    called: RunTitle
    is_of_record: bool


def list_runs(runs: Iterable[Run]) -> list[ListedRun]:
    """Return the runs with titles and whether they are official, by at most two queries.

    `is_of_record` is read from rows of `in_short`, which have it.

    Whether one is of record comes with those of `in_short`.
    """
    rows = list(runs)
    of_record = _find_official([run for run in rows if run.archived_at is None])
    names = build_titles([(run, get_options(run)) for run in rows])
    return [
        ListedRun(run, name, run.pk in of_record) for run, name in zip(rows, names, strict=True)
    ]


def _find_official(runs: list[Run]) -> set[int]:
    """Return the primary keys of those runs that are official for their question set."""
    if all(hasattr(run, "is_of_record") for run in runs):
        return {run.pk for run in runs if getattr(run, "is_of_record", False)}
    kept = RunOfRecord.objects.filter(run__in=[run.pk for run in runs])
    return set(kept.values_list("run_id", flat=True))

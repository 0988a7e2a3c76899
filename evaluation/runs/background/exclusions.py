"""Leave the workers excluded from a question set out of later runs.

The decisions are rows of `WorkerVerdict`. A run names the workers that it leaves out in its option
`exclude_workers`; a new run starts with the workers who are excluded from its set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID

from django.db import transaction

from annotations.exchange.ids import clean_id
from annotations.exchange.reading.answers import normalise_text
from annotations.models import QuestionSetVersion, Worker
from evaluation.core.options import Parameters
from evaluation.models import Run, WorkerGrade, WorkerVerdict
from evaluation.models.grades import VOTED
from evaluation.runs.run_types import get_run_kind

EXCLUDE = "exclude_workers"
"""The option that lists the workers a run leaves out."""

OptionsT = TypeVar("OptionsT", bound=Parameters)


class NoExclusionsError(RuntimeError):
    """Error: no worker of the run is excluded, so that a run without them would be the same."""


class StaleDecisionsError(RuntimeError):
    """Error: decisions about workers have changed since the user saw them."""


class OtherSettingsError(RuntimeError):
    """Error: the run has options that this version of the platform does not know."""


def list_exclusions(run: Run) -> list[WorkerVerdict]:
    """Return, for each worker with a vote in the run, the newest valid decision if it excludes.

    Workers excluded by the run's own settings have no vote, so they are not included.
    """
    voted = WorkerGrade.objects.filter(VOTED, run=run).values("worker")
    counting = WorkerVerdict.select_current(run).filter(worker__in=voted)
    newest = {row.worker_id: row for row in counting.select_related("worker", "decided_by")}
    return [row for row in newest.values() if row.kind == WorkerVerdict.Kind.EXCLUDE]


def list_excluded_ids(version: QuestionSetVersion) -> tuple[str, ...]:
    """Return an id of each worker of the version who is excluded from its question set.

    The external id, or the public id if several workers have the same external id.
    """
    workers = [
        verdict.worker for verdict in WorkerVerdict.list_exclusion_verdicts(version.question_set)
    ]
    # `_WorkerIds` reads every worker of the version; a set without exclusions is spared that.
    return _WorkerIds(version).list_unambiguous_ids(workers) if workers else ()


def add_excluded_workers(options: OptionsT, version: QuestionSetVersion) -> OptionsT:
    """Return run options with the question set's excluded workers added to `exclude_workers`.

    Options of a run type that reads no workers' answers are returned unchanged.
    """
    if not has_exclude_option(options):
        return options
    before: Any = getattr(options, EXCLUDE)
    ids: dict[str, Any] = {EXCLUDE: tuple(dict.fromkeys([*before, *list_excluded_ids(version)]))}
    return replace(options, **ids)


def has_exclude_option(options: Parameters | type[Parameters]) -> bool:
    """Return whether these run options have the option `exclude_workers`."""
    return EXCLUDE in options.get_options()


@transaction.atomic
def start_run_without_excluded(
    run: Run,
    owner_id: int,
    shown: Sequence[str] | None = None,
    *,
    name: str = "",
    notes: str = "",
) -> Run:
    """Start a new run with the same version and settings but without excluded workers.

    Workers left out by the run or excluded by another run of the set stay out.
    `shown` are the ids of the decisions that the user has seen, in any order. Raises
    `NoExclusionsError`, `StaleDecisionsError`, `OtherSettingsError`, `OptionError` and `LabelError`
    as `runs.queue_run` does.
    """
    from evaluation.runs.background import runs as lifecycle  # loads all that a run may undo

    verdicts = list_exclusions(run)
    # Compared as sets, because the order on a page is no part of what the user confirmed. Before
    # the check for none: a user whose decisions were undone meanwhile must learn that they changed.
    if shown is not None and {_parse_uuid(one) for one in shown} != {
        verdict.public_id for verdict in verdicts
    }:
        raise StaleDecisionsError
    if not verdicts:
        raise NoExclusionsError
    options = add_excluded_workers(build_options_excluding(run, verdicts), run.version)
    started = lifecycle.queue_run(
        run.version, owner_id, options, run.kind, name=name, notes=notes, made_from=run
    )
    WorkerVerdict.record_applied(started, verdicts)
    return started


def build_options_excluding(run: Run, verdicts: Sequence[WorkerVerdict]) -> Parameters:
    """Return a run's options with the workers of these decisions added to `exclude_workers`."""
    options: Any
    try:
        options = get_run_kind(run).options.from_dict(run.parameters)
    except LookupError:
        raise OtherSettingsError from None
    known = _WorkerIds(run.version)
    # Who withdrew all answers since has none that could vote.
    before = [worker for worker in options.exclude_workers if known.has_worker_id(worker)]
    ids = known.list_unambiguous_ids([verdict.worker for verdict in verdicts])
    return replace(options, exclude_workers=tuple(dict.fromkeys([*before, *ids])))


class _WorkerIds:
    """External and public ids of the workers who answered a version."""

    def __init__(self, version: QuestionSetVersion) -> None:
        from evaluation.runs.steps.answers import select_answering_workers

        self._names = dict(
            select_answering_workers(version).values_list("public_id", "external_id")
        )
        self._times = Counter(self._names.values())

    def has_worker_id(self, one: str) -> bool:
        """Return whether a worker with this external or public id answered the version."""
        return clean_id(one) in self._times or _parse_uuid(one) in self._names

    def list_unambiguous_ids(self, workers: Collection[Worker]) -> tuple[str, ...]:
        """Return an unambiguous id of each of these workers, without those who answered nothing."""
        return tuple(
            self._choose_id(worker) for worker in workers if worker.public_id in self._names
        )

    def _choose_id(self, worker: Worker) -> str:
        """Return a worker's external id if unique and on one line, else the public id."""
        name = worker.external_id
        # The option is typed as one id a line, where another id would be split or trimmed.
        one_line = len(name.splitlines()) == 1 and normalise_text(name) == name
        return name if one_line and self._times[name] == 1 else str(worker.public_id)


def _parse_uuid(text: str) -> UUID | None:
    """Return the UUID in a text; None for any other text."""
    try:
        return UUID(text)
    except ValueError:
        return None

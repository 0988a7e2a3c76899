"""A run of the same settings without those whom people excluded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db import transaction

from annotations.exchange.ids import clean_id
from annotations.exchange.reading.answers import cleaned
from annotations.models import Worker
from evaluation.background import runs as lifecycle
from evaluation.kinds import kind_of
from evaluation.models import Run, WorkerVerdict
from evaluation.options import Parameters
from evaluation.steps.outside import answering
from evaluation.triaging import excluded


class NobodyExcludedError(RuntimeError):
    """Nobody is excluded: there is nothing to apply."""


class ChangedMeanwhileError(RuntimeError):
    """The decisions are not those that were shown."""


class OtherSettingsError(RuntimeError):
    """The run has settings that this version of the platform does not know."""


@transaction.atomic
def apply(
    run: Run,
    owner_id: int,
    shown: Sequence[str] | None = None,
    *,
    name: str = "",
    notes: str = "",
) -> Run:
    """Start a run of the same version and settings without the excluded, and keep why.

    Whom the run left out already stays out. `shown` are the ids of the decisions that whoever asks
    has seen, in any order. Raises NobodyExcludedError, ChangedMeanwhileError, OtherSettingsError,
    `OptionError` and `LabelError` as `lifecycle.queue` does.
    """
    verdicts = excluded(run)
    if shown is not None and {_uuid(one) for one in shown} != {
        verdict.public_id for verdict in verdicts
    }:
        raise ChangedMeanwhileError
    if not verdicts:
        raise NobodyExcludedError
    options = options_without(run, verdicts)
    started = lifecycle.queue(
        run.version, owner_id, options, run.kind, name=name, notes=notes, made_from=run
    )
    through = WorkerVerdict.applied_in.through
    through.objects.bulk_create(
        through(workerverdict_id=verdict.pk, run_id=started.pk) for verdict in verdicts
    )
    return started


def options_without(run: Run, verdicts: Sequence[WorkerVerdict]) -> Parameters:
    """Return the options of a run, with the workers of these verdicts left out as well.

    By their own ids, as people know them; by the platform's where several have the same.
    """
    options: Any
    try:
        options = kind_of(run).options.of_dict(run.parameters)
    except LookupError:
        raise OtherSettingsError from None
    there = dict(answering(run.version).values_list("public_id", "external_id"))
    known = Counter(there.values())
    # Who withdrew all answers since has none that could vote.
    before = [
        one for one in options.exclude_workers if clean_id(one) in known or _uuid(one) in there
    ]
    workers = [verdict.worker for verdict in verdicts if verdict.worker.public_id in there]
    ids = [_id_of(worker, known) for worker in workers]
    return replace(options, exclude_workers=tuple(dict.fromkeys([*before, *ids])))


def _id_of(worker: Worker, known: Counter[str]) -> str:
    name = worker.external_id
    one_line = len(name.splitlines()) == 1 and cleaned(name) == name
    return name if one_line and known[name] == 1 else str(worker.public_id)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None

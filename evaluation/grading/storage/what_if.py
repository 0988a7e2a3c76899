"""Compute grades and ranks of a run without one more worker, from stored vectors.

The computation is that of a run, with the same answers, vectors and settings, without bootstrap
draws, which change no grade and no rank. Where it would be slow, or differ from what a run
computes, a code says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Count

from annotations.models import Response, Worker
from evaluation.consensus.inputs import GradingInput
from evaluation.consensus.methods.electorate import RemedyError
from evaluation.core.stats.grams import Vectors
from evaluation.grading.crowd import OutsideInformation
from evaluation.grading.run.fitting import grade_vectors
from evaluation.grading.run.results import Results
from evaluation.grading.storage.as_graded import (
    OF_WORDS,
    NotAtOnceError,
    read_graded_input,
    read_graded_vectors,
)
from evaluation.models import Run
from evaluation.runs.steps.answers import read_parameters

# Answers that are graded while somebody waits for a page. With stored vectors 20,000 took a tenth
# of the time of the run (alarms.md); more would take as much longer as there are more.
MOST_ANSWERS = 20_000
# Words and letters become vectors anew, and many numbers each: pairs of answers to the same
# question cost most there. At these, a second or two of processor time.
MOST_BY_WORDS = 10_000
MOST_PAIRS_BY_WORDS = 250_000


@dataclass(frozen=True)
class Outcome:
    """Grade and rank of a worker if another worker were excluded; None if undefined."""

    grade: float | None
    rank: int | None


def compute_without(run: Run, worker: Worker) -> dict[UUID, Outcome]:
    """Return grade and rank of every other worker if `worker` were excluded, by public id.

    Raises `NotAtOnceError`.
    """
    if {str(worker.public_id), worker.external_id} & set(run.parameters.get("exclude_workers", ())):
        raise NotAtOnceError("out_already")
    if _is_large(run):
        raise NotAtOnceError("large")
    given = read_graded_input(run)
    if read_parameters(run.parameters).init == "entailment":
        raise NotAtOnceError("slow_settings")
    return _replace_keys(_grade_without(given, read_graded_vectors(run, given), worker))


def _is_large(run: Run) -> bool:
    """Return whether the run has too many answers, or pairs of answers, to grade at once."""
    rows = Response.objects.filter(
        question__version=run.version_id, state=Response.State.SUBMITTED
    ).values("question")
    counts = list(rows.annotate(n=Count("pk")).values_list("n", flat=True))
    n_answers, n_pairs = sum(counts), sum(n * n for n in counts)
    if run.parameters.get("embedder") in OF_WORDS:
        return n_answers > MOST_BY_WORDS or n_pairs > MOST_PAIRS_BY_WORDS
    return n_answers > MOST_ANSWERS


def _grade_without(inputs: GradingInput, vectors: Vectors, worker: Worker) -> dict[int, Outcome]:
    """Grade without `worker`; return grade and rank of each other worker, by primary key."""
    parameters = replace(
        inputs.parameters,
        bootstrap=0,
        exclude_workers=(*inputs.parameters.exclude_workers, str(worker.public_id)),
    )
    answers, anchors = inputs.answered, inputs.anchors
    outside = OutsideInformation(
        texts=answers.texts,
        excluded=list(dict.fromkeys([*inputs.excluded, worker.pk])),
        anchor_rows=[row for row, _ in anchors],
        anchor_grades=[grade for _, grade in anchors],
    )
    try:
        graded = grade_vectors(
            parameters, vectors, answers.workers, answers.questions, outside=outside
        )
    except RemedyError:
        raise NotAtOnceError("nobody_left") from None
    rows = Results(replace(inputs, models=None), graded).workers()
    excluded = set(outside.excluded)
    return {row.worker: Outcome(row.grade, row.rank) for row in rows if row.worker not in excluded}


def _replace_keys(found: dict[int, Outcome]) -> dict[UUID, Outcome]:
    """Return the outcomes keyed by the workers' public ids instead of primary keys."""
    names = dict(Worker.objects.filter(pk__in=found).values_list("pk", "public_id"))
    return {names[key]: outcome for key, outcome in found.items()}

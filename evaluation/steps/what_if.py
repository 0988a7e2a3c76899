"""What a run would come to without one more worker, computed at once out of the stored vectors.

The same code grades as in a run: the same answers, vectors and settings, without the draws, which
grades and ranks do not hang on. Where it would not be quick, or not be what a run would find, there
is a reason instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from django.db.models import Count

from annotations.models import Response, Worker
from evaluation.backends import BackendError
from evaluation.flow.aqer_summary import summary_of
from evaluation.flow.fitting import grade
from evaluation.flow.inputs import GradingInput
from evaluation.flow.remedies import OutsideInformation
from evaluation.flow.results import Results
from evaluation.flow.vectors import embed
from evaluation.methods.aqer.electorate import RemedyError
from evaluation.methods.grams import Vectors
from evaluation.models import EmbedderVersion, Run, text_hash
from evaluation.steps.cache import is_kept, stored_vectors
from evaluation.steps.checkpoints import RunInputError
from evaluation.steps.grading import load, parameters_of

# Answers that are graded while somebody waits for a page. With stored vectors 20,000 took a tenth
# of the time of the run (alarms.md); more would take as much longer as there are more.
MOST_ANSWERS = 20_000
# Words and letters become vectors anew, and many numbers each: pairs of answers to the same
# question cost most there. At these, a second or two of processor time.
MOST_BY_WORDS = 10_000
MOST_PAIRS_BY_WORDS = 250_000
# These make vectors of words and letters at once; others need a model, or a file.
OF_WORDS = ("tfidf-word", "tfidf-char", "bow")


class NotAtOnceError(Exception):
    """It is not computed at once; `code` says why (`evaluation.words.what_if`)."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Outcome:
    """What a worker would have: None where undefined."""

    grade: float | None
    rank: int | None


def without(run: Run, worker: Worker) -> dict[UUID, Outcome]:
    """Return the outcome of every other worker whom the run grades, by public id.

    Raises `NotAtOnceError`.
    """
    if {str(worker.public_id), worker.external_id} & set(run.parameters.get("exclude_workers", ())):
        raise NotAtOnceError("out_already")
    if _is_large(run):
        raise NotAtOnceError("large")
    try:
        given = load(run.pk)
    except RunInputError:
        raise NotAtOnceError("changed") from None
    if given.hash() != run.input_hash:
        raise NotAtOnceError("changed")
    return _named(_graded(given, _vectors(run, given), worker))


def _is_large(run: Run) -> bool:
    rows = Response.objects.filter(
        question__version=run.version_id, state=Response.State.SUBMITTED
    ).values("question")
    counts = list(rows.annotate(n=Count("pk")).values_list("n", flat=True))
    n_answers, n_pairs = sum(counts), sum(n * n for n in counts)
    if run.parameters.get("embedder") in OF_WORDS:
        return n_answers > MOST_BY_WORDS or n_pairs > MOST_PAIRS_BY_WORDS
    return n_answers > MOST_ANSWERS


def _vectors(run: Run, given: GradingInput) -> Vectors:
    """Return the vectors of the answers as the run had them."""
    parameters = parameters_of(run.parameters)
    if parameters.init == "entailment" or parameters.spelling is not None:
        raise NotAtOnceError("slow_settings")
    texts = given.answered.texts
    if parameters.embedder in OF_WORDS:
        try:
            return embed(parameters, texts, None).answers
        except BackendError:
            raise NotAtOnceError("no_vectors") from None
    if not is_kept(parameters.embedder):
        raise NotAtOnceError("no_vectors")
    made = summary_of(run).embedding
    version = EmbedderVersion.objects.filter(
        model=made.model,
        revision=made.revision,
        precision=made.precision,
        max_length=made.max_length or 0,
        prefix="",
    ).first()
    found = None if version is None else stored_vectors(version, _by_hash(texts))
    if found is None:
        raise NotAtOnceError("no_vectors")
    place = {text: at for at, text in enumerate(dict.fromkeys(texts))}
    return found[np.array([place[text] for text in texts])]


def _by_hash(texts: Sequence[str]) -> dict[bytes, str]:
    return {text_hash(text): text for text in dict.fromkeys(texts)}


def _graded(given: GradingInput, vectors: Vectors, worker: Worker) -> dict[int, Outcome]:
    parameters = replace(
        given.parameters,
        bootstrap=0,
        exclude_workers=(*given.parameters.exclude_workers, str(worker.public_id)),
    )
    answers, anchors = given.answered, given.anchors
    outside = OutsideInformation(
        texts=answers.texts,
        excluded=list(dict.fromkeys([*given.excluded, worker.pk])),
        anchor_rows=[row for row, _ in anchors],
        anchor_grades=[grade for _, grade in anchors],
    )
    try:
        graded = grade(parameters, vectors, answers.workers, answers.questions, outside=outside)
    except RemedyError:
        raise NotAtOnceError("nobody_left") from None
    rows = Results(replace(given, models=None), graded).workers()
    out = set(outside.excluded)
    return {row.worker: Outcome(row.grade, row.rank) for row in rows if row.worker not in out}


def _named(found: dict[int, Outcome]) -> dict[UUID, Outcome]:
    names = dict(Worker.objects.filter(pk__in=found).values_list("pk", "public_id"))
    return {names[key]: outcome for key, outcome in found.items()}

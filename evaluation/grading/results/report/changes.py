"""Whether the data of a run is still what it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from annotations.models import GRADED, Question, Response
from annotations.web.numbers import Numbers, TableCounts, read_numbers
from evaluation.grading.storage.as_graded import NotAtOnceError, as_graded
from evaluation.grading.summary import summary_of
from evaluation.models import AnswerScore, LLMResponse, Run


@dataclass(frozen=True)
class DataChange:
    """Answers that went into a run against those that would go into one now.

    Attributes
    ----------
    n_newer, n_newer_of_models : answers that were saved after the run began; a rerun of a broken
        attempt may have included some of them, so only `answers_are_the_same` is exact.
    n_withdrawn : answers of the run that are not there any more.
    """

    n_answers_then: int
    n_answers_now: int
    n_newer: int
    n_withdrawn: int
    n_of_models_then: int
    n_of_models_now: int
    n_newer_of_models: int

    @property
    def has_changed(self) -> bool:
        """Whether a new run would see other data."""
        return self.of_people or self.of_models

    @property
    def of_people(self) -> bool:
        """Whether a new run would read other answers of people, which may change every grade."""
        return bool(self.n_answers_then != self.n_answers_now or self.n_newer or self.n_withdrawn)

    @property
    def of_models(self) -> bool:
        """Whether a new run would read other answers of models; they change no person's grade."""
        return bool(self.n_of_models_then != self.n_of_models_now or self.n_newer_of_models)


def data_change(run: Run) -> DataChange:
    """Compare counts and times, by one query that reads no text."""
    return change_of(run, read_numbers(change_parts(run)))


def change_parts(run: Run) -> dict[str, TableCounts]:
    """Return what `change_of` needs, to be read with `read_numbers`."""
    newer = Q() if run.started_at is None else Q(updated_at__gt=run.started_at)
    # By submission, not by question: a worker's answers lie together, so this is much faster.
    answers = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    if not run.parameters.get("include_rejected"):
        answers = answers.filter(rejected=False)
    numbers = (Count("pk"), Count("pk", filter=newer))
    # Few or none, and counted apart: to leave them out would read every answer's row.
    beside = Question.objects.filter(version=run.version_id).exclude(role__in=GRADED)
    newer_of_models = Q() if run.started_at is None else Q(created_at__gt=run.started_at)
    of_models = LLMResponse.objects.filter(
        question__version=run.version_id, question__role__in=GRADED, sample=0
    )
    # A model may have several answers to a question, by several prompts.
    questions = (
        Count("question", distinct=True),
        Count("question", distinct=True, filter=newer_of_models),
    )
    return {
        "answers": TableCounts(answers, numbers),
        "beside": TableCounts(answers.filter(question__in=beside.values("pk")), numbers),
        "of_models": TableCounts(of_models, questions, by=("model",)),
        "scores": TableCounts(AnswerScore.objects.filter(run=run), (Count("pk"),)),
    }


def change_of(run: Run, found: Mapping[str, list[Numbers]]) -> DataChange:
    """Return the comparison from what was read of `change_parts`."""
    counts = summary_of(run).counts
    ((n_all, newer),), ((n_beside, newer_beside),) = found["answers"], found["beside"]
    ((n_scores,),) = found["scores"]
    return DataChange(
        n_answers_then=counts.answers,
        n_answers_now=n_all - n_beside,
        n_newer=newer - newer_beside,
        n_withdrawn=max(0, counts.answers - n_scores),
        n_of_models_then=counts.model_answers,
        n_of_models_now=sum(n for _, n, _ in found["of_models"]),
        n_newer_of_models=sum(n for _, _, n in found["of_models"]),
    )


def answers_are_the_same(run: Run) -> bool:
    """Return whether a new run would read the same answers of people, by the hash of their texts.

    Reads every text of the version: some seconds for 1,000,000 answers.
    """
    try:
        as_graded(run)
    except NotAtOnceError:
        return False
    return True

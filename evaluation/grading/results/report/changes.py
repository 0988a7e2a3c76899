"""Compare the answers that a run read with the answers stored now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q

from annotations.models import GRADED, Question, Response
from annotations.web.numbers import Numbers, TableCounts, read_numbers
from evaluation.grading.storage.as_graded import NotAtOnceError, read_graded_input
from evaluation.grading.summary import read_summary
from evaluation.models import AnswerScore, LLMResponse, Run


@dataclass(frozen=True)
class DataChange:
    """Number of answers that a run read, and number that a new run would read now.

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
        """Whether a new run would read other answers."""
        return self.of_people or self.of_models

    @property
    def of_people(self) -> bool:
        """Whether a new run would read other workers' answers, which may change every grade."""
        return bool(self.n_answers_then != self.n_answers_now or self.n_newer or self.n_withdrawn)

    @property
    def of_models(self) -> bool:
        """Whether a new run would read other models' answers; they change no worker's grade."""
        return bool(self.n_of_models_then != self.n_of_models_now or self.n_newer_of_models)


def read_data_change(run: Run) -> DataChange:
    """Return how the stored answers changed since a run, by counts and times; one query."""
    return build_data_change(run, read_numbers(build_change_parts(run)))


def build_change_parts(run: Run) -> dict[str, TableCounts]:
    """Return the queries whose counts `build_data_change` needs, by name."""
    newer = Q() if run.started_at is None else Q(updated_at__gt=run.started_at)
    # By submission, not by question: a worker's answers lie together, so this is much faster.
    answers = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    if not run.parameters.get("include_rejected"):
        answers = answers.filter(rejected=False)
    counts = (Count("pk"), Count("pk", filter=newer))
    # Few or none, and counted apart: to leave them out would read every answer's row.
    not_graded = Question.objects.filter(version=run.version_id).exclude(role__in=GRADED)
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
        "answers": TableCounts(answers, counts),
        "beside": TableCounts(answers.filter(question__in=not_graded.values("pk")), counts),
        "of_models": TableCounts(of_models, questions, by=("model",)),
        "scores": TableCounts(AnswerScore.objects.filter(run=run), (Count("pk"),)),
    }


def build_data_change(run: Run, numbers: Mapping[str, list[Numbers]]) -> DataChange:
    """Return how the stored answers changed since a run, from the counts already read."""
    counts = read_summary(run).counts
    ((n_all, newer),), ((n_beside, newer_beside),) = numbers["answers"], numbers["beside"]
    ((n_scores,),) = numbers["scores"]
    return DataChange(
        n_answers_then=counts.answers,
        n_answers_now=n_all - n_beside,
        n_newer=newer - newer_beside,
        n_withdrawn=max(0, counts.answers - n_scores),
        n_of_models_then=counts.model_answers,
        n_of_models_now=sum(n for _, n, _ in numbers["of_models"]),
        n_newer_of_models=sum(n for _, _, n in numbers["of_models"]),
    )


def has_same_answers(run: Run) -> bool:
    """Return whether a new run would read the same workers' answers, by the hash of their texts.

    Reads every text of the version: some seconds for 1,000,000 answers.
    """
    try:
        read_graded_input(run)
    except NotAtOnceError:
        return False
    return True

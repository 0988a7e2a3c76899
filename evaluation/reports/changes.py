"""Whether the data of a run is still what it was."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Q

from annotations.models import GRADED, Question, Response
from evaluation.flow.aqer_summary import summary_of
from evaluation.models import AnswerScore, LLMResponse, Run
from evaluation.steps.as_graded import NotAtOnceError, as_graded


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
    """Compare counts and times, by four queries that read no text."""
    counts = summary_of(run).counts
    newer = Q() if run.started_at is None else Q(updated_at__gt=run.started_at)
    # By submission, not by question: a worker's answers lie together, so this is much faster.
    graded = Response.objects.filter(
        submission__version=run.version_id,
        state=Response.State.SUBMITTED,
        status=Response.Status.TEXT,
    )
    if not run.parameters.get("include_rejected"):
        graded = graded.filter(rejected=False)
    # Few or none, and told by their keys: a join would read every answer's row.
    beside = list(
        Question.objects.filter(version=run.version_id)
        .exclude(role__in=GRADED)
        .values_list("pk", flat=True)
    )
    if beside:
        graded = graded.exclude(question__in=beside)
    answers = graded.aggregate(now=Count("pk"), newer=Count("pk", filter=newer))
    newer = Q() if run.started_at is None else Q(created_at__gt=run.started_at)
    of_models = (
        LLMResponse.objects.filter(
            question__version=run.version_id, question__role__in=GRADED, sample=0
        )
        .values("model_id", "question_id")
        .annotate(newest=Count("pk", filter=newer))
        .values_list("newest", flat=True)
    )
    fresh = list(of_models)
    kept = AnswerScore.objects.filter(run=run).count()
    return DataChange(
        n_answers_then=counts.answers,
        n_answers_now=answers["now"],
        n_newer=answers["newer"],
        n_withdrawn=max(0, counts.answers - kept),
        n_of_models_then=counts.model_answers,
        n_of_models_now=len(fresh),
        n_newer_of_models=sum(map(bool, fresh)),
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

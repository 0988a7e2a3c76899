"""Report on experts' grades of a run's sample: agreement, difficulty, correlations, true means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from evaluation.experts.options import ExpertsParameters
from evaluation.experts.run import (
    AGREEMENT,
    DIFFICULTY,
    ESTIMATES,
    Answer,
    ExpertFindings,
    GradedAnswer,
    agreement_rows,
    difficulty_rows,
    estimate_rows,
    find,
)
from evaluation.models import AnswerScore, LLMAnswerScore, Run
from evaluation.runs.reports.about import RunAbout, build_about
from evaluation.runs.reports.judged_answers import (
    JudgedAnswer,
    compute_weights,
    find_audit,
    load_judged_answers,
)
from evaluation.runs.reports.spreadsheet import Table


@dataclass(frozen=True)
class ExpertsReport:
    """Findings from experts' grades of a run.

    `sampled` is whether answers were drawn at random.
    """

    about: RunAbout
    sampled: bool
    found: ExpertFindings


def experts_report(run: Run) -> ExpertsReport:
    """Return the expert findings of a finished grading.

    True means rest on a random sample: grades of answers that were chosen otherwise have none.
    """
    audit = find_audit(run)
    judged = load_judged_answers(run, audit)
    weights = compute_weights(judged, audit)
    graded = [
        GradedAnswer(_answer(one), one.grades, one.settled, weight)
        for one, weight in zip(judged, weights, strict=True)
    ]
    answers = list(_answers(run, judged)) if judged else []
    found = find(graded, answers, ExpertsParameters(), random=audit is not None)
    # Ids of workers repeat among panels, so that they are told apart by their own here.
    names = {_author(one): one.author for one in judged}
    means = [replace(one, name=names[one.name]) for one in found.means]
    found = replace(found, means=means)
    return ExpertsReport(build_about(run), audit is not None, found)


def _answer(one: JudgedAnswer) -> Answer:
    return Answer(_author(one), one.of_model, one.question_name, one.score)


def _author(one: JudgedAnswer) -> str:
    return str(one.model or one.worker)


def _answers(run: Run, judged: Sequence[JudgedAnswer]) -> Iterator[Answer]:
    """Yield all scored answers of the workers and models that have a judged one; two queries."""
    workers = {one.worker for one in judged if one.worker is not None}
    of_people = AnswerScore.objects.filter(
        run=run,
        response__submission__worker__public_id__in=workers,
        score_leave_one_out__isnull=False,
    )
    for author, question, score in of_people.order_by("response_id").values_list(
        "response__submission__worker__public_id",
        "response__question__external_id",
        "score_leave_one_out",
    ):
        yield Answer(str(author), False, question, score)
    models = {one.model for one in judged if one.model is not None}
    of_models = LLMAnswerScore.objects.filter(
        run=run, llm_response__model__public_id__in=models, score__isnull=False
    )
    for author, question, score in of_models.order_by("llm_response_id").values_list(
        "llm_response__model__public_id", "llm_response__question__external_id", "score"
    ):
        yield Answer(str(author), True, question, score)


def agreement_table(run: Run) -> Table:
    """Return the agreement table: one row per agreement coefficient or correlation with scores."""
    return Table(AGREEMENT, agreement_rows(experts_report(run).found))


def difficulty_table(run: Run) -> Table:
    """Return the difficulty table: one row per question with a graded answer, hardest first."""
    return Table(DIFFICULTY, difficulty_rows(experts_report(run).found))


def estimates_table(run: Run) -> Table:
    """Return the table of estimated mean grades: one row per worker or model."""
    return Table(ESTIMATES, estimate_rows(experts_report(run).found))

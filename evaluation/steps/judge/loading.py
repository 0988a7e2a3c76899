"""What a judge is shown and held against, out of the database; ids are primary keys as text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from annotations.models import Question, QuestionSetVersion
from annotations.models.access import Anybody
from evaluation.backends.errors import ChatError
from evaluation.flow.inputs import GradingInput, choose
from evaluation.flow.judge.judging import ToJudge
from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.models import AuditItem, HumanJudgement, JudgementRequest, LanguageModel, Run
from evaluation.options import Problem, problem
from evaluation.steps.asking.registration import chat_of
from evaluation.steps.checkpoints import RunInputError
from evaluation.steps.grading import answers_of, model_answers_of
from evaluation.steps.outside import (
    judgements_of,
    mean_judgements,
    problems_of_workers,
    without_workers,
)


@dataclass(frozen=True)
class Loaded:
    """A version to judge.

    Attributes
    ----------
    to_judge : workers' answers, then models'; authors and questions are primary keys.
    grades : row, expert and grade of each judgement. settled : by row, the grade that counts of
        what experts disagreed on and an adjudicator settled. chosen : whether answers were
        suggested to the experts by a run.
    """

    given: GradingInput
    to_judge: ToJudge
    grades: list[tuple[int, str, float]]
    chosen: bool
    settled: dict[int, float] = field(default_factory=dict)


def load(version: QuestionSetVersion, parameters: JudgeParameters) -> Loaded:
    """Read what is judged. Raises `RunInputError` where there is nothing."""
    answers = without_workers(version, parameters.exclude_workers, answers_of(version.pk))
    given = choose(parameters.grading(), answers, model_answers_of(version.pk))
    answered = given.answered
    if not len(answered):
        raise RunInputError("run.no_answer")
    spoken = given.models.with_text() if given.models is not None else None
    questions = Question.objects.filter(version=version).select_related("passage")
    wordings, passages = {}, {}
    for question in questions:
        wordings[question.pk] = question.text or question.external_id
        if question.passage is not None:
            passages[question.pk] = question.passage.text
    to_judge = ToJudge(
        [*answered.workers, *(spoken.models if spoken else ())],
        [True] * len(answered) + [False] * len(spoken or ()),
        [*answered.questions, *(spoken.questions if spoken else ())],
        [*answered.texts, *(spoken.texts if spoken else ())],
        wordings,
        passages,
    )
    row_of = {key: row for row, key in enumerate(answered.keys)}
    given_grades = judgements_of(version).values_list("response_id", "expert_id", "grade")
    grades = [
        (row_of[response], f"expert {expert}", grade)
        for response, expert, grade in given_grades
        if response in row_of and grade is not None
    ]
    chosen = JudgementRequest.objects.filter(
        run__isnull=False, response__in=_judged(version)
    ).exists()
    adjudicated = AuditItem.objects.filter(
        response__submission__version=version, adjudicator__isnull=False
    )
    asked = set(adjudicated.values_list("response_id", flat=True))
    settled = {
        row_of[key]: grade
        for key, grade in (mean_judgements(version) if asked else {}).items()
        if key in row_of and key in asked
    }
    return Loaded(given, to_judge, grades, chosen, settled)


def problems_at_start(
    version: QuestionSetVersion, user: Anybody, parameters: JudgeParameters
) -> list[Problem]:
    """Return what only the database knows to be wrong: judge, prices, and excluded workers."""
    if not parameters.judge:
        return [problem("no_judge", "judge")]
    model = _registered(parameters.judge, user)
    if model is None:
        return [problem("unknown_judge", "judge")]
    if model.archived_at is not None:
        reason = "it is archived: restore it on its page first"
        return [problem("judge_refused", "judge", reason=reason)]
    if parameters.budget is not None and not model.has_prices:
        return [problem("no_prices", "budget", name=str(model))]
    try:
        chat_of(model)
    except ChatError as error:
        return [problem("judge_refused", "judge", reason=str(error))]
    return problems_of_workers(version, user, parameters)


def judge_of(run: Run, parameters: JudgeParameters) -> LanguageModel:
    """Return the model that judges. Raises `RunInputError` where it may not be asked any more."""
    found = _registered(parameters.judge or "", run.owner)
    if found is None:
        raise RunInputError("run.judge_not_registered")
    if parameters.budget is not None and not found.has_prices:
        raise RunInputError("run.no_prices", model=found.name)
    return found


def _registered(public_id: str, user: Anybody) -> LanguageModel | None:
    try:
        asked = UUID(public_id)
    except ValueError:
        return None
    return LanguageModel.objects.editable_by(user).filter(public_id=asked).first()


def _judged(version: QuestionSetVersion) -> Any:
    return HumanJudgement.objects.filter(response__submission__version=version).values(
        "response_id"
    )

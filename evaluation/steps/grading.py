"""A run from its answers to its results: rows to the columns of a grading, and results to rows.

`grade_run` tells how a run goes; `evaluation.flow` what a grading is. Each step may run twice:
embedding keeps what it made by the content of the text, and saving replaces what an earlier attempt
left.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from annotations.exchange import AnswerStatus
from annotations.exchange.ids import wording_of
from annotations.exchange.model_replies import THINKING_KEPT, read_reply
from annotations.models import GRADED, Question, Response
from annotations.query_plans import refresh_statistics
from evaluation.flow.grading import Grading, grade_answers
from evaluation.flow.inputs import Answers, GradingInput, ModelAnswers, choose
from evaluation.flow.maps import map_answers
from evaluation.flow.parameters import AqerParameters
from evaluation.flow.vectors import Progress
from evaluation.methods.aqer.electorate import RemedyError
from evaluation.models import LanguageModel, LLMResponse, Run
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import RunInputError, Turn
from evaluation.steps.draws import DrawParts
from evaluation.steps.outside import as_run_input_error, keys_of_workers, mean_judgements
from evaluation.steps.save import save

FACTS = "facts"


def grade_run(turn: Turn) -> None:
    """Grade a claimed run from its answers to its results, or as far as the turn goes."""
    given = load(turn.run_id)
    embed = partial(embed_texts, given.parameters, turn)
    try:
        grading = grade_answers(given, embed, turn.report, DrawParts.of(given, turn))
    except RemedyError as error:
        raise as_run_input_error(error) from error
    maps = map_answers(grading, turn.report)
    find_facts(grading, turn.report)
    save(turn, grading, maps)
    refresh_statistics()


def find_facts(grading: Grading, progress: Progress) -> None:
    """Read what the crowd agrees on, fact by fact, before rows are locked; nothing if not asked."""
    if grading.given.parameters.facts:
        progress(FACTS, 0, 1)
        assert grading.facts is not None
        progress(FACTS, 1, 1)


def load(run_id: int) -> GradingInput:
    """Read what a run is computed from; all ids and keys are primary keys.

    Raises `RunInputError` where there is nothing to grade.
    """
    run = Run.objects.select_related("version").get(pk=run_id)
    parameters = parameters_of(run.parameters)
    found = choose(parameters, answers_of(run.version_id), model_answers_of(run.version_id))
    if not len(found.answered):
        if found.n_rejected:
            raise RunInputError("run.all_answers_rejected", rejected=found.n_rejected)
        raise RunInputError("run.no_answer_to_grade")
    grades = mean_judgements(run.version) if parameters.anchors else {}
    models = LanguageModel.objects.in_bulk(set(found.models.models) if found.models else ())
    return replace(
        found,
        excluded=keys_of_workers(run.version, parameters.exclude_workers, found.workers),
        collapsed=keys_of_workers(run.version, parameters.collapse_workers, found.workers),
        anchors=[
            (row, grades[key]) for row, key in enumerate(found.answered.keys) if key in grades
        ],
        model_names={key: str(model) for key, model in models.items()},
        wordings=wordings_of(run.version_id) if parameters.facts else {},
    )


def wordings_of(version_id: int) -> dict[int, str]:
    """Read the texts of the graded questions of a version, by primary key.

    Where none is given, an id that reads as a wording is one.
    """
    rows = Question.objects.filter(version=version_id, role__in=GRADED)
    found = rows.values_list("pk", "text", "external_id")
    return {key: text or wording_of(question) for key, text, question in found}


def parameters_of(stored: dict[str, Any]) -> AqerParameters:
    """Return the parameters of a run; what an older run did not store has its default."""
    try:
        return AqerParameters.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def answers_of(version_id: int) -> Answers:
    """Read the submitted answers to the graded questions of a version."""
    rows = Response.objects.filter(
        question__version=version_id,
        question__role__in=GRADED,
        state=Response.State.SUBMITTED,
    )
    columns = ("pk", "submission__worker_id", "question_id", "text", "rejected", "submitted_at")
    return Answers.of(rows.order_by("pk").values_list(*columns))


def model_answers_of(version_id: int) -> ModelAnswers:
    """Read the models' answers to the graded questions of a version."""
    rows = LLMResponse.objects.filter(question__version=version_id, question__role__in=GRADED)
    columns = (
        *("pk", "model_id", "question_id", "text", "status", "sample", "finish_reason"),
        f"extra__{THINKING_KEPT}",
    )
    ordered = rows.order_by("asked_at", "pk")
    return ModelAnswers.of(map(_as_read, ordered.values_list(*columns)))


def _as_read(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a stored answer as it counts: one from before thinking was separated holds it."""
    key, model, question, text, status, sample, reason, kept = row
    read = read_reply(text, AnswerStatus(status), reason, keep_thinking=bool(kept))
    return key, model, question, read.text, read.status, sample

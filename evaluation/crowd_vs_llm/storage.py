"""Comparison of panels on the database: load answers, compare, store summary and question rows."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from annotations.models import Question
from evaluation.consensus.inputs import select_graded_answers
from evaluation.crowd_vs_llm.run.comparison import (
    NoModelsError,
    PanelComparison,
    PanelsParameters,
    compute_comparison,
)
from evaluation.crowd_vs_llm.run.summary import PanelsSummary
from evaluation.models import LanguageModel, Run, RunData
from evaluation.runs.steps.answers import (
    load_model_answers,
    load_worker_answers,
    remove_worker_answers,
)
from evaluation.runs.steps.cache import embed_answers
from evaluation.runs.steps.checkpoints import RunEnd, RunInputError, Turn

# Name of the stored rows of questions.
QUESTIONS = "panel-questions"


def compare_panels(turn: Turn) -> None:
    """Execute a claimed run: compare the panels, store the rows, and end the run.

    Raises
    ------
    RunInputError
        The version has no answer or no answer of a model.
    """
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    parameters = load_parameters(run)
    answers = remove_worker_answers(
        run.version, parameters.exclude_workers, load_worker_answers(run.version_id)
    )
    inputs = select_graded_answers(
        parameters.grading(), answers, load_model_answers(run.version_id)
    )
    if not len(inputs.answered):
        raise RunInputError("run.no_answer")
    models = LanguageModel.objects.in_bulk(set(inputs.models.models) if inputs.models else ())
    inputs = replace(inputs, model_names={key: str(model) for key, model in models.items()})
    embed = partial(embed_answers, parameters.grading(), turn)
    try:
        comparison = compute_comparison(parameters, inputs, embed, turn.report_progress)
    except NoModelsError:
        raise RunInputError("run.no_answer_of_a_model") from None
    public = {str(key): str(model.public_id) for key, model in models.items()}
    summary = _replace_model_keys(comparison.summarize(), public)
    rows, input_hash = _build_question_rows(comparison), inputs.hash()
    with turn.open_fenced_transaction():
        # An attempt that was interrupted may have stored rows already.
        RunData.objects.filter(run=run, name=QUESTIONS).delete()
        RunData.objects.create(run=run, name=QUESTIONS, data=rows)
        turn.finish_run(
            RunEnd(
                comparison.build_signature(input_hash),
                input_hash,
                summary,
                [warning.as_dict() for warning in comparison.warnings],
            )
        )


def load_parameters(run: Run) -> PanelsParameters:
    """Return the options of a run, with defaults for those that an older run did not store."""
    stored: dict[str, Any] = run.parameters
    try:
        return PanelsParameters.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _replace_model_keys(summary: PanelsSummary, public: dict[str, str]) -> PanelsSummary:
    """Return the summary with the models' public ids (`public`) in place of primary keys."""
    standings = tuple(replace(row, model=public[row.model]) for row in summary.standings)
    return replace(summary, standings=standings)


def _build_question_rows(comparison: PanelComparison) -> list[dict[str, Any]]:
    """Return the question rows with public ids; answers keep their primary keys."""
    ids = comparison.questions
    public = dict(Question.objects.filter(pk__in=ids).values_list("pk", "public_id"))
    return [
        {**asdict(row), "question": str(public[row.question])}
        for row in comparison.build_question_rows()
    ]

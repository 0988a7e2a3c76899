"""A comparison of panels over a question set: rows to columns, and what it found back."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from annotations.models import Question
from evaluation.flow.inputs import choose
from evaluation.flow.panels.finding import NoModelsError, Panels, find_panels
from evaluation.flow.panels.parameters import PanelsParameters
from evaluation.flow.panels.summary import PanelsSummary
from evaluation.models import LanguageModel, Run, RunData
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Ending, RunInputError, Turn
from evaluation.steps.grading import answers_of, model_answers_of
from evaluation.steps.outside import without_workers

# The name of the rows of questions among a run's data.
QUESTIONS = "panel-questions"


def compare_panels(turn: Turn) -> None:
    """Make the panels of a claimed run, and write what is between them."""
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    parameters = parameters_of(run)
    answers = without_workers(run.version, parameters.exclude_workers, answers_of(run.version_id))
    given = choose(parameters.grading(), answers, model_answers_of(run.version_id))
    if not len(given.answered):
        raise RunInputError("run.no_answer")
    models = LanguageModel.objects.in_bulk(set(given.models.models) if given.models else ())
    given = replace(given, model_names={key: str(model) for key, model in models.items()})
    embed = partial(embed_texts, parameters.grading(), turn)
    try:
        found = find_panels(parameters, given, embed, turn.report)
    except NoModelsError:
        raise RunInputError("run.no_answer_of_a_model") from None
    public = {str(key): str(model.public_id) for key, model in models.items()}
    summary = _public(found.summary(), public)
    rows, input_hash = _rows(found), given.hash()
    with turn.fenced():
        RunData.objects.filter(run=run, name=QUESTIONS).delete()
        RunData.objects.create(run=run, name=QUESTIONS, data=rows)
        turn.end(
            Ending(
                found.signature(input_hash),
                input_hash,
                summary,
                [warning.as_dict() for warning in found.warnings],
            )
        )


def parameters_of(run: Run) -> PanelsParameters:
    """Return the parameters of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return PanelsParameters.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None


def _public(summary: PanelsSummary, public: dict[str, str]) -> PanelsSummary:
    """Call models by their public ids."""
    standings = tuple(replace(one, model=public[one.model]) for one in summary.standings)
    return replace(summary, standings=standings)


def _rows(found: Panels) -> list[dict[str, Any]]:
    """Return the rows of the questions, those by public id; answers by primary key."""
    public = dict(Question.objects.filter(pk__in=found.questions).values_list("pk", "public_id"))
    return [{**asdict(row), "question": str(public[row.question])} for row in found.question_rows()]

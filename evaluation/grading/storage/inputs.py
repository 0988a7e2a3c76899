"""Read the inputs of a grading run from the database."""

from __future__ import annotations

from dataclasses import replace

from evaluation.consensus.inputs import GradingInput, select_graded_answers
from evaluation.models import LanguageModel, Run
from evaluation.runs.steps.answers import (
    compute_expert_grades,
    find_worker_keys,
    load_model_answers,
    load_worker_answers,
    read_grading_parameters,
    read_question_groups,
    read_question_wordings,
)
from evaluation.runs.steps.checkpoints import RunInputError


def load_inputs(run_id: int) -> GradingInput:
    """Return the inputs of a run from the database; all ids are primary keys.

    Raises `RunInputError` if no answer can be graded.
    """
    run = Run.objects.select_related("version").get(pk=run_id)
    parameters = read_grading_parameters(run.parameters)
    inputs = select_graded_answers(
        parameters, load_worker_answers(run.version_id), load_model_answers(run.version_id)
    )
    if not len(inputs.answered):
        if inputs.n_rejected:
            raise RunInputError("run.all_answers_rejected", rejected=inputs.n_rejected)
        raise RunInputError("run.no_answer_to_grade")
    grades = compute_expert_grades(run.version) if parameters.anchors else {}
    models = LanguageModel.objects.in_bulk(set(inputs.models.models) if inputs.models else ())
    return replace(
        inputs,
        excluded=find_worker_keys(run.version, parameters.exclude_workers, inputs.workers),
        collapsed=find_worker_keys(run.version, parameters.collapse_workers, inputs.workers),
        anchors=[
            (row, grades[key]) for row, key in enumerate(inputs.answered.keys) if key in grades
        ],
        model_names={key: str(model) for key, model in models.items()},
        wordings=read_question_wordings(run.version_id) if parameters.facts else {},
        question_groups=read_question_groups(run.version_id, inputs.answered.questions),
    )

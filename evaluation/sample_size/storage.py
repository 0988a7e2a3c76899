"""Crowd size trial on the database: load answers and grades, try subsets, store the summary."""

from __future__ import annotations

from functools import partial
from typing import Any

from evaluation.consensus.inputs import select_graded_answers
from evaluation.consensus.signatures import collect_versions, combine_hashes
from evaluation.models import Run, RunData
from evaluation.runs.steps.answers import (
    compute_expert_grades,
    load_worker_answers,
    remove_worker_answers,
)
from evaluation.runs.steps.cache import embed_answers
from evaluation.runs.steps.checkpoints import OutOfTimeError, RunEnd, RunInputError, Turn
from evaluation.sample_size.methods import FEWEST_VOTERS, Agreements
from evaluation.sample_size.run.trial import (
    CrowdSizeParameters,
    CrowdSizeSummary,
    TooFewWorkersError,
    hash_trial_input,
    try_smaller_crowds,
)

# Name of the stored results of subsets, with which an interrupted run continues.
ASIDE = "tried-parts"


def execute_run(turn: Turn) -> None:
    """Execute or continue a claimed crowd size run: evaluate subsets, store the summary.

    If the time of the turn is over, the results so far are stored and the next turn continues.

    Raises
    ------
    OutOfTimeError
        The turn is over before all subsets were tried.
    RunInputError
        The version has no answer, or fewer than 3 workers answered.
    """
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    parameters = load_crowd_size_parameters(run)
    answers = remove_worker_answers(
        run.version, parameters.exclude_workers, load_worker_answers(run.version_id)
    )
    inputs = select_graded_answers(parameters.build_grading_parameters(), answers)
    if not len(inputs.answered):
        raise RunInputError("run.no_answer")
    grades = compute_expert_grades(run.version)
    input_hash = hash_trial_input(inputs, grades)
    key = combine_hashes([input_hash, collect_versions()["crowdgrade"]])
    stored = turn.read_stored(ASIDE) or {}
    # Results of other answers, grades or of another version do not fit.
    computed: dict[str, Agreements] = stored["parts"] if stored.get("key") == key else {}

    def report_progress(stage: str, done: int, total: int) -> None:
        """Report progress; if the turn's time is over, store partial results and raise."""
        turn.report_progress(stage, done, total)
        # After the last subset the run can end in this turn.
        if stage == "trying" and turn.is_over() and done < total:
            with turn.open_fenced_transaction():
                turn.store_json(ASIDE, {"key": key, "parts": computed})
            raise OutOfTimeError(turn.run_id)

    embed = partial(embed_answers, parameters.build_grading_parameters(), turn)
    try:
        trial = try_smaller_crowds(parameters, inputs, grades, embed, report_progress, computed)
    except TooFewWorkersError:
        raise RunInputError("run.too_few_workers", fewest=FEWEST_VOTERS) from None
    # Deleted together with the end of the run: until then a further turn needs the parts.
    with turn.open_fenced_transaction():
        RunData.objects.filter(run=run, name=ASIDE).delete()
        turn.finish_run(
            RunEnd(
                trial.build_signature(input_hash),
                input_hash,
                CrowdSizeSummary.from_trial(trial),
                [warning.as_dict() for warning in trial.warnings],
            )
        )


def load_crowd_size_parameters(run: Run) -> CrowdSizeParameters:
    """Return the options of a run, with defaults for those that it did not store.

    Raises RunInputError for an option that this version does not know.
    """
    stored: dict[str, Any] = run.parameters
    try:
        return CrowdSizeParameters.from_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None

"""A trial of crowd sizes over a question set: rows to columns, and what it found back."""

from __future__ import annotations

from functools import partial
from typing import Any

from evaluation.flow.crowd_size.conclusion import CrowdSizeSummary
from evaluation.flow.crowd_size.parameters import CrowdSizeParameters
from evaluation.flow.crowd_size.trial import TooFewWorkersError, trial_hash, try_crowd
from evaluation.flow.inputs import choose
from evaluation.flow.signatures import combined_hash, versions
from evaluation.methods.crowd_size import FEWEST_VOTERS, Tried
from evaluation.models import Run, RunData
from evaluation.steps.cache import embed_texts
from evaluation.steps.checkpoints import Ending, OutOfTimeError, RunInputError, Turn
from evaluation.steps.grading import answers_of
from evaluation.steps.outside import mean_judgements, without_workers

# Parts that were tried, put aside under this name when a turn ends.
ASIDE = "tried-parts"


def try_sizes(turn: Turn) -> None:
    """Try a claimed run's crowd in parts, or as many of them as the turn has time for."""
    run = Run.objects.select_related("version").get(pk=turn.run_id)
    parameters = parameters_of(run)
    answers = without_workers(run.version, parameters.exclude_workers, answers_of(run.version_id))
    given = choose(parameters.grading(), answers)
    if not len(given.answered):
        raise RunInputError("run.no_answer")
    grades = mean_judgements(run.version)
    input_hash = trial_hash(given, grades)
    key = combined_hash([input_hash, versions()["crowdgrade"]])
    aside = turn.kept(ASIDE) or {}
    tried: dict[str, Tried] = aside["parts"] if aside.get("key") == key else {}

    def told(stage: str, done: int, total: int) -> None:
        turn.report(stage, done, total)
        if stage == "trying" and turn.is_over() and done < total:
            with turn.fenced():
                turn.keep(ASIDE, {"key": key, "parts": tried})
            raise OutOfTimeError(turn.run_id)

    embed = partial(embed_texts, parameters.grading(), turn)
    try:
        trial = try_crowd(parameters, given, grades, embed, told, tried)
    except TooFewWorkersError:
        raise RunInputError("run.too_few_workers", fewest=FEWEST_VOTERS) from None
    with turn.fenced():
        RunData.objects.filter(run=run, name=ASIDE).delete()
        turn.end(
            Ending(
                trial.signature(input_hash),
                input_hash,
                CrowdSizeSummary.of_trial(trial),
                [warning.as_dict() for warning in trial.warnings],
            )
        )


def parameters_of(run: Run) -> CrowdSizeParameters:
    """Return the parameters of a run; what an older run did not store has its default."""
    stored: dict[str, Any] = run.parameters
    try:
        return CrowdSizeParameters.of_dict(stored)
    except KeyError as error:
        raise RunInputError("run.unknown_parameters", names=", ".join(error.args)) from None

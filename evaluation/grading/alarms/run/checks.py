"""The checks of a run as they are stored: each declared check once, with statistic and result."""

from __future__ import annotations

import numpy as np

from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.grading.alarms.methods import RunChecks
from evaluation.grading.alarms.methods.copies import PARTLY_THRESHOLD
from evaluation.grading.alarms.methods.survey import OPEN
from evaluation.grading.alarms.methods.survey import THRESHOLD as NEAR_MODEL
from evaluation.grading.methods.check_results import CHECK_NAMES
from evaluation.grading.summary import CheckResult

# Share of a worker's answers from which on a notice names the worker, and least number of them.
DONT_KNOW = 0.2
FEWEST_DONT_KNOW = 3
TOO_FEW_ANSWERS = "no_worker_with_3_answers"


def compute_dont_know_shares(worker: Integers, n_workers: int, is_dont_know: Booleans) -> Floats:
    """Return the share of each worker's answers (M,) that mean only "I don't know".

    It is 0 for workers with fewer than 3 such answers.

    Parameters
    ----------
    worker, is_dont_know : (N,) the answers' worker codes, and whether they are of that kind.
    """
    total = np.bincount(worker, minlength=n_workers)
    n_dont_know = np.bincount(worker[is_dont_know], minlength=n_workers)
    return np.where(n_dont_know >= FEWEST_DONT_KNOW, n_dont_know / np.maximum(total, 1), 0.0)


def build_dont_know_check(worker: Integers, shares: Floats) -> CheckResult:
    """Return the check for workers who often answer only "I don't know".

    Its statistic is the largest of the `shares` (`compute_dont_know_shares`).
    """
    if not len(worker) or np.bincount(worker).max() < FEWEST_DONT_KNOW:
        return CheckResult("dont_know", None, DONT_KNOW, False, TOO_FEW_ANSWERS)
    largest = float(shares.max())
    return CheckResult("dont_know", largest, DONT_KNOW, largest >= DONT_KNOW)


def build_checks(survey: RunChecks, *of_texts: CheckResult) -> tuple[CheckResult, ...]:
    """Return all checks of a run in their declared order, to be stored with it.

    `of_texts` are the checks on the answers' texts; `survey` holds the statistical checks.
    """
    made = [
        *of_texts,
        *_build_group_checks(survey),
        _build_model_check(survey),
        *_build_ranking_checks(survey),
    ]
    by_name = {check.check: check for check in made}
    return tuple(by_name[name] for name in CHECK_NAMES)


def _build_group_checks(survey: RunChecks) -> list[CheckResult]:
    """Return the checks for camps of workers, camps on single questions and copied answers."""
    camps, questions, copies = survey.camps, survey.questions, survey.kinship
    starts = survey.starts
    excess = None
    if copies.reason is None:
        excess = max((group.statistic for group in copies.partly), default=0.0)
    return [
        CheckResult("two_camps", camps.statistic, camps.threshold, camps.is_raised, camps.reason),
        CheckResult(
            "two_camps_of_questions",
            questions.statistic,
            questions.threshold,
            questions.is_raised,
            questions.reason,
        ),
        CheckResult("agreement_of_starts", None, OPEN, False, "no_two_camps")
        if starts is None
        else CheckResult(
            "agreement_of_starts",
            starts.statistic,
            starts.threshold,
            starts.is_raised,
            starts.reason,
        ),
        CheckResult(
            "copies", copies.statistic, copies.threshold, bool(copies.groups), copies.reason
        ),
        CheckResult("copies_in_part", excess, PARTLY_THRESHOLD, bool(copies.partly), copies.reason),
    ]


def _build_model_check(survey: RunChecks) -> CheckResult:
    """Return the check for workers whose answers resemble a language model's.

    Its statistic is the largest of all workers and models, 0 if no worker is nearer to a model than
    to every other worker.
    """
    name = "model_like"
    if not survey.models:
        return CheckResult(name, None, NEAR_MODEL, False, "no_model_answers")
    if not any(model.n_tested for model in survey.models):
        return CheckResult(name, None, NEAR_MODEL, False, "no_worker_shares_5_with_a_model")
    largest = max(float(np.nan_to_num(model.statistic).max()) for model in survey.models)
    is_raised = any(len(model.workers) for model in survey.models)
    return CheckResult(name, max(0.0, largest), NEAR_MODEL, is_raised)


def _build_ranking_checks(survey: RunChecks) -> list[CheckResult]:
    """Return the checks of the ranking's stability, of convergence and of the amount of data."""
    checks = [
        CheckResult(name, check.statistic, check.threshold, check.is_raised, check.reason)
        for name, check in (
            ("leverage", survey.leverage),
            ("grader_disagreement", survey.disagreement),
            ("concentrated_weight", survey.concentration),
            ("unstable_ranking", survey.stability),
        )
    ]
    if survey.converged is None:
        checks.append(CheckResult("no_convergence", None, survey.tolerance, False, "no_weights"))
        checks.append(CheckResult("too_few", float(survey.n_workers), 3.0, True))
        return checks
    is_moving = survey.converged is False
    checks.append(CheckResult("no_convergence", survey.last_step, survey.tolerance, is_moving))
    n_unranked = len(survey.unsupported)
    checks.append(CheckResult("too_few", float(n_unranked), 0.0, n_unranked > 0))
    return checks

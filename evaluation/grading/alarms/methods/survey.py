"""Run all statistical checks of a graded run, computed once from the answers' cosines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from evaluation.consensus.methods.estimator import AQER
from evaluation.core.stats.cells import Booleans, Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.grading.alarms.methods import ranking
from evaluation.grading.alarms.methods.camps import Camps, find_camps
from evaluation.grading.alarms.methods.copies import Kinship, find_copiers
from evaluation.grading.alarms.methods.model_likeness import (
    ModelLikeness,
    compute_model_cosines,
    find_model_likeness,
)
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import QuestionCamps, find_question_camps
from evaluation.grading.alarms.methods.ranking import RankingStatistic

NO_OTHER_GRADER = "no_other_grader"


@dataclass(frozen=True)
class ModelAnswersInSpace:
    """Vectors of one language model's answers, with the code of each answer's question.

    `vectors` is (R, d), `questions` (R,) with each code at most once.
    """

    label: object
    vectors: Vectors
    questions: Integers


@dataclass(frozen=True)
class Survey:
    """Results of all statistical checks of one run.

    Attributes
    ----------
    pairs : of the workers who are tested for camps and copies.
    starts : agreement of the run started from one camp and from the other; None without a ring.
    disagreement : with the grader of `other_raw`.
    heaviest : codes of the workers who carry half of the voting weight, the heaviest first.
    unsupported : codes of the workers without a rank for want of answers.
    converged, n_iterations, last_step, tolerance : of the run; converged is None where it had too
        few workers, last_step the change that `tolerance` was compared with.
    """

    pairs: Pairs
    camps: Camps
    kinship: Kinship
    questions: QuestionCamps
    starts: RankingStatistic | None
    leverage: RankingStatistic
    stability: RankingStatistic
    concentration: RankingStatistic
    disagreement: RankingStatistic
    models: tuple[ModelLikeness, ...]
    heaviest: Integers
    unsupported: Integers
    n_workers: int
    converged: bool | None
    n_iterations: int
    last_step: float | None
    tolerance: float


def survey_run(
    aqer: AQER,
    other_raw: Floats | None = None,
    models: Iterable[ModelAnswersInSpace] = (),
    vectors: Vectors | None = None,
    other_reason: str = NO_OTHER_GRADER,
    ranked: AQER | None = None,
    left_out: Booleans | None = None,
) -> Survey:
    """Run all statistical checks on a graded run and return their results.

    Parameters
    ----------
    other_raw : (M,) raw scores of the same workers by another grader; `other_reason` says why
        there are none.
    ranked : the grading whose ranking people use, if it is another one than `aqer`; its draws say
        how steady the ranking is.
    left_out : (M,) workers who are no part of the tests for camps and copies.
    models : answers of language models, in the space of `vectors` (N, d), those of the workers.
    """
    vote = aqer.mean_vote_
    all_pairs = Pairs.of(vote, aqer.seed)
    pairs, tested = all_pairs, None
    if left_out is not None and left_out.any():
        tested = ~left_out
        pairs = all_pairs.select_workers(tested)
    crowd_camps = find_camps(pairs, aqer.seed)
    disagreement = RankingStatistic(None, ranking.DISAGREEMENT, other_reason)
    if other_raw is not None:
        disagreement = ranking.compute_disagreement(aqer.raw_, other_raw, aqer.supported_)
    likeness = []
    if vectors is not None:
        for model in models:
            to_model = compute_model_cosines(vote.cells, vectors, model.questions, model.vectors)
            likeness.append(find_model_likeness(model.label, all_pairs, vote.cells, to_model))
    m = len(aqer.workers_)
    scale = m if aqer.stopping == "relative" else 1
    return Survey(
        pairs=pairs,
        camps=crowd_camps,
        kinship=find_copiers(pairs),
        questions=find_question_camps(vote, aqer.seed, tested),
        starts=ranking.compute_start_agreement(aqer, crowd_camps.members)
        if crowd_camps.rings
        else None,
        leverage=ranking.compute_leverage(aqer),
        stability=ranking.compute_stability((ranked or aqer).draw_agreement_),
        concentration=ranking.compute_concentration(aqer.weights_),
        disagreement=disagreement,
        models=tuple(likeness),
        heaviest=_find_heaviest(aqer.weights_),
        unsupported=np.flatnonzero(~aqer.supported_),
        n_workers=m,
        converged=aqer.converged_,
        n_iterations=aqer.n_iter_,
        last_step=scale * aqer.trace_[-1] if aqer.trace_ else None,
        tolerance=aqer.tolerance,
    )


def _find_heaviest(weights: Floats) -> Integers:
    """Return the fewest workers (codes) who hold half of the voting weight, heaviest first."""
    order = np.argsort(-np.nan_to_num(weights), kind="stable")
    total = np.cumsum(np.nan_to_num(weights)[order])
    if not len(total) or total[-1] <= 0:
        return np.zeros(0, dtype=np.int64)
    return order[: int(np.searchsorted(total, total[-1] / 2)) + 1]

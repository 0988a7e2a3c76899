"""Case: what question contrast adds to a run, and its memory with 10,000 questions in a group."""

from __future__ import annotations

import tracemalloc

import numpy as np

from evaluation.consensus.parameters import AqerParameters
from tests.benchmarks.crowds import crowd
from tests.benchmarks.results import Claim, Findings, figure, timed
from tests.benchmarks.timing import Contestant, take_turns

WORKERS, QUESTIONS, DIMENSION, EACH = 2_000, 10_000, 384, 10
DRAWS = 400
RUNS = 3
SHARE = Claim("at most", 0.1)
# Numbers of the exemplary answers; questions x questions would be 26 times as many.
LINEAR = Claim("at most", 20, "times")

FIT = f"AQER.fit, {DRAWS} draws"
CONTRAST = "question contrast of all answers"


def cost_of_contrast(n_questions: int = QUESTIONS, workers: int = WORKERS) -> Findings:
    """Compare the time of question contrast with that of the fit that it comes after."""
    made = crowd(workers, n_questions, DIMENSION, answers=EACH)
    columns = (made.vectors, made.workers, made.questions)
    aqer = AqerParameters(bootstrap=0).build_estimator().fit(*columns)
    crowd_fit = aqer.fitted_.crowd
    cells = crowd_fit.vote.cells
    worker = cells.to_rows(cells.worker)

    def contrast() -> None:
        crowd_fit.build_exemplars().compare_workers(worker, cells.n_workers)

    def fit() -> None:
        AqerParameters(bootstrap=DRAWS).build_estimator().fit(*columns)

    timings = take_turns(
        [
            Contestant(FIT, fit, runs=RUNS, warm_up=False),
            Contestant(CONTRAST, contrast, runs=RUNS, warm_up=False),
        ]
    )
    tracemalloc.start()
    contrast()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    exemplars = np.asarray(aqer.compute_exemplars()).nbytes
    setting = f"{len(made):,} answers, {workers:,} workers, {n_questions:,} questions in a group"
    share = timings[CONTRAST].median / timings[FIT].median
    return Findings(
        [
            *(timed(setting, name, timing) for name, timing in timings.items()),
            figure(setting, "question contrast, share of the fit", share, "", SHARE),
            figure(
                setting,
                "most memory over the exemplary answers'",
                peak / exemplars,
                "times",
                LINEAR,
            ),
        ]
    )

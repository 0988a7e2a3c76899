"""Cases: AQER against its peers on three crowds, and what intervals cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus import AQER
from evaluation.core.stats.statistics.descriptive import spearman
from tests.benchmarks.crowds import BenchmarkCrowd, crowd
from tests.benchmarks.peers import (
    Grading,
    PerPair,
    Similarity,
    Stopping,
    TextRasa,
    cosine_by_numpy,
    cosine_by_sklearn,
    numpy_loop,
)
from tests.benchmarks.results import (
    Claim,
    Figure,
    Findings,
    SkippedError,
    figure,
    timed,
)
from tests.benchmarks.timing import Contestant, take_turns

PER_PAIR = Claim("at least", 200, "times")
RASA = Claim("at least", 40, "times")
# The inner products of 600 answers are most of a fit of 3 to 6 ms, and TextRASA takes half as many
# rounds: 19 to 38 times in seven runs.
RASA_OF_600 = Claim("at least", 15, "times")
SAME = Claim("at most", 1e-6)
DRAWS = 400

OWN = "AQER.fit"
OWN_ANSWERS = "AQER.fit and nearest_"
BY_SKLEARN = "per pair, scikit-learn's cosine"
BY_NUMPY = "per pair, numpy's dot and norm"
LOOP = "plain numpy loop"
RASA_ANSWERS = "TextRASA.fit_predict"
RASA_WORKERS = "TextRASA.fit"
RASA_ROUNDS = "TextRASA.fit_predict, as many rounds as AQER"


def against_peers() -> Findings:
    """Compare on 40 x 15 x 1024, 20 x 87 x 1024 and 20,000 sparse answers."""
    try:
        TextRasa(crowd(3, 1, 2)).fit_predict()
    except ImportError as error:
        raise SkippedError(f"{error}; `make benchmark` installs crowd-kit") from error
    rows: list[Figure] = []
    remarks = [
        "AQER.fit is handed float32 vectors; the peers float64 ones in the container of their "
        "choice, which is not timed. All start from equal weights and stop at M * RMSE < 1e-6",
        "TextRASA computes another method, by default with its own stopping rule (1e-5); its "
        "encoder looks vectors up. fit gives workers' reliabilities and is compared with AQER.fit; "
        "fit_predict finds each question's best answer too, and so does what it is compared with",
    ]
    for setting, made, slow_runs, slow_rounds, rasa in (
        ("40 workers x 15 questions x 1024", crowd(40, 15, 1024), 3, None, RASA_OF_600),
        ("20 workers x 87 questions x 1024", crowd(20, 87, 1024), 3, None, RASA),
        # To the end the per-pair implementation would take minutes.
        ("20,000 sparse answers x 384", crowd(500, 2000, 384, answers=10), 1, 4, RASA),
    ):
        found = compare(setting, made, slow_runs, slow_rounds, rasa)
        rows += found.rows
        remarks += found.remarks
    return Findings(rows, remarks)


def compare(
    setting: str,
    made: BenchmarkCrowd,
    slow_runs: int,
    slow_rounds: int | None = None,
    rasa_claim: Claim = RASA,
) -> Findings:
    """Time all peers on one crowd, and hold their results against AQER's.

    `slow_runs` is the number of runs of the per-pair implementation. With `slow_rounds` it stops
    after so many rounds, and is compared with an `AQER.fit` that stops there too. `rasa_claim` is
    the claim on `TextRASA.fit_predict`.
    """
    wide = made.vectors.astype(np.float64)
    rasa = TextRasa(made)
    aqer = AQER(n_draws=0)
    short, short_name = aqer, OWN
    if slow_rounds is not None:
        short, short_name = (
            AQER(n_draws=0, max_iterations=slow_rounds),
            f"{OWN}, {slow_rounds} rounds",
        )
    results: dict[str, Grading] = {}

    def own(method: AQER) -> Callable[[], object]:
        return partial(method.fit, made.vectors, made.workers, made.questions)

    def own_answers() -> object:
        return aqer.fit(made.vectors, made.workers, made.questions).nearest_

    def loop() -> None:
        results[LOOP] = numpy_loop(wide, made.workers, made.questions, Stopping())

    def per_pair(name: str, similarity: Similarity) -> Contestant:
        peer = PerPair(made, similarity, Stopping(max_iterations=short.max_iterations))

        def run() -> None:
            results[name] = peer.run()

        return Contestant(name, run, runs=slow_runs, warm_up=False)

    # Its libraries are warmed on a crowd that takes no time.
    PerPair(crowd(3, 2, 2), cosine_by_sklearn, Stopping()).run()
    timings = take_turns(
        [
            Contestant(OWN, own(aqer)),
            Contestant(OWN_ANSWERS, own_answers),
            *([Contestant(short_name, own(short))] if short is not aqer else []),
            Contestant(LOOP, loop),
            Contestant(RASA_WORKERS, rasa.fit),
            Contestant(RASA_ANSWERS, rasa.fit_predict),
            Contestant(
                RASA_ROUNDS,
                lambda: rasa.fit_predict(aqer.n_iter_),
                runs=slow_runs,
                warm_up=False,
            ),
            per_pair(BY_NUMPY, cosine_by_numpy),
            per_pair(BY_SKLEARN, cosine_by_sklearn),
        ]
    )
    claims = {BY_SKLEARN: PER_PAIR, RASA_ANSWERS: rasa_claim}
    against = {
        BY_SKLEARN: short_name,
        BY_NUMPY: short_name,
        RASA_ANSWERS: OWN_ANSWERS,
        RASA_ROUNDS: OWN_ANSWERS,
    }
    rows = [
        timed(setting, name, timing)
        if name in (OWN, OWN_ANSWERS, short_name)
        else timed(
            setting,
            name,
            timing,
            own=timings[against.get(name, OWN)],
            claim=claims.get(name),
        )
        for name, timing in timings.items()
    ]
    for name, found in results.items():
        gap = difference(aqer if name == LOOP else short, found)
        rows.append(figure(setting, f"greatest difference: {name}", gap, "", SAME))
    reliabilities, rounds = rasa.reliabilities()
    alike = spearman(reliabilities, _by_code(aqer, aqer.raw_))
    assert alike is not None
    return Findings(
        rows,
        [
            f"{setting}: AQER rests after {aqer.n_iter_} rounds, the numpy loop after "
            f"{results[LOOP].n_iterations}, the per-pair implementation stops after "
            f"{results[BY_SKLEARN].n_iterations}, TextRASA after {rounds}; Spearman correlation "
            f"of its reliabilities with AQER's raw scores {alike:.3f}",
        ],
    )


def difference(aqer: AQER, found: Grading) -> float:
    """Return the greatest difference of a raw score or a grade; infinite if the rounds differ."""
    if found.n_iterations != aqer.n_iter_:
        return float("inf")
    raw = np.abs(_by_code(aqer, aqer.raw_) - found.raw).max()
    return float(max(raw, np.abs(_by_code(aqer, aqer.grades_) - found.grades).max()))


def _by_code(aqer: AQER, values: NDArray[np.float64]) -> NDArray[np.float64]:
    out = np.empty_like(values)
    out[aqer.workers_.astype(int)] = values
    return out


def cost_of_intervals() -> Findings:
    """Compare a fit with 400 draws to one without, on 20 x 87 x 1024; no claim."""
    made = crowd(20, 87, 1024)
    setting = "20 workers x 87 questions x 1024"
    plain, drawn = AQER(n_draws=0), AQER(n_draws=DRAWS)
    names = (f"{OWN}, no draws", f"{OWN}, {DRAWS} draws")
    timings = take_turns(
        [
            Contestant(name, partial(aqer.fit, made.vectors, made.workers, made.questions))
            for name, aqer in zip(names, (plain, drawn), strict=True)
        ]
    )
    return Findings(
        [
            timed(setting, names[0], timings[names[0]]),
            timed(setting, names[1], timings[names[1]], own=timings[names[0]]),
        ]
    )

"""Stress tests on simulated crowds: how far AQER holds, and where it breaks (app. F).

Each setting is a simulated crowd with the right truth; the same with "-script" behind it is
compared with what the authors' script takes for the truth (`SimulatedCrowd.quality_of_script`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.charts.chart import Chart
from evaluation.charts.lines import Series, lines_chart
from evaluation.consensus import AQER
from evaluation.consensus.signatures import versions
from evaluation.consensus.vectors import Progress
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import (
    Correlations,
    EvidenceRow,
    as_table,
    write_evidence,
    write_table,
)
from evaluation.methods.cells import Floats
from evaluation.methods.simulation import (
    SimulatedCrowd,
    WorkerGroup,
    actual_correlation,
    biased,
    correlated_weak,
    few_workers,
    noisy,
    simulate,
)

# A method holds at a level if it agrees with the truth at least so well.
HOLDS = 0.9
SCRIPT = "-script"
BREAKS = ("test", "truth", "method", "holds_up_to", "breaks_at", "pearson_there", "inverted_at")


@dataclass(frozen=True)
class StressTest:
    """Crowds that get worse from level to level.

    Attributes
    ----------
    name : what is changed. levels : from harmless to harmful.
    crowd : from a level to the groups of workers.
    """

    name: str
    levels: Sequence[float]
    crowd: Callable[[float], list[WorkerGroup]]
    n_questions: int = 10
    dimension: int = 300

    def setting(self, level: float) -> str:
        """Return the setting as it stands in the table."""
        return f"{self.name}={level:g}"


TESTS = (
    StressTest(
        "workers",
        (90, 60, 48, 39, 30, 21, 12, 9, 6, 3),
        lambda level: few_workers(int(level)),
    ),
    StressTest(
        "noise", (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5), noisy, n_questions=20, dimension=512
    ),
    StressTest("rho", (0, 0.3, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9), correlated_weak),
    StressTest(
        "weak_share_at_rho_0.7",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
        lambda level: correlated_weak(0.7, level),
    ),
    StressTest("biased", (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), biased),
)


def _as_is(x: Floats) -> Floats:
    return x


def unit_length(x: Floats) -> Floats:
    """Bring every answer to length 1, so that noise gives nobody a louder voice."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def mean_removed(x: Floats) -> Floats:
    """Subtract the mean of all answers, which takes part of a common bias away."""
    return np.asarray(x - x.mean(axis=0))


METHODS: dict[str, tuple[dict[str, object], Callable[[Floats], Floats]]] = {
    "aqer": ({}, _as_is),
    "aqer_one_pass": ({"max_iterations": 1}, _as_is),
    "leave_one_out": ({"leave_one_out": True}, _as_is),
    "unit_length": ({}, unit_length),
    "mean_removed": ({}, mean_removed),
}


def reproduce_simulation(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table; breaks.csv says where each method breaks."""
    with OutputFolder(request.output) as folder:
        rows: list[EvidenceRow] = []
        for done, (test, level) in enumerate(LEVELS):
            rows += measured(test, level, request.seeds)
            if progress is not None:
                progress("simulation", done + 1, len(LEVELS))
        broken = list(breaks(rows))
        write_table(folder, "breaks", BREAKS, broken)
        write_evidence(
            folder,
            rows,
            {
                "study": "simulation",
                "repetitions": request.repetitions,
                "seeds": [request.seeds.start, request.seeds.stop - 1],
                "holds": f"mean Pearson correlation of at least {HOLDS}",
                "tests": {
                    test.name: {"questions": test.n_questions, "dimension": test.dimension}
                    for test in TESTS
                },
                "actual_correlation": {
                    str(rho): actual_correlation(rho, 3.0) for rho in _levels("rho")
                },
                "versions": versions(),
            },
            [_chart(test, rows) for test in TESTS],
        )
    return as_table(rows)


LEVELS = [(test, level) for test in TESTS for level in test.levels]


def measured(test: StressTest, level: float, seeds: range) -> Iterator[EvidenceRow]:
    """Yield the rows of a setting, with the right truth and with the script's."""
    truths = {"": SimulatedCrowd.quality, SCRIPT: SimulatedCrowd.quality_of_script}
    found = {(truth, method): Correlations.empty() for truth in truths for method in METHODS}
    for seed in seeds:
        crowd = simulate(test.crowd(level), test.n_questions, test.dimension, seed)
        for method, (switches, change) in METHODS.items():
            aqer = AQER(n_draws=0, **switches)  # type: ignore[arg-type]
            aqer.fit(change(crowd.vectors), crowd.workers, crowd.questions)
            for truth, quality in truths.items():
                found[truth, method].add(aqer.raw_, quality(crowd))
    for (truth, method), agreement in found.items():
        yield agreement.row(test.setting(level) + truth, method)


def breaks(rows: Sequence[EvidenceRow]) -> Iterator[tuple[object, ...]]:
    """Yield rows of `BREAKS`: None where a method never holds, never breaks, is never inverted."""
    known = {(row.setting, row.method): row.pearson_mean for row in rows}
    for test in TESTS:
        for truth, name in (("", "right"), (SCRIPT, "script")):
            for method in METHODS:
                at = [(level, known[test.setting(level) + truth, method]) for level in test.levels]
                first = next((n for n, (_, r) in enumerate(at) if r < HOLDS), None)
                holds = None if first == 0 else at[-1 if first is None else first - 1][0]
                level, r = (None, None) if first is None else at[first]
                inverted = next((level for level, r in at if r < 0), None)
                yield test.name, name, method, holds, level, r, inverted


def _levels(name: str) -> Sequence[float]:
    return next(test.levels for test in TESTS if test.name == name)


def _chart(test: StressTest, rows: Sequence[EvidenceRow]) -> Chart:
    known = {(row.setting, row.method): row.pearson_mean for row in rows}

    def line(method: str, truth: str) -> Series:
        points = [(level, known[test.setting(level) + truth, method]) for level in test.levels]
        name = f"{method}, script's truth" if truth else method
        return Series(name, sorted(points))

    return lines_chart(
        name=test.name.replace(".", ""),
        title=f"Agreement with the truth by {test.name}",
        explanation=(
            "Each point is the mean correlation of workers' raw scores with their true quality. "
            "1 is perfect; below 0 the ranking is upside down."
        ),
        axes=(test.name, "Pearson's r"),
        series=[*(line(method, "") for method in METHODS), line("aqer", SCRIPT)],
        heights=(-1.0, 1.0),
    )

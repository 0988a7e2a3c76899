"""Stress AQER with simulated crowds that get worse step by step (app. F).

Each setting is a simulated crowd with the right truth; the same with "-script" behind it is
compared with what the authors' script takes for the truth (`SimulatedCrowd.quality_of_script`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus import AQER
from evaluation.consensus.signatures import collect_versions
from evaluation.consensus.vectors import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.lines import Series, draw_lines
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.simulation import (
    SimulatedCrowd,
    WorkerGroup,
    build_biased_groups,
    build_correlated_weak_groups,
    build_few_workers,
    build_noisy_groups,
    compute_actual_correlation,
    simulate,
)
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import (
    Correlations,
    EvidenceRow,
    build_study_table,
    write_evidence,
    write_table,
)

# A method holds at a level if it agrees with the truth at least so well.
HOLDS = 0.9
SCRIPT = "-script"
BREAKS = ("test", "truth", "method", "holds_up_to", "breaks_at", "pearson_there", "inverted_at")


@dataclass(frozen=True)
class StressTest:
    """A series of simulated crowds that gets worse from level to level.

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
        """Return the name of the setting in the table."""
        return f"{self.name}={level:g}"


TESTS = (
    StressTest(
        "workers",
        (90, 60, 48, 39, 30, 21, 12, 9, 6, 3),
        lambda level: build_few_workers(int(level)),
    ),
    StressTest(
        "noise",
        (0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5),
        build_noisy_groups,
        n_questions=20,
        dimension=512,
    ),
    StressTest("rho", (0, 0.3, 0.5, 0.6, 0.65, 0.7, 0.8, 0.9), build_correlated_weak_groups),
    StressTest(
        "weak_share_at_rho_0.7",
        (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
        lambda level: build_correlated_weak_groups(0.7, level),
    ),
    StressTest("biased", (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), build_biased_groups),
)


def _keep_vectors(x: Floats) -> Floats:
    """Return the vectors unchanged, as the preprocessing that does nothing."""
    return x


def scale_to_unit_length(x: Floats) -> Floats:
    """Return the vectors with each row scaled to length 1."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def remove_mean(x: Floats) -> Floats:
    """Return the vectors minus their mean, which removes part of a shared bias."""
    return np.asarray(x - x.mean(axis=0))


METHODS: dict[str, tuple[dict[str, object], Callable[[Floats], Floats]]] = {
    "aqer": ({}, _keep_vectors),
    "question_contrast": ({"question_contrast": True}, _keep_vectors),
    "aqer_one_pass": ({"max_iterations": 1}, _keep_vectors),
    "leave_one_out": ({"leave_one_out": True}, _keep_vectors),
    "unit_length": ({}, scale_to_unit_length),
    "mean_removed": ({}, remove_mean),
}


def reproduce_simulation(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the study's table; breaks.csv has the level at which each method breaks."""
    with OutputFolder(request.output) as folder:
        rows: list[EvidenceRow] = []
        for done, (test, level) in enumerate(LEVELS):
            rows += measure_level(test, level, request.seeds)
            if progress is not None:
                progress("simulation", done + 1, len(LEVELS))
        break_rows = list(find_breaks(rows))
        write_table(folder, "breaks", BREAKS, break_rows)
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
                    str(rho): compute_actual_correlation(rho, 3.0) for rho in _find_levels("rho")
                },
                "versions": collect_versions(),
            },
            [_draw_chart(test, rows) for test in TESTS],
        )
    return build_study_table(rows)


LEVELS = [(test, level) for test in TESTS for level in test.levels]


def measure_level(test: StressTest, level: float, seeds: range) -> Iterator[EvidenceRow]:
    """Yield the rows of a level, under the true quality and under the published script's."""
    truths = {"": SimulatedCrowd.quality, SCRIPT: SimulatedCrowd.quality_of_script}
    correlations = {(truth, method): Correlations.empty() for truth in truths for method in METHODS}
    for seed in seeds:
        crowd = simulate(test.crowd(level), test.n_questions, test.dimension, seed)
        for method, (switches, transform) in METHODS.items():
            aqer = AQER(n_draws=0, **switches)  # type: ignore[arg-type]
            aqer.fit(transform(crowd.vectors), crowd.workers, crowd.questions)
            for truth, quality in truths.items():
                correlations[truth, method].add(aqer.raw_, quality(crowd))
    for (truth, method), agreement in correlations.items():
        yield agreement.row(test.setting(level) + truth, method)


def find_breaks(rows: Sequence[EvidenceRow]) -> Iterator[tuple[object, ...]]:
    """Yield rows of `BREAKS`; None where a method never holds, breaks or is inverted."""
    correlation_by_key = {(row.setting, row.method): row.pearson_mean for row in rows}
    for test in TESTS:
        for truth, name in (("", "right"), (SCRIPT, "script")):
            for method in METHODS:
                correlations = [
                    (level, correlation_by_key[test.setting(level) + truth, method])
                    for level in test.levels
                ]
                first_below = next((n for n, (_, r) in enumerate(correlations) if r < HOLDS), None)
                holds = (
                    None
                    if first_below == 0
                    else correlations[-1 if first_below is None else first_below - 1][0]
                )
                level, r = (None, None) if first_below is None else correlations[first_below]
                inverted = next((level for level, r in correlations if r < 0), None)
                yield test.name, name, method, holds, level, r, inverted


def _find_levels(name: str) -> Sequence[float]:
    """Return the levels of the named stress test."""
    return next(test.levels for test in TESTS if test.name == name)


def _draw_chart(test: StressTest, rows: Sequence[EvidenceRow]) -> Chart:
    """Return the chart of a stress test: correlation by level, a line for each method."""
    correlation_by_key = {(row.setting, row.method): row.pearson_mean for row in rows}

    def build_line(method: str, truth: str) -> Series:
        points = [
            (level, correlation_by_key[test.setting(level) + truth, method])
            for level in test.levels
        ]
        name = f"{method}, script's truth" if truth else method
        return Series(name, sorted(points))

    return draw_lines(
        name=test.name.replace(".", ""),
        title=f"Agreement with the truth by {test.name}",
        explanation=(
            "Each point is the mean correlation of workers' raw scores with their true quality. "
            "1 is perfect; below 0 the ranking is upside down."
        ),
        axes=(test.name, "Pearson's r"),
        series=[*(build_line(method, "") for method in METHODS), build_line("aqer", SCRIPT)],
        heights=(-1.0, 1.0),
    )

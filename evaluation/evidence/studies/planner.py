"""Compare the planner's error bounds with a simulation: the paper's Figure 1.

The bounds take for granted that workers err independently. The simulation makes such workers: unit
vectors in 384 dimensions with similarity S to the truth and independent remainders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.consensus.signatures import collect_versions
from evaluation.consensus.vectors import Progress
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.lines import Series, draw_lines
from evaluation.core.stats.cells import Floats
from evaluation.core.stats.planner import plan_error
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import write_charts, write_table

HEADER = (
    "mu",
    "delta",
    "M",
    "error_average",
    "error_worst",
    "error_simulated",
    "exceeded_simulated",
)
MUS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
# A picture of more lines would repeat looks.
CHARTED = MUS[1:7]
WORKERS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100)
DELTA = 0.05
DIMENSION = 384
# Draws a repetition.
DRAWS = 20


def reproduce_planner(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return planner.csv: one row per mean similarity and number of workers.

    error_average and error_worst are the formulas (None where a bound is undefined);
    error_simulated the mean error of M simulated workers of similarity mu each;
    exceeded_simulated how often the error is above error_worst when similarities scatter as much
    as they can, 0 or 1 with mean mu: it should not be more than delta.
    """
    rows: list[tuple[object, ...]] = []
    with OutputFolder(request.output) as folder:
        cells = [(mu, m) for mu in MUS for m in WORKERS]
        for done, (mu, m) in enumerate(cells):
            planned = plan_error(mu, m, DELTA)
            rng = np.random.default_rng([request.seeds.start, done])
            draws = DRAWS * request.repetitions
            equal_similarities = np.full((draws, m), mu)
            error = float(simulate_errors(equal_similarities, DIMENSION, rng).mean())
            exceeded = None
            if planned.worst_error is not None:
                scattered = (rng.random((draws, m)) < mu).astype(float)
                is_exceeded = simulate_errors(scattered, DIMENSION, rng) > planned.worst_error
                exceeded = float(is_exceeded.mean())
            rows.append((mu, DELTA, m, planned.average_error, planned.worst_error, error, exceeded))
            if progress is not None:
                progress("planner", done + 1, len(cells))
        write_table(folder, "planner", HEADER, rows)
        write_charts(
            folder, [_draw_chart(rows, column) for column in ("error_average", "error_worst")]
        )
        empty = [[row[0], row[2]] for row in rows if row[4] is None]
        folder.write_json(
            "summary.json",
            {
                "study": "planner",
                "seeds": [request.seeds.start],
                "draws": DRAWS * request.repetitions,
                "dimension": DIMENSION,
                "undefined": [
                    {
                        "file": "planner.csv",
                        "column": column,
                        "reason": "mean_within_deviation",
                        "count": len(empty),
                        "rows": empty,
                    }
                    for column in ("error_worst", "exceeded_simulated")
                ],
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def simulate_errors(similarities: Floats, dimension: int, rng: np.random.Generator) -> Floats:
    """Return 1 - cosine of the mean of simulated unit vectors to the truth, one per draw.

    Parameters
    ----------
    similarities : (D, M) of each vector to the truth, 0 to 1; the remainders are independent
        random directions in `dimension` - 1 dimensions.
    """
    errors = np.empty(len(similarities))
    lengths = np.sqrt(1 - similarities**2)
    for draw, (along, across) in enumerate(zip(similarities.sum(axis=1), lengths, strict=True)):
        directions = rng.standard_normal((len(across), dimension - 1))
        norms = np.sqrt(np.einsum("md,md->m", directions, directions))
        rest = (across / norms) @ directions
        length = np.sqrt(along**2 + rest @ rest)
        errors[draw] = 1 - along / length if length > 0 else 1.0
    return errors


def _draw_chart(rows: Sequence[Sequence[Any]], column: str) -> Chart:
    """Return the chart of one error column by number of workers, a line per mean similarity."""
    at = HEADER.index(column)
    kind = "on average" if column == "error_average" else f"at worst ({1 - DELTA:.0%})"
    return draw_lines(
        name=column,
        title=f"Error of the exemplary answer {kind}",
        explanation=(
            "The error is 1 - cosine to the truth. A line is for workers of one mean similarity "
            "mu to the truth; it is missing where the bound is undefined."
        ),
        axes=("workers M", "error"),
        series=[
            Series(f"mu {mu:g}", [(row[2], row[at]) for row in rows if row[0] == mu])
            for mu in CHARTED
        ],
    )

"""Chart of mean grades from a language model's judgments, corrected by its error."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import Row, draw_estimates
from evaluation.core.charts.scales import format_number
from evaluation.llm_judge.report import Corrected

# Rows of the chart; more could not be compared by eye.
MOST = 40


def build_corrected_chart(rows: Sequence[Corrected]) -> Chart | None:
    """Return the chart of each author's corrected mean grade; None if there is none."""
    known = [row for row in rows if row.mean is not None][:MOST]
    if not known:
        return None
    return draw_estimates(
        name="corrected",
        title="Mean grades, with the judge's error taken off",
        explanation=(
            "A dot is the mean grade of somebody's answers: the judge's scores of all of them, "
            "corrected by how far they are off where experts graded, too. The line is its 95% "
            "interval."
        ),
        axis="grade, 0 to 5",
        rows=[_build_row(row) for row in known],
    )


def _build_row(row: Corrected) -> Row:
    """Return an author's chart row with tooltip; drawn faint if its mean has no interval."""
    tip = "\n".join(
        [
            row.name,
            f"corrected {format_number(row.mean)}",
            f"judge {format_number(row.judge)}, {row.n} answers",
            f"experts {format_number(row.graded)}, {row.n_judged} answers",
        ]
    )
    look = "-model" if row.of == "model" else "" if row.low is not None else "-weak"
    return Row(row.name, row.mean, row.low, row.high, tip, look=look)  # type: ignore[arg-type]

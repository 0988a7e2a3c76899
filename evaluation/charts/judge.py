"""What a judge says and what is left of it once its error is taken off."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts.chart import Chart
from evaluation.charts.rows import Row, estimates_chart
from evaluation.charts.scales import three_digits
from evaluation.reports.judge import Corrected

# More rows would be too many to compare by eye.
MOST = 40


def corrected_chart(rows: Sequence[Corrected]) -> Chart | None:
    """Return the picture of the corrected means; None where none is known."""
    known = [row for row in rows if row.mean is not None][:MOST]
    if not known:
        return None
    return estimates_chart(
        name="corrected",
        title="Mean grades, with the judge's error taken off",
        explanation=(
            "A dot is the mean grade of somebody's answers: the judge's scores of all of them, "
            "corrected by how far they are off where experts graded, too. The line is its 95% "
            "interval."
        ),
        axis="grade, 0 to 5",
        rows=[_row(row) for row in known],
    )


def _row(row: Corrected) -> Row:
    tip = "\n".join(
        [
            row.name,
            f"corrected {three_digits(row.mean)}",
            f"judge {three_digits(row.judge)}, {row.n} answers",
            f"experts {three_digits(row.graded)}, {row.n_judged} answers",
        ]
    )
    look = "-model" if row.of == "model" else "" if row.low is not None else "-weak"
    return Row(row.name, row.mean, row.low, row.high, tip, look=look)  # type: ignore[arg-type]

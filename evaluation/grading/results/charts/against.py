"""Chart that compares the workers' grades in two runs."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.scales import Scale, format_number, format_tick
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.against import AgainstReport
from evaluation.grading.results.report.movers import WorkerChange

MOST = 1000
LEFT, RIGHT, TOP, BOTTOM = 48.0, 14.0, 10.0, 44.0
# A worker that moved by more is marked.
FAR = 0.1


def build_against_chart(
    report: AgainstReport, link: Callable[[UUID], str] = lambda _: ""
) -> Chart | None:
    """Return the chart of up to 1,000 workers' grades in both runs; None without common grades."""
    with_two_grades = [
        worker
        for worker in report.workers
        if worker.grade_before is not None and worker.grade_after is not None
    ]
    shown = with_two_grades[:MOST]
    if not shown:
        return None

    def draw(width: float) -> Drawing:
        side = min(width, 460.0)
        left = (width - side) / 2
        drawing = Drawing(
            width, side, "Run against run", f"Grades of {len(shown)} workers in two runs"
        )
        right, bottom = left + side - RIGHT, side - BOTTOM
        x = Scale(0.0, 1.0, left + LEFT, right)
        y = Scale(0.0, 1.0, bottom, TOP)
        for tick in x.ticks(5):
            drawing.line(x(tick), TOP, x(tick), bottom, "grid")
            drawing.line(left + LEFT, y(tick), right, y(tick), "grid")
            drawing.text(x(tick), bottom + 16, format_tick(tick), "faint", "middle")
            drawing.text(left + LEFT - 7, y(tick) + 4, format_tick(tick), "faint", "end")
        drawing.line(x(0), y(0), x(1), y(1), "median")
        drawing.text((left + LEFT + right) / 2, side - 8, "earlier grade", "faint", "middle")
        drawing.text(left + 14, side / 2 + 20, "later grade", "faint", turned=True)
        for worker in reversed(shown):
            drawing.mark(_format_tip(worker), link(worker.worker))
            look = "dot-model" if abs(worker.grade_change) > FAR else "dot"
            drawing.dot(x(worker.grade_before or 0.0), y(worker.grade_after or 0.0), look, 4.5)
            drawing.end_mark()
        return drawing

    return Chart(
        name="against",
        title="Workers whose rank changed",
        explanation=(
            "A dot is a worker of both runs. On the dotted line the grade is the same, above it "
            "the later run thinks more of the worker, below it less. Orange dots moved by more "
            "than a tenth."
        ),
        draw=draw,
        note=f"The {MOST:,} workers that moved most are shown."
        if len(with_two_grades) > MOST
        else "",
    )


def _format_tip(worker: WorkerChange) -> str:
    """Return the tooltip of a worker: grades and ranks in both runs."""
    ranks = f"rank {worker.rank_before or 'none'}, then {worker.rank_after or 'none'}"
    if worker.moved is not None:
        ranks += f"; among those in both {worker.place_before}, then {worker.place_after}"
    return (
        f"{worker.name}\ngrade {format_number(worker.grade_before)}, then "
        f"{format_number(worker.grade_after)}\n{ranks}"
    )

"""Charts of the workers' grades and ranks with their intervals, best first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.rows import NAMED, Layout, Look, Row, draw_axis, draw_rows
from evaluation.core.charts.scales import Scale, format_interval, format_number
from evaluation.core.charts.svg import Drawing
from evaluation.grading.results.report.workers import WorkerRow

MOST = 200


def build_grades_chart(
    workers: Sequence[WorkerRow], n_workers: int, link: Callable[[UUID], str] = lambda _: ""
) -> Chart:
    """Return the chart of up to 200 workers' grades with intervals, in the given order."""
    shown = [worker for worker in workers if worker.grade.value is not None][:MOST]
    rows = [_build_grade_row(worker, link, "" if worker.supported else "-weak") for worker in shown]

    def draw(width: float) -> Drawing:
        description = f"{len(rows)} workers, best grade first, with 95% intervals"
        return _draw_grades(width, rows, "Grades", description)

    return Chart(
        name="grades",
        title="Who agrees with the crowd's best answer",
        explanation=(
            "A dot is a worker's grade, the line through it the 95% interval: where the grade "
            "would probably be with other questions of this kind. Workers whose lines overlap a "
            "lot cannot be told apart. Hollow grey dots have too few answers to be ranked."
        ),
        draw=draw,
        note=_build_note(len(rows), n_workers),
    )


def build_decision_chart(
    best: Sequence[WorkerRow],
    doubtful: Sequence[WorkerRow],
    link: Callable[[UUID], str] = lambda _: "",
) -> Chart | None:
    """Return the grade chart of the best and of doubtful workers; None without a grade."""
    groups: tuple[tuple[Sequence[WorkerRow], Look], ...] = ((best, ""), (doubtful, "-weak"))
    rows = [
        _build_grade_row(worker, link, look)
        for workers, look in groups
        for worker in workers
        if worker.grade.value is not None
    ]
    if not rows:
        return None

    def draw(width: float) -> Drawing:
        description = f"{len(rows)} workers, the best first, with 95% intervals"
        return _draw_grades(width, rows, "Best and doubtful workers", description)

    return Chart(
        name="decision",
        title="Grades of the best workers and of workers to look at",
        explanation=(
            "Filled dots: the best workers. Hollow dots: workers to look at. The line is the 95% "
            "interval. Workers with overlapping lines may be equally good."
        ),
        draw=draw,
    )


def build_ranks_chart(
    workers: Sequence[WorkerRow], n_workers: int, link: Callable[[UUID], str] = lambda _: ""
) -> Chart | None:
    """Return the chart of the workers' ranks with intervals; None without any interval."""
    shown = [worker for worker in workers if worker.rank is not None][:MOST]
    if not any(worker.rank_interval for worker in shown):
        return None
    rows = [
        Row(
            name=worker.name,
            value=worker.rank,
            low=worker.rank_low,
            high=worker.rank_high,
            tip=f"{worker.name}\nrank {worker.rank}, interval {worker.rank_interval or 'unknown'}",
            link=link(worker.worker),
        )
        for worker in shown
    ]
    last = max(max(row.value or 1, row.high or 1) for row in rows)

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row in rows])
        description = f"{len(rows)} workers, best rank first, with 95% intervals"
        drawing = Drawing(width, layout.height, "Ranks", description)
        scale = Scale(1.0, max(2.0, last), layout.left, layout.right)
        draw_axis(drawing, layout, scale, "rank: 1 is the best")
        draw_rows(drawing, layout, scale, rows)
        return drawing

    return Chart(
        name="ranks",
        title="How sure the order is",
        explanation=(
            "A dot is a worker's rank, the line the ranks the worker would probably have with "
            "other questions of this kind. Where lines cover each other the order is chance: pay "
            "or choose by groups of ranks, not by single places."
        ),
        draw=draw,
        note=_build_note(len(rows), n_workers),
    )


def _build_grade_row(worker: WorkerRow, link: Callable[[UUID], str], look: Look) -> Row:
    """Return the row of a worker's grade with its interval; `look` is the style of the dot."""
    return Row(
        name=worker.name,
        value=worker.grade.value,
        low=worker.grade.low,
        high=worker.grade.high,
        tip=_format_tip(worker),
        link=link(worker.worker),
        look=look,
    )


def _draw_grades(width: float, rows: Sequence[Row], title: str, description: str) -> Drawing:
    """Draw rows of grades on an axis from 0 to 1."""
    layout = Layout(width, [row.name for row in rows])
    drawing = Drawing(width, layout.height, title, description)
    scale = Scale(0.0, 1.0, layout.left, layout.right)
    draw_axis(drawing, layout, scale, "grade: 0 worst to 1 best of this run")
    draw_rows(drawing, layout, scale, rows)
    return drawing


def _build_note(n_shown: int, n_workers: int) -> str:
    """Return the note below a chart that omits names or shows only the first workers."""
    notes = []
    if n_shown > NAMED:
        notes.append("Point at a line, or touch it, to see whose it is.")
    if n_workers > n_shown:
        notes.append(
            f"The picture shows the first {n_shown} of {n_workers:,} workers; "
            "the table and the CSV file have all."
        )
    return " ".join(notes)


def _format_tip(worker: WorkerRow) -> str:
    """Return the tooltip of a worker: grade, interval, rank and number of answers."""
    rank = f"rank {worker.rank}" if worker.rank else "not ranked: too few answers"
    return "\n".join(
        [
            worker.name,
            f"grade {format_number(worker.grade.value)}, "
            f"interval {format_interval(worker.grade.low, worker.grade.high, 'unknown')}",
            f"{rank}, {worker.n_answers} answers",
        ]
    )

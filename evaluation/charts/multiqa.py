"""How robust each model is: four numbers a model, each with its interval, on one scale."""

from __future__ import annotations

from evaluation.charts.chart import Chart
from evaluation.charts.rows import Layout, Look, Row, draw_axis, draw_rows
from evaluation.charts.scales import Scale, around, three_digits
from evaluation.charts.scales import interval as interval_of
from evaluation.charts.svg import Drawing
from evaluation.reports.multiqa.report import MultiqaReport, NumberRow, NumberShown

MOST = 15
"""Models, four rows each: as many as names have room."""
RIGHT: dict[str, tuple[str, Look]] = {
    "worst_case": ("every wording", ""),
    "plurality": ("majority", "-model"),
    "accuracy": ("as asked", "-model"),
    "best_case": ("some wording", ""),
}
NEAR: dict[str, tuple[str, Look]] = {
    "crowd_worst": ("worst wording", ""),
    "crowd_score": ("all wordings", "-model"),
    "crowd_score_original": ("as asked", "-model"),
    "crowd_best": ("best wording", ""),
}


def right_chart(report: MultiqaReport) -> Chart | None:
    """Return the picture of how many questions go right; None where nothing says what is right."""
    return _chart(
        report,
        report.numbers,
        RIGHT,
        "robustness",
        "Right answers in every wording, by majority, as asked, and in some wording",
        "Four rows a model. The dot above says how many questions go right in every wording, the "
        "one below in at least one: the farther the two are apart, the more a model's answers hang "
        "on the words. The diamonds between them are the majority of the wordings and the question "
        "as asked. Lines are 95% intervals by questions; the thin mark is what guessing among the "
        "choices would give.",
        "share of questions",
    )


def crowd_chart(report: MultiqaReport) -> Chart | None:
    """Return the picture of how near replies are to people's consensus; None without people."""
    return _chart(
        report,
        report.crowd,
        NEAR,
        "nearness",
        "Nearness to people's consensus in the worst, in all, and in the best wording",
        "Four rows a model: mean similarity of its replies to what the people who answered agree "
        "on, with 95% intervals by questions. The dots are the least and the most near reply to "
        "each question: the farther apart, the more nearness hangs on the words.",
        "similarity to the consensus",
    )


def _chart(
    report: MultiqaReport,
    numbers: tuple[NumberRow, ...],
    wanted: dict[str, tuple[str, Look]],
    name: str,
    title: str,
    explanation: str,
    axis: str,
) -> Chart | None:
    found = {row.name: row for row in numbers if row.name in wanted}
    rows: list[tuple[Row, NumberShown]] = []
    for place, system in enumerate(report.systems[:MOST]):
        for metric, (words, look) in wanted.items():
            shown = found[metric].of[place] if metric in found else None
            if shown is not None and shown.value is not None:
                row = Row(
                    f"{system}: {words}",
                    shown.value,
                    shown.low,
                    shown.high,
                    _tip(system, words, shown),
                    look=look,
                )
                rows.append((row, shown))
    if not rows:
        return None

    def draw(width: float) -> Drawing:
        layout = Layout(width, [row.name for row, _ in rows])
        drawing = Drawing(width, layout.height, title, f"{len(rows)} numbers")
        scale = (
            _scale(rows, layout) if name == "nearness" else Scale(0, 1, layout.left, layout.right)
        )
        draw_axis(drawing, layout, scale, axis)
        for at, (_, shown) in enumerate(rows):
            if shown.chance is not None:
                x, y = scale(shown.chance), layout.y(at)
                drawing.line(x, y - 6, x, y + 6, "faint-line")
        draw_rows(drawing, layout, scale, [row for row, _ in rows])
        return drawing

    more = len(report.systems) - MOST
    note = f"The first {MOST} models are shown." if more > 0 else ""
    return Chart(name=name, title=title, explanation=explanation, draw=draw, note=note)


def _scale(rows: list[tuple[Row, NumberShown]], layout: Layout) -> Scale:
    values = [value for row, _ in rows for value in (row.value, row.low, row.high)]
    return around(values, layout.left, layout.right)


def _tip(system: str, words: str, shown: NumberShown) -> str:
    lines = [f"{system}: {words}", three_digits(shown.value)]
    if shown.low is not None:
        lines.append(f"95% interval {interval_of(shown.low, shown.high)}")
    if shown.chance is not None:
        lines.append(f"by guessing {three_digits(shown.chance)}")
    return "\n".join([*lines, f"{shown.n:,} questions"])

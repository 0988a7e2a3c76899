"""Chart of similarity scores: one row per item, one circle per system (paper, Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.svg import Drawing, Scale, fit_labels, format_number
from evaluation.eloquent.run.findings import Findings

LOWEST, HIGHEST = 0.0, 5.0
MARK = 8.0
LANE = 2 * MARK + 3
AIR = 7.0
TOP = 26.0
NAMES, NARROW_NAMES = 250.0, 110.0
LEGEND = 20.0


@dataclass(frozen=True)
class ScoresChartRow:
    """One row of the chart: item id, kind of variation, and each system's score, 0 to 5."""

    item: str
    variation: str
    scores: Sequence[float | None]

    @property
    def average(self) -> float | None:
        """Mean score over the systems that have one; None if none has."""
        known = [score for score in self.scores if score is not None]
        return sum(known) / len(known) if known else None


def build_scores_chart(items: Sequence[ScoresChartRow], systems: Sequence[str]) -> Chart:
    """Return the chart of items' similarity scores, the lowest average first."""
    ordered = sorted(items, key=lambda item: (item.average is None, item.average or 0.0))
    scored = [item for item in ordered if item.average is not None]
    left_out = len(ordered) - len(scored)

    def draw(width: float) -> Drawing:
        return _draw_chart(scored, systems, width)

    return Chart(
        "reply-scores",
        "Similarity of the replies by item",
        "Each row is an item with several wordings, the least similar replies first. Each numbered "
        "circle is a model: 5 means that its replies have the same meaning, 0 that they have "
        "nothing in common. The diamond is the average of the models.",
        draw,
        f"Not shown: {left_out} of {len(ordered)} items without a score." if left_out else "",
    )


def _draw_chart(items: Sequence[ScoresChartRow], systems: Sequence[str], width: float) -> Drawing:
    """Return the drawing with axis, items and legend, `width` pixels wide."""
    left = NAMES if width > 600 else NARROW_NAMES
    scale = Scale(LOWEST, HIGHEST, left + 2 * MARK, width - 2 * MARK)
    lanes = [_assign_lanes(item.scores, scale) for item in items]
    heights = [LANE * (1 + max(lane for _, _, lane in placed)) + AIR for placed in lanes]
    floor = TOP + sum(heights)
    drawing = Drawing(
        width,
        floor + 12 + LEGEND * (1 + len(systems)),
        "Similarity of the replies by item",
        f"{len(items)} items and {len(systems)} systems",
    )
    for tick in range(int(HIGHEST) + 1):
        drawing.add_line(scale(tick), TOP - 6, scale(tick), floor, "grid")
        drawing.add_text(scale(tick), TOP - 12, str(tick), "faint", "middle")
    y = TOP
    names = [row.item if width <= 600 else f"{row.item}  {row.variation}" for row in items]
    shortened = fit_labels(names, left - 8)
    rows = zip(items, names, shortened, lanes, heights, strict=True)
    for item, name, label, placed, height in rows:
        drawing.add_line(0, y + height, width, y + height, "grid")
        drawing.add_text(0, y + height / 2 + 4, label, "label", full=name)
        for system, score, lane in placed:
            drawing.begin_group(f"{item.item}, {systems[system]}: {format_number(score)}")
            _draw_numbered_circle(
                drawing, scale(score), y + AIR / 2 + MARK + 1 + lane * LANE, system
            )
            drawing.end_group()
        average = item.average
        if average is not None:
            drawing.begin_group(f"{item.item}, average: {format_number(average)}")
            drawing.add_diamond(scale(average), y + height - 3, "consensus", 5)
            drawing.end_group()
        y += height
    _draw_legend(drawing, systems, floor + 12 + MARK, width)
    return drawing


def _assign_lanes(scores: Sequence[float | None], scale: Scale) -> list[tuple[int, float, int]]:
    """Return system, score and vertical lane of each circle, so that circles do not touch."""
    ends: list[float] = []
    placed = []
    known = [(score, system) for system, score in enumerate(scores) if score is not None]
    for score, system in sorted(known):
        x = scale(score)
        lane = next((index for index, end in enumerate(ends) if x - end >= LANE), len(ends))
        # Replaces the end of this lane, or appends one for a new lane.
        ends[lane : lane + 1] = [x]
        placed.append((system, score, lane))
    return placed


def _draw_numbered_circle(drawing: Drawing, x: float, y: float, system: int) -> None:
    """Draw a circle with the system's number, counted from 1, around the point (x, y)."""
    drawing.add_dot(x, y, "grade-1", MARK)
    drawing.add_text(x, y + 4, str(system + 1), "label", "middle", 11)


def _draw_legend(drawing: Drawing, systems: Sequence[str], y: float, width: float) -> None:
    """Draw a line of the legend for each system, and one for their average."""
    shortened = fit_labels(systems, width - 2 * MARK - 20)
    for system, (name, label) in enumerate(zip(systems, shortened, strict=True)):
        _draw_numbered_circle(drawing, MARK + 1, y, system)
        drawing.add_text(2 * MARK + 10, y + 4, label, "label", full=name)
        y += LEGEND
    drawing.add_diamond(MARK + 1, y, "consensus", 5)
    drawing.add_text(2 * MARK + 10, y + 4, "average of the models", "label")


def build_findings_chart(findings: Findings) -> Chart | None:
    """Return the chart of an evaluation's item scores; None without a score."""
    cells = {(row.item, row.system): row.score for row in findings.items}
    if all(score is None for score in cells.values()):
        return None
    variations = {row.item: row.variation for row in findings.items}
    return build_scores_chart(
        [
            ScoresChartRow(item, variation, [cells[item, system] for system in findings.systems])
            for item, variation in variations.items()
        ],
        findings.systems,
    )

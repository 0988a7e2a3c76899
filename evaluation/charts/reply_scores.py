"""Scores of sets of replies by item, a mark a system: Figure 1 of the ELOQUENT robustness paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.charts.chart import Chart
from evaluation.charts.labels import labels
from evaluation.charts.scales import Scale, three_digits
from evaluation.charts.svg import Drawing

LOWEST, HIGHEST = 0.0, 5.0
MARK = 8.0
LANE = 2 * MARK + 3
AIR = 7.0
TOP = 26.0
NAMES, NARROW_NAMES = 250.0, 110.0
LEGEND = 20.0


@dataclass(frozen=True)
class ItemScores:
    """An item: its name, in what its wordings differ, and a score of each system, 0 to 5."""

    item: str
    variation: str
    scores: Sequence[float | None]

    @property
    def average(self) -> float | None:
        """Return the mean over systems; None without a score."""
        known = [score for score in self.scores if score is not None]
        return sum(known) / len(known) if known else None


def scores_chart(items: Sequence[ItemScores], systems: Sequence[str]) -> Chart:
    """Return the picture: items with the lowest average first, those without a score last."""
    ordered = sorted(items, key=lambda one: (one.average is None, one.average or 0.0))
    shown = [one for one in ordered if one.average is not None]
    left_out = len(ordered) - len(shown)

    def draw(width: float) -> Drawing:
        return _drawn(shown, systems, width)

    return Chart(
        "reply-scores",
        "How alike the replies are, item by item",
        "Each row is an item that was put in several ways, the one with the most unlike replies "
        "first. A number in a circle is a system: 5 means that its replies say the same, 0 that "
        "they have nothing in common. The diamond is the average of the systems.",
        draw,
        f"Left out: {left_out} of {len(ordered)} items, which have no score." if left_out else "",
    )


def _drawn(items: Sequence[ItemScores], systems: Sequence[str], width: float) -> Drawing:
    left = NAMES if width > 600 else NARROW_NAMES
    scale = Scale(LOWEST, HIGHEST, left + 2 * MARK, width - 2 * MARK)
    lanes = [_lanes(one.scores, scale) for one in items]
    heights = [LANE * (1 + max(lane for _, _, lane in placed)) + AIR for placed in lanes]
    floor = TOP + sum(heights)
    drawing = Drawing(
        width,
        floor + 12 + LEGEND * (1 + len(systems)),
        "How alike the replies are, item by item",
        f"{len(items)} items and {len(systems)} systems",
    )
    for tick in range(int(HIGHEST) + 1):
        drawing.line(scale(tick), TOP - 6, scale(tick), floor, "grid")
        drawing.text(scale(tick), TOP - 12, str(tick), "faint", "middle")
    y = TOP
    names = [one.item if width <= 600 else f"{one.item}  {one.variation}" for one in items]
    shown = labels(names, left - 8)
    for one, name, label, placed, height in zip(items, names, shown, lanes, heights, strict=True):
        drawing.line(0, y + height, width, y + height, "grid")
        drawing.text(0, y + height / 2 + 4, label, "label", full=name)
        for system, score, lane in placed:
            drawing.mark(f"{one.item}, {systems[system]}: {three_digits(score)}")
            _mark(drawing, scale(score), y + AIR / 2 + MARK + 1 + lane * LANE, system)
            drawing.end_mark()
        average = one.average
        if average is not None:
            drawing.mark(f"{one.item}, average: {three_digits(average)}")
            drawing.diamond(scale(average), y + height - 3, "consensus", 5)
            drawing.end_mark()
        y += height
    _legend(drawing, systems, floor + 12 + MARK, width)
    return drawing


def _lanes(scores: Sequence[float | None], scale: Scale) -> list[tuple[int, float, int]]:
    """Return system, score and lane of each mark: marks that would touch stand below each other."""
    ends: list[float] = []
    placed = []
    known = [(score, system) for system, score in enumerate(scores) if score is not None]
    for score, system in sorted(known):
        x = scale(score)
        lane = next((at for at, end in enumerate(ends) if x - end >= LANE), len(ends))
        ends[lane : lane + 1] = [x]
        placed.append((system, score, lane))
    return placed


def _mark(drawing: Drawing, x: float, y: float, system: int) -> None:
    drawing.dot(x, y, "grade-1", MARK)
    drawing.text(x, y + 4, str(system + 1), "label", "middle", 11)


def _legend(drawing: Drawing, systems: Sequence[str], y: float, width: float) -> None:
    shown = labels(systems, width - 2 * MARK - 20)
    for system, (name, label) in enumerate(zip(systems, shown, strict=True)):
        _mark(drawing, MARK + 1, y, system)
        drawing.text(2 * MARK + 10, y + 4, label, "label", full=name)
        y += LEGEND
    drawing.diamond(MARK + 1, y, "consensus", 5)
    drawing.text(2 * MARK + 10, y + 4, "average of the systems", "label")

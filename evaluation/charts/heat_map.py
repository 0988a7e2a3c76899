"""Workers by questions as coloured fields: an overview of groups, or a block answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from evaluation.charts.chart import Chart
from evaluation.charts.scales import three_digits
from evaluation.charts.svg import Drawing, fitting, width_of
from evaluation.reports.heat_map import COLUMNS, ROWS, HeatBlock, HeatOverview

SHADES = 6
COSINE = (0.0, 0.2, 0.4, 0.6, 0.8)
LEGEND = 30.0
NAMES = 130.0


@dataclass(frozen=True)
class Shades:
    """Numbers to colours: below the first bound the palest, from the last on the strongest.

    `names` are what each colour means, where the bounds themselves do not say it.
    """

    bounds: Sequence[float]
    names: Sequence[str] = ()

    def __call__(self, score: float) -> str:
        """Return the look of a field."""
        return f"heat-{sum(score >= bound for bound in self.bounds)}"

    @property
    def words(self) -> list[str]:
        """What each colour means."""
        if self.names:
            return list(self.names)
        names = [f"{bound:.2g}" for bound in self.bounds]
        between = [f"to {high}" for high in names[1:]]
        return [f"below {names[0]}", *between, f"{names[-1]} and more"]


def shades(scores: Sequence[float], similarity: str) -> Shades:
    """Return the colours: fixed ones for cosines, else between the least and the greatest."""
    if similarity == "cosine" or not scores:
        return Shades(COSINE)
    low, high = min(scores), max(scores)
    width = (high - low) / SHADES or 1.0
    return Shades([low + width * step for step in range(1, SHADES)])


def block_chart(
    block: HeatBlock,
    similarity: str,
    worker_link: Callable[[UUID], str] = lambda _: "",
) -> Chart:
    """Return the picture of a block, a field for each worker and question."""
    scores = [cell.score for row in block.cells for cell in row if cell and cell.score is not None]
    colours = shades(scores, similarity)

    def draw(width: float) -> Drawing:
        narrow = width <= 600
        left = 84.0 if narrow else NAMES
        wide = min((width - left - 4) / max(1, len(block.questions)), 44.0)
        high = 15.0 if narrow else 19.0
        longest = max((width_of(question.name) for question in block.questions), default=0)
        top = min(longest, NAMES) + 12
        floor = top + high * len(block.workers)
        drawing = Drawing(
            width,
            floor + legend_height(colours, width),
            "Workers by questions",
            f"{len(block.workers)} workers and {len(block.questions)} questions",
        )
        drawing.root.set("data-columns", str(len(block.questions)))
        for at, question in enumerate(block.questions):
            name = fitting(question.name, NAMES)
            drawing.text(left + (at + 0.5) * wide + 4, top - 6, name, "label", size=11, turned=True)
        for at, worker in enumerate(block.workers):
            y = top + at * high
            name = fitting(worker.name, left - 8, 11)
            drawing.text(left - 6, y + high / 2 + 4, name, "label", "end", 11)
            for column, (question, cell) in enumerate(
                zip(block.questions, block.cells[at], strict=True)
            ):
                x = left + column * wide
                what = f"{worker.name} on {question.name}"
                if cell is None:
                    drawing.mark(f"{what}\nno answer")
                    drawing.rectangle(x, y, wide - 1, high - 1, "missing")
                    drawing.line(
                        x + wide * 0.35,
                        y + high * 0.65,
                        x + wide * 0.6,
                        y + high * 0.3,
                        "faint-line",
                    )
                else:
                    drawing.mark(
                        f"{what}: {three_digits(cell.score, 'nobody else answered')}\n{cell.text}",
                        worker_link(worker.worker),
                    )
                    look = "missing" if cell.score is None else colours(cell.score)
                    drawing.rectangle(x, y, wide - 1, high - 1, look)
                drawing.end_mark()
        draw_legend(drawing, colours, floor, missing="no answer")
        return drawing

    return Chart(
        name="heat-block",
        title="Who answered what how well",
        explanation=(
            "A row is a worker (best grade on top), a column a question (easiest on the left), a "
            "field the likeness of the answer to the consensus of the others: the stronger the "
            "colour, the nearer. A pale row is a worker who disagrees everywhere, a pale column a "
            "question that divides the crowd. Fields with a stroke have no answer."
        ),
        draw=draw,
        note=""
        if block.is_whole
        else (
            f"Workers {block.first_worker + 1:,} to {block.first_worker + len(block.workers):,} of "
            f"{block.n_workers:,}, questions {block.first_question + 1:,} to "
            f"{block.first_question + len(block.questions):,} of {block.n_questions:,}; the CSV "
            "file has all."
        ),
    )


def overview_chart(
    overview: HeatOverview, similarity: str, link: Callable[[int, int], str] = lambda *_: ""
) -> Chart:
    """Return the picture of the groups; `link` leads from a worker and a question to a block."""
    rows, columns = len(overview.workers_to), len(overview.questions_to)
    scores = [mean for row in overview.means for mean in row if mean is not None]
    colours = shades(scores, similarity)

    def draw(width: float) -> Drawing:
        left, top = 8.0, 26.0
        wide = (width - left - 4) / max(1, columns)
        high = min(wide, 14.0)
        floor = top + high * rows
        drawing = Drawing(
            width,
            floor + legend_height(colours, width),
            "Workers by questions",
            f"{rows} groups of workers and {columns} groups of questions",
        )
        drawing.root.set("data-columns", str(columns))
        drawing.text(left, 16, "easiest questions", "faint")
        drawing.text(width - 4, 16, "hardest questions", "faint", "end")
        for row in range(rows):
            for column in range(columns):
                x, y = left + column * wide, top + row * high
                _draw_group(drawing, overview, (row, column), colours, link)
                mean = overview.means[row][column]
                look = "missing" if mean is None else colours(mean)
                drawing.rectangle(x, y, wide - 0.5, high - 0.5, look)
                drawing.end_mark()
        draw_legend(drawing, colours, floor, missing="no answers")
        return drawing

    return Chart(
        name="heat-map",
        title="The whole run at a glance",
        explanation=(
            "Best workers on top, worst at the bottom; easiest questions on the left, hardest on "
            "the right. A field is the mean likeness of the answers of some neighbouring workers "
            "to some neighbouring questions. Click a field, or press Enter on it, to see its "
            "answers one by one below."
        ),
        draw=draw,
        note=(
            f"{overview.workers_to[-1]:,} workers in {rows} groups and "
            f"{overview.questions_to[-1]:,} questions in {columns} groups."
        ),
    )


def _draw_group(
    drawing: Drawing,
    overview: HeatOverview,
    at: tuple[int, int],
    colours: Shades,
    link: Callable[[int, int], str],
) -> None:
    row, column = at
    worker = overview.workers_to[row - 1] if row else 0
    question = overview.questions_to[column - 1] if column else 0
    mean, count = overview.means[row][column], overview.counts[row][column]
    tip = (
        f"workers {worker + 1:,} to {overview.workers_to[row]:,}, "
        f"questions {question + 1:,} to {overview.questions_to[column]:,}\n"
        f"mean {three_digits(mean, 'unknown')} of {count:,} answers"
    )
    drawing.mark(tip, link(worker // ROWS * ROWS, question // COLUMNS * COLUMNS))


def _places(colours: Shades, width: float, missing: str) -> list[tuple[float, int, str, str]]:
    places, x, row = [], 8.0, 0
    for at, words in enumerate([*colours.words, missing]):
        wanted = 20 + width_of(words) + 10
        if x + wanted > width and x > 8:
            x, row = 8.0, row + 1
        look = "missing" if at == len(colours.words) else f"heat-{at}"
        places.append((x, row, look, words))
        x += wanted
    return places


def legend_height(colours: Shades, width: float) -> float:
    """Return the room that `draw_legend` takes."""
    return LEGEND + 20 * _places(colours, width, "no answers")[-1][1] + 6


def draw_legend(drawing: Drawing, colours: Shades, floor: float, missing: str) -> None:
    """Draw what each colour means below `floor`; `missing` is what a field without one means."""
    for x, row, look, words in _places(colours, drawing.width, missing):
        y = floor + 12 + row * 20
        drawing.rectangle(x, y, 13, 13, look)
        drawing.text(x + 19, y + 11, words, "faint")

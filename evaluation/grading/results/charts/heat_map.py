"""Heat maps of scores by worker and question: of groups, or answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from evaluation.core.charts.chart import Chart
from evaluation.core.charts.svg import Drawing, estimate_width, fit_labels, format_number
from evaluation.grading.results.report.maps import COLUMNS, ROWS, HeatBlock, HeatOverview

SHADES = 7
LEGEND = 30.0
NAMES = 130.0


@dataclass(frozen=True)
class ColourScale:
    """Colour scale of a heat map: dark blue below the first bound, yellow above the last.

    The colours grow lighter step by step, so they are in order without hues too; they are the same
    on light pages and on dark ones. `names` are what each colour means, where the bounds
    themselves do not say it.
    """

    bounds: Sequence[float]
    names: Sequence[str] = ()

    def __call__(self, score: float) -> str:
        """Return the CSS class of a score's colour."""
        return self.get_css_class(sum(score >= bound for bound in self.bounds))

    def get_css_class(self, step: int) -> str:
        """Return the CSS class of the colour with this number, 0 for the lowest.

        `step` is the number of bounds that the score reaches.
        """
        return f"heat-{round(step * (SHADES - 1) / max(1, len(self.bounds)))}"

    @property
    def words(self) -> list[str]:
        """Meaning of each colour, such as "below 0.40", lowest first."""
        if self.names:
            return list(self.names)
        if not self.bounds:
            return ["all alike"]
        digits = 2 if len({round(bound, 2) for bound in self.bounds}) == len(self.bounds) else 4
        names = [f"{bound:.{digits}f}" for bound in self.bounds]
        between = [f"to {high}" for high in names[1:]]
        return [f"below {names[0]}", *between, f"{names[-1]} and more"]

    @property
    def legend(self) -> list[tuple[str, str]]:
        """CSS class and meaning of each colour, lowest first."""
        return [(self.get_css_class(step), words) for step, words in enumerate(self.words)]


def build_colour_scale(scores: Sequence[float], quantiles: Sequence[float] = ()) -> ColourScale:
    """Return a colour scale whose colours cover about equally many answers each.

    Bounds between equal steps would give nearly all good answers one colour. `quantiles` are those
    of the whole run, so that blocks of it can be compared; without them they are of `scores`.
    """
    bounds = list(quantiles)
    if not bounds and len(scores):
        bounds = np.quantile(scores, [step / SHADES for step in range(1, SHADES)]).tolist()
    rounded = sorted({round(bound, 2) for bound in bounds})
    if len(rounded) < 3:  # hardly any spread to two digits
        rounded = sorted(set(bounds))
    # The least number of all cannot be below itself.
    lowest = min(scores, default=0.0)
    return ColourScale([bound for bound in rounded if quantiles or bound > lowest])


def build_block_chart(
    block: HeatBlock,
    quantiles: Sequence[float] = (),
    worker_link: Callable[[UUID], str] = lambda _: "",
) -> Chart:
    """Return the heat map of some workers and questions, with one cell per answer.

    `quantiles` are the bounds of the colours.
    """
    scores = [cell.score for row in block.cells for cell in row if cell and cell.score is not None]
    colours = build_colour_scale(scores, quantiles)

    def draw_chart(width: float) -> Drawing:
        """Return the heat map drawn at the given width."""
        narrow = width <= 600
        left = 84.0 if narrow else NAMES
        wide = min((width - left - 4) / max(1, len(block.questions)), 44.0)
        high = 15.0 if narrow else 19.0
        longest = max((estimate_width(question.name) for question in block.questions), default=0)
        top = min(longest, NAMES) + 12
        floor = top + high * len(block.workers)
        drawing = Drawing(
            width,
            floor + compute_legend_height(colours, width),
            "Workers by questions",
            f"{len(block.workers)} workers and {len(block.questions)} questions",
        )
        drawing.root.set("data-columns", str(len(block.questions)))
        columns = fit_labels([question.name for question in block.questions], NAMES)
        for index, question in enumerate(block.questions):
            x, full = left + (index + 0.5) * wide + 4, question.name
            drawing.add_text(x, top - 6, columns[index], "label", size=11, turned=True, full=full)
        people = fit_labels([worker.name for worker in block.workers], left - 8, 11)
        for index, worker in enumerate(block.workers):
            y = top + index * high
            middle = y + high / 2 + 4
            drawing.add_text(left - 6, middle, people[index], "label", "end", 11, full=worker.name)
            for column, (question, cell) in enumerate(
                zip(block.questions, block.cells[index], strict=True)
            ):
                x = left + column * wide
                what = f"{worker.name} on {question.name}"
                if cell is None:
                    drawing.begin_group(f"{what}\nno answer")
                    drawing.add_rectangle(x, y, wide - 1, high - 1, "missing")
                    drawing.add_line(
                        x + wide * 0.35,
                        y + high * 0.65,
                        x + wide * 0.6,
                        y + high * 0.3,
                        "faint-line",
                    )
                else:
                    drawing.begin_group(
                        f"{what}: {format_number(cell.score, 'no other answer')}\n{cell.text}",
                        worker_link(worker.worker),
                    )
                    css_class = "missing" if cell.score is None else colours(cell.score)
                    drawing.add_rectangle(x, y, wide - 1, high - 1, css_class)
                drawing.end_group()
        draw_legend(drawing, colours, floor, missing="no answer")
        return drawing

    return Chart(
        name="heat-block",
        title="Who answered what how well",
        explanation=(
            "A row is a worker (best grade on top), a column a question (easiest on the left), a "
            "field the likeness of the answer to the consensus of the others: yellow is near, dark "
            "blue far. A blue row is a worker who disagrees everywhere, a blue column a question "
            "that divides the crowd. Empty fields have no answer."
        ),
        draw=draw_chart,
        note=""
        if block.is_whole
        else (
            f"Workers {block.first_worker + 1:,} to {block.first_worker + len(block.workers):,} of "
            f"{block.n_workers:,}, questions {block.first_question + 1:,} to "
            f"{block.first_question + len(block.questions):,} of {block.n_questions:,}; the CSV "
            "file has all."
        ),
    )


def build_overview_chart(
    overview: HeatOverview, link: Callable[[int, int], str] = lambda *_: ""
) -> Chart:
    """Return the heat map of mean scores of groups of workers and questions.

    `link` returns the URL of a group's answers.
    """
    rows, columns = len(overview.workers_to), len(overview.questions_to)
    colours = build_overview_colour_scale(overview)

    def draw_chart(width: float) -> Drawing:
        """Return the heat map drawn at the given width."""
        left, top = 8.0, 26.0
        wide = (width - left - 4) / max(1, columns)
        high = min(wide, 14.0)
        floor = top + high * rows
        drawing = Drawing(
            width,
            floor + compute_legend_height(colours, width),
            "Workers by questions",
            f"{rows} groups of workers and {columns} groups of questions",
        )
        drawing.root.set("data-columns", str(columns))
        drawing.add_text(left, 16, "easiest questions", "faint")
        drawing.add_text(width - 4, 16, "hardest questions", "faint", "end")
        for row in range(rows):
            for column in range(columns):
                x, y = left + column * wide, top + row * high
                _draw_group(drawing, overview, (row, column), colours, link)
                mean = overview.means[row][column]
                css_class = "missing" if mean is None else colours(mean)
                drawing.add_rectangle(x, y, wide - 0.5, high - 0.5, css_class)
                drawing.end_group()
        draw_legend(drawing, colours, floor, missing="no answers")
        return drawing

    return Chart(
        name="heat-map",
        title="The whole run at a glance",
        explanation=(
            "Best workers on top, worst at the bottom; easiest questions on the left, hardest on "
            "the right. A field is the mean likeness of the answers of some neighbouring workers "
            "to some neighbouring questions: yellow is near to the consensus, dark blue far."
        ),
        draw=draw_chart,
        note=(
            f"{overview.workers_to[-1]:,} workers in {rows} groups and "
            f"{overview.questions_to[-1]:,} questions in {columns} groups."
        ),
    )


def build_overview_colour_scale(overview: HeatOverview) -> ColourScale:
    """Return the colour scale for the mean scores of groups."""
    return build_colour_scale([mean for row in overview.means for mean in row if mean is not None])


def _draw_group(
    drawing: Drawing,
    overview: HeatOverview,
    index: tuple[int, int],
    colours: ColourScale,
    link: Callable[[int, int], str],
) -> None:
    """Begin the drawing of one group of answers, with its tooltip and link."""
    row, column = index
    worker = overview.workers_to[row - 1] if row else 0
    question = overview.questions_to[column - 1] if column else 0
    mean, count = overview.means[row][column], overview.counts[row][column]
    tip = (
        f"workers {worker + 1:,} to {overview.workers_to[row]:,}, "
        f"questions {question + 1:,} to {overview.questions_to[column]:,}\n"
        f"mean {format_number(mean, 'unknown')} of {count:,} answers"
    )
    drawing.begin_group(tip, link(worker // ROWS * ROWS, question // COLUMNS * COLUMNS))


def _place_legend_entries(
    colours: ColourScale, width: float, missing: str
) -> list[tuple[float, int, str, str]]:
    """Return (x, line, CSS class, text) of each legend entry, wrapped to the width."""
    places, x, row = [], 8.0, 0
    for css_class, words in [*colours.legend, ("missing", missing)]:
        wanted = 20 + estimate_width(words) + 10
        if x + wanted > width and x > 8:
            x, row = 8.0, row + 1
        places.append((x, row, css_class, words))
        x += wanted
    return places


def compute_legend_height(colours: ColourScale, width: float) -> float:
    """Return the height in pixels that `draw_legend` needs."""
    return LEGEND + 20 * _place_legend_entries(colours, width, "no answers")[-1][1] + 6


def draw_legend(drawing: Drawing, colours: ColourScale, floor: float, missing: str) -> None:
    """Draw the legend of the colours below the height `floor`.

    `missing` is the label of cells without an answer.
    """
    for x, row, css_class, words in _place_legend_entries(colours, drawing.width, missing):
        y = floor + 12 + row * 20
        drawing.add_rectangle(x, y, 13, 13, css_class)
        drawing.add_text(x + 19, y + 11, words, "faint")

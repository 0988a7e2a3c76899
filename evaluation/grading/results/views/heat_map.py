"""The page of workers by questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict

from annotations.web.query import parse_number
from evaluation.charts.chart import Chart
from evaluation.charts.labels import told_apart
from evaluation.charts.scales import three_digits
from evaluation.grading.results.charts.heat_map import (
    Shades,
    block_chart,
    overview_chart,
    overview_shades,
    shades,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.heat_map import (
    COLUMNS,
    ROWS,
    HeatBlock,
    HeatOverview,
    heat_block,
    heat_overview,
)
from evaluation.models import Run
from evaluation.result_pages import Context, worker_link

# Letters of a name in the table.
LETTERS = 18
# No set has more workers or questions; a greater number would only be a slow query.
MOST = 10_000_000


@dataclass(frozen=True)
class Field:
    """A field of a table: its look, its number in short, and what it says when pointed at."""

    look: str
    number: str
    tip: str


@grading_page("evaluation/heat_map.html")
def heat_map(request: HttpRequest, run: Run) -> Context:
    """Show an overview of everybody on everything, and a block of it answer by answer.

    `workers` and `questions` of the address name the block. Both are tables, of which there is one
    for all widths, so that the page stays small where pictures for two widths would not.
    """
    block = asked_block(run, request.GET)
    # Where a block holds all, it is its own overview.
    overview = heat_overview(run)
    colours = _colours(block, overview)
    there = bool(block.workers and block.questions)
    return {
        "title": f"Workers by questions of {run.version.question_set.name}",
        "shown": block,
        "overview": None if block.is_whole or overview is None else _overview(overview, block),
        "chart": block_chart(block, overview.quantiles if overview else ()) if there else None,
        "legend": colours.legend,
        "rows": list(
            zip(
                block.workers,
                told_apart([worker.name for worker in block.workers], LETTERS),
                _fields(block, colours),
                strict=True,
            )
        ),
        "columns": list(
            zip(
                block.questions,
                told_apart([question.name for question in block.questions], LETTERS),
                strict=True,
            )
        ),
        "worker_blocks": _blocks(block.n_workers, ROWS),
        "question_blocks": _blocks(block.n_questions, COLUMNS),
        "previous_workers": _before(block.first_worker, ROWS),
        "next_workers": _after(block.first_worker, ROWS, block.n_workers),
        "previous_questions": _before(block.first_question, COLUMNS),
        "next_questions": _after(block.first_question, COLUMNS, block.n_questions),
    }


def asked_block(run: Run, asked: QueryDict) -> HeatBlock:
    """Return the block that an address names; 404 for one that is not there."""
    worker, question = (
        parse_number(asked, name, 0, MOST, blank=True) or 0 for name in ("workers", "questions")
    )
    block = heat_block(run, worker, question)
    if (block.first_worker and not block.workers) or (block.first_question and not block.questions):
        raise Http404("there is no such block")
    return block


def block_picture(run: Run, block: HeatBlock) -> Chart:
    """Return the picture of a block."""

    def link(worker: UUID) -> str:
        return worker_link(run, worker)

    overview = heat_overview(run)
    return block_chart(block, overview.quantiles if overview else (), link)


def overview_picture(run: Run) -> Chart | None:
    """Return the picture of the overview; None where the run recorded none."""
    overview = heat_overview(run)
    return overview_chart(overview) if overview is not None and overview.means else None


def _colours(block: HeatBlock, overview: HeatOverview | None) -> Shades:
    scores = [cell.score for row in block.cells for cell in row if cell and cell.score is not None]
    return shades(scores, overview.quantiles if overview else ())


def _fields(block: HeatBlock, colours: Shades) -> list[list[Field]]:
    """Return the fields of a block, a list for each worker."""
    found = []
    for row in block.cells:
        fields = []
        for cell in row:
            if cell is None:
                fields.append(Field("heat-none", "–", ""))
            elif cell.score is None:
                fields.append(Field("heat-none", "1", f"nobody else answered\n{cell.text}"))
            else:
                fields.append(Field(colours(cell.score), _short(cell.score), cell.text))
        found.append(fields)
    return found


def _overview(overview: HeatOverview, block: HeatBlock) -> Context | None:
    """Return the groups as fields, and at which block each begins."""
    if not overview.means:
        return None
    colours = overview_shades(overview)
    workers = _starts(overview.workers_to, ROWS)
    questions = _starts(overview.questions_to, COLUMNS)
    rows = []
    for row, (means, counts) in enumerate(zip(overview.means, overview.counts, strict=True)):
        fields = []
        for column, (mean, count) in enumerate(zip(means, counts, strict=True)):
            look = "heat-none" if mean is None else colours(mean)
            here = (workers[row], questions[column]) == (block.first_worker, block.first_question)
            mark = f"{look} heat-at" if here else look
            fields.append(Field(mark, "", f"{three_digits(mean, 'unknown')} of {count:,}"))
        rows.append(fields)
    return {
        "chart": overview_chart(overview),
        "rows": rows,
        "legend": colours.legend,
        "workers": " ".join(map(str, workers)),
        "questions": " ".join(map(str, questions)),
    }


def _starts(ends: Sequence[int], step: int) -> list[int]:
    """Return where the block of each group's first member begins."""
    return [begin // step * step for begin in [0, *ends[:-1]]]


def _blocks(total: int, step: int) -> list[tuple[int, int, int]]:
    """Return each block as its first place (from 0), and first and last in words (from 1)."""
    return [(first, first + 1, min(first + step, total)) for first in range(0, total, step)]


def _short(score: float) -> str:
    """Return two digits, without the nought in front of them."""
    shown = f"{score:.2f}"
    return shown.replace("0.", ".", 1) if abs(score) < 1 and not shown.endswith("1.00") else shown


def _before(first: int, step: int) -> int | None:
    return max(0, first - step) if first else None


def _after(first: int, step: int, total: int) -> int | None:
    return first + step if first + step < total else None

"""The page of workers by questions."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict
from django.urls import reverse

from annotations.web.query import number
from evaluation.charts import Chart
from evaluation.charts.heat_map import block_chart, overview_chart
from evaluation.models import Run
from evaluation.reports.heat_map import (
    COLUMNS,
    ROWS,
    HeatBlock,
    heat_block,
    heat_overview,
)
from evaluation.site.results.page import Context, results_page, worker_link

# No set has more workers or questions; a greater number would only be a slow query.
MOST = 10_000_000


@results_page("evaluation/heat_map.html")
def heat_map(request: HttpRequest, run: Run) -> Context:
    """Show an overview of everybody on everything, and a block of it answer by answer.

    `workers` and `questions` of the address name the block.
    """
    block = asked_block(run, request.GET)
    return {
        "title": f"Workers by questions of {run.version.question_set.name}",
        "shown": block,
        # Where a block holds all, it is its own overview.
        "overview": None if block.is_whole else overview_picture(run),
        "chart": block_picture(run, block) if block.workers and block.questions else None,
        "rows": list(zip(block.workers, block.cells, strict=True)),
        "previous_workers": _before(block.first_worker, ROWS),
        "next_workers": _after(block.first_worker, ROWS, block.n_workers),
        "previous_questions": _before(block.first_question, COLUMNS),
        "next_questions": _after(block.first_question, COLUMNS, block.n_questions),
    }


def asked_block(run: Run, asked: QueryDict) -> HeatBlock:
    """Return the block that an address names; 404 for one that is not there."""
    worker, question = (
        number(asked, name, 0, MOST, blank=True) or 0 for name in ("workers", "questions")
    )
    block = heat_block(run, worker, question)
    if (block.first_worker and not block.workers) or (block.first_question and not block.questions):
        raise Http404("there is no such block")
    return block


def block_picture(run: Run, block: HeatBlock) -> Chart:
    """Return the picture of a block."""

    def link(worker: UUID) -> str:
        return worker_link(run, worker)

    return block_chart(block, run.parameters.get("similarity", "cosine"), link)


def overview_picture(run: Run) -> Chart | None:
    """Return the picture of the overview; None where the run recorded none."""
    overview = heat_overview(run)
    if overview is None or not overview.means:
        return None
    here = reverse("admin:results-heat-map", kwargs={"run": run.public_id})

    def link(worker: int, question: int) -> str:
        return f"{here}?workers={worker}&questions={question}#block"

    return overview_chart(overview, run.parameters.get("similarity", "cosine"), link)


def _before(first: int, step: int) -> int | None:
    return max(0, first - step) if first else None


def _after(first: int, step: int, total: int) -> int | None:
    return first + step if first + step < total else None

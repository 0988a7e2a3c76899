"""Web pages of the language models in a run, and of the heat map of scores.

Web page that compares a run's language models pair by pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, QueryDict

from annotations.web.query import parse_number, parse_public_id
from evaluation.core.charts.chart import Chart
from evaluation.core.charts.svg import format_number, shorten_distinctly
from evaluation.core.estimates import CORRECTED_BY
from evaluation.grading.alarms.report import build_alarms_report
from evaluation.grading.facts.report import build_run_facts
from evaluation.grading.results.charts.heat_map import (
    ColourScale,
    build_block_chart,
    build_colour_scale,
    build_overview_chart,
    build_overview_colour_scale,
)
from evaluation.grading.results.charts.models import (
    build_comparisons_chart,
    build_histogram_table,
    build_pair_chart,
    build_placement_chart,
)
from evaluation.grading.results.pages import grading_page
from evaluation.grading.results.report.comparisons import (
    ComparisonsReport,
    PairReport,
    build_comparisons_report,
    build_pair_report,
)
from evaluation.grading.results.report.maps import (
    COLUMNS,
    ROWS,
    HeatBlock,
    HeatOverview,
    read_heat_block,
    read_heat_overview,
)
from evaluation.grading.results.report.models import build_model_report, build_models_report
from evaluation.models import Run
from evaluation.runs.result_pages import (
    Context,
    build_question_link,
    build_worker_link,
    get_p_value_correction,
)


@grading_page("evaluation/models.html")
def show_models(request: HttpRequest, run: Run) -> Context:
    """Show the models by score, and a chart of them among the workers' scores."""
    after = request.GET.get("after", "")
    report = build_models_report(run, after)
    return {
        "title": f"Language models on {report.about.name}",
        "report": report,
        "alarms": build_alarms_report(run),
        "chart": (
            build_placement_chart(report.models, report.ceiling, report.crowd)
            if report.models.rows
            else None
        ),
        "has_facts": build_run_facts(run) is not None,
        "crowd": build_histogram_table(report.crowd),
    }


@grading_page("evaluation/model.html")
def show_model(request: HttpRequest, run: Run, model: UUID) -> Context:
    """Show a model's scores, its facts compared with the crowd's, and its answers.

    `after` (a page of answers) comes from the address.
    """
    report = build_model_report(run, model, request.GET.get("after", ""))
    if report is None:
        raise Http404("the run has no such model")
    return {"title": report.model.name, "report": report}


@grading_page("evaluation/comparisons.html")
def show_comparisons(request: HttpRequest, run: Run) -> Context:
    """Show every pair of models, and the questions on which the chosen pair differs.

    `model`, `first`, `second` and `correction` come from the address.
    """
    query = request.GET
    report = read_comparisons_report(run, query)
    pair = read_chosen_pair(run, query, report)
    return {
        "title": f"Models compared on {run.version.question_set.name}",
        "report": report,
        "corrections": CORRECTED_BY,
        "chart": build_comparisons_chart(report) if report.pairs else None,
        "pair": pair,
        "pair_chart": draw_pair(run, pair),
    }


def read_comparisons_report(run: Run, query: QueryDict) -> ComparisonsReport:
    """Return the report on compared pairs, limited by the query parameter `model`; or raise 404."""
    report = build_comparisons_report(
        run, parse_public_id(query, "model", blank=True), get_p_value_correction(query)
    )
    if report is None:
        raise Http404("the run has no such model")
    return report


def read_chosen_pair(run: Run, query: QueryDict, report: ComparisonsReport) -> PairReport | None:
    """Return the pair in the query parameters `first` and `second`, else the first pair."""
    first, second = (
        parse_public_id(query, "first", blank=True),
        parse_public_id(query, "second", blank=True),
    )
    if first is None and second is None:
        if not report.pairs:
            return None
        first, second = report.pairs[0].first, report.pairs[0].second
    if first is None or second is None:
        raise Http404("two models are needed")
    if first == second:
        return None
    pair = build_pair_report(run, first, second)
    if pair is None:
        raise Http404("the run did not compare these models")
    return pair


def read_chosen_models(run: Run, query: QueryDict) -> tuple[UUID, UUID]:
    """Return the ids of the two models in the query parameters, else of the first pair."""
    pair = read_chosen_pair(run, query, read_comparisons_report(run, query))
    if pair is None:
        raise Http404("two models are needed")
    return pair.pair.first, pair.pair.second


def draw_comparisons(run: Run, query: QueryDict) -> Chart | None:
    """Return the chart of the compared pairs of models; None without pairs."""
    report = read_comparisons_report(run, query)
    return build_comparisons_chart(report) if report.pairs else None


def draw_differences(run: Run, query: QueryDict) -> Chart | None:
    """Return the chart of the questions on which the chosen models differ; None without any."""
    return draw_pair(run, read_chosen_pair(run, query, read_comparisons_report(run, query)))


def draw_pair(run: Run, pair: PairReport | None) -> Chart | None:
    """Return the chart of the questions on which a pair differs; None if it never differs."""
    if pair is None or not (pair.first_better or pair.second_better):
        return None

    def link_question(question: UUID) -> str:
        """Return the URL of a question's page."""
        return build_question_link(run, question)

    return build_pair_chart(pair, link_question)


# Letters of a name in the table.
LETTERS = 18
# No set has more workers or questions; a greater number would only be a slow query.
MOST = 10_000_000


@dataclass(frozen=True)
class HeatTableCell:
    """A cell of the heat map's table: CSS class, short number and tooltip."""

    look: str
    number: str
    tip: str


@grading_page("evaluation/heat_map.html")
def show_heat_map(request: HttpRequest, run: Run) -> Context:
    """Show mean scores by groups of workers and questions, and one block of answers.

    `workers` and `questions` of the address name the block. Both are tables, one for all widths:
    two pictures for two widths would make the page large.
    """
    block = read_chosen_block(run, request.GET)
    # Where a block holds all, it is its own overview.
    overview = read_heat_overview(run)
    colours = _build_block_colour_scale(block, overview)
    is_not_empty = bool(block.workers and block.questions)
    return {
        "title": f"Workers by questions of {run.version.question_set.name}",
        "shown": block,
        "overview": None
        if block.is_whole or overview is None
        else _build_overview(overview, block),
        "chart": build_block_chart(block, overview.quantiles if overview else ())
        if is_not_empty
        else None,
        "legend": colours.legend,
        "rows": list(
            zip(
                block.workers,
                shorten_distinctly([worker.name for worker in block.workers], LETTERS),
                _build_table_cells(block, colours),
                strict=True,
            )
        ),
        "columns": list(
            zip(
                block.questions,
                shorten_distinctly([question.name for question in block.questions], LETTERS),
                strict=True,
            )
        ),
        "worker_blocks": _list_blocks(block.n_workers, ROWS),
        "question_blocks": _list_blocks(block.n_questions, COLUMNS),
        "previous_workers": _find_previous_offset(block.first_worker, ROWS),
        "next_workers": _find_next_offset(block.first_worker, ROWS, block.n_workers),
        "previous_questions": _find_previous_offset(block.first_question, COLUMNS),
        "next_questions": _find_next_offset(block.first_question, COLUMNS, block.n_questions),
    }


def read_chosen_block(run: Run, query: QueryDict) -> HeatBlock:
    """Return the heat-map block in the query parameters; raise 404 if there is none."""
    worker, question = (
        parse_number(query, name, 0, MOST, blank=True) or 0 for name in ("workers", "questions")
    )
    block = read_heat_block(run, worker, question)
    if (block.first_worker and not block.workers) or (block.first_question and not block.questions):
        raise Http404("there is no such block")
    return block


def draw_block(run: Run, block: HeatBlock) -> Chart:
    """Return the heat map of a block of answers, with links to its workers."""

    def link_worker(worker: UUID) -> str:
        """Return the URL of a worker's page."""
        return build_worker_link(run, worker)

    overview = read_heat_overview(run)
    return build_block_chart(block, overview.quantiles if overview else (), link_worker)


def draw_overview(run: Run) -> Chart | None:
    """Return the heat map of the means of groups; None if the run recorded none."""
    overview = read_heat_overview(run)
    return build_overview_chart(overview) if overview is not None and overview.means else None


def _build_block_colour_scale(block: HeatBlock, overview: HeatOverview | None) -> ColourScale:
    """Return the colour scale for the scores in a block."""
    scores = [cell.score for row in block.cells for cell in row if cell and cell.score is not None]
    return build_colour_scale(scores, overview.quantiles if overview else ())


def _build_table_cells(block: HeatBlock, colours: ColourScale) -> list[list[HeatTableCell]]:
    """Return the table cells of a block, one list for each worker."""
    rows = []
    for row in block.cells:
        fields = []
        for cell in row:
            if cell is None:
                fields.append(HeatTableCell("heat-none", "–", ""))
            elif cell.score is None:
                fields.append(
                    HeatTableCell("heat-none", "1", f"no other worker answered\n{cell.text}")
                )
            else:
                fields.append(
                    HeatTableCell(colours(cell.score), _format_short_score(cell.score), cell.text)
                )
        rows.append(fields)
    return rows


def _build_overview(overview: HeatOverview, block: HeatBlock) -> Context | None:
    """Return the template context of the group means, with links to blocks; None if empty."""
    if not overview.means:
        return None
    colours = build_overview_colour_scale(overview)
    workers = _find_block_offsets(overview.workers_to, ROWS)
    questions = _find_block_offsets(overview.questions_to, COLUMNS)
    rows = []
    for row, (means, counts) in enumerate(zip(overview.means, overview.counts, strict=True)):
        fields = []
        for column, (mean, count) in enumerate(zip(means, counts, strict=True)):
            css_class = "heat-none" if mean is None else colours(mean)
            is_shown = (workers[row], questions[column]) == (
                block.first_worker,
                block.first_question,
            )
            mark = f"{css_class} heat-at" if is_shown else css_class
            fields.append(HeatTableCell(mark, "", f"{format_number(mean, 'unknown')} of {count:,}"))
        rows.append(fields)
    return {
        "chart": build_overview_chart(overview),
        "rows": rows,
        "legend": colours.legend,
        "workers": " ".join(map(str, workers)),
        "questions": " ".join(map(str, questions)),
    }


def _find_block_offsets(ends: Sequence[int], step: int) -> list[int]:
    """Return, for each group, the offset of the block that contains the group's first member."""
    return [begin // step * step for begin in [0, *ends[:-1]]]


def _list_blocks(total: int, step: int) -> list[tuple[int, int, int]]:
    """Return (offset, first, last) of each block of a list; first and last count from 1."""
    return [(first, first + 1, min(first + step, total)) for first in range(0, total, step)]


def _format_short_score(score: float) -> str:
    """Return a score with two decimals and without the leading zero."""
    text = f"{score:.2f}"
    # .999 is rounded to 1.00, which keeps its first digit.
    return text.replace("0.", ".", 1) if abs(score) < 1 and not text.endswith("1.00") else text


def _find_previous_offset(first: int, step: int) -> int | None:
    """Return the offset of the previous block; None for the first block."""
    return max(0, first - step) if first else None


def _find_next_offset(first: int, step: int, total: int) -> int | None:
    """Return the offset of the next block; None for the last block."""
    return first + step if first + step < total else None

"""Pictures and tables to take away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    QueryDict,
    StreamingHttpResponse,
)
from django.views.generic import View

from evaluation.charts import Chart, convergence_chart, placement_chart
from evaluation.charts.answer_map import captions
from evaluation.charts.planner import planner_chart
from evaluation.models import Run
from evaluation.reports import answer_map, models_report, run_report
from evaluation.reports.planner import planner_report
from evaluation.reports.spreadsheet import Table, csv_lines
from evaluation.reports.tables import (
    against_table,
    alarms_table,
    comparisons_table,
    convergence_table,
    differences_table,
    heat_map_table,
    map_table,
    models_table,
    planner_table,
    question_table,
    questions_table,
    worker_table,
    workers_table,
)
from evaluation.site.results import against, comparisons, heat_map, question, worker
from evaluation.site.results.base import visible_run
from evaluation.site.results.run import disagreement, grades, ranks

# What is asked for stands in the rest of the address, such as a model.
CHARTS: dict[str, Callable[[Run, QueryDict], Chart | None]] = {
    "grades": lambda run, _: grades(run, run_report(run).n_graded),
    "ranks": lambda run, _: ranks(run, run_report(run).n_graded),
    "questions": lambda run, _: disagreement(run, _n_questions(run)),
    "convergence": lambda run, _: convergence_chart(run.summary.get("trace", [])),
    "placement": lambda run, _: placement_chart(models_report(run)),
    "comparison": comparisons.comparison_picture,
    "differences": comparisons.differences_picture,
    "heat-map": lambda run, _: heat_map.overview_picture(run),
    "heat-block": lambda run, asked: heat_map.block_picture(run, heat_map.asked_block(run, asked)),
    "planner": lambda run, _: planner_chart(planner_report(run)),
}
TABLES: dict[str, Callable[[Run, QueryDict], Table]] = {
    "workers": lambda run, _: workers_table(run),
    "questions": lambda run, _: questions_table(run),
    "models": lambda run, _: models_table(run),
    "convergence": lambda run, _: convergence_table(run),
    "heat-map": lambda run, _: heat_map_table(run),
    "planner": lambda run, _: planner_table(run),
    "comparison": lambda run, _: comparisons_table(run),
    "differences": lambda run, asked: differences_table(run, *comparisons.two_models(run, asked)),
    "alarms": lambda run, _: alarms_table(run),
}


class ResultsFile(View):
    """A file of a run that is done; 404 for any other."""

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        """Send the file."""
        run = visible_run(request, kwargs.pop("run"))
        if run.state != Run.State.DONE:
            raise Http404("the run has no results")
        return self.file(run, **kwargs)

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the file."""
        raise NotImplementedError


class ChartFile(ResultsFile):
    """A picture of a run as SVG."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the picture of that name."""
        if kwargs["name"] == "against":
            return _picture(run, against.picture(against.compared(self.request, run), run))
        make = CHARTS.get(kwargs["name"])
        return _picture(run, make(run, self.request.GET) if make else None)


class WorkerChartFile(ResultsFile):
    """A worker's picture as SVG."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the picture."""
        return _picture(run, worker.scores(run, worker.found(run, kwargs["worker"])))


class QuestionChartFile(ResultsFile):
    """A question's picture as SVG."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the picture."""
        report = question.found(run, kwargs["question"])
        return _picture(run, question.answers(run, kwargs["question"], report))


class MapFile(ResultsFile):
    """A question's map as SVG, at the `iteration` and on the `axes` that the address names."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the picture."""
        report = answer_map(run, kwargs["question"], question.asked_axes(self.request))
        if report is None:
            raise Http404("the run recorded no map of such a question")
        asked = self.request.GET.get("iteration", "")
        at = None
        if asked:
            at = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 9 else -1
            if at not in report.iterations:
                raise Http404("there is no such iteration")
            at = report.iterations.index(at)
        words = captions(report)[-1 if at is None else at]
        return _picture(run, question.map_of(run, report, at), words)


class MapTableFile(ResultsFile):
    """Where the answers to a question stand, and the way of the consensus, as CSV."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the table."""
        question.found(run, kwargs["question"])
        return _table(run, "map", map_table(run, kwargs["question"]))


class TableFile(ResultsFile):
    """A table of a run as CSV."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the table of that name."""
        name = kwargs["name"]
        if name == "against":
            return _table(run, name, against_table(against.compared(self.request, run)))
        make = TABLES.get(name)
        if make is None:
            raise Http404("there is no such table")
        return _table(run, name, make(run, self.request.GET))


class WorkerTableFile(ResultsFile):
    """A worker's answers as CSV."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the table."""
        worker.found(run, kwargs["worker"])
        return _table(run, "worker", worker_table(run, kwargs["worker"]))


class QuestionTableFile(ResultsFile):
    """The answers to a question as CSV."""

    def file(self, run: Run, **kwargs: Any) -> HttpResponseBase:
        """Return the table."""
        question.found(run, kwargs["question"])
        return _table(run, "question", question_table(run, kwargs["question"]))


def _n_questions(run: Run) -> int:
    return int(run.summary.get("counts", {}).get("questions", 0))


def _picture(run: Run, chart: Chart | None, caption: str = "") -> HttpResponse:
    if chart is None:
        raise Http404("there is no such picture")
    question_set = run.version.question_set
    captions = [
        f"{question_set.name}, version {run.version.number}, run {run.public_id}",
        *filter(None, [caption, question_set.notice]),
    ]
    return HttpResponse(
        chart.standalone(captions),
        content_type="image/svg+xml",
        headers=_as_file(run, chart.name, "svg"),
    )


def _table(run: Run, name: str, table: Table) -> StreamingHttpResponse:
    return StreamingHttpResponse(
        csv_lines(table.header, table.rows),
        content_type="text/csv; charset=utf-8",
        headers=_as_file(run, name, "csv"),
    )


def _as_file(run: Run, name: str, kind: str) -> dict[str, str]:
    """Name the file after our own words only; an attachment is never run as a page."""
    file = f"crowdgrade-{name}-{run.public_id.hex[-8:]}.{kind}"
    return {"Content-Disposition": f'attachment; filename="{file}"'}

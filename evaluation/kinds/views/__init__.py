"""All views of models together: near to people, sure, steady, aware of what has no answer."""

from evaluation.flow.views.parameters import ViewsParameters
from evaluation.flow.views.summary import ViewsSummary
from evaluation.kinds.kind import Kind, Page
from evaluation.kinds.views.evaluate import EVALUATE
from evaluation.kinds.views.pictures import CHARTS
from evaluation.kinds.views.tellers import look_at_all, problems_at_start
from evaluation.kinds.views.terminal import text_of_run
from evaluation.reports.views import tables
from evaluation.reports.views.report import views_report

PAGES = (
    Page("", "All views", address="results-views"),
    Page("answers", "Answers one by one", address="results-views-answers"),
)

VIEWS = Kind(
    name="views",
    title="All views together",
    words="Puts together what other runs say of each model and question: near to people, sure, "
    "the same in other words, aware of what has no answer; and where these disagree.",
    options=ViewsParameters,
    run=look_at_all,
    summary=ViewsSummary,
    tables={
        "views": tables.views_table,
        "correlations": tables.correlations_table,
        "models": tables.models_table,
        "disagreements": tables.disagreements_table,
    },
    charts=CHARTS,
    report=views_report,
    text=text_of_run,
    pages=PAGES,
    needs_answers=False,
    check=problems_at_start,
    evaluate=EVALUATE,
    action="All views together",
)

"""MAQA: uncertainty when several answers are right."""

from evaluation.flow.maqa.run_options import MaqaRunOptions
from evaluation.flow.maqa.summary import MaqaSummary
from evaluation.kinds.kind import Kind
from evaluation.kinds.maqa.evaluate import EVALUATE
from evaluation.kinds.maqa.pages import CHARTS, PAGES
from evaluation.kinds.maqa.start import START
from evaluation.kinds.maqa.study import STUDY
from evaluation.kinds.maqa.terminal import report_of_run
from evaluation.kinds.maqa.views import VIEWS
from evaluation.reports.maqa import TABLES, maqa_report
from evaluation.steps.maqa.measuring import measure, problems_at_start

MAQA = Kind(
    name="maqa",
    title="Sure and right",
    words="Asks models every question several times, and tells whether they are surer where they "
    "are right, with one right answer, several, or none known.",
    options=MaqaRunOptions,
    run=measure,
    asks=True,
    summary=MaqaSummary,
    tables=TABLES,
    charts=CHARTS,
    report=maqa_report,
    text=report_of_run,
    pages=PAGES,
    needs_answers=False,
    check=problems_at_start,
    evaluate=EVALUATE,
    study=STUDY,
    action="Does it know when it is wrong?",
    start=START,
    views=VIEWS,
)

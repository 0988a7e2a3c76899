"""MultiQ&A: whether a model gives the same answer, and the right one, to a question reworded."""

from evaluation.flow.multiqa.run_options import MultiqaRunOptions
from evaluation.flow.multiqa.summary import MultiqaSummary
from evaluation.kinds.going import STANDING
from evaluation.kinds.kind import Kind
from evaluation.kinds.multiqa.columns import COLUMNS
from evaluation.kinds.multiqa.evaluate import EVALUATE
from evaluation.kinds.multiqa.pages import CHARTS, PAGES, named
from evaluation.kinds.multiqa.start import START
from evaluation.kinds.multiqa.study import STUDY
from evaluation.kinds.multiqa.terminal import report_of_run
from evaluation.kinds.multiqa.views import VIEWS
from evaluation.reports.multiqa import tables
from evaluation.reports.multiqa.report import multiqa_report
from evaluation.steps.multiqa.loading import problems_at_start
from evaluation.steps.multiqa.running import ask_in_other_words

MULTIQA = Kind(
    name="multiqa",
    title="In other words",
    words="Asks models the questions in other words, and says how far their answers hang on the "
    "wording (MultiQ&A).",
    options=MultiqaRunOptions,
    run=ask_in_other_words,
    asks=True,
    summary=MultiqaSummary,
    tables={
        "metrics": tables.metrics_table,
        "items": tables.items_table,
        "replies": tables.replies_table,
        "questions": tables.questions_table,
        "rewordings": tables.rewordings_table,
        "comparisons": tables.comparisons_table,
        "crowd": tables.crowd_table,
        "usage": tables.usage_table,
    },
    columns=COLUMNS,
    charts=CHARTS,
    report=multiqa_report,
    text=report_of_run,
    pages=PAGES,
    named=named,
    needs_answers=False,
    reads_answers=True,
    standing=STANDING,
    check=problems_at_start,
    evaluate=EVALUATE,
    study=STUDY,
    action="Ask in other words",
    start=START,
    views=VIEWS,
)

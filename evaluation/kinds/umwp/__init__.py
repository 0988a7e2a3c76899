"""UMWP: whether a model notices that a problem has no answer."""

from evaluation.flow.umwp.run_options import UmwpRunOptions
from evaluation.flow.umwp.summary import UmwpSummary
from evaluation.kinds.kind import Kind
from evaluation.kinds.umwp.evaluate import EVALUATE
from evaluation.kinds.umwp.pages import CHARTS, PAGES
from evaluation.kinds.umwp.start import START
from evaluation.kinds.umwp.study import STUDY
from evaluation.kinds.umwp.terminal import report_of_run
from evaluation.kinds.umwp.views import VIEWS
from evaluation.reports.umwp import TABLES, noticing_report
from evaluation.reports.umwp_people import (
    LABELS,
    agreement_table,
    labelled_table,
    persons_table,
)
from evaluation.steps.umwp.noticing import ask_and_classify, problems_at_start

UMWP = Kind(
    name="umwp",
    title="Does it notice that there is no answer?",
    words="For math word problems: asks models questions, some without an answer, and shows which "
    "models notice it.",
    options=UmwpRunOptions,
    run=ask_and_classify,
    asks=True,
    summary=UmwpSummary,
    tables={
        **TABLES,
        "people": persons_table,
        "labelled-replies": labelled_table,
        "label-agreement": agreement_table,
    },
    charts=CHARTS,
    report=noticing_report,
    text=report_of_run,
    pages=PAGES,
    judging=(LABELS,),
    needs_answers=False,
    reads_answers=True,
    check=problems_at_start,
    evaluate=EVALUATE,
    study=STUDY,
    start=START,
    views=VIEWS,
)

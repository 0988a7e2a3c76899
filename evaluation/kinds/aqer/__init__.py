"""AQER: grades for workers, exemplary answers, scores for language models.

Its pages are those of `evaluation.site.results`, at their own addresses.
"""

from evaluation.flow.aqer_summary import AqerSummary
from evaluation.flow.parameters import AqerParameters
from evaluation.kinds.aqer.evaluate import EVALUATE
from evaluation.kinds.aqer.run_report import report_of_run
from evaluation.kinds.kind import Kind
from evaluation.reports import run_report, tables
from evaluation.steps.grading import grade_run

AQER = Kind(
    name="aqer",
    title="AQER",
    words="Grades workers by their free-text answers, and scores models on the same scale.",
    options=AqerParameters,
    run=grade_run,
    summary=AqerSummary,
    tables={
        "workers": tables.workers_table,
        "questions": tables.questions_table,
        "models": tables.models_table,
        "convergence": tables.convergence_table,
        "heat-map": tables.heat_map_table,
        "planner": tables.planner_table,
        "comparison": tables.comparisons_table,
        "alarms": tables.alarms_table,
    },
    report=run_report,
    text=report_of_run,
    evaluate=EVALUATE,
)

"""AQER: grades for workers, exemplary answers, scores for language models.

Its pages need what their addresses ask for, so `evaluation.site.results` has their views.
"""

from evaluation.flow.aqer_summary import AqerSummary
from evaluation.flow.parameters import AqerParameters
from evaluation.kinds.aqer.evaluate import EVALUATE
from evaluation.kinds.aqer.run_report import report_of_run
from evaluation.kinds.aqer.views import VIEWS
from evaluation.kinds.kind import Kind, Page
from evaluation.models.runs import GRADING
from evaluation.reports import run_report, tables
from evaluation.reports.comparing.tables import groups_table, leaderboard_table
from evaluation.steps.grading import grade_run
from evaluation.steps.outside import problems_of_exclusion

PAGES = (
    Page("", "People and questions", address="results-people"),
    Page("models", "Language models", address="results-models"),
    Page("alarms", "Alarms", address="results-alarms"),
    Page("trust", "Can I trust this?", address="results-trust"),
    Page("comparison", "Models compared", address="results-comparison"),
    Page("heat-map", "Heat map", address="results-heat-map"),
    Page("planner", "Planner", address="results-planner"),
    Page("against", "Against another run", address="results-against"),
    Page("summary", "To print", address="results-summary"),
)

AQER = Kind(
    name=GRADING,
    title="AQER",
    words="Grades workers by their free-text answers, and scores models on the same scale.",
    options=AqerParameters,
    run=grade_run,
    summary=AqerSummary,
    tables={
        "workers": tables.workers_table,
        "questions": tables.questions_table,
        "models": tables.models_table,
        "model-answers": tables.model_answers_table,
        "convergence": tables.convergence_table,
        "heat-map": tables.heat_map_table,
        "planner": tables.planner_table,
        "comparison": tables.comparisons_table,
        "alarms": tables.alarms_table,
        "leaderboard": leaderboard_table,
        "groups": groups_table,
    },
    report=run_report,
    text=report_of_run,
    pages=PAGES,
    evaluate=EVALUATE,
    action="Grade",
    check=problems_of_exclusion,
    views=VIEWS,
)

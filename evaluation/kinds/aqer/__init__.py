"""AQER: grades for workers, exemplary answers, scores for language models.

Its pages need what their addresses ask for, so `evaluation.site.results` has their views.
"""

from evaluation.flow.aqer_summary import AqerSummary, summary_of
from evaluation.flow.parameters import AqerParameters
from evaluation.kinds.aqer.evaluate import EVALUATE
from evaluation.kinds.aqer.start import START
from evaluation.kinds.aqer.terminal import report_of_run
from evaluation.kinds.aqer.views import VIEWS
from evaluation.kinds.kind import Kind, Page
from evaluation.models import Run
from evaluation.models.runs import GRADING
from evaluation.reports import crowd_counts, run_report, tables
from evaluation.reports.audit import audit_table
from evaluation.reports.comparing.tables import groups_table, leaderboard_table
from evaluation.reports.experts import agreement_table, difficulty_table, estimates_table
from evaluation.steps.grading import grade_run
from evaluation.steps.outside import problems_of_workers

PEOPLE, MODELS, TRUST, MORE = "People", "Models", "Trust", "More"


def has_models(run: Run) -> bool:
    """Return whether a run scored a language model."""
    return bool(summary_of(run).shown_counts().get("models"))


def has_company(run: Run) -> bool:
    """Return whether the set has another run to compare this one with."""
    others = Run.objects.filter(
        version__question_set=run.version.question_set_id, kind=GRADING, state=Run.State.DONE
    )
    return others.exclude(pk=run.pk).exists()


def is_wave(run: Run) -> bool:
    """Return whether the set asks an earlier one again."""
    return run.version.question_set.earlier_wave_id is not None


PAGES = (
    Page("", "Decide", address="results-decision"),
    Page("people", "People and questions", address="results-people", group=PEOPLE),
    Page("triage", "Decide about people", address="results-triage", group=PEOPLE),
    Page("alarms", "Alarms", address="results-alarms", group=PEOPLE),
    Page("heat-map", "Heat map", address="results-heat-map", group=PEOPLE),
    Page("models", "Language models", address="results-models", group=MODELS, offered=has_models),
    Page(
        "comparison",
        "Models compared",
        address="results-comparison",
        group=MODELS,
        offered=has_models,
    ),
    Page("trust", "Can I trust this?", address="results-trust", group=TRUST),
    Page("audit", "Expert check", address="results-audit", group=TRUST),
    Page("experts", "What experts say", address="results-experts", group=TRUST),
    Page("planner", "How many more answers?", address="results-planner", group=TRUST),
    Page(
        "against",
        "Against another run",
        address="results-against",
        group=MORE,
        offered=has_company,
    ),
    Page(
        "waves",
        "Compare with an earlier wave",
        address="results-waves",
        group=MORE,
        offered=is_wave,
    ),
    Page("summary", "To print", address="results-summary", group=MORE),
)

AQER = Kind(
    name=GRADING,
    title="AQER",
    words="Grades workers by their free-text answers, and scores models on the same scale.",
    options=AqerParameters,
    run=grade_run,
    summary=AqerSummary,
    counts=crowd_counts,
    tables={
        "workers": tables.workers_table,
        "questions": tables.questions_table,
        "models": tables.models_table,
        "model-answers": tables.model_answers_table,
        "facts": tables.facts_table,
        "answer-facts": tables.answer_facts_table,
        "convergence": tables.convergence_table,
        "heat-map": tables.heat_map_table,
        "planner": tables.planner_table,
        "comparison": tables.comparisons_table,
        "alarms": tables.alarms_table,
        "audit": audit_table,
        "expert-agreement": agreement_table,
        "expert-difficulty": difficulty_table,
        "expert-estimates": estimates_table,
        "leaderboard": leaderboard_table,
        "groups": groups_table,
    },
    report=run_report,
    text=report_of_run,
    pages=PAGES,
    evaluate=EVALUATE,
    action="Grade",
    check=problems_of_workers,
    views=VIEWS,
    start=START,
)

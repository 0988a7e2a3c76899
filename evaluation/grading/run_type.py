"""Definition of the run type AQER: grades for workers, scores for language models."""

from evaluation.models.runs import GRADING
from evaluation.runs.run_types.kind import Kind

AQER = Kind(
    name=GRADING,
    title="AQER",
    words="Grades workers by their free-text answers, and scores models on the same scale.",
    options="evaluation.consensus.parameters.AqerParameters",
    run="evaluation.grading.storage.running.grade_run",
    summary="evaluation.grading.summary.AqerSummary",
    counts="evaluation.grading.results.report.run.count_crowd",
    tables={
        "workers": "evaluation.grading.results.report.tables.build_workers_table",
        "questions": "evaluation.grading.results.report.tables.build_questions_table",
        "models": "evaluation.grading.results.report.tables.build_models_table",
        "model-answers": "evaluation.grading.results.report.tables.build_model_answers_table",
        "facts": "evaluation.grading.results.report.tables.build_facts_table",
        "answer-facts": "evaluation.grading.results.report.tables.build_answer_facts_table",
        "convergence": "evaluation.grading.results.report.tables.build_convergence_table",
        "heat-map": "evaluation.grading.results.report.tables.build_heat_map_table",
        "planner": "evaluation.grading.results.report.tables.build_planner_table",
        "comparison": "evaluation.grading.results.report.tables.build_comparisons_table",
        "alarms": "evaluation.grading.results.report.tables.build_alarms_table",
        "audit": "evaluation.experts.report.build_audit_table",
        "expert-agreement": "evaluation.experts.report.build_agreement_table",
        "expert-difficulty": "evaluation.experts.report.build_difficulty_table",
        "expert-estimates": "evaluation.experts.report.build_estimates_table",
        "leaderboard": "evaluation.model_comparison.report.leaderboard.build_leaderboard_table",
        "groups": "evaluation.model_comparison.report.leaderboard.build_groups_table",
    },
    report="evaluation.grading.results.report.run.build_run_report",
    text="evaluation.grading.commands.format_run_report",
    pages="evaluation.grading.views.PAGES",
    evaluate="evaluation.grading.arguments.EVALUATE",
    action="Grade",
    check="evaluation.runs.steps.answers.find_worker_id_problems",
    views="evaluation.grading.views.VIEWS",
    start="evaluation.grading.views.START",
)

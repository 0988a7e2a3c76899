"""Run type `views`: crowd score, uncertainty, robustness and answerability of each model."""

from evaluation.runs.run_types.kind import Kind

VIEWS = Kind(
    name="views",
    title="Model overview",
    words="Combines the results of other runs for each model and question: crowd score, "
    "uncertainty, robustness, answerability; and shows where they disagree.",
    options="evaluation.model_overview.run.gathering.ViewsParameters",
    run="evaluation.model_overview.storage.execute_run",
    summary="evaluation.model_overview.run.findings.ViewsSummary",
    tables={
        "views": "evaluation.model_overview.report.build_views_table",
        "correlations": "evaluation.model_overview.report.build_correlations_table",
        "models": "evaluation.model_overview.report.build_models_table",
        "disagreements": "evaluation.model_overview.report.build_disagreements_table",
    },
    charts="evaluation.model_overview.charts.CHARTS",
    report="evaluation.model_overview.report.build_views_report",
    text="evaluation.model_overview.commands.format_run",
    pages="evaluation.model_overview.views.PAGES",
    needs_answers=False,
    check="evaluation.model_overview.storage.find_start_problems",
    evaluate="evaluation.model_overview.arguments.EVALUATE",
    action="Model overview",
)

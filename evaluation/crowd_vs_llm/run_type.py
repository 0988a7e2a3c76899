"""Run type `panels`: compare the crowd with models (Yahav et al. 2025, section 7.4)."""

from evaluation.runs.run_types.kind import Kind

PANELS = Kind(
    name="panels",
    title="Crowd and models compared",
    words="Computes exemplary answers from workers, from models and from both, and compares the "
    "three; also without workers who answer like a model.",
    options="evaluation.crowd_vs_llm.run.comparison.PanelsParameters",
    run="evaluation.crowd_vs_llm.storage.compare_panels",
    is_research=True,
    summary="evaluation.crowd_vs_llm.run.summary.PanelsSummary",
    tables={
        "panels": "evaluation.crowd_vs_llm.report.build_panels_table",
        "panel-distances": "evaluation.crowd_vs_llm.report.build_distances_table",
        "panel-models": "evaluation.crowd_vs_llm.report.build_standings_table",
        "panel-questions": "evaluation.crowd_vs_llm.report.build_questions_table",
    },
    charts="evaluation.crowd_vs_llm.views.CHARTS",
    report="evaluation.crowd_vs_llm.report.build_panels_report",
    text="evaluation.crowd_vs_llm.commands.format_run",
    pages=("evaluation.crowd_vs_llm.views.PANELS_PAGE",),
    check="evaluation.runs.steps.answers.find_worker_id_problems",
    evaluate="evaluation.crowd_vs_llm.arguments.EVALUATE",
    action="Compare crowd and models",
)

"""Run types `crowd-size` (Yahav et al. 2025, section 6.2) and `plan` (of further answers).

On the site a plan is a page of each graded run, so `plan` has no runs.
"""

from evaluation.runs.run_types.kind import Kind

CROWD_SIZE = Kind(
    name="crowd-size",
    title="Sample size",
    words="Grades random parts of the crowd and estimates how many workers and questions are "
    "enough.",
    options="evaluation.sample_size.run.trial.CrowdSizeParameters",
    run="evaluation.sample_size.storage.execute_run",
    summary="evaluation.sample_size.run.trial.CrowdSizeSummary",
    tables={"crowd-size": "evaluation.sample_size.report.build_crowd_size_table"},
    charts="evaluation.sample_size.views.CHARTS",
    report="evaluation.sample_size.report.build_crowd_size_report",
    text="evaluation.sample_size.commands.format_crowd_size_run",
    pages=("evaluation.sample_size.views.CURVES",),
    check="evaluation.runs.steps.answers.find_worker_id_problems",
    evaluate="evaluation.sample_size.arguments.EVALUATE_CROWD_SIZE",
    action="Sample size",
)

PLAN = Kind(
    name="plan",
    title="Budget plan",
    words="Estimates how many more answers are worth collecting, to which questions, and at what "
    "cost.",
    options="evaluation.sample_size.run.trial.PlanParameters",
    evaluate="evaluation.sample_size.arguments.EVALUATE_PLAN",
)

"""Run type `eloquent`: compare replies to prompts with the same meaning (ELOQUENT robustness)."""

from evaluation.runs.run_types.kind import Kind

ELOQUENT = Kind(
    name="eloquent",
    title="Robustness to prompt variants (ELOQUENT)",
    words="Asks models prompts with the same meaning and measures how similar their replies are.",
    options="evaluation.eloquent.options.EloquentRunOptions",
    run="evaluation.eloquent.storage.execute_run",
    asks=True,
    is_research=True,
    summary="evaluation.eloquent.storage.EloquentSummary",
    tables="evaluation.eloquent.report.TABLES",
    files="evaluation.eloquent.views.build_submission_files",
    charts="evaluation.eloquent.views.CHARTS",
    report="evaluation.eloquent.report.build_report",
    text="evaluation.eloquent.commands.format_run",
    pages="evaluation.eloquent.views.PAGES",
    judging=("evaluation.eloquent.report.SAME_MEANING",),
    needs_answers=False,
    standing="evaluation.runs.run_types.run_list.STANDING",
    check="evaluation.eloquent.storage.find_start_problems",
    evaluate="evaluation.eloquent.arguments.EVALUATE",
    study="evaluation.eloquent.arguments.STUDY",
    action="Compare prompt variants (ELOQUENT)",
    start="evaluation.eloquent.views.START",
    views="evaluation.eloquent.views.VIEWS",
)

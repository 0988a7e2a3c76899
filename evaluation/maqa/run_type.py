"""Run type `maqa`: confidence of models when a question has several right answers."""

from evaluation.runs.run_types.kind import Kind

MAQA = Kind(
    name="maqa",
    title="Uncertainty (MAQA)",
    words="Asks each model every question several times and tests whether its confidence is "
    "higher where it is right. Questions may have one right answer, several, or none known.",
    options="evaluation.maqa.options.MaqaRunOptions",
    run="evaluation.maqa.storage.execute_run",
    asks=True,
    is_research=True,
    summary="evaluation.maqa.storage.MaqaSummary",
    tables="evaluation.maqa.report.TABLES",
    columns="evaluation.maqa.report.COLUMNS",
    charts="evaluation.maqa.views.CHARTS",
    report="evaluation.maqa.report.build_report",
    text="evaluation.maqa.commands.format_run",
    pages="evaluation.maqa.views.PAGES",
    needs_answers=False,
    check="evaluation.maqa.storage.find_start_problems",
    evaluate="evaluation.maqa.arguments.EVALUATE",
    study="evaluation.maqa.arguments.STUDY",
    action="Measure uncertainty (MAQA)",
    start="evaluation.maqa.views.START",
    views="evaluation.maqa.views.VIEWS",
)

"""Run type `multiqa`: robustness of models to rewording of questions."""

from evaluation.runs.run_types.kind import Kind

MULTIQA = Kind(
    name="multiqa",
    title="Robustness to rewording (MultiQ&A)",
    words="Asks models each question in several wordings and measures how much their answers "
    "depend on the wording.",
    options="evaluation.multiqa.options.MultiqaRunOptions",
    run="evaluation.multiqa.storage.running.execute_run",
    asks=True,
    is_research=True,
    summary="evaluation.multiqa.storage.running.MultiqaSummary",
    tables="evaluation.multiqa.report.TABLES",
    columns="evaluation.multiqa.messages.COLUMNS",
    charts="evaluation.multiqa.views.CHARTS",
    report="evaluation.multiqa.report.build_report",
    text="evaluation.multiqa.commands.format_run",
    pages="evaluation.multiqa.views.PAGES",
    named="evaluation.multiqa.views.resolve_model_names",
    needs_answers=False,
    reads_answers=True,
    standing="evaluation.runs.run_types.run_list.STANDING",
    check="evaluation.multiqa.storage.questions.find_start_problems",
    evaluate="evaluation.multiqa.arguments.EVALUATE",
    study="evaluation.multiqa.arguments.STUDY",
    action="Test rewording (MultiQ&A)",
    start="evaluation.multiqa.views.START",
    views="evaluation.multiqa.views.VIEWS",
)

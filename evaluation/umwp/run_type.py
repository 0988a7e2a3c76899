"""Run type `umwp`: whether a model recognises that a problem has no answer."""

from evaluation.runs.run_types.kind import Kind

UMWP = Kind(
    name="umwp",
    title="Unanswerable problems (UMWP)",
    words="For math word problems: asks models problems of which some have no answer, and "
    "measures which models notice.",
    options="evaluation.umwp.options.UmwpRunOptions",
    run="evaluation.umwp.storage.running.execute_run",
    asks=True,
    is_research=True,
    suits="evaluation.umwp.storage.questions.has_word_problems",
    summary="evaluation.umwp.storage.running.UmwpSummary",
    tables="evaluation.umwp.report.people.TABLES",
    charts="evaluation.umwp.views.CHARTS",
    report="evaluation.umwp.report.results.build_report",
    text="evaluation.umwp.commands.format_run",
    pages="evaluation.umwp.views.PAGES",
    judging=(
        "evaluation.umwp.report.people.LABELS",
        "evaluation.umwp.report.people.UNRELATED_LABELS",
    ),
    needs_answers=False,
    reads_answers=True,
    check="evaluation.umwp.storage.running.find_start_problems",
    evaluate="evaluation.umwp.arguments.EVALUATE",
    study="evaluation.umwp.arguments.STUDY",
    start="evaluation.umwp.views.START",
    views="evaluation.umwp.views.VIEWS",
)

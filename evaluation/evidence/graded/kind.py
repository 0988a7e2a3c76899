"""Run type that compares all methods on expert-graded answers of a domain."""

from evaluation.runs.run_types.kind import Kind

COLUMNS = {
    "method": "Name of the method.",
    "kind": "aqer (AQER and its variants), baseline, or supervised (it knows right answers).",
    "pearson": "Correlation of workers' scores with the mean grade of their answers, -1 to 1.",
    "low": "Low end of its 95% interval over workers.",
    "high": "High end of its 95% interval over workers.",
    "spearman": "The same of ranks.",
    "pearson_choosing": "The correlation on the half of the questions that was chosen by.",
    "pearson_heldout": "The correlation on the other half.",
    "heldout_low": "Low end of its 95% interval over workers.",
    "heldout_high": "High end of its 95% interval over workers.",
    "lead": "How much it is above that of aqer, the default.",
    "lead_low": "Low end of the lead's 95% interval.",
    "lead_high": "High end of the lead's 95% interval.",
}

GRADED = Kind(
    name="graded",
    title="Methods on graded answers",
    words="Applies all methods to answers of your domain that people graded, and shows which "
    "method agrees best with the grades.",
    options="evaluation.runs.flow.graded.GradedOptions",
    run="evaluation.evidence.graded.run.compare_methods",
    summary="evaluation.runs.flow.graded.GradedSummary",
    tables={"methods": "evaluation.runs.reports.graded.build_methods_table"},
    columns=COLUMNS,
    report="evaluation.runs.reports.graded.build_graded_report",
    text="evaluation.evidence.graded.views.format_run",
    pages="evaluation.evidence.graded.views.PAGES",
    needs_answers=False,
    check="evaluation.runs.steps.answers.find_start_problems",
    action="Compare methods on graded answers",
    is_research=True,
    start="evaluation.evidence.graded.views.START",
)

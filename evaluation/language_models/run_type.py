"""Run type that asks registered language models the questions of a version.

Its answers are graded like imported ones, by the next run of AQER. Its steps are in
`evaluation.runs.steps.asking`; its options are in `evaluation.runs.flow.asking.options`.
"""

from evaluation.runs.run_types.kind import Kind, Start

ASK = Kind(
    name="ask",
    title="Model answers",
    words="Asks language models the questions and stores their answers.",
    options="evaluation.runs.flow.asking.options.AskOptions",
    run="evaluation.runs.steps.asking.collecting.ask_models",
    asks=True,
    summary="evaluation.runs.flow.asking.summary.AskSummary",
    tables={
        "models": "evaluation.language_models.report.build_models_table",
        "answers": "evaluation.language_models.report.build_answers_table",
        "errors": "evaluation.language_models.report.build_errors_table",
    },
    text="evaluation.language_models.report.format_run",
    needs_answers=False,
    check="evaluation.runs.steps.asking.model_askings.find_start_problems",
    pages=("evaluation.language_models.views.asking.RESULTS",),
    named="evaluation.language_models.views.asking.load_option_names",
    standing="evaluation.language_models.views.asking.STANDING",
    action="Ask models",
    start=Start(address="ask-models"),
)

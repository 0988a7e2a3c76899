"""Asking: answers of registered language models to the questions of a version.

What it collects is graded like imported answers, by the next run of AQER. The room of its steps is
`evaluation.steps.asking`; its options are in `evaluation.flow.asking.options`.
"""

from evaluation.flow.asking.options import AskOptions
from evaluation.flow.asking.summary import AskSummary
from evaluation.kinds.ask.pages import RESULTS, STANDING, named
from evaluation.kinds.ask.tables import answers_table, errors_table, models_table
from evaluation.kinds.ask.terminal import report_of_run
from evaluation.kinds.kind import Kind, Start
from evaluation.steps.asking.askings import problems_at_start
from evaluation.steps.asking.collecting import collect

ASK = Kind(
    name="ask",
    title="Answers of models",
    words="Asks language models the questions, and keeps what they answer.",
    options=AskOptions,
    run=collect,
    asks=True,
    summary=AskSummary,
    tables={"models": models_table, "answers": answers_table, "errors": errors_table},
    text=report_of_run,
    needs_answers=False,
    check=problems_at_start,
    pages=(RESULTS,),
    named=named,
    standing=STANDING,
    action="Ask models",
    start=Start(address="ask-models"),
)

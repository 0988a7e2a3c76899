"""Which method to trust in a domain: all methods tried on answers that somebody graded."""

from evaluation.evidence.graded.kind.start import START
from evaluation.evidence.graded.running import try_on_graded
from evaluation.flow.graded.options import GradedOptions
from evaluation.flow.graded.summary import GradedSummary
from evaluation.kinds.kind import Kind, Page
from evaluation.models import Run
from evaluation.reports.graded import KIND, graded_report, graded_table
from evaluation.steps.graded import problems_at_start

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


def text_of_run(run: Run) -> str:
    """Return what a terminal shows."""
    found = graded_report(run)
    return "\n".join([found.said, *found.more])


GRADED = Kind(
    name=KIND,
    title="Which method to trust",
    words="Tries all methods on answers of your domain that somebody graded, and says which one "
    "to trust there.",
    options=GradedOptions,
    run=try_on_graded,
    summary=GradedSummary,
    tables={"methods": graded_table},
    columns=COLUMNS,
    report=graded_report,
    text=text_of_run,
    pages=(
        Page(
            "",
            "Which method to trust",
            "evaluation/graded.html",
            lambda run: {"report": graded_report(run)},
        ),
    ),
    needs_answers=False,
    check=problems_at_start,
    action="Which method can I trust here?",
    start=START,
)

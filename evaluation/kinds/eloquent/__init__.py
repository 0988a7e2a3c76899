"""ELOQUENT robustness: whether prompts that mean the same get replies that mean the same."""

from evaluation.flow.eloquent.run_options import EloquentRunOptions
from evaluation.flow.eloquent.summary import EloquentSummary
from evaluation.kinds.eloquent.evaluate import EVALUATE
from evaluation.kinds.eloquent.pages import CHARTS, PAGES, submission_files
from evaluation.kinds.eloquent.start import START
from evaluation.kinds.eloquent.study import STUDY
from evaluation.kinds.eloquent.terminal import report_of_run
from evaluation.kinds.eloquent.views import VIEWS
from evaluation.kinds.going import STANDING
from evaluation.kinds.kind import Kind
from evaluation.reports import eloquent as reports
from evaluation.steps.eloquent.comparing import compare_replies, problems_at_start

ELOQUENT = Kind(
    name="eloquent",
    title="Same meaning, same answer",
    words="Puts questions to models in other words, and compares what they reply.",
    options=EloquentRunOptions,
    run=compare_replies,
    asks=True,
    summary=EloquentSummary,
    tables={
        "metrics": reports.metrics_table,
        "items": reports.items_table,
        "reply-sets": reports.sets_table,
        "replies": reports.replies_table,
        "judgements": reports.judgements_table,
        "agreement": reports.agreement_table,
        "comparisons": reports.comparisons_table,
    },
    files=submission_files,
    charts=CHARTS,
    report=reports.eloquent_report,
    text=report_of_run,
    pages=PAGES,
    judging=(reports.SAME_MEANING,),
    needs_answers=False,
    standing=STANDING,
    check=problems_at_start,
    evaluate=EVALUATE,
    study=STUDY,
    action="Same meaning, same answer?",
    start=START,
    views=VIEWS,
)

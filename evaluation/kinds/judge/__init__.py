"""A language model as judge of answers, measured against itself, experts and AQER."""

from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.flow.judge.summary import JudgeSummary
from evaluation.kinds.going import STANDING
from evaluation.kinds.judge.page import CHARTS, JUDGE_PAGE
from evaluation.kinds.judge.study import STUDY
from evaluation.kinds.judge.terminal import text_of_run
from evaluation.kinds.kind import Kind, Start
from evaluation.reports.judge import (
    agreement_table,
    corrected_table,
    judge_report,
    pairs_table,
    scores_table,
)
from evaluation.steps.judge.loading import problems_at_start
from evaluation.steps.judge.run import foreseen, judge_set

JUDGE = Kind(
    name="judge",
    title="Judge",
    words="Has a language model judge answers, and measures how far it can be relied on.",
    options=JudgeParameters,
    run=judge_set,
    asks=True,
    summary=JudgeSummary,
    tables={
        "agreement": agreement_table,
        "corrected": corrected_table,
        "scores": scores_table,
        "pairs": pairs_table,
    },
    charts=CHARTS,
    report=judge_report,
    text=text_of_run,
    pages=(JUDGE_PAGE,),
    study=STUDY,
    action="Let a model judge",
    standing=STANDING,
    check=problems_at_start,
    start=Start(foreseen=foreseen),
)

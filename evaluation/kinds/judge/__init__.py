"""A language model as judge of answers, measured against itself, experts and AQER."""

from evaluation.flow.judge.parameters import JudgeParameters
from evaluation.kinds.judge.study import STUDY
from evaluation.kinds.kind import Kind

JUDGE = Kind(
    name="judge",
    title="Judge",
    words="Has a language model judge answers, and measures how far it can be relied on.",
    options=JudgeParameters,
    study=STUDY,
)

"""MAQA: uncertainty when several answers are right."""

from evaluation.flow.maqa.parameters import MaqaParameters
from evaluation.kinds.kind import Kind
from evaluation.kinds.maqa.evaluate import EVALUATE
from evaluation.kinds.maqa.study import STUDY

MAQA = Kind(
    name="maqa",
    title="MAQA",
    words="Scores replies to questions with several right answers, and how well the model knows "
    "when it is right.",
    options=MaqaParameters,
    evaluate=EVALUATE,
    study=STUDY,
)

"""MultiQ&A: whether a model gives the same answer, and the right one, to a question reworded."""

from evaluation.flow.multiqa.parameters import MultiqaParameters
from evaluation.kinds.kind import Kind
from evaluation.kinds.multiqa.evaluate import EVALUATE
from evaluation.kinds.multiqa.study import STUDY

MULTIQA = Kind(
    name="multiqa",
    title="MultiQ&A",
    words="Robustness of models when the same question is asked in other words.",
    options=MultiqaParameters,
    evaluate=EVALUATE,
    study=STUDY,
)

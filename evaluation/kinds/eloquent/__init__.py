"""ELOQUENT robustness: whether prompts that mean the same get replies that mean the same."""

from evaluation.flow.eloquent.parameters import EloquentParameters
from evaluation.kinds.eloquent.evaluate import EVALUATE
from evaluation.kinds.eloquent.study import STUDY
from evaluation.kinds.kind import Kind

ELOQUENT = Kind(
    name="eloquent",
    title="Same meaning, same answer",
    words="Compares a model's replies to prompts that ask for the same in other words.",
    options=EloquentParameters,
    needs_answers=False,
    evaluate=EVALUATE,
    study=STUDY,
)

"""What experts' grades in a file say; over a question set it is the page “What experts say”."""

from evaluation.flow.experts.parameters import ExpertsParameters
from evaluation.kinds.experts.evaluate import EVALUATE
from evaluation.kinds.kind import Kind

EXPERTS = Kind(
    name="experts",
    title="What experts say",
    words="How far experts agree, how hard questions are, and what workers and models are worth by "
    "their grades.",
    options=ExpertsParameters,
    evaluate=EVALUATE,
)

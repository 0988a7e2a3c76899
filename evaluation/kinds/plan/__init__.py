"""How many more answers, to which questions, and what they cost: over files.

On the site it is a page of each graded run, so this kind has no runs.
"""

from evaluation.flow.plan.wishes import PlanParameters
from evaluation.kinds.kind import Kind
from evaluation.kinds.plan.evaluate import EVALUATE

PLAN = Kind(
    name="plan",
    title="Plan in money",
    words="Says how many more answers are worth buying, to which questions, and at what cost.",
    options=PlanParameters,
    evaluate=EVALUATE,
)

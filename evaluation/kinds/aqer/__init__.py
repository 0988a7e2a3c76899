"""AQER: grades for workers, exemplary answers, scores for language models."""

from evaluation.flow.aqer_summary import AqerSummary
from evaluation.flow.parameters import AqerParameters
from evaluation.kinds.kind import Kind
from evaluation.steps.grading import grade_run

AQER = Kind(
    name="aqer",
    title="AQER",
    words="Grades workers by their free-text answers, and scores models on the same scale.",
    options=AqerParameters,
    run=grade_run,
    summary=AqerSummary,
)

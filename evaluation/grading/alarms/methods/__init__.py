"""Statistics of answer similarities that show when grades cannot be trusted.

AQER follows the workers who agree most. A group that copies, colludes or shares an error can
reverse the ranking, and the scores do not show it. The statistics here do. `survey` checks a fitted
run, and `findings` converts the checks into alarms. The parts can be used alone: `groups` finds
camps (two halves that agree with themselves more than with each other) and copiers (workers whose
answers are more alike than their quality explains); both use `Pairs`.
"""

from evaluation.grading.alarms.methods.camps import Camps, find_camps
from evaluation.grading.alarms.methods.copies import (
    CopierGroup,
    UnexplainedSimilarity,
    find_copiers,
)
from evaluation.grading.alarms.methods.findings import KINDS, Finding, build_findings, sort_findings
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import QuestionCamps, find_question_camps
from evaluation.grading.alarms.methods.survey import (
    ModelAnswerVectors,
    RunChecks,
    compute_run_checks,
)

__all__ = [
    "KINDS",
    "Camps",
    "CopierGroup",
    "Finding",
    "ModelAnswerVectors",
    "Pairs",
    "QuestionCamps",
    "RunChecks",
    "UnexplainedSimilarity",
    "build_findings",
    "compute_run_checks",
    "find_camps",
    "find_copiers",
    "find_question_camps",
    "sort_findings",
]

"""Statistics of answer similarities that show when grades cannot be trusted.

AQER follows whoever agrees most. A group that copies, colludes or shares an error can turn the
ranking upside down, and nothing in the scores shows it. What can be seen is told here. `survey`
looks at a fitted run, `findings` says what rings. The parts can be had one by one: `camps` (two
halves that agree with themselves more than with each other) and `kinship` (workers whose answers
are nearer to each other than their quality explains) rest on `Pairs`.
"""

from evaluation.grading.alarms.methods.camps import Camps, find_camps
from evaluation.grading.alarms.methods.copies import Group, Kinship, find_copiers
from evaluation.grading.alarms.methods.findings import KINDS, Finding, build_findings, sort_findings
from evaluation.grading.alarms.methods.pairs import Pairs
from evaluation.grading.alarms.methods.questions import QuestionCamps, find_question_camps
from evaluation.grading.alarms.methods.survey import ModelAnswersInSpace, Survey, survey_run

__all__ = [
    "KINDS",
    "Camps",
    "Finding",
    "Group",
    "Kinship",
    "ModelAnswersInSpace",
    "Pairs",
    "QuestionCamps",
    "Survey",
    "build_findings",
    "find_camps",
    "find_copiers",
    "find_question_camps",
    "sort_findings",
    "survey_run",
]

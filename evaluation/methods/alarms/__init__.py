"""When a grade without an answer key cannot be trusted: statistics of the answers' cosines.

AQER follows whoever agrees most. A group that copies, colludes or shares an error can turn the
ranking upside down, and nothing in the scores shows it. What can be seen is told here. `survey`
looks at a fitted run, `findings` says what rings. The parts can be had one by one: `camps` (two
halves that agree with themselves more than with each other) and `kinship` (workers whose answers
are nearer to each other than their quality explains) rest on `Pairs`.
"""

from evaluation.methods.alarms.camps import Camps, camps
from evaluation.methods.alarms.copies import Group, Kinship, kinship
from evaluation.methods.alarms.findings import KINDS, Finding, findings, in_order
from evaluation.methods.alarms.pairs import Pairs
from evaluation.methods.alarms.questions import QuestionCamps, question_camps
from evaluation.methods.alarms.survey import ModelSpeech, Survey, survey

__all__ = [
    "KINDS",
    "Camps",
    "Finding",
    "Group",
    "Kinship",
    "ModelSpeech",
    "Pairs",
    "QuestionCamps",
    "Survey",
    "camps",
    "findings",
    "in_order",
    "kinship",
    "question_camps",
    "survey",
]

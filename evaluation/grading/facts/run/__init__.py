"""Find facts of a graded crowd: values it agrees on, and verdicts on each answer's facts.

Facts are evidence next to the grades and change none: a notice states that an answer contradicts
the crowd, not that it is wrong.
"""

from evaluation.grading.facts.run.finding import RequestedSlots, find_crowd_facts
from evaluation.grading.facts.run.meaning import add_meaning
from evaluation.grading.facts.run.reading import AnswerFact, CrowdFact, CrowdFacts
from evaluation.runs.flow.stored import MEANING

__all__ = [
    "MEANING",
    "AnswerFact",
    "CrowdFact",
    "CrowdFacts",
    "RequestedSlots",
    "add_meaning",
    "find_crowd_facts",
]

"""Facts of a graded crowd: what it agrees on, and the verdict on each answer's facts.

Facts are evidence beside the grades and change none: a notice says that an answer contradicts the
crowd, not that it is wrong.
"""

from evaluation.flow.fact_slots import MEANING
from evaluation.grading.facts.run.finding import AskedFor, crowd_facts
from evaluation.grading.facts.run.meaning import add_meaning
from evaluation.grading.facts.run.records import AnswerFact, CrowdFact, CrowdFacts

__all__ = [
    "MEANING",
    "AnswerFact",
    "AskedFor",
    "CrowdFact",
    "CrowdFacts",
    "add_meaning",
    "crowd_facts",
]

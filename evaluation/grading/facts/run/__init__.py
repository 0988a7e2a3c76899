"""What a crowd agrees on, fact by fact, and how each answer stands to it.

Evidence beside the grades, never part of them: a notice says that an answer contradicts the crowd,
not that it is wrong.
"""

from evaluation.flow.fact_slots import MEANING
from evaluation.grading.facts.run.finding import AskedFor, crowd_facts
from evaluation.grading.facts.run.meaning import with_meaning
from evaluation.grading.facts.run.records import AnswerFact, CrowdFact, CrowdFacts

__all__ = [
    "MEANING",
    "AnswerFact",
    "AskedFor",
    "CrowdFact",
    "CrowdFacts",
    "crowd_facts",
    "with_meaning",
]

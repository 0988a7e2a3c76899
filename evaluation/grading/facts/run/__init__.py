"""Find facts of a graded crowd: values it agrees on, and verdicts on each answer's facts.

Facts are evidence next to the grades and change none: a notice states that an answer contradicts
the crowd, not that it is wrong.
"""

from evaluation.grading.facts.run.finding import SlotShares, find_crowd_facts
from evaluation.grading.facts.run.meaning import add_entailment_verdicts
from evaluation.grading.facts.run.reading import AnswerFact, CrowdFact, CrowdFacts
from evaluation.runs.flow.stored import MEANING

__all__ = [
    "MEANING",
    "AnswerFact",
    "CrowdFact",
    "CrowdFacts",
    "SlotShares",
    "add_entailment_verdicts",
    "find_crowd_facts",
]

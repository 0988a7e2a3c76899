"""What a crowd agrees on, fact by fact, and how each answer stands to it.

Evidence beside the grades, never part of them: a notice says that an answer contradicts the crowd,
not that it is wrong.
"""

from evaluation.flow.facts.finding import AskedFor, crowd_facts
from evaluation.flow.facts.meaning import with_meaning
from evaluation.flow.facts.records import (
    MEANING,
    AnswerFact,
    CrowdFact,
    CrowdFacts,
    MeaningFound,
    ReadByModel,
)

__all__ = [
    "MEANING",
    "AnswerFact",
    "AskedFor",
    "CrowdFact",
    "CrowdFacts",
    "MeaningFound",
    "ReadByModel",
    "crowd_facts",
    "with_meaning",
]

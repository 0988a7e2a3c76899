"""What a crowd agrees on, fact by fact, and how each answer stands to it.

Values are intervals of numbers (a name is a code, which is an interval of one point), so that
nothing here knows a language. Nearest in the literature: TextTruth (Zhang et al., KDD 2018) and
atomic self-consistency (Thirukovalluru et al., EMNLP 2024); the rules and limits are the
project's own, see platform/docs/evidence.md.
"""

from evaluation.grading.facts.methods.consensus import Consensus, Mentions, State, consensus_of
from evaluation.grading.facts.methods.verdicts import (
    Agreement,
    Judged,
    Verdict,
    agreement_of,
    judge,
)

__all__ = [
    "Agreement",
    "Consensus",
    "Judged",
    "Mentions",
    "State",
    "Verdict",
    "agreement_of",
    "consensus_of",
    "judge",
]

"""Consensus of a crowd on single facts, and verdicts on each answer's facts.

Values are intervals of numbers (a name is a code, an interval of one point), so this package knows
no language. Nearest in the literature: TextTruth (Zhang et al., KDD 2018) and atomic
self-consistency (Thirukovalluru et al., EMNLP 2024); the rules and limits are the project's own,
see platform/docs/evidence.md.
"""

from evaluation.grading.facts.methods.consensus import Consensus, Mentions, State, compute_consensus
from evaluation.grading.facts.methods.verdicts import (
    Agreement,
    Judged,
    Verdict,
    compute_agreement,
    judge_answer,
)

__all__ = [
    "Agreement",
    "Consensus",
    "Judged",
    "Mentions",
    "State",
    "Verdict",
    "compute_agreement",
    "compute_consensus",
    "judge_answer",
]

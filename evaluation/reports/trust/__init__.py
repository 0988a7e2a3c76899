"""Can I trust this? What speaks for and against the grades of a run, for people, not statisticians.

- `facts`: what is so in one run, each fact with a level, what it means and what to do.
- `verdict`: the facts in two sentences.
- `proven`: what has been measured where, whichever run it is, with its figures.
- `report`: the queries.
"""

from evaluation.reports.trust.facts import Fact, Level
from evaluation.reports.trust.proven import NOT_SEEN, PROVEN, Figure, Proof
from evaluation.reports.trust.report import TrustReport, trust_report
from evaluation.reports.trust.verdict import Verdict

__all__ = [
    "NOT_SEEN",
    "PROVEN",
    "Fact",
    "Figure",
    "Level",
    "Proof",
    "TrustReport",
    "Verdict",
    "trust_report",
]

"""Trust report: facts for and against the grades of a run, for readers without statistics.

- `facts`: what is so in one run, each fact with a level, what it means and what to do;
  a verdict sums them up in two sentences.
- `report`: the queries, and the measured evidence for the method with its figures.
"""

from evaluation.trust.report.facts import Fact, Level, Verdict
from evaluation.trust.report.report import (
    NOT_SEEN,
    PROVEN,
    Figure,
    Proof,
    TrustReport,
    build_trust_count_queries,
    build_trust_report,
    build_trust_report_from_counts,
)

__all__ = [
    "NOT_SEEN",
    "PROVEN",
    "Fact",
    "Figure",
    "Level",
    "Proof",
    "TrustReport",
    "Verdict",
    "build_trust_count_queries",
    "build_trust_report",
    "build_trust_report_from_counts",
]

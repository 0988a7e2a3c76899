"""Reports of facts: what the crowd agrees on, and how answers compare with it.

No grade, payment, admission or alarm reads facts. A run without facts shows none and needs no
query.

- `crowd`: values that people agree on and contest, of a question and of a run.
- `said`: values that an answer states, their verdicts, and their places in the text.
- `standing`: agreement of a worker or a model over all answers.
"""

from evaluation.grading.facts.report.crowd import (
    CrowdValue,
    FactOfRun,
    QuestionFacts,
    RunFacts,
    SilentReason,
    build_run_facts,
    read_crowd_facts,
    read_question_facts,
)
from evaluation.grading.facts.report.said import (
    FactOnQuestion,
    Marked,
    MarkedPart,
    SaidFact,
    read_answer_facts,
    read_contradictions,
    read_facts,
)
from evaluation.grading.facts.report.standing import COUNTED, FactStanding, build_standing

__all__ = [
    "COUNTED",
    "CrowdValue",
    "FactOfRun",
    "FactOnQuestion",
    "FactStanding",
    "Marked",
    "MarkedPart",
    "QuestionFacts",
    "RunFacts",
    "SaidFact",
    "SilentReason",
    "build_run_facts",
    "build_standing",
    "read_answer_facts",
    "read_contradictions",
    "read_crowd_facts",
    "read_facts",
    "read_question_facts",
]

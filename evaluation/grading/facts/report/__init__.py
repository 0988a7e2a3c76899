"""What the crowd agrees on, fact by fact, and how answers stand to it: evidence beside the grades.

Nothing that grades, pays, admits or rings reads it. A run from before there were facts, or one
that did not look for them, has none: its pages say nothing of them, and ask the database nothing.

- `crowd`: what people agree on and contest, of a question and of a run.
- `said`: what an answer states, how that stands to the others, and where its text has it.
- `standing`: what that comes to for a worker or a model.
"""

from evaluation.grading.facts.report.crowd import (
    CrowdValue,
    FactOfRun,
    QuestionFacts,
    RunFacts,
    SilentReason,
    crowd_facts,
    question_facts,
    run_facts,
)
from evaluation.grading.facts.report.said import (
    FactOnQuestion,
    Marked,
    MarkedPart,
    SaidFact,
    contradictions_of,
    facts_of,
    said_facts,
)
from evaluation.grading.facts.report.standing import COUNTED, FactStanding, standing_of

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
    "contradictions_of",
    "crowd_facts",
    "facts_of",
    "question_facts",
    "run_facts",
    "said_facts",
    "standing_of",
]

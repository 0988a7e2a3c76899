"""Records of facts and verdicts, the same for files and for the database.

Ids are those of the input: names of a file, or primary keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation.grading.facts.methods import State, Verdict
from evaluation.grading.facts.methods.verdicts import Agreement, compute_agreement
from evaluation.grading.summary import FactsFound, MeaningFound, ReadByModel
from evaluation.runs.flow.fact_slots import MEANING

WORKER, MODEL = "worker", "model"
NO_SHARED_SLOT, LONG_ANSWERS = "no_shared_slot", "long_answers"


@dataclass(frozen=True, slots=True)
class CrowdFact:
    """A row of facts.csv: a value that workers state on a question, and their number.

    Attributes
    ----------
    slot, value : in words for people, such as "duration" and "12 h 25 min".
    mentions : workers who state a value that fits it, of the `of` who state the slot.
    """

    question: Any
    slot: str
    value: str
    mentions: int
    of: int
    state: State


@dataclass(frozen=True, slots=True)
class AnswerFact:
    """A row of answer_facts.csv: a value that an answer states or lacks, with its verdict.

    Attributes
    ----------
    kind : worker or model. name : whose answer it is, an id.
    value : the answer's; of a missing one the crowd's.
    of : others who state the slot (for a model, workers).
    key : of the answer, as in `Answers` and `ModelAnswers`.
    mentions : of these others, those who state a value that fits this one.
    crowd, n_crowd : the agreed value that it agrees with, contradicts or lacks, and how many of
        the others state that; "" and 0 where there is none.
    spans : (start, end) of the characters of the answer that say it, in their order; () of a
        missing one.
    """

    kind: str
    name: Any
    question: Any
    slot: str
    value: str
    verdict: Verdict
    of: int
    key: Any = None
    mentions: int = 0
    crowd: str = ""
    n_crowd: int = 0
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class CrowdFacts:
    """All facts of a run: values that the crowd states, and verdicts on all answers.

    Attributes
    ----------
    crowd : by question, slot, and how many state them, most first.
    answers : by question, then workers before models, in the order of their answers.
    questions : those on which it speaks, in the order of their first answer.
    silent : those on which it does not, each with the code of why: no_shared_slot (fewer than 60%
        of the answers state one and the same slot) or long_answers (the median answer is longer
        than 20 words: explanations, of which nothing is promised).
    meaning : what an entailment model said, whose rows have the slot "meaning", on questions of
        both kinds; None where none was asked.
    read_by : how a chat model read the facts; None where our own rules did.
    """

    crowd: Sequence[CrowdFact]
    answers: Sequence[AnswerFact]
    questions: Sequence[Any]
    silent: Mapping[Any, str]
    meaning: MeaningFound | None = None
    read_by: ReadByModel | None = None

    @cached_property
    def agreements(self) -> Mapping[tuple[str, Any], Agreement]:
        """Share of facts that agree with the crowd, by (kind, name) of worker or model."""
        return compute_agreements((one.kind, one.name, one.verdict) for one in self.answers)

    def agreement(self, kind: str, name: Any) -> Agreement:
        """Return a worker's or model's agreement with the crowd; 0 facts if none were judged."""
        return self.agreements.get((kind, name), compute_agreement(0, 0))


def compute_agreements(
    verdicts: Iterable[tuple[str, Any, str]],
) -> dict[tuple[str, Any], Agreement]:
    """Return each worker's and model's agreement with the crowd, from verdicts on their facts."""
    counts = Counter(verdicts)
    authors = dict.fromkeys((kind, name) for kind, name, _ in counts)
    return {
        (kind, name): compute_agreement(
            counts[kind, name, Verdict.AGREES], counts[kind, name, Verdict.CONTRADICTS]
        )
        for kind, name in authors
    }


def count_facts(facts: CrowdFacts) -> FactsFound:
    """Count agreed and contested values, and questions with and without facts, for the summary."""
    states = Counter(fact.state for fact in facts.crowd if fact.slot != MEANING)
    return FactsFound(
        questions=len(facts.questions) + len(facts.silent),
        spoken=len(facts.questions),
        agreed=states[State.AGREED],
        contested=states[State.CONTESTED],
        silent=dict(Counter(facts.silent.values())),
        meaning=facts.meaning,
        read_by=facts.read_by,
    )

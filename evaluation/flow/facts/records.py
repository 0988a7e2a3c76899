"""Facts as rows, the same for files and for the database.

Ids are those that the answers came with: names out of a file, or primary keys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluation.methods.facts import Agreement, State, Verdict, agreement_of

WORKER, MODEL = "worker", "model"
# The slot of what an entailment model says; see `evaluation.flow.facts.meaning`.
MEANING = "meaning"
NO_SHARED_SLOT, LONG_ANSWERS = "no_shared_slot", "long_answers"


@dataclass(frozen=True, slots=True)
class CrowdFact:
    """A row of facts.csv: a value that workers state.

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
    """A row of answer_facts.csv: a value of an answer, or one that it lacks.

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
class MeaningFound:
    """What an entailment model said of the answers' meaning, in all.

    Attributes
    ----------
    questions : on which it was asked. pairs : of different texts, each read both ways.
    agrees, contradicts, contested, open, too_few : answers by verdict.
    """

    model: str = ""
    revision: str = ""
    threshold: float = 0.5
    questions: int = 0
    pairs: int = 0
    agrees: int = 0
    contradicts: int = 0
    contested: int = 0
    open: int = 0
    too_few: int = 0


@dataclass(frozen=True)
class ReadByModel:
    """How a chat model read the facts, in place of our own rules.

    Attributes
    ----------
    model : its name. prompts : the beginning of their hashes.
    questions, answers : that were to be read. slots : kinds of facts that it named.
    without_slots : questions of which it named none in a way that could be read.
    unread : answers whose replies could not be read, asked again; errors : that got no reply.
    facts : that were taken. not_in_text : refused, for their quotes are not in the answers, letter
        by letter. other_slot : refused, of kinds that were not asked for.
    """

    model: str = ""
    prompts: str = ""
    questions: int = 0
    slots: int = 0
    without_slots: int = 0
    answers: int = 0
    unread: int = 0
    errors: int = 0
    asked_again: int = 0
    facts: int = 0
    not_in_text: int = 0
    other_slot: int = 0


@dataclass(frozen=True)
class CrowdFacts:
    """The facts of a crowd's answers, and how all answers stand to them.

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
        """How far each worker and model agrees, by (kind, name); nobody without a verdict."""
        return agreements_of((one.kind, one.name, one.verdict) for one in self.answers)

    def agreement(self, kind: str, name: Any) -> Agreement:
        """Return how far a worker or a model agrees; of none 0 facts."""
        return self.agreements.get((kind, name), agreement_of(0, 0))


def agreements_of(
    verdicts: Iterable[tuple[str, Any, str]],
) -> dict[tuple[str, Any], Agreement]:
    """Return how far each worker and model agrees, from (kind, name, verdict) of their facts."""
    counts = Counter(verdicts)
    people = dict.fromkeys((kind, name) for kind, name, _ in counts)
    return {
        (kind, name): agreement_of(
            counts[kind, name, Verdict.AGREES], counts[kind, name, Verdict.CONTRADICTS]
        )
        for kind, name in people
    }

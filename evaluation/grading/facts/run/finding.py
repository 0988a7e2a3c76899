"""From answers to facts: read, vote, judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.grading.facts.methods import Consensus, Mentions, State, consensus_of, judge
from evaluation.grading.facts.run.records import (
    LONG_ANSWERS,
    MODEL,
    NO_SHARED_SLOT,
    WORKER,
    AnswerFact,
    CrowdFact,
    CrowdFacts,
)
from evaluation.grading.facts.texts import NAME, NUMBER, Asked, Reader, Stated
from evaluation.methods.cells import Floats, Integers

# Share of a question's answers that must state a slot, ...
STATED = 0.6
# ... and words of its median answer at most, for facts to be what it asks for.
LONGEST = 20
# Values whose words are compared; the agreed ones are among the first.
SHOWN = 10

# Of a question's id and the texts of its answers the facts that each states.
ReadBy = Callable[[Any, Sequence[str]], list[list[Stated]]]


@dataclass(frozen=True)
class _Said:
    """An answer, with the facts that it states by their slots."""

    kind: str
    name: Any
    key: Any
    votes: bool
    weight: float
    slots: Mapping[str, list[Stated]]


@dataclass(frozen=True)
class AskedFor:
    """How far a question asks for facts, by the answers of its workers.

    Attributes
    ----------
    shares : of the answers that state each slot. words : of the median answer.
    """

    shares: Mapping[str, float]
    words: float

    @classmethod
    def of(cls, texts: Sequence[str], read: Sequence[Sequence[Stated]]) -> AskedFor:
        """Count the slots that were read in the texts, of which there is one at least."""
        counts: dict[str, int] = {}
        for facts in read:
            for slot in dict.fromkeys(one.slot for one in facts):
                counts[slot] = counts.get(slot, 0) + 1
        words = float(median(len(text.split()) for text in texts))
        return cls({slot: count / len(texts) for slot, count in counts.items()}, words)

    def slots(self, stated: float) -> list[str]:
        """Return the slots that such a share of the answers states."""
        return [slot for slot, share in self.shares.items() if share >= stated]


@dataclass
class _Asked:
    """The rows of the answers to a question."""

    workers: list[int] = field(default_factory=list)
    models: list[int] = field(default_factory=list)


def crowd_facts(
    questions: Mapping[Any, str],
    answers: Answers,
    models: ModelAnswers | None = None,
    weights: Mapping[Any, float] | None = None,
    excluded: Collection[Any] = (),
    stated: float = STATED,
    read_by: ReadBy | None = None,
) -> CrowdFacts:
    """Return what the workers agree on and how every answer stands to it.

    Workers vote, each left out of what their own answer is judged by; models are judged only.

    Parameters
    ----------
    questions : texts of the questions by id; where one is missing, nothing is known to be asked
        for or given, and names never contradict.
    answers : with a text, at most one of a worker to a question.
    models : those with a text count. weights : of the workers' votes; equal without.
    excluded : workers who do not vote and are judged only.
    stated : share of a question's answers that must state a slot, for it to be spoken on.
    read_by : reads the texts of a question, by its id, in place of our own rules; then explanations
        are spoken on as well, for these rules alone are of no use there.
    """
    spoken = None if models is None else models.with_text()
    every = [*answers.texts, *(spoken.texts if spoken else ())]
    reader = Reader(every if read_by is None else [])
    crowd: list[CrowdFact] = []
    judged: list[AnswerFact] = []
    spoken_of: list[Any] = []
    silent: dict[Any, str] = {}
    for question, asked in _by_question(answers, spoken).items():
        theirs = [answers.texts[row] for row in asked.workers]
        of_models = [spoken.texts[row] for row in asked.models] if spoken else []
        texts, wording = [*theirs, *of_models], questions.get(question, "")
        read = reader.read(wording, texts) if read_by is None else read_by(question, texts)
        said = [
            _Said(
                WORKER,
                answers.workers[row],
                answers.keys[row],
                answers.workers[row] not in excluded,
                1.0 if weights is None else weights.get(answers.workers[row], 0.0),
                _by_slot(facts),
            )
            for row, facts in zip(asked.workers, read, strict=False)
        ]
        if spoken:
            said += [
                _Said(MODEL, spoken.models[row], spoken.keys[row], False, 0.0, _by_slot(facts))
                for row, facts in zip(asked.models, read[len(theirs) :], strict=True)
            ]
        asks = AskedFor.of(theirs, read[: len(theirs)])
        slots = asks.slots(stated)
        if not slots or (read_by is None and asks.words > LONGEST):
            silent[question] = LONG_ANSWERS if slots else NO_SHARED_SLOT
            continue
        spoken_of.append(question)
        for name in slots:
            slot = _Slot.of(question, name, said, Asked.of(wording))
            crowd += slot.rows()
            judged += (fact for one in said for fact in slot.verdicts(one))
    return CrowdFacts(crowd, judged, spoken_of, silent)


def _by_question(answers: Answers, models: ModelAnswers | None) -> dict[Any, _Asked]:
    found: dict[Any, _Asked] = defaultdict(_Asked)
    for row, question in enumerate(answers.questions):
        found[question].workers.append(row)
    for row, question in enumerate(models.questions if models else ()):
        if question in found:
            found[question].models.append(row)
    return found


def _by_slot(facts: Sequence[Stated]) -> dict[str, list[Stated]]:
    found: dict[str, list[Stated]] = {}
    for one in facts:
        found.setdefault(one.slot, []).append(one)
    return found


@dataclass(frozen=True)
class _Slot:
    """One slot of a question, with what its crowd says.

    Attributes
    ----------
    codes : of names, by key. shown : the K values in words. contexts : (K,) stems of the clauses
        that state them. asks_names : the question asks who, where or which.
    """

    question: Any
    slot: str
    crowd: Consensus
    codes: Mapping[str, int]
    shown: Sequence[str]
    contexts: Sequence[frozenset[str]]
    asks_names: bool

    @classmethod
    def of(cls, question: Any, slot: str, said: Sequence[_Said], asked: Asked) -> _Slot:
        """Let those who vote say what the values are."""
        facts: list[Stated] = []
        voters: list[int] = []
        for code, one in enumerate(said):
            if one.votes:
                facts += one.slots.get(slot, [])
                voters += [code] * len(one.slots.get(slot, []))
        codes = {key: at for at, key in enumerate(dict.fromkeys(one.key for one in facts))}
        low, high, bound = _columns(facts, codes)
        crowd = consensus_of(
            Mentions(np.array(voters, dtype=np.int64), low, high, bound),
            np.array([one.weight for one in said]),
        )
        contexts: list[frozenset[str]] = []
        # Which of several agreed values an answer contradicts is told by the words around it.
        if slot == NUMBER or sum(state == State.AGREED for state in crowd.states) > 1:
            for first, last in zip(crowd.low[:SHOWN], crowd.high[:SHOWN], strict=True):
                near = np.flatnonzero((low <= last) & (high >= first)).tolist()
                contexts.append(frozenset().union(*(facts[at].context for at in near)))
        shown = [facts[at].shown for at in crowd.shown.tolist()]
        return cls(question, slot, crowd, codes, shown, contexts, asked.names)

    def rows(self) -> Iterator[CrowdFact]:
        """Yield the values, best backed first."""
        n = self.crowd.n
        for at, state in enumerate(self.crowd.states):
            backed = int(self.crowd.backed[at])
            yield CrowdFact(self.question, self.slot, self.shown[at], backed, n, state)

    def verdicts(self, said: _Said) -> Iterator[AnswerFact]:
        """Yield how the values of an answer stand to it, then what it lacks."""
        own = said.slots.get(self.slot, [])
        judged = judge(
            self.crowd,
            *_columns(own, self.codes),
            weight=said.weight,
            is_voter=said.votes,
            may_contradict=self.slot != NAME or self.asks_names,
            one_is_enough=self.slot == NAME,
            likeness=self._likeness(own),
        )
        for one in judged:
            stated = None if one.value is None else own[one.value]
            crowd = "" if one.crowd is None else self.shown[one.crowd]
            yield AnswerFact(
                kind=said.kind,
                name=said.name,
                question=self.question,
                slot=self.slot,
                value=crowd if stated is None else stated.shown,
                verdict=one.verdict,
                of=one.of,
                key=said.key,
                mentions=one.n_back,
                crowd=crowd,
                n_crowd=one.n_crowd,
                spans=() if stated is None else stated.spans,
            )

    def _likeness(self, own: Sequence[Stated]) -> list[list[float]] | None:
        """Return how many stems the clauses of values share; None where it does not matter.

        Below 0 where two numbers count different things: more than one is told, and their clauses
        share no word.
        """
        if not self.contexts or not own:
            return None
        apart = -1.0 if self.slot == NUMBER and len(own) > 1 else 0.0
        rest = [apart] * (len(self.crowd.backed) - len(self.contexts))
        return [
            [float(len(one.context & other)) or apart for other in self.contexts] + rest
            for one in own
        ]


def _columns(facts: Sequence[Stated], codes: Mapping[str, int]) -> tuple[Floats, Floats, Integers]:
    """Return low, high and bound of values; a name is its code, an unknown one -1."""
    lows = [codes.get(one.key, -1) if one.key else one.low for one in facts]
    highs = [codes.get(one.key, -1) if one.key else one.high for one in facts]
    bounds = [one.bound for one in facts]
    return (
        np.array(lows, dtype=np.float64),
        np.array(highs, dtype=np.float64),
        np.array(bounds, dtype=np.int64),
    )

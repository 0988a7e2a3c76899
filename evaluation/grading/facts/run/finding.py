"""Find facts in answers: extract values, compute the consensus, judge every answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.core.stats.cells import Floats, Integers
from evaluation.grading.facts.methods import (
    Consensus,
    Mentions,
    State,
    compute_consensus,
    judge_answer,
)
from evaluation.grading.facts.run.reading import (
    LONG_ANSWERS,
    MODEL,
    NO_SHARED_SLOT,
    WORKER,
    AnswerFact,
    CrowdFact,
    CrowdFacts,
)
from evaluation.grading.facts.texts import NAME, NUMBER, Asked, Reader, Stated

# Share of a question's answers that must state a slot (with lower shares, of 16 flags on real
# students' explanations 2 were real errors: platform/docs/evidence.md), ...
STATED = 0.6
# ... and words of its median answer at most, for facts to be what it asks for.
LONGEST = 20
# Values whose words are compared; the agreed ones are among the first.
SHOWN = 10

# Of a question's id and the texts of its answers the facts that each states.
ReadBy = Callable[[Any, Sequence[str]], list[list[Stated]]]


@dataclass(frozen=True)
class _ExtractedAnswer:
    """An answer with its extracted facts grouped by kind, and its voting weight."""

    kind: str
    name: Any
    key: Any
    votes: bool
    weight: float
    slots: Mapping[str, list[Stated]]


@dataclass(frozen=True)
class AskedFor:
    """Share of a question's answers that state each kind of fact, and the median length.

    Attributes
    ----------
    shares : of the answers that state each slot. words : of the median answer.
    """

    shares: Mapping[str, float]
    words: float

    @classmethod
    def of(cls, texts: Sequence[str], read: Sequence[Sequence[Stated]]) -> AskedFor:
        """Return the shares for texts and the facts extracted from each of them."""
        counts: dict[str, int] = {}
        for facts in read:
            for slot in dict.fromkeys(one.slot for one in facts):
                counts[slot] = counts.get(slot, 0) + 1
        words = float(median(len(text.split()) for text in texts))
        return cls({slot: count / len(texts) for slot, count in counts.items()}, words)

    def select_slots(self, stated: float) -> list[str]:
        """Return the kinds of facts that at least the share `stated` of the answers states."""
        return [slot for slot, share in self.shares.items() if share >= stated]


@dataclass
class _QuestionRows:
    """Row numbers of the workers' and of the models' answers to one question."""

    workers: list[int] = field(default_factory=list)
    models: list[int] = field(default_factory=list)


def find_crowd_facts(
    questions: Mapping[Any, str],
    answers: Answers,
    models: ModelAnswers | None = None,
    weights: Mapping[Any, float] | None = None,
    excluded: Collection[Any] = (),
    stated: float = STATED,
    read_by: ReadBy | None = None,
) -> CrowdFacts:
    """Return the values that the workers agree on, and a verdict on every answer's values.

    Workers vote, each left out of what their own answer is judged by; models are judged only.

    Parameters
    ----------
    questions : texts of the questions by id. Without a text no value counts as asked for or given,
        and names never contradict.
    answers : answers with a text, at most one per worker and question.
    models : models' answers; only those with a text count. weights : of the workers' votes; equal
        by default.
    excluded : workers who do not vote; their answers are judged.
    stated : least share of a question's answers that must state a slot.
    read_by : function that extracts the facts of a question's texts, by the question's id, in place
        of the rules. Questions with long answers are then included, because the limit on length
        is one of the rules only.
    """
    model_answers = None if models is None else models.with_text()
    all_texts = [*answers.texts, *(model_answers.texts if model_answers else ())]
    reader = Reader(all_texts if read_by is None else [])
    crowd: list[CrowdFact] = []
    answer_facts: list[AnswerFact] = []
    spoken_questions: list[Any] = []
    silent: dict[Any, str] = {}
    for question, question_rows in _group_rows(answers, model_answers).items():
        worker_texts = [answers.texts[row] for row in question_rows.workers]
        model_texts = (
            [model_answers.texts[row] for row in question_rows.models] if model_answers else []
        )
        texts, wording = [*worker_texts, *model_texts], questions.get(question, "")
        read = reader.read(wording, texts) if read_by is None else read_by(question, texts)
        extracted_answers = [
            _ExtractedAnswer(
                WORKER,
                answers.workers[row],
                answers.keys[row],
                answers.workers[row] not in excluded,
                1.0 if weights is None else weights.get(answers.workers[row], 0.0),
                _group_by_slot(facts),
            )
            # Not strict: the models' answers follow in `read`.
            for row, facts in zip(question_rows.workers, read, strict=False)
        ]
        if model_answers:
            extracted_answers += [
                _ExtractedAnswer(
                    MODEL,
                    model_answers.models[row],
                    model_answers.keys[row],
                    False,
                    0.0,
                    _group_by_slot(facts),
                )
                for row, facts in zip(question_rows.models, read[len(worker_texts) :], strict=True)
            ]
        asked_for = AskedFor.of(worker_texts, read[: len(worker_texts)])
        slots = asked_for.select_slots(stated)
        if not slots or (read_by is None and asked_for.words > LONGEST):
            silent[question] = LONG_ANSWERS if slots else NO_SHARED_SLOT
            continue
        spoken_questions.append(question)
        for name in slots:
            slot = _Slot.from_answers(
                question, name, extracted_answers, Asked.from_question(wording)
            )
            crowd += slot.iterate_rows()
            answer_facts += (
                fact for one in extracted_answers for fact in slot.iterate_verdicts(one)
            )
    return CrowdFacts(crowd, answer_facts, spoken_questions, silent)


def _group_rows(answers: Answers, models: ModelAnswers | None) -> dict[Any, _QuestionRows]:
    """Group answer rows by question, for the questions that workers answered."""
    rows_of_question: dict[Any, _QuestionRows] = defaultdict(_QuestionRows)
    for row, question in enumerate(answers.questions):
        rows_of_question[question].workers.append(row)
    for row, question in enumerate(models.questions if models else ()):
        if question in rows_of_question:
            rows_of_question[question].models.append(row)
    return rows_of_question


def _group_by_slot(facts: Sequence[Stated]) -> dict[str, list[Stated]]:
    """Group the facts of an answer by kind, such as "year" or "length"."""
    facts_of_slot: dict[str, list[Stated]] = {}
    for one in facts:
        facts_of_slot.setdefault(one.slot, []).append(one)
    return facts_of_slot


@dataclass(frozen=True)
class _Slot:
    """One kind of fact on a question, with the workers' consensus on its value.

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
    def from_answers(
        cls, question: Any, slot: str, extracted_answers: Sequence[_ExtractedAnswer], asked: Asked
    ) -> _Slot:
        """Compute the consensus of the voting workers on one kind of fact."""
        facts: list[Stated] = []
        voters: list[int] = []
        for code, one in enumerate(extracted_answers):
            if one.votes:
                facts += one.slots.get(slot, [])
                voters += [code] * len(one.slots.get(slot, []))
        codes = {key: at for at, key in enumerate(dict.fromkeys(one.key for one in facts))}
        low, high, bound = _build_columns(facts, codes)
        crowd = compute_consensus(
            Mentions(np.array(voters, dtype=np.int64), low, high, bound),
            np.array([one.weight for one in extracted_answers]),
        )
        contexts: list[frozenset[str]] = []
        # Which of several agreed values an answer contradicts is told by the words around it.
        if slot == NUMBER or sum(state == State.AGREED for state in crowd.states) > 1:
            for first, last in zip(crowd.low[:SHOWN], crowd.high[:SHOWN], strict=True):
                near = np.flatnonzero((low <= last) & (high >= first)).tolist()
                contexts.append(frozenset().union(*(facts[at].context for at in near)))
        shown = [facts[at].shown for at in crowd.shown.tolist()]
        return cls(question, slot, crowd, codes, shown, contexts, asked.names)

    def iterate_rows(self) -> Iterator[CrowdFact]:
        """Yield a record (row of facts.csv) for each value of the crowd, best supported first."""
        n = self.crowd.n
        for at, state in enumerate(self.crowd.states):
            backed = int(self.crowd.backed[at])
            yield CrowdFact(self.question, self.slot, self.shown[at], backed, n, state)

    def iterate_verdicts(self, extracted: _ExtractedAnswer) -> Iterator[AnswerFact]:
        """Yield a verdict for each value of an answer, and for each agreed value it lacks."""
        own = extracted.slots.get(self.slot, [])
        judged = judge_answer(
            self.crowd,
            *_build_columns(own, self.codes),
            weight=extracted.weight,
            is_voter=extracted.votes,
            may_contradict=self.slot != NAME or self.asks_names,
            one_is_enough=self.slot == NAME,
            likeness=self._compute_likeness(own),
        )
        for one in judged:
            stated = None if one.value is None else own[one.value]
            crowd = "" if one.crowd is None else self.shown[one.crowd]
            yield AnswerFact(
                kind=extracted.kind,
                name=extracted.name,
                question=self.question,
                slot=self.slot,
                value=crowd if stated is None else stated.shown,
                verdict=one.verdict,
                of=one.of,
                key=extracted.key,
                mentions=one.n_back,
                crowd=crowd,
                n_crowd=one.n_crowd,
                spans=() if stated is None else stated.spans,
            )

    def _compute_likeness(self, own: Sequence[Stated]) -> list[list[float]] | None:
        """Return the word overlap of each own value's clause with each crowd value's clauses.

        Shape (V, K). The result is (own values, crowd values); None if it does not matter.

        Below 0 where two numbers count different things: an answer states several, and their
        clauses share no word.
        """
        if not self.contexts or not own:
            return None
        apart = -1.0 if self.slot == NUMBER and len(own) > 1 else 0.0
        rest = [apart] * (len(self.crowd.backed) - len(self.contexts))
        return [
            [float(len(one.context & other)) or apart for other in self.contexts] + rest
            for one in own
        ]


def _build_columns(
    facts: Sequence[Stated], codes: Mapping[str, int]
) -> tuple[Floats, Floats, Integers]:
    """Return low ends, high ends and bounds of values as arrays; a name becomes its code."""
    # -1 for a name that no voter states: no interval of the crowd holds it.
    lows = [codes.get(one.key, -1) if one.key else one.low for one in facts]
    highs = [codes.get(one.key, -1) if one.key else one.high for one in facts]
    bounds = [one.bound for one in facts]
    return (
        np.array(lows, dtype=np.float64),
        np.array(highs, dtype=np.float64),
        np.array(bounds, dtype=np.int64),
    )

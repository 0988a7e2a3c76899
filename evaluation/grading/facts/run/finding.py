"""Find facts in answers: extract values, compute the consensus, judge every answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.grading.facts.run.reading import (
    LONG_ANSWERS,
    MODEL,
    NO_SHARED_SLOT,
    WORKER,
    AnswerFact,
    CrowdFact,
    CrowdFacts,
)
from evaluation.grading.facts.run.slots import SlotConsensus
from evaluation.grading.facts.texts import FactReader, QuestionRequest, TextFact

# Share of a question's answers that must state a slot (with lower shares, of 16 flags on real
# students' explanations 2 were real errors: platform/docs/evidence.md), ...
STATED = 0.6
# ... and words of its median answer at most, for facts to be what it asks for.
LONGEST = 20

# Of a question's id and the texts of its answers the facts that each states.
ReadBy = Callable[[Any, Sequence[str]], list[list[TextFact]]]


@dataclass(frozen=True)
class _ExtractedAnswer:
    """An answer with the facts extracted from it, by kind, and its author's voting weight."""

    kind: str
    name: Any
    key: Any
    votes: bool
    weight: float
    slots: Mapping[str, list[TextFact]]


@dataclass(frozen=True)
class SlotShares:
    """Shares of a question's answers that state each kind of fact, and the median word count.

    Attributes
    ----------
    shares : share of the answers that state each slot. words : median number of words.
    """

    shares: Mapping[str, float]
    words: float

    @classmethod
    def from_texts(cls, texts: Sequence[str], read: Sequence[Sequence[TextFact]]) -> SlotShares:
        """Return the shares of texts that state each kind of fact, and their median word count.

        `read` holds the facts extracted from each text.
        """
        counts: dict[str, int] = {}
        for facts in read:
            for slot in dict.fromkeys(fact.slot for fact in facts):
                counts[slot] = counts.get(slot, 0) + 1
        words = float(median(len(text.split()) for text in texts))
        return cls({slot: count / len(texts) for slot, count in counts.items()}, words)

    def select_slots(self, stated: float) -> list[str]:
        """Return the kinds of facts that at least the share `stated` of the answers state."""
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
    """Return the values that workers agree on, and verdicts on the values of every answer.

    Workers vote; a worker's answer is judged by the votes of the others. Models do not vote.

    Parameters
    ----------
    questions : texts of the questions by id. Without a text, no value counts as requested or as
        stated by the question, and names never contradict.
    answers : answers with a text, at most one per worker and question.
    models : models' answers; those without a text are ignored. weights : voting weight by worker;
        equal by default.
    excluded : workers who do not vote; their answers are judged.
    stated : least share of a question's answers that must state a slot.
    read_by : function that extracts the facts of a question's texts, by the question's id, in place
        of the rules. Questions with long answers are then included, because the limit on length
        is one of the rules only.
    """
    crowd: list[CrowdFact] = []
    answer_facts: list[AnswerFact] = []
    spoken_questions: list[Any] = []
    silent: dict[Any, str] = {}
    for found in _iterate_questions(questions, answers, models, weights, excluded, stated, read_by):
        if found.reason:
            silent[found.question] = found.reason
            continue
        spoken_questions.append(found.question)
        for slot in found.slots:
            crowd += slot.iterate_rows()
            answer_facts += (
                fact for answer in found.answers for fact in slot.iterate_verdicts(answer)
            )
    return CrowdFacts(crowd, answer_facts, spoken_questions, silent)


def compute_slot_consensuses(
    questions: Mapping[Any, str],
    answers: Answers,
    weights: Mapping[Any, float] | None = None,
    excluded: Collection[Any] = (),
) -> dict[Any, list[SlotConsensus]]:
    """Return, by question, the workers' consensus on each kind of fact.

    Parameters as of `find_crowd_facts`.
    """
    return {
        found.question: [slot.consensus for slot in found.slots]
        for found in _iterate_questions(questions, answers, None, weights, excluded)
        if not found.reason
    }


@dataclass(frozen=True)
class _ExtractedQuestion:
    """A question's answers with their facts by kind, or the reason code for no facts."""

    question: Any
    answers: Sequence[_ExtractedAnswer]
    slots: Sequence[_Slot]
    reason: str = ""


def _iterate_questions(
    questions: Mapping[Any, str],
    answers: Answers,
    models: ModelAnswers | None,
    weights: Mapping[Any, float] | None,
    excluded: Collection[Any],
    stated: float = STATED,
    read_by: ReadBy | None = None,
) -> Iterator[_ExtractedQuestion]:
    """Yield each answered question with the facts extracted from its answers."""
    model_answers = None if models is None else models.select_with_text()
    all_texts = [*answers.texts, *(model_answers.texts if model_answers else ())]
    reader = FactReader(all_texts if read_by is None else [])
    for question, question_rows in _group_rows(answers, model_answers).items():
        worker_texts = [answers.texts[row] for row in question_rows.workers]
        model_texts = (
            [model_answers.texts[row] for row in question_rows.models] if model_answers else []
        )
        texts, wording = [*worker_texts, *model_texts], questions.get(question, "")
        read = reader.read_facts(wording, texts) if read_by is None else read_by(question, texts)
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
        asked_for = SlotShares.from_texts(worker_texts, read[: len(worker_texts)])
        slots = asked_for.select_slots(stated)
        if not slots or (read_by is None and asked_for.words > LONGEST):
            reason = LONG_ANSWERS if slots else NO_SHARED_SLOT
            yield _ExtractedQuestion(question, extracted_answers, (), reason)
            continue
        request = QuestionRequest.from_question(wording)
        yield _ExtractedQuestion(
            question,
            extracted_answers,
            [_Slot.from_answers(question, name, extracted_answers, request) for name in slots],
        )


def _group_rows(answers: Answers, models: ModelAnswers | None) -> dict[Any, _QuestionRows]:
    """Return the rows of workers' and models' answers by question, of answered questions."""
    rows_of_question: dict[Any, _QuestionRows] = defaultdict(_QuestionRows)
    for row, question in enumerate(answers.questions):
        rows_of_question[question].workers.append(row)
    for row, question in enumerate(models.questions if models else ()):
        if question in rows_of_question:
            rows_of_question[question].models.append(row)
    return rows_of_question


def _group_by_slot(facts: Sequence[TextFact]) -> dict[str, list[TextFact]]:
    """Return the facts of an answer by kind, such as "year" or "length"."""
    facts_of_slot: dict[str, list[TextFact]] = {}
    for fact in facts:
        facts_of_slot.setdefault(fact.slot, []).append(fact)
    return facts_of_slot


@dataclass(frozen=True)
class _Slot:
    """One kind of fact of a question, with the workers' consensus on its values."""

    question: Any
    consensus: SlotConsensus

    @classmethod
    def from_answers(
        cls,
        question: Any,
        slot: str,
        extracted_answers: Sequence[_ExtractedAnswer],
        request: QuestionRequest,
    ) -> _Slot:
        """Return the voting workers' consensus on one kind of fact of a question."""
        facts: list[TextFact] = []
        voters: list[int] = []
        for code, one in enumerate(extracted_answers):
            if one.votes:
                facts += one.slots.get(slot, [])
                voters += [code] * len(one.slots.get(slot, []))
        weights = np.array([answer.weight for answer in extracted_answers])
        return cls(question, SlotConsensus.from_facts(slot, facts, voters, weights, request.names))

    def iterate_rows(self) -> Iterator[CrowdFact]:
        """Yield a row of facts.csv for each value that workers state, best supported first."""
        crowd, shown = self.consensus.crowd, self.consensus.shown
        for at, state in enumerate(crowd.states):
            backed = int(crowd.backed[at])
            yield CrowdFact(self.question, self.consensus.slot, shown[at], backed, crowd.n, state)

    def iterate_verdicts(self, extracted: _ExtractedAnswer) -> Iterator[AnswerFact]:
        """Yield a row of answer_facts.csv for each value that an answer states or lacks."""
        own = extracted.slots.get(self.consensus.slot, [])
        for judged_value in self.consensus.judge_values(own, extracted.weight, extracted.votes):
            stated = None if judged_value.value is None else own[judged_value.value]
            crowd = "" if judged_value.crowd is None else self.consensus.shown[judged_value.crowd]
            yield AnswerFact(
                kind=extracted.kind,
                name=extracted.name,
                question=self.question,
                slot=self.consensus.slot,
                value=crowd if stated is None else stated.shown,
                verdict=judged_value.verdict,
                of=judged_value.of,
                key=extracted.key,
                mentions=judged_value.n_back,
                crowd=crowd,
                n_crowd=judged_value.n_crowd,
                spans=() if stated is None else stated.spans,
            )

"""The contents of an exported scorer as plain records, from a run's results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.consensus.inputs import Answers
from evaluation.consensus.parameters import AqerParameters
from evaluation.grading.facts.run.finding import compute_slot_consensuses
from evaluation.grading.facts.texts import FactReader
from evaluation.grading.facts.texts.names import WordCounts
from evaluation.grading.facts.texts.numbers import tokenise
from evaluation.scorer.messages import REFUSALS
from evaluation.scorer.runtime.facts import FEWEST_PEOPLE, QuestionFacts

FEWEST_ANSWERS = 3
"""Answers below which a question is left out: its exemplary answer would show one person's."""
EMBEDDERS = ("minilm", "sentence-transformers")
"""Embedders that run wherever the folder is used, and need nothing of people's answers."""
PATHS = ("/", ".", "~")
"""What the path of a folder begins with."""


class NotExportableError(ValueError):
    """The run cannot be exported as a scorer; with a code of `messages` and values."""

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(REFUSALS[code].format_map(values))
        self.code, self.values = code, values


@dataclass(frozen=True)
class ScorerOptions:
    """Options of an export: name, included questions, and whether it has workers' answers.

    Attributes
    ----------
    name : of the task and the dataset. fewest_answers : smallest number of answers to a question.
    with_answers : whether to include each question's consensus answer, one person's own words.
    consent_basis : why these answers may be published; required for `with_answers`.
    """

    name: str
    fewest_answers: int = FEWEST_ANSWERS
    with_answers: bool = False
    consent_basis: str = ""


@dataclass(frozen=True)
class ScoredQuestion:
    """A question with its exemplary answer and the scores of the people who answered it.

    Attributes
    ----------
    vector : vector of the exemplary answer. worker_scores : leave-one-out scores of the ranked
        workers, ascending. lowest : score of an empty answer. facts : None without facts.
    consensus : the answer nearest to the exemplary answer; "" unless answers are included.
    """

    question: str
    text: str
    passage: str
    category: str
    language: str
    n_answers: int
    dispersion: float | None
    vector: NDArray[np.floating[Any]]
    worker_scores: Sequence[float]
    lowest: float
    facts: QuestionFacts | None = None
    consensus: str = ""


@dataclass(frozen=True)
class Origin:
    """Origin of the answers (run, dates, consent, licence), for the dataset card.

    Attributes
    ----------
    collected : days of the first and the last answer, "" if unknown; `n_timed` answers have a
        time. n_consents : people of the run who agreed to a consent text on the site; None if none
        is recorded. consent_text : "" if it was another one.
    n_withdrawn : answers withdrawn since the run.
    html : "kept" or "removed" for answers with HTML, "" if the run did not record it; `n_html` had
        their HTML removed.
    """

    title: str
    description: str = ""
    notice: str = ""
    licence: str = ""
    languages: tuple[str, ...] = ()
    run: str = ""
    signature: str = ""
    input_hash: str = ""
    collected: tuple[str, str] = ("", "")
    n_timed: int = 0
    n_workers: int = 0
    n_answers: int = 0
    n_consents: int | None = None
    consent_text: str = ""
    n_withdrawn: int = 0
    html: str = ""
    n_html: int = 0


@dataclass(frozen=True)
class ScorerContent:
    """Contents of an exported scorer: options, origin, embedder, questions with their scores.

    Attributes
    ----------
    embedder : the run's embedder, with the keys of `EmbedderInfo`. worker_scores : raw scores of
        the ranked workers, ascending. left_out : number of questions left out, by reason code.
    facts_reason : code of why facts are not compared; "" if they are.
    """

    options: ScorerOptions
    origin: Origin
    embedder: Mapping[str, Any]
    questions: Sequence[ScoredQuestion]
    worker_scores: Sequence[float]
    words: WordCounts = field(default_factory=WordCounts)
    left_out: Mapping[str, int] = field(default_factory=dict)
    facts_reason: str = ""

    @property
    def has_all_questions(self) -> bool:
        """Whether every question of the run is in the export."""
        return not self.left_out


def refuse_parameters(parameters: AqerParameters) -> None:
    """Raise `NotExportableError` if a run with these parameters has no vectors to export."""
    kind, _, target = parameters.embedder.partition(":")
    # A folder of this machine is no name by which another one finds the model.
    if kind not in EMBEDDERS or target.startswith(PATHS):
        raise NotExportableError("embedder_not_exportable", embedder=kind)
    if parameters.similarity != "cosine" or parameters.aggregation != "mean":
        raise NotExportableError("vote_not_exportable")
    if parameters.spelling is not None:
        raise NotExportableError("spelling_not_exportable")


def refuse_options(options: ScorerOptions) -> None:
    """Raise `NotExportableError` for people's answers without a basis in their consent."""
    if options.with_answers and not options.consent_basis.strip():
        raise NotExportableError("consent_basis_missing")


def select_questions(
    questions: Sequence[ScoredQuestion], options: ScorerOptions
) -> tuple[list[ScoredQuestion], dict[str, int]]:
    """Return the questions to export, and the number of those left out by reason code.

    Raises `NotExportableError` if none is left.
    """
    kept: list[ScoredQuestion] = []
    left_out: dict[str, int] = {}
    for question in questions:
        reason = (
            "few_answers"
            if question.n_answers < options.fewest_answers
            else "no_wording"
            if not question.text.strip()
            else ""
        )
        if reason:
            left_out[reason] = left_out.get(reason, 0) + 1
        else:
            kept.append(question)
    if not kept:
        raise NotExportableError(
            "no_question_to_export",
            few=left_out.get("few_answers", 0),
            fewest=options.fewest_answers,
            unworded=left_out.get("no_wording", 0),
        )
    return kept, left_out


def build_question_facts(
    wordings: Mapping[Any, str],
    answers: Answers,
    votes: Mapping[Any, float] | None,
    excluded: Collection[Any],
) -> tuple[dict[Any, QuestionFacts], WordCounts]:
    """Return the facts to compare by question, and the counts of words that two people use.

    Parameters as of `find_crowd_facts`.
    """
    texts: dict[Any, list[str]] = {}
    for question, text in zip(answers.questions, answers.texts, strict=True):
        texts.setdefault(question, []).append(text)
    slots = compute_slot_consensuses(wordings, answers, votes, excluded)
    facts = {
        question: QuestionFacts(
            wordings.get(question, ""),
            FactReader.find_default_unit(wordings.get(question, ""), texts[question]),
            tuple(found),
        )
        for question, found in slots.items()
    }
    return facts, count_words(answers)


def count_words(answers: Answers) -> WordCounts:
    """Return counts of capitalised and small uses of the words that two or more workers use."""
    counts = WordCounts()
    by_worker: dict[Any, WordCounts] = {}
    for worker, text in zip(answers.workers, answers.texts, strict=True):
        tokens = tokenise(text)
        counts.add_text(tokens)
        by_worker.setdefault(worker, WordCounts()).add_text(tokens)
    people: dict[str, int] = {}
    for own in by_worker.values():
        for word in {*own.inside, *own.first, *own.small}:
            people[word] = people.get(word, 0) + 1
    return counts.select_words({word for word, n in people.items() if n >= FEWEST_PEOPLE})

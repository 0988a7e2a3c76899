"""Score answers by an exported consensus: similarity, percentile among people, facts contradicted.

`load_scorer` reads the folder ``crowd`` of an export. The numbers are those of the run that was
exported: the same embedder, the same vectors of the exemplary answers, the same rules of facts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations.exchange.model_replies import split_model_reply
from evaluation.consensus.methods.percentiles import compute_percentile
from evaluation.scorer.runtime.facts import ContradictedFact, QuestionFacts, decode_words

FORMAT = 1
FOLDER, SETTINGS, QUESTIONS, VECTORS = "crowd", "scorer.json", "questions.jsonl", "vectors.npy"
NO_TEXT = "no_text"


class ScorerError(Exception):
    """Error: the exported folder cannot be used; the message states why and what to do."""


class UnknownQuestionError(KeyError):
    """Error: the exported consensus has no question with this id."""

    def __str__(self) -> str:
        return f"the exported consensus has no question {self.args[0]!r}"


@dataclass(frozen=True)
class Question:
    """A question of the export, with the scores of the people who answered it.

    Attributes
    ----------
    worker_scores : leave-one-out scores of the ranked people's answers, ascending.
    lowest : score of an empty answer. facts : None if facts are not compared.
    consensus : the people's consensus answer; "" unless answers were exported.
    """

    id: str
    text: str
    passage: str
    row: int
    worker_scores: NDArray[np.float64]
    lowest: float
    facts: QuestionFacts | None
    consensus: str

    @property
    def prompt(self) -> str:
        """The passage, if there is one, and the question's text."""
        return f"{self.passage}\n\n{self.text}" if self.passage else self.text


@dataclass(frozen=True)
class AnswerScore:
    """Score of one answer: similarity, percentile among people, and contradicted facts.

    Attributes
    ----------
    similarity : similarity to the exemplary answer, at most 1.
    percentile : 0 to 100 among the people who answered the question; None below 10.
    contradicted : values that contradict a value on which people agree.
    reason : "no_text" for an empty answer, which has the question's lowest score.
    """

    similarity: float
    percentile: float | None
    contradicted: tuple[ContradictedFact, ...] = ()
    reason: str = ""

    def describe(self) -> str:
        """Return the score as a sentence for reports."""
        place = "" if self.percentile is None else f", percentile {self.percentile:.0f} of people"
        facts = "; ".join(f"contradicts {fact}" for fact in self.contradicted)
        empty = ", empty answer" if self.reason == NO_TEXT else ""
        return f"similarity {self.similarity:.3f}{place}{empty}{f'; {facts}' if facts else ''}"


@dataclass(frozen=True)
class ModelScore:
    """Score of a model: means over its answers.

    Attributes
    ----------
    percentile : percentile of the mean among people's raw scores; None unless every question of the
        run was answered with a text, because people's raw scores cover all questions.
    contradicted : number of contradicted facts. n : number of answers.
    """

    similarity: float
    percentile: float | None
    contradicted: int
    n: int


class CrowdScorer:
    """An exported consensus that scores answers; see `load_scorer`."""

    def __init__(self, folder: Path) -> None:
        try:
            settings = json.loads((folder / SETTINGS).read_text("utf-8"))
            lines = (folder / QUESTIONS).read_text("utf-8").splitlines()
            self._vectors: NDArray[np.float64] = np.load(folder / VECTORS, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise ScorerError(f"{folder} is no exported scorer: {error}") from error
        if settings.get("format") != FORMAT:
            raise ScorerError(
                f"{folder} has format {settings.get('format')}, and this code reads {FORMAT}: use "
                "the code that was exported with it"
            )
        # Of two exports in one process, Python would load the code of the first for both.
        code = getattr(sys.modules[__name__.partition(".")[0]], "CODE", settings["code"])
        if code != settings["code"]:
            raise ScorerError(
                f"{folder} was exported with other code than the scorer that is loaded: use each "
                "in a process of its own"
            )
        self.settings: dict[str, Any] = settings
        self.questions = {question.id: question for question in _read_questions(lines)}
        self._raw = np.array(settings["worker_scores"], dtype=np.float64)
        self._words = decode_words(settings["words"])
        self._lock = Lock()

    @property
    def name(self) -> str:
        """Name of the exported task, as in scorer.json."""
        return str(self.settings["name"])

    @cached_property
    def _embedder(self) -> Any:
        """The embedder of the run; raises `ScorerError` if it is not the recorded one."""
        wanted = self.settings["embedder"]
        # Only here: it loads PyTorch.
        from evaluation.core.backends.embedding.sentences import load_minilm, load_sentence_model

        spec, precision = wanted["spec"], wanted["precision"]
        embedder = (
            load_minilm(precision)
            if spec == "minilm"
            else load_sentence_model(spec.partition(":")[2], precision)
        )
        found = asdict(embedder.describe())
        for key in ("revision", "max_length", "dimension"):
            if found[key] != wanted[key]:
                raise ScorerError(
                    f"the embedder {spec} has {key} {found[key]} here, and {wanted[key]} in the "
                    "exported run: install the recorded version"
                )
        return embedder

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the vectors of texts by the run's embedder, one row each."""
        # Inspect scores from several threads.
        with self._lock:
            vectors: NDArray[np.float64] = self._embedder.embed(list(texts)).astype(np.float64)
        return vectors

    def score(self, question: str, answer: str) -> AnswerScore:
        """Return the score of an answer to a question, by its id; raises `UnknownQuestionError`."""
        return self.score_all([(question, answer)])[0]

    def score_all(self, answers: Sequence[tuple[str, str]]) -> list[AnswerScore]:
        """Return the score of each (question, answer); raises `UnknownQuestionError`."""
        asked = [self._find_question(question) for question, _ in answers]
        texts = [split_model_reply(answer).text for _, answer in answers]
        filled = [at for at, text in enumerate(texts) if text]
        vectors = dict(zip(filled, self.embed([texts[at] for at in filled]), strict=True))
        return [
            self._score_text(one, text, vectors[at])
            if text
            else AnswerScore(
                one.lowest, self._find_answer_percentile(one, one.lowest), reason=NO_TEXT
            )
            for at, (one, text) in enumerate(zip(asked, texts, strict=True))
        ]

    def summarise(self, answers: Mapping[str, AnswerScore]) -> ModelScore:
        """Return a model's score from the scores of its answers, by question."""
        scores = list(answers.values())
        mean = fmean(score.similarity for score in scores) if scores else float("nan")
        return ModelScore(
            mean,
            self.find_percentile({name: score.similarity for name, score in answers.items()})
            if not any(score.reason for score in scores)
            else None,
            sum(len(score.contradicted) for score in scores),
            len(scores),
        )

    def find_percentile(self, similarities: Mapping[str, float]) -> float | None:
        """Return the percentile of a model's mean similarity among people's raw scores.

        None unless `similarities` has every question of the run.
        """
        if set(similarities) != set(self.questions) or not self.settings["has_all_questions"]:
            return None
        return compute_percentile(fmean(similarities.values()), self._raw)

    def _find_question(self, question: str) -> Question:
        """Return the question with an id; raises `UnknownQuestionError`."""
        try:
            return self.questions[str(question)]
        except KeyError:
            raise UnknownQuestionError(question) from None

    def _score_text(
        self, question: Question, text: str, vector: NDArray[np.float64]
    ) -> AnswerScore:
        """Return the score of an answer with a text, from its vector."""
        exemplar = self._vectors[question.row].astype(np.float64)
        lengths = float(np.linalg.norm(exemplar) * np.linalg.norm(vector))
        similarity = float(exemplar @ vector) / lengths if lengths else 0.0
        contradicted = (
            () if question.facts is None else question.facts.find_contradicted(text, self._words)
        )
        return AnswerScore(
            similarity, self._find_answer_percentile(question, similarity), tuple(contradicted)
        )

    @staticmethod
    def _find_answer_percentile(question: Question, score: float) -> float | None:
        """Return the percentile of an answer's score among people's answers; None for too few."""
        return compute_percentile(score, question.worker_scores)


def _read_questions(lines: Sequence[str]) -> Iterator[Question]:
    """Yield the questions of an export, in their order."""
    for row, line in enumerate(lines):
        stored = json.loads(line)
        facts = stored["facts"]
        yield Question(
            stored["question"],
            stored["text"],
            stored["passage"],
            row,
            np.array(stored["worker_scores"], dtype=np.float64),
            stored["lowest"],
            None if facts is None else QuestionFacts.from_json(facts),
            stored["consensus"],
        )


@cache
def load_scorer(folder: str | Path) -> CrowdScorer:
    """Return the scorer of an exported folder, read once in a process."""
    return CrowdScorer(Path(folder) / FOLDER)

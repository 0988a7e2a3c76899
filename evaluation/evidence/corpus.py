"""Build corpora for the studies: texts with vectors, judge scores and entailment models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evaluation.consensus.inputs import EmbeddedAnswers, Progress, embed
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import collect_versions, combine_hashes, hash_file
from evaluation.core.backends import Embedder, get_embedder
from evaluation.core.backends.cross_encoder import ContradictionModel, EntailmentModel
from evaluation.core.backends.errors import EntailmentError
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors
from evaluation.evidence.baselines import Corpus, Judge, UnavailableError
from evaluation.evidence.data_sets import (
    MOHLER,
    MOHLER_QUESTIONS,
    GradedAnswers,
    load_mohler,
    load_mohler_questions,
)
from evaluation.evidence.tables import EvidenceRequest
from evaluation.llm_judge.options import SCORE


class CorpusVectors:
    """Vectors of a corpus by embedder specification, each computed once.

    `others` are further texts to embed in the same space; no embedder is fitted to them.
    """

    def __init__(
        self,
        texts: Sequence[str],
        progress: Progress | None = None,
        others: Sequence[str] | None = None,
    ) -> None:
        self._texts = texts
        self._others = others
        self._progress = progress
        self._made: dict[str, EmbeddedAnswers] = {}
        self._fitted: dict[str, Embedder] = {}

    def embed_texts(self, spec: str) -> Vectors:
        """Return one vector per text of the corpus by an embedder. Raises `BackendError`."""
        return self._embed(spec).answers

    def embed_reference_texts(self, spec: str) -> Vectors:
        """Return the vectors of the further texts `others`, which must exist; or `BackendError`."""
        models = self._embed(spec).models
        assert models is not None
        return models

    def embed_further_texts(self, spec: str, texts: Sequence[str]) -> Vectors:
        """Return vectors of texts outside the corpus, in the same space. Raises `BackendError`."""
        if spec not in self._fitted:
            # Fitted on the corpus alone: TF-IDF weights must not change with the further texts.
            self._fitted[spec] = get_embedder(spec).fit(self._texts)
        return self._fitted[spec].embed(texts)

    def _embed(self, spec: str) -> EmbeddedAnswers:
        """Return the vectors of the corpus and of `others` by one embedder, computed once."""
        if spec not in self._made:
            parameters = AqerParameters(embedder=spec)
            self._made[spec] = embed(parameters, self._texts, self._others, self._progress)
        return self._made[spec]

    def describe(self) -> dict[str, dict[str, str]]:
        """Return model, revision and precision of each embedder used so far, by SPEC."""
        return {
            spec: {
                "model": embedded.info.model,
                "revision": embedded.info.revision,
                "precision": embedded.info.precision,
            }
            for spec, embedded in self._made.items()
        }


def build_corpus(
    texts: Sequence[str],
    questions: ArrayLike,
    vectors: CorpusVectors,
    request: EvidenceRequest,
    progress: Progress | None = None,
    *,
    asked: Mapping[str, str] | None = None,
    references: bool = False,
    reference_texts: Mapping[str, str] | None = None,
) -> tuple[Corpus, dict[str, object] | None]:
    """Build the corpus of a study's texts; return it and the judge's settings (None without one).

    Parameters
    ----------
    asked : text of each question by label, which a judge needs.
    references : whether `vectors.others` are the reference answers, one per question.
    reference_texts : reference answers by question, which an entailment model reads.

    Raises `BackendError`.
    """
    judged, description = None, None
    if request.judge is not None and asked and not request.core:
        judge = Judge(request.judge)
        judged = judge.score_answers(
            [asked[label] for label in np.asarray(questions).tolist()],
            texts,
            progress and (lambda done, total: progress("judge", done, total)),
        )
        n_without_score = int(np.isnan(judged).sum())
        description = {
            "judge": judge.name,
            "prompt": SCORE.template,
            "without_score": n_without_score,
        }
    corpus = Corpus(
        texts,
        questions,
        vectors.embed_texts,
        request.embedder,
        references=vectors.embed_reference_texts if references else None,
        judged=judged,
        entails=None
        if request.nli is None
        else _build_entailment_function(request.nli, texts, progress),
        contradicts=None
        if request.nli is None
        else _build_contradiction_function(request.nli, texts, progress),
        reference_entails=None
        if request.nli is None or reference_texts is None
        else _build_reference_entailment_function(
            *(request.nli, texts, np.asarray(questions).tolist(), reference_texts, progress)
        ),
    )
    return corpus, description


def _build_entailment_function(
    name: str, texts: Sequence[str], progress: Progress | None
) -> Callable[[Integers], Floats]:
    """Return a function from (premise, hypothesis) rows to entailment probabilities."""
    model = EntailmentModel.load(name)

    def compute(pairs: Sequence[tuple[int, int]]) -> Floats:
        """Return the entailment probabilities of (premise, hypothesis) rows."""
        return model.compute_entailment_probabilities(
            [(texts[premise], texts[hypothesis]) for premise, hypothesis in pairs],
            progress and (lambda done, total: progress("entailment", done, total)),
        )

    return _remember_pairs(compute)


def _build_reference_entailment_function(
    name: str,
    texts: Sequence[str],
    questions: Sequence[str],
    references: Mapping[str, str],
    progress: Progress | None,
) -> Callable[[Integers], Floats]:
    """Return a function from rows to probabilities that the reference entails these answers."""
    model = EntailmentModel.load(name)

    def compute(pairs: Sequence[tuple[int, int]]) -> Floats:
        """Return the probabilities that the reference entails each answer."""
        return model.compute_entailment_probabilities(
            [(references[questions[row]], texts[row]) for _, row in pairs],
            progress and (lambda done, total: progress("entailment", done, total)),
        )

    remembered = _remember_pairs(compute)
    return lambda rows: remembered(np.column_stack([rows, rows]))


def _build_contradiction_function(
    name: str, texts: Sequence[str], progress: Progress | None
) -> Callable[[Integers], Floats]:
    """Return a function from pairs of rows to contradiction probabilities."""
    model: ContradictionModel | None = None

    def compute(pairs: Sequence[tuple[int, int]]) -> Floats:
        """Return the contradiction probabilities of pairs of rows."""
        nonlocal model
        # Loaded at the first use, because only one method needs it, and a model without this class
        # is still good for `entails`.
        if model is None:
            try:
                model = ContradictionModel.load(name)
            except (
                EntailmentError
            ) as error:  # it knows entailment only, which `entails` is fine with
                raise UnavailableError("no_class_for_contradiction") from error
        probabilities, _ = model.compute_contradictions(
            [(texts[first], texts[second]) for first, second in pairs],
            progress and (lambda done, total: progress("contradiction", done, total)),
        )
        return probabilities

    return _remember_pairs(compute)


def _remember_pairs(
    compute: Callable[[Sequence[tuple[int, int]]], Floats],
) -> Callable[[Integers], Floats]:
    """Return a function from pairs of rows to numbers that calls `compute` once for each pair."""
    known: dict[tuple[int, int], float] = {}

    def find(pairs: Integers) -> Floats:
        """Return the number of each pair, computing the new pairs."""
        both: list[tuple[int, int]] = list(map(tuple, pairs.tolist()))
        new = list(dict.fromkeys(pair for pair in both if pair not in known))
        if new:
            known.update(zip(new, compute(new).tolist(), strict=True))
        return np.array([known[pair] for pair in both])

    return find


@dataclass(frozen=True)
class GradedCorpus:
    """Answers with expert grades, and the corpus built from them.

    Attributes
    ----------
    judged : settings of the judge; None without one.
    """

    graded: GradedAnswers
    corpus: Corpus
    vectors: CorpusVectors
    judged: dict[str, object] | None

    @classmethod
    def load(cls, request: EvidenceRequest, progress: Progress | None = None) -> GradedCorpus:
        """Read the data set of Mohler et al. and embed it. Raises `InputError`, `BackendError`."""
        graded, question_texts = load_mohler(request.data), load_mohler_questions(request.data)
        questions: Sequence[str] = list(dict.fromkeys(graded.questions.tolist()))
        references = [question_texts[name][1] for name in questions if name in question_texts]
        complete = len(references) == len(questions)
        vectors = CorpusVectors(graded.texts, progress, references if complete else None)
        corpus, judged = build_corpus(
            graded.texts,
            graded.questions,
            vectors,
            request,
            progress,
            asked={name: text for name, (text, _) in question_texts.items()},
            references=complete,
            reference_texts={name: reference for name, (_, reference) in question_texts.items()}
            if complete
            else None,
        )
        return cls(graded, corpus, vectors, judged)

    def build_summary(self, study: str, request: EvidenceRequest) -> dict[str, object]:
        """Return the entries of summary.json on data, seeds and versions, after embedding."""
        return {
            "study": study,
            "answers": len(self.graded.texts),
            "questions": self.corpus.n_questions,
            "repetitions": request.repetitions,
            "seeds": [request.seeds.start, request.seeds.stop - 1],
            "embedders": self.vectors.describe(),
            "judge": self.judged,
            "input_hash": combine_hashes(
                [
                    hash_file(request.data / name)
                    for name in (MOHLER, MOHLER_QUESTIONS)
                    if (request.data / name).exists()
                ]
            ),
            "versions": collect_versions(),
        }

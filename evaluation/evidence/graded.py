"""The graded answers as a corpus that all methods can score, for studies that deal from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.evidence.baselines import Corpus
from evaluation.evidence.corpora import (
    MOHLER,
    MOHLER_QUESTIONS,
    GradedAnswers,
    load_mohler,
    load_mohler_questions,
)
from evaluation.evidence.corpus import corpus_of
from evaluation.evidence.evidence import EvidenceVectors
from evaluation.evidence.request import Request
from evaluation.flow.embed import Progress
from evaluation.flow.signatures import combined_hash, file_hash, versions


@dataclass(frozen=True)
class GradedCorpus:
    """Answers with grades, and the corpus made of them.

    Attributes
    ----------
    judged : how a judge was asked; None without one.
    """

    graded: GradedAnswers
    corpus: Corpus
    vectors: EvidenceVectors
    judged: dict[str, object] | None

    @classmethod
    def load(cls, request: Request, progress: Progress | None = None) -> GradedCorpus:
        """Read the data set of Mohler et al. Raises `InputError` and `BackendError`."""
        graded, asked = load_mohler(request.data), load_mohler_questions(request.data)
        questions: Sequence[str] = list(dict.fromkeys(graded.questions.tolist()))
        references = [asked[name].reference for name in questions if name in asked]
        complete = len(references) == len(questions)
        vectors = EvidenceVectors(graded.texts, progress, references if complete else None)
        corpus, judged = corpus_of(
            graded.texts,
            graded.questions,
            vectors,
            request,
            progress,
            asked={name: found.question for name, found in asked.items()},
            references=complete,
        )
        return cls(graded, corpus, vectors, judged)

    def summary(self, study: str, request: Request) -> dict[str, object]:
        """Return what every summary says of the data; call it after the vectors were used."""
        return {
            "study": study,
            "answers": len(self.graded.texts),
            "questions": self.corpus.n_questions,
            "repetitions": request.repetitions,
            "seeds": [request.seeds.start, request.seeds.stop - 1],
            "embedders": self.vectors.described(),
            "judge": self.judged,
            "input_hash": combined_hash(
                [
                    file_hash(request.data / name)
                    for name in (MOHLER, MOHLER_QUESTIONS)
                    if (request.data / name).exists()
                ]
            ),
            "versions": versions(),
        }

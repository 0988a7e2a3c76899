"""How well grades without an answer key agree with experts', on simulated workers (section 6.1).

The graded answers of Mohler et al. carry no student, so workers are dealt from them as in the
paper's Table 2: of each question's 20 best answers, ties at random, the first tier of workers gets
the best ones, the next tier the next. A worker's true grade is the mean of what it was dealt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.methods import AQER
from evaluation.methods.grams import Vectors
from evaluation.signatures import combined_hash, file_hash, versions
from evaluation.steps.embed import Progress
from evaluation.studies.corpora import MOHLER, GradedAnswers, load_mohler
from evaluation.studies.evidence import (
    Agreement,
    EvidenceRow,
    EvidenceVectors,
    as_table,
    write_evidence,
)
from evaluation.studies.request import Request, Table

CROWD = 20
# Name of the setting: workers in a tier.
SETTINGS = {"10x2": 2, "5x4": 4}
# None: the embedder of the command line.
METHODS: dict[str, tuple[str | None, dict[str, object]]] = {
    "aqer": (None, {}),
    "aqer_one_pass": (None, {"max_iterations": 1}),
    "leave_one_out": (None, {"leave_one_out": True}),
    "tfidf_word": ("tfidf-word", {}),
    "tfidf_char": ("tfidf-char", {}),
}


@dataclass(frozen=True)
class Dealt:
    """A simulated crowd: which answers (rows of the corpus) were dealt to which worker."""

    rows: NDArray[np.int64]
    workers: NDArray[np.int64]

    def truth(self, grades: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (20,) the mean expert grade of what each worker was dealt."""
        return np.bincount(self.workers, weights=grades[self.rows]) / np.bincount(self.workers)


def deal(corpus: GradedAnswers, tier: int, seed: int) -> Dealt:
    """Deal every question's 20 best answers to 20 workers in tiers of `tier`."""
    rng = np.random.default_rng(seed)
    rows, workers = [], []
    for question in dict.fromkeys(corpus.questions.tolist()):
        answers = np.flatnonzero(corpus.questions == question)
        ties = rng.random(len(answers))
        best = answers[np.lexsort((ties, -corpus.grades[answers]))][:CROWD]
        for first in range(0, CROWD, tier):
            rows.append(rng.permutation(best[first : first + tier]))
            workers.append(np.arange(first, first + tier))
    return Dealt(np.concatenate(rows), np.concatenate(workers))


def agreement(
    method: AQER, vectors: Vectors, corpus: GradedAnswers, tier: int, seeds: range
) -> Agreement:
    """Correlate a method's raw scores with the truth, over seeded crowds."""
    found = Agreement.empty()
    for seed in seeds:
        dealt = deal(corpus, tier, seed)
        method.fit(vectors[dealt.rows], dealt.workers, corpus.questions[dealt.rows])
        raw = np.empty(CROWD)
        raw[method.workers_.astype(int)] = method.raw_
        found.add(raw, dealt.truth(corpus.grades))
    return found


def reproduce_worker_grading(request: Request, progress: Progress | None = None) -> Table:
    """Write and return the table. Raises `InputError` and `EmbedderError`."""
    seeds = request.seeds
    with OutputFolder(request.output) as folder:
        corpus = load_mohler(request.data)
        vectors = EvidenceVectors(corpus.texts, progress)
        rows = list(_rows(corpus, request.embedder, seeds, vectors, progress))
        write_evidence(
            folder,
            rows,
            {
                "study": "worker-grading",
                "answers": len(corpus.texts),
                "questions": len(set(corpus.questions.tolist())),
                "repetitions": request.repetitions,
                "seeds": [seeds.start, seeds.stop - 1],
                "embedders": vectors.described(),
                "input_hash": combined_hash([file_hash(request.data / MOHLER)]),
                "versions": versions(),
            },
        )
    return as_table(rows)


def _rows(
    corpus: GradedAnswers,
    embedder: str,
    seeds: range,
    vectors: EvidenceVectors,
    progress: Progress | None,
) -> Iterator[EvidenceRow]:
    done, total = 0, len(SETTINGS) * len(METHODS)
    for setting, tier in SETTINGS.items():
        for name, (own, switches) in METHODS.items():
            # Word weights are learned from all answers of the corpus.
            found = agreement(
                AQER(n_draws=0, **switches),  # type: ignore[arg-type]
                vectors.of(own or embedder),
                corpus,
                tier,
                seeds,
            )
            done += 1
            if progress is not None:
                progress("methods", done, total)
            yield found.row(setting, name)

"""How well grades without an answer key agree with experts', on simulated workers (section 6.1).

The graded answers of Mohler et al. carry no student, so workers are dealt from them as in the
paper's Table 2: of each question's 20 best answers, ties at random, the first tier of workers gets
the best ones, the next tier the next. A worker's true grade is the mean of what it was dealt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.methods import AQER
from evaluation.methods.grams import Vectors
from evaluation.parameters import AqerParameters
from evaluation.signatures import combined_hash, file_hash, versions
from evaluation.steps.embed import Progress, embed
from evaluation.studies.corpora import GradedAnswers, load_mohler
from evaluation.studies.evidence import Agreement, EvidenceRow, write_evidence

CROWD = 20
FIRST_SEED = 1000
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


def reproduce_worker_grading(
    data: Path,
    output: Path,
    embedder: str,
    repetitions: int,
    seed: int,
    progress: Progress | None = None,
) -> list[EvidenceRow]:
    """Write and return the table. Repetition r uses seed 1000 + r + `seed`.

    Raises `InputError` and `EmbedderError`.
    """
    with OutputFolder(output) as folder:
        corpus = load_mohler(data)
        seeds = range(FIRST_SEED + seed, FIRST_SEED + seed + repetitions)
        models: dict[str, str] = {}
        rows = list(_rows(corpus, embedder, seeds, models, progress))
        sources = [data / "mohler2011/answers.csv"]
        write_evidence(
            folder,
            rows,
            {
                "study": "worker-grading",
                "embedders": models,
                "seeds": [seeds.start, seeds.stop - 1],
                "input_hash": combined_hash(map(file_hash, sources)),
                "versions": versions(),
            },
        )
    return rows


def _rows(
    corpus: GradedAnswers,
    embedder: str,
    seeds: range,
    models: dict[str, str],
    progress: Progress | None,
) -> Iterator[EvidenceRow]:
    vectors: dict[str, Vectors] = {}
    for setting, tier in SETTINGS.items():
        for name, (own, switches) in METHODS.items():
            spec = own or embedder
            if spec not in vectors:
                # Word weights are learned from all answers of the corpus, as methods.md says.
                embedded = embed(AqerParameters(embedder=spec), corpus.texts, None, progress)
                vectors[spec] = embedded.answers
                models[spec] = f"{embedded.info.model}@{embedded.info.revision}"
            method = AQER(n_draws=0, **switches)  # type: ignore[arg-type]
            found = agreement(method, vectors[spec], corpus, tier, seeds)
            yield found.row(setting, name)

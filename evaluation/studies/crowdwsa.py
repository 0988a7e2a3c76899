"""Real crowds whose sentences have a known true translation: CrowdWSA2019, T1 and T2."""

from __future__ import annotations

import string
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.methods import AQER
from evaluation.methods.grams import Vectors
from evaluation.parameters import AqerParameters
from evaluation.signatures import combined_hash, file_hash, versions
from evaluation.steps.embed import Progress, embed
from evaluation.studies.corpora import Translations, load_crowdwsa
from evaluation.studies.evidence import Agreement, EvidenceRow, write_evidence
from evaluation.studies.worker_grading import METHODS

CROWDS = ("T1", "T2")
LONGEST_NGRAM = 4
NO_PUNCTUATION = str.maketrans(string.punctuation, " " * len(string.punctuation))


def gleu_of(corpus: Translations) -> NDArray[np.float64]:
    """Return (N,) sentence GLEU of each answer to the truth: lower case, no punctuation, n 1-4."""
    from nltk.translate.gleu_score import sentence_gleu

    return np.array(
        [
            sentence_gleu([words_of(corpus.truth[sentence])], words_of(text), 1, LONGEST_NGRAM)
            for sentence, text in zip(corpus.sentences.tolist(), corpus.texts, strict=True)
        ]
    )


def words_of(text: str) -> list[str]:
    """Return the words of a sentence in lower case; punctuation separates them (let's: let, s)."""
    return text.lower().translate(NO_PUNCTUATION).split()


def cosine_of(corpus: Translations, progress: Progress | None = None) -> NDArray[np.float64]:
    """Return (N,) MiniLM cosine of each answer to the true sentence."""
    true = [corpus.truth[sentence] for sentence in corpus.sentences.tolist()]
    found = embed(AqerParameters(), corpus.texts, true, progress)
    x, y = (np.asarray(part, dtype=np.float64) for part in (found.answers, found.models))
    norms = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
    return np.einsum("nd,nd->n", x, y) / norms


def reproduce_crowdwsa(
    data: Path, output: Path, embedder: str, progress: Progress | None = None
) -> list[EvidenceRow]:
    """Write and return the table: settings T1 and T2 (GLEU truth), T1-cosine and T2-cosine.

    Raises `InputError` and `EmbedderError`.
    """
    with OutputFolder(output) as folder:
        rows = [row for name in CROWDS for row in _rows(data, name, embedder, progress)]
        sources = [data / f"crowdwsa2019/{name}_label_anonymous.tsv" for name in CROWDS]
        write_evidence(
            folder,
            rows,
            {
                "study": "crowdwsa",
                "embedder": embedder,
                "input_hash": combined_hash(map(file_hash, sources)),
                "versions": versions(),
            },
        )
    return rows


def _rows(data: Path, name: str, embedder: str, progress: Progress | None) -> Iterator[EvidenceRow]:
    corpus = load_crowdwsa(data, name)
    truths = {name: gleu_of(corpus), f"{name}-cosine": cosine_of(corpus, progress)}
    vectors: dict[str, Vectors] = {}
    raw: dict[str, tuple[NDArray[np.generic], NDArray[np.float64]]] = {}
    for method, (own, switches) in METHODS.items():
        spec = own or embedder
        if spec not in vectors:
            parameters = AqerParameters(embedder=spec)
            vectors[spec] = embed(parameters, corpus.texts, None, progress).answers
        aqer = AQER(n_draws=0, **switches)  # type: ignore[arg-type]
        aqer.fit(vectors[spec], corpus.workers, corpus.sentences)
        raw[method] = aqer.workers_, aqer.raw_
    for setting, truth in truths.items():
        for method, (workers, scores) in raw.items():
            true = [truth[corpus.workers == worker].mean() for worker in workers]
            found = Agreement.empty()
            found.add(scores, true)
            yield found.row(setting, method)

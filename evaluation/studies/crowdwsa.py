"""Real crowds whose sentences have a known true translation: CrowdWSA2019, T1 and T2."""

from __future__ import annotations

import string
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.methods import AQER
from evaluation.parameters import AqerParameters
from evaluation.signatures import combined_hash, file_hash, versions
from evaluation.steps.embed import Progress, embed
from evaluation.studies.corpora import Translations, crowdwsa_files, load_crowdwsa
from evaluation.studies.evidence import (
    Agreement,
    EvidenceRow,
    EvidenceVectors,
    as_table,
    write_evidence,
)
from evaluation.studies.request import Request, Table
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


def reproduce_crowdwsa(request: Request, progress: Progress | None = None) -> Table:
    """Write and return the table: settings T1 and T2 (GLEU truth), T1-cosine and T2-cosine.

    Raises `InputError` and `EmbedderError`.
    """
    data = request.data
    with OutputFolder(request.output) as folder:
        corpora = {name: load_crowdwsa(data, name) for name in CROWDS}
        vectors = {
            name: EvidenceVectors(corpus.texts, progress) for name, corpus in corpora.items()
        }
        rows = [
            row
            for name in CROWDS
            for row in _rows(name, corpora[name], request.embedder, vectors[name], progress)
        ]
        sources = [data / path for name in CROWDS for path in crowdwsa_files(name)]
        write_evidence(
            folder,
            rows,
            {
                "study": "crowdwsa",
                "answers": {name: len(corpus.texts) for name, corpus in corpora.items()},
                "workers": {name: len(set(c.workers.tolist())) for name, c in corpora.items()},
                "sentences": {name: len(set(c.sentences.tolist())) for name, c in corpora.items()},
                "embedders": {name: found.described() for name, found in vectors.items()},
                "truth": {
                    "T1, T2": "mean sentence GLEU (lower case, no punctuation, n 1 to 4)",
                    "T1-cosine, T2-cosine": "mean cosine to the true sentence, minilm, float32",
                },
                "input_hash": combined_hash(map(file_hash, sources)),
                "versions": versions(),
            },
        )
    return as_table(rows)


def _rows(
    name: str,
    corpus: Translations,
    embedder: str,
    vectors: EvidenceVectors,
    progress: Progress | None,
) -> Iterator[EvidenceRow]:
    truths = {name: gleu_of(corpus), f"{name}-cosine": cosine_of(corpus, progress)}
    raw: dict[str, tuple[NDArray[np.generic], NDArray[np.float64]]] = {}
    for method, (own, switches) in METHODS.items():
        aqer = AQER(n_draws=0, **switches)  # type: ignore[arg-type]
        aqer.fit(vectors.of(own or embedder), corpus.workers, corpus.sentences)
        raw[method] = aqer.workers_, aqer.raw_
    for setting, truth in truths.items():
        for method, (workers, scores) in raw.items():
            true = [truth[corpus.workers == worker].mean() for worker in workers]
            found = Agreement.empty()
            found.add(scores, true)
            yield found.row(setting, method)

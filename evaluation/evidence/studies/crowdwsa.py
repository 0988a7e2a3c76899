"""Real crowds whose sentences have a known true translation: CrowdWSA2019, T1 and T2."""

from __future__ import annotations

import string

import numpy as np
from numpy.typing import NDArray

from annotations.exchange import OutputFolder
from evaluation.consensus.parameters import AqerParameters
from evaluation.consensus.signatures import combined_hash, file_hash, versions
from evaluation.consensus.vectors import Progress, embed
from evaluation.evidence.baselines import Corpus, Crowd, methods
from evaluation.evidence.corpus import CorpusVectors, corpus_of
from evaluation.evidence.data_sets import Translations, crowdwsa_files, load_crowdwsa
from evaluation.evidence.methods_chart import methods_charts
from evaluation.evidence.methods_table import Trial, best_baseline, rows_of, score
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.tables import EvidenceRow, as_table, write_evidence
from evaluation.methods.cells import codes_of

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


def reproduce_crowdwsa(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write and return the table: settings T1 and T2 (GLEU truth), T1-cosine and T2-cosine.

    Raises `InputError` and `BackendError`.
    """
    data = request.data
    with OutputFolder(request.output) as folder:
        corpora = {name: load_crowdwsa(data, name) for name in CROWDS}
        vectors = {name: _vectors(found, progress) for name, found in corpora.items()}
        rows: list[EvidenceRow] = []
        for name, found in corpora.items():
            # What the workers translated, and so what a judge would be asked, is not published.
            corpus, _ = corpus_of(
                found.texts, found.sentences, vectors[name], request, progress, references=True
            )
            rows += _rows(name, found, corpus, request, progress)
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
                "best_baseline": best_baseline(rows),
                "input_hash": combined_hash(map(file_hash, sources)),
                "versions": versions(),
            },
            methods_charts(rows, "correlation of workers' scores with their true quality"),
        )
    return as_table(rows)


def _vectors(translations: Translations, progress: Progress | None) -> CorpusVectors:
    """Vectors of the answers, and of the true sentences in the order in which theirs come."""
    sentences = dict.fromkeys(translations.sentences.tolist())
    true = [translations.truth[sentence] for sentence in sentences]
    return CorpusVectors(translations.texts, progress, true)


def _rows(
    name: str,
    translations: Translations,
    corpus: Corpus,
    request: Request,
    progress: Progress | None,
) -> list[EvidenceRow]:
    workers, _ = codes_of(translations.workers)
    crowd = Crowd(corpus, np.arange(len(workers)), workers, seed=request.seeds.start)
    chosen = methods(core=request.core)
    found = []
    for at, method in enumerate(chosen):
        # There is one crowd, so methods are scored once for both truths.
        found.append(score([Trial(crowd, np.empty(crowd.n_workers))], method))
        if progress is not None:
            progress(f"methods on {name}", at + 1, len(chosen))
    truths = {name: gleu_of(translations), f"{name}-cosine": cosine_of(translations, progress)}
    return [
        row
        for setting, truth in truths.items()
        for row in rows_of(setting, found, crowd.worker_means(truth)[None, :], request.seed)
    ]

"""Can cosine tell a wrong fact from other words? 200 minimal pairs written for this project.

Each original has a paraphrase, which says the same in other words, and a minimal change, in which
one fact (a year, a name, a number, a negation) is another. An answer with a wrong fact should be
less like the original than one with other words; the AUC says how often it is. Facts, read beside
the vectors, should contradict the one and not the other; harder pairs have the wrong fact in the
paraphrase.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import OutputFolder
from evaluation.charts.chart import Chart
from evaluation.charts.rows import Row, estimates_chart
from evaluation.consensus.signatures import file_hash, versions
from evaluation.consensus.vectors import Progress
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.request import Request, StudyTable
from evaluation.evidence.studies.pair_facts import Contradictions, contradictions
from evaluation.evidence.studies.pairs import (
    KINDS,
    PAIRS,
    MinimalPair,
    harder_pairs,
    load_pairs,
    texts_of,
)
from evaluation.evidence.tables import write_charts, write_table
from evaluation.methods.cells import Floats
from evaluation.methods.grams import Vectors, dense
from evaluation.methods.statistics.roc import auc

ALL, FACTS = "all", "facts"
HEADER = ("embedder", "kind", "auc", "n")
HARDER = "harder"
FLAGGED = ("pairs", "kind", "paraphrases_flagged", "changes_flagged", "n")
PAIR_HEADER = ("embedder", "id", "kind", "cosine_paraphrase", "cosine_changed")
EMBEDDERS = ("minilm", "tfidf-word", "tfidf-char", "bow")


@dataclass(frozen=True)
class Cosines:
    """(P,) cosines of the originals with their paraphrases and with their minimal changes."""

    paraphrase: Floats
    changed: Floats

    def of(self, chosen: Sequence[bool]) -> Cosines:
        """Return those of some pairs."""
        return Cosines(self.paraphrase[list(chosen)], self.changed[list(chosen)])

    @property
    def auc(self) -> float | None:
        """How well the cosine tells paraphrases (positive) from minimal changes."""
        return auc(self.paraphrase, self.changed)

    @property
    def paired(self) -> float:
        """Share of the pairs whose own paraphrase is nearer than their own change; ties half."""
        gap = self.paraphrase - self.changed
        return float(((gap > 0) + 0.5 * (gap == 0)).mean())


def cosines(pairs: Sequence[MinimalPair], vectors: Vectors) -> Cosines:
    """Return the cosines; `vectors` are those of `texts_of` the pairs."""
    x = dense(vectors)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    original, paraphrase, changed = np.split(x / np.where(norms > 0, norms, 1.0), 3)
    return Cosines(
        np.einsum("nd,nd->n", original, paraphrase), np.einsum("nd,nd->n", original, changed)
    )


def reproduce_minimal_pairs(request: Request, progress: Progress | None = None) -> StudyTable:
    """Write auc.csv and return it; pairs.csv holds the cosines of every pair.

    harder.csv is auc.csv for the harder pairs, flagged.csv counts the sentences of which a fact
    contradicts the original; a negation is no fact, and has no harder pairs.

    TF-IDF learns its weights from all sentences. Raises `BackendError`.
    """
    pairs = load_pairs()
    harder = harder_pairs(pairs)
    facts, of_harder = contradictions(pairs), contradictions(harder)
    with OutputFolder(request.output) as folder:
        vectors = CorpusVectors(texts_of(pairs), progress)
        specs = dict.fromkeys([*EMBEDDERS, request.embedder])
        found = {spec: cosines(pairs, vectors.of(spec)) for spec in specs}
        rows = [row for spec in specs for row in _rows(spec, pairs, found[spec])]
        rows += _rows(FACTS, pairs, facts)
        write_table(folder, "auc", HEADER, rows)
        changed = CorpusVectors(texts_of(harder), progress)
        worse = [
            row for spec in specs for row in _rows(spec, harder, cosines(harder, changed.of(spec)))
        ]
        write_table(folder, HARDER, HEADER, [*worse, *_rows(FACTS, harder, of_harder)])
        flagged = [("minimal", *row) for row in _flagged(pairs, facts)]
        flagged += [(HARDER, *row) for row in _flagged(harder, of_harder)]
        write_table(folder, "flagged", FLAGGED, flagged)
        folder.write_csv(
            "pairs.csv",
            PAIR_HEADER,
            [
                (spec, pair.id, pair.kind, float(found[spec].paraphrase[n]), float(changed))
                for spec in specs
                for n, (pair, changed) in enumerate(zip(pairs, found[spec].changed, strict=True))
            ],
        )
        write_charts(folder, [_chart(rows)])
        folder.write_json(
            "summary.json",
            {
                "study": "minimal-pairs",
                "pairs": len(pairs),
                "harder_pairs": len(harder),
                "positive": "an original and its paraphrase",
                "negative": "an original and its minimal change",
                "paraphrase_nearer": {spec: found[spec].paired for spec in specs},
                "mean_cosines": {
                    spec: {
                        "paraphrase": float(found[spec].paraphrase.mean()),
                        "changed": float(found[spec].changed.mean()),
                    }
                    for spec in specs
                },
                "embedders": vectors.described(),
                "input_hash": file_hash(PAIRS),
                "versions": versions(),
            },
        )
    return StudyTable(HEADER, rows)


def _rows(
    spec: str, pairs: Sequence[MinimalPair], found: Cosines | Contradictions
) -> Iterator[tuple[str, str, float | None, int]]:
    for kind, chosen in _by_kind(pairs):
        yield spec, kind, found.of(chosen).auc, sum(chosen)


def _flagged(
    pairs: Sequence[MinimalPair], found: Contradictions
) -> Iterator[tuple[str, int, int, int]]:
    for kind, chosen in _by_kind(pairs):
        yield kind, *found.of(chosen).flagged, sum(chosen)


def _by_kind(pairs: Sequence[MinimalPair]) -> Iterator[tuple[str, list[bool]]]:
    """Yield each kind that there is, and all, with which pairs are of it."""
    for kind in (*KINDS, ALL):
        chosen = [kind in (pair.kind, ALL) for pair in pairs]
        if any(chosen):
            yield kind, chosen


def _chart(rows: Sequence[tuple[str, str, float | None, int]]) -> Chart:
    return estimates_chart(
        name="auc",
        title="Can cosine tell a wrong fact from other words?",
        explanation=(
            "1: a sentence with a wrong fact is always less like the original than one with "
            "other words. 0.5: no better than a coin. 0: it is always more like the original."
        ),
        axis="AUC: paraphrases against minimal changes",
        rows=[
            Row(f"{spec}, {kind}", value, None, None, f"{spec}, {kind}: {value}", look=look)
            for spec, kind, value, _ in rows
            for look in ("" if kind == ALL else "-weak",)
        ],
    )

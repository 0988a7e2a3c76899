"""Measure whether cosine or facts separate wrong facts from paraphrases, on 200 minimal pairs.

Load the project's 200 minimal pairs and derive the harder ones.

Measure whether extracted facts separate wrong facts from paraphrases, on minimal pairs.

The crowd of each pair is four workers who answer with the original. Models, which have no vote,
answer with its paraphrase and with a change: the minimal one, or a harder one, the paraphrase with
the wrong fact in it.

Each original has a paraphrase with the same meaning, and a minimal change, in which one fact (a
year, a name, a number, a negation) differs. An answer with a wrong fact should be less similar to
the original than one in other words; the AUC is how often it is. Facts, extracted in addition to
the vectors, should contradict the change and not the paraphrase; harder pairs have the wrong fact
in the paraphrase.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np

from annotations.exchange import AnswerStatus, OutputFolder
from evaluation.consensus.inputs import Answers, ModelAnswers, Progress
from evaluation.consensus.signatures import collect_versions, hash_file
from evaluation.core.charts.chart import Chart, EstimateRow, build_estimates_chart
from evaluation.core.stats.cells import Floats, Integers
from evaluation.core.stats.grams import Vectors, convert_to_dense
from evaluation.core.stats.statistics.descriptive import auc
from evaluation.evidence.corpus import CorpusVectors
from evaluation.evidence.tables import EvidenceRequest, StudyTable, write_charts, write_table
from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import find_crowd_facts
from evaluation.grading.facts.run.reading import MODEL

PAIRS = Path(__file__).with_name("minimal_pairs.jsonl")
KINDS = ("year", "name", "number", "negation")


@dataclass(frozen=True)
class MinimalPair:
    """Minimal pair: an original sentence, its paraphrase, and a copy with one fact changed."""

    id: str
    kind: str
    domain: str
    original: str
    paraphrase: str
    changed: str


def load_minimal_pairs() -> list[MinimalPair]:
    """Return the minimal pairs of the packaged file."""
    with PAIRS.open(encoding="utf-8") as file:
        return [MinimalPair(**json.loads(line)) for line in file]


def list_pair_texts(pairs: Sequence[MinimalPair]) -> list[str]:
    """Return the texts of the pairs: all originals, then all paraphrases, then all changed ones."""
    return [
        *(pair.original for pair in pairs),
        *(pair.paraphrase for pair in pairs),
        *(pair.changed for pair in pairs),
    ]


def build_harder_pairs(pairs: Sequence[MinimalPair]) -> list[MinimalPair]:
    """Return the pairs with the wrong fact moved into the paraphrase's words.

    Pairs whose paraphrase lacks the changed words are left out, such as nearly all negations.
    """
    return [replace(pair, changed=text) for pair in pairs if (text := _move_change(pair))]


def _move_change(pair: MinimalPair) -> str:
    """Return the pair's paraphrase with the changed fact; "" if it lacks the changed words."""
    old, new = pair.original.split(), pair.changed.split()
    text = pair.paraphrase
    # Without `autojunk`, which ignores frequent words in long texts.
    for operation, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            continue
        old_words, new_words = (" ".join(words).strip(".,") for words in (old[i:j], new[k:m]))
        match = (
            re.search(rf"\b{re.escape(old_words)}\b", text, re.IGNORECASE) if old_words else None
        )
        if match is None or not new_words:
            return ""
        # The replacement keeps the capital letter of the words that it replaces.
        replacement = (
            new_words.capitalize() if match[0][0].isupper() and new_words.islower() else new_words
        )
        text = f"{text[: match.start()]}{replacement}{text[match.end() :]}"
    return text


WORKERS = 4
# What each kind's question asks for; it must not say what the answers state. Names contradict only
# where it asks who, where or which.
QUESTIONS = {
    "year": "When?",
    "name": "Who, where or which?",
    "number": "How many?",
    "negation": "What happened?",
}
PARAPHRASE, CHANGED = "paraphrase", "changed"


@dataclass(frozen=True)
class PairContradictions:
    """Numbers of facts in each paraphrase and each changed text that contradict the original."""

    paraphrase: Integers
    changed: Integers

    def select_pairs(self, chosen: Sequence[bool]) -> PairContradictions:
        """Return the numbers of contradictions of the pairs that `chosen` selects."""
        return PairContradictions(self.paraphrase[list(chosen)], self.changed[list(chosen)])

    @property
    def auc(self) -> float | None:
        """AUC of the changed texts' numbers of contradictions over the paraphrases'."""
        return auc(self.changed, self.paraphrase)

    @property
    def flagged(self) -> tuple[int, int]:
        """Numbers of paraphrases and of changed texts with a contradicting fact."""
        return int((self.paraphrase > 0).sum()), int((self.changed > 0).sum())


def count_contradictions(pairs: Sequence[MinimalPair]) -> PairContradictions:
    """Return how many facts of each paraphrase and changed text contradict the original."""
    answers = Answers.from_rows(
        (f"{pair.id}/{worker}", worker, pair.id, pair.original, False)
        for pair in pairs
        for worker in range(WORKERS)
    )
    texts_by_name = {PARAPHRASE: [p.paraphrase for p in pairs], CHANGED: [p.changed for p in pairs]}
    models = ModelAnswers.from_rows(
        (f"{pair.id}/{name}", name, pair.id, text, AnswerStatus.TEXT, 0)
        for name, texts in texts_by_name.items()
        for pair, text in zip(pairs, texts, strict=True)
    )
    facts = find_crowd_facts({pair.id: QUESTIONS[pair.kind] for pair in pairs}, answers, models)
    row_of_pair = {pair.id: row for row, pair in enumerate(pairs)}
    counts = {name: np.zeros(len(pairs), dtype=np.int64) for name in texts_by_name}
    for fact in facts.answers:
        if fact.kind == MODEL and fact.verdict == Verdict.CONTRADICTS:
            counts[fact.name][row_of_pair[fact.question]] += 1
    return PairContradictions(counts[PARAPHRASE], counts[CHANGED])


ALL, FACTS = "all", "facts"
HEADER = ("embedder", "kind", "auc", "n")
HARDER = "harder"
FLAGGED = ("pairs", "kind", "paraphrases_flagged", "changes_flagged", "n")
PAIR_HEADER = ("embedder", "id", "kind", "cosine_paraphrase", "cosine_changed")
EMBEDDERS = ("minilm", "tfidf-word", "tfidf-char", "bow")


@dataclass(frozen=True)
class PairCosines:
    """Cosines of each original with its paraphrase and with its changed copy."""

    paraphrase: Floats
    changed: Floats

    def select_pairs(self, chosen: Sequence[bool]) -> PairCosines:
        """Return the cosines of the pairs that `chosen` selects."""
        return PairCosines(self.paraphrase[list(chosen)], self.changed[list(chosen)])

    @property
    def auc(self) -> float | None:
        """AUC of the paraphrases' cosines over those of the changed texts."""
        return auc(self.paraphrase, self.changed)

    @property
    def paired(self) -> float:
        """Share of pairs with the paraphrase nearer than the change; ties count half."""
        gap = self.paraphrase - self.changed
        return float(((gap > 0) + 0.5 * (gap == 0)).mean())


def compute_cosines(pairs: Sequence[MinimalPair], vectors: Vectors) -> PairCosines:
    """Return the cosines of the pairs; `vectors` are those of `list_pair_texts` of the pairs."""
    x = convert_to_dense(vectors)
    norms = np.linalg.norm(x, axis=1, keepdims=True)
    original, paraphrase, changed = np.split(x / np.where(norms > 0, norms, 1.0), 3)
    return PairCosines(
        np.einsum("nd,nd->n", original, paraphrase), np.einsum("nd,nd->n", original, changed)
    )


def reproduce_minimal_pairs(
    request: EvidenceRequest, progress: Progress | None = None
) -> StudyTable:
    """Write and return auc.csv, by embedder and kind of pair; pairs.csv has all pairs' cosines.

    harder.csv is auc.csv for the harder pairs, flagged.csv counts the sentences of which a fact
    contradicts the original; a negation is no fact, and has no harder pairs.

    TF-IDF learns its weights from all sentences. Raises `BackendError`.
    """
    pairs = load_minimal_pairs()
    harder = build_harder_pairs(pairs)
    facts, harder_facts = count_contradictions(pairs), count_contradictions(harder)
    with OutputFolder(request.output) as folder:
        vectors = CorpusVectors(list_pair_texts(pairs), progress)
        specs = dict.fromkeys([*EMBEDDERS, request.embedder])
        cosines_by_spec = {
            spec: compute_cosines(pairs, vectors.embed_texts(spec)) for spec in specs
        }
        rows = [row for spec in specs for row in _build_rows(spec, pairs, cosines_by_spec[spec])]
        rows += _build_rows(FACTS, pairs, facts)
        write_table(folder, "auc", HEADER, rows)
        harder_vectors = CorpusVectors(list_pair_texts(harder), progress)
        harder_rows = [
            row
            for spec in specs
            for row in _build_rows(
                spec, harder, compute_cosines(harder, harder_vectors.embed_texts(spec))
            )
        ]
        write_table(
            folder, HARDER, HEADER, [*harder_rows, *_build_rows(FACTS, harder, harder_facts)]
        )
        flagged = [("minimal", *row) for row in _count_flagged(pairs, facts)]
        flagged += [(HARDER, *row) for row in _count_flagged(harder, harder_facts)]
        write_table(folder, "flagged", FLAGGED, flagged)
        folder.write_csv(
            "pairs.csv",
            PAIR_HEADER,
            [
                (
                    spec,
                    pair.id,
                    pair.kind,
                    float(cosines_by_spec[spec].paraphrase[n]),
                    float(harder_vectors),
                )
                for spec in specs
                for n, (pair, harder_vectors) in enumerate(
                    zip(pairs, cosines_by_spec[spec].changed, strict=True)
                )
            ],
        )
        write_charts(folder, [_build_chart(rows)])
        folder.write_json(
            "summary.json",
            {
                "study": "minimal-pairs",
                "pairs": len(pairs),
                "harder_pairs": len(harder),
                "positive": "an original and its paraphrase",
                "negative": "an original and its minimal change",
                "paraphrase_nearer": {spec: cosines_by_spec[spec].paired for spec in specs},
                "mean_cosines": {
                    spec: {
                        "paraphrase": float(cosines_by_spec[spec].paraphrase.mean()),
                        "changed": float(cosines_by_spec[spec].changed.mean()),
                    }
                    for spec in specs
                },
                "embedders": vectors.describe(),
                "input_hash": hash_file(PAIRS),
                "versions": collect_versions(),
            },
        )
    return StudyTable(HEADER, rows)


def _build_rows(
    spec: str, pairs: Sequence[MinimalPair], measure: PairCosines | PairContradictions
) -> Iterator[tuple[str, str, float | None, int]]:
    """Yield (embedder, kind, AUC, number of pairs) for each kind of pair."""
    for kind, chosen in _group_by_kind(pairs):
        yield spec, kind, measure.select_pairs(chosen).auc, sum(chosen)


def _count_flagged(
    pairs: Sequence[MinimalPair], contradictions: PairContradictions
) -> Iterator[tuple[str, int, int, int]]:
    """Yield (kind, flagged paraphrases, flagged changes, number of pairs)."""
    for kind, chosen in _group_by_kind(pairs):
        yield kind, *contradictions.select_pairs(chosen).flagged, sum(chosen)


def _group_by_kind(pairs: Sequence[MinimalPair]) -> Iterator[tuple[str, list[bool]]]:
    """Yield each kind of pair, and `all`, with the mask of its pairs."""
    for kind in (*KINDS, ALL):
        chosen = [kind in (pair.kind, ALL) for pair in pairs]
        if any(chosen):
            yield kind, chosen


def _build_chart(rows: Sequence[tuple[str, str, float | None, int]]) -> Chart:
    """Return the chart of AUCs by embedder and kind."""
    return build_estimates_chart(
        name="auc",
        title="Can cosine tell a wrong fact from other words?",
        explanation=(
            "1: a sentence with a wrong fact is always less like the original than one with "
            "other words. 0.5: no better than a coin. 0: it is always more like the original."
        ),
        axis="AUC: paraphrases against minimal changes",
        rows=[
            EstimateRow(
                f"{spec}, {kind}", value, None, None, f"{spec}, {kind}: {value}", style=look
            )
            for spec, kind, value, _ in rows
            for look in ("" if kind == ALL else "-weak",)
        ],
    )

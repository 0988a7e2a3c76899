"""Measure whether extracted facts separate wrong facts from paraphrases, on minimal pairs.

The crowd of each pair are four workers who say the original. Models, who have no vote, answer with
its paraphrase and with a change: the minimal one, or a harder one, the paraphrase with the wrong
fact in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotations.exchange import AnswerStatus
from evaluation.consensus.inputs import Answers, ModelAnswers
from evaluation.core.stats.cells import Integers
from evaluation.core.stats.statistics.roc import auc
from evaluation.evidence.studies.minimal_pair_data import MinimalPair
from evaluation.grading.facts.methods import Verdict
from evaluation.grading.facts.run import find_crowd_facts
from evaluation.grading.facts.run.records import MODEL

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
class Contradictions:
    """Numbers of facts of each changed or paraphrased text that contradict the original's."""

    paraphrase: Integers
    changed: Integers

    def select(self, chosen: Sequence[bool]) -> Contradictions:
        """Return the numbers of the selected pairs."""
        return Contradictions(self.paraphrase[list(chosen)], self.changed[list(chosen)])

    @property
    def auc(self) -> float | None:
        """AUC of the changes' contradictions (positive) against the paraphrases'."""
        return auc(self.changed, self.paraphrase)

    @property
    def flagged(self) -> tuple[int, int]:
        """Numbers of paraphrases and of changes with at least one contradicting fact."""
        return int((self.paraphrase > 0).sum()), int((self.changed > 0).sum())


def count_contradictions(pairs: Sequence[MinimalPair]) -> Contradictions:
    """Count the facts of paraphrases and of changes that contradict the originals."""
    answers = Answers.of(
        (f"{pair.id}/{worker}", worker, pair.id, pair.original, False)
        for pair in pairs
        for worker in range(WORKERS)
    )
    texts_by_name = {PARAPHRASE: [p.paraphrase for p in pairs], CHANGED: [p.changed for p in pairs]}
    models = ModelAnswers.of(
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
    return Contradictions(counts[PARAPHRASE], counts[CHANGED])

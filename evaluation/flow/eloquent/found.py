"""What an evaluation of replies to prompts found: rows of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from evaluation.backends import EmbedderInfo
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply
from evaluation.flow.metrics import MetricRow
from evaluation.methods.eloquent.judges import JudgeAgreement
from evaluation.methods.inference.comparison import Comparison
from evaluation.words.message import Message

Key = tuple[str, str, str]
"""System, item, language: what a judge sees at once."""


class SetRow(NamedTuple):
    """A set of replies: what one system replied to the prompts of one item in one language.

    `reason` says why there is no score, `similarity_reason` why there is no similarity.
    """

    system: str
    item: str
    language: str
    variation: str
    n_prompts: int
    n_replies: int
    n_no_answer: int
    score: float | None
    spread: float | None
    n_judges: int
    n_scores: int
    human_score: float | None
    similarity: float | None
    similarity_answered: float | None
    n_answered: int
    reason: str | None
    similarity_reason: str | None

    @property
    def key(self) -> Key:
        """System, item and language."""
        return self.system, self.item, self.language


class ItemRow(NamedTuple):
    """A row of items.csv: an item and a system, over its languages.

    `score` is the mean and `sum` the sum over its `n` scored languages, `languages` how many have
    two prompts; `language_range` is the highest less the lowest score of a language.
    """

    item: str
    system: str
    variation: str
    languages: int
    n_prompts: int
    n_replies: int
    n_no_answer: int
    score: float | None
    sum: float | None
    n: int
    spread: float | None
    human_score: float | None
    similarity: float | None
    similarity_answered: float | None
    similarity_across_languages: float | None
    language_range: float | None
    reason: str | None


@dataclass(frozen=True)
class Findings:
    """Everything that was found.

    Attributes
    ----------
    systems : in the order in which they come first.
    sets : in the order of systems, items and languages. items : an item and a system each.
    judges : names, of models and people. agreements : every two of them.
    comparisons : every two systems, on items.
    embedding : how vectors were made; None without replies.
    """

    systems: tuple[str, ...]
    sets: tuple[SetRow, ...]
    items: tuple[ItemRow, ...]
    metrics: tuple[MetricRow, ...]
    judgements: tuple[Judgement, ...]
    judges: tuple[str, ...]
    agreements: tuple[JudgeAgreement, ...]
    comparisons: tuple[Comparison, ...]
    replies: tuple[Reply, ...]
    embedding: EmbedderInfo | None = None
    warnings: Sequence[Message] = field(default_factory=tuple)

    def metric(self, system: str, metric: str, group: str = "") -> MetricRow | None:
        """Return one number; None where there is no such row."""
        for row in self.metrics:
            if (row.system, row.group, row.metric) == (system, group, metric):
                return row
        return None

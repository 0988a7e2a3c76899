"""Replies beside each other, the most unlike first, with what judges said of them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from evaluation.flow.eloquent.found import Key, SetRow
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply
from evaluation.models import Run
from evaluation.reports.eloquent.people import findings_with_people
from evaluation.words.reasons import in_words

# Sets whose texts a page shows.
SETS_SHOWN = 30


@dataclass(frozen=True)
class SetTexts:
    """The replies of a model to an item in a language beside each other, and what judges said."""

    row: SetRow
    replies: list[Reply]
    judgements: list[Judgement]
    why: str


@dataclass(frozen=True)
class TextsPage:
    """The sets with the most unlike replies; `more` are not shown."""

    sets: list[SetTexts]
    more: int


def texts_page(run: Run, most: int = SETS_SHOWN) -> TextsPage:
    """Return the texts of the sets with the lowest score, or similarity where nobody judged."""
    findings = findings_with_people(run)
    replies: dict[Key, list[Reply]] = defaultdict(list)
    for reply in findings.replies:
        replies[reply.system, reply.item, reply.language].append(reply)
    judgements: dict[Key, list[Judgement]] = defaultdict(list)
    for one in findings.judgements:
        judgements[one.system, one.item, one.language].append(one)
    compared = [row for row in findings.sets if row.n_replies > 1]
    ordered = sorted(compared, key=_alike)
    shown = [
        SetTexts(row, replies[row.key], judgements[row.key], in_words(row.reason))
        for row in ordered[:most]
    ]
    return TextsPage(shown, max(0, len(ordered) - most))


def _alike(row: SetRow) -> tuple[bool, float, float]:
    similarity = -1.0 if row.similarity is None else row.similarity
    return row.score is None, row.score or 0.0, similarity

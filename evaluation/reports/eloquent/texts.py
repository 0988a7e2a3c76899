"""Replies beside each other, the most unlike first, with what judges said of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.flow.eloquent.found import Findings, Key, SetRow
from evaluation.flow.eloquent.judging import Judgement
from evaluation.flow.eloquent.matching import Reply
from evaluation.texts.differing import Piece, differing
from evaluation.words.reasons import in_words

# Sets whose texts a page shows.
SETS_SHOWN = 20


@dataclass(frozen=True)
class ReplyShown:
    """A reply with the answer of each turn in pieces, marked where the replies of a set differ."""

    reply: Reply
    turns: list[list[Piece]]


@dataclass(frozen=True)
class SetTexts:
    """The replies of a model to an item in a language beside each other, and what judges said."""

    row: SetRow
    replies: list[ReplyShown]
    judgements: list[Judgement]
    why: str


@dataclass(frozen=True)
class TextsPage:
    """The sets with the most unlike replies, from `start` on; `next` begins the next page."""

    sets: list[SetTexts]
    total: int
    start: int
    next: int | None
    previous: int | None


def texts_page(
    findings: Findings, start: int = 0, only: str = "", most: int = SETS_SHOWN
) -> TextsPage:
    """Return the texts of the sets with the lowest score, or similarity where nobody judged.

    `only` names a model whose sets are shown alone.
    """
    compared = [row for row in findings.sets if row.n_replies > 1 and only in ("", row.system)]
    ordered = sorted(compared, key=_alike)
    shown = ordered[start : start + most]
    texts = texts_of(findings, shown)
    after = start + most
    return TextsPage(
        [texts[row.key] for row in shown],
        len(ordered),
        start,
        after if after < len(ordered) else None,
        max(0, start - most) if start else None,
    )


def texts_of(findings: Findings, rows: Sequence[SetRow]) -> dict[Key, SetTexts]:
    """Return the texts of sets."""
    wanted = {row.key for row in rows}
    replies: dict[Key, list[Reply]] = defaultdict(list)
    for reply in findings.replies:
        key = (reply.system, reply.item, reply.language)
        if key in wanted:
            replies[key].append(reply)
    judgements: dict[Key, list[Judgement]] = defaultdict(list)
    for one in findings.judgements:
        judgements[one.system, one.item, one.language].append(one)
    return {
        row.key: SetTexts(row, _marked(replies[row.key]), judgements[row.key], in_words(row.reason))
        for row in rows
    }


def _marked(replies: Sequence[Reply]) -> list[ReplyShown]:
    """Mark in what answers differ, turn by turn: the first turns with each other, and so on."""
    turns: dict[int, list[list[Piece]]] = defaultdict(list)
    answered = [reply for reply in replies if reply.answered]
    for at in range(max((len(reply.turns) for reply in answered), default=0)):
        pieces = iter(differing([_answer(reply, at) for reply in answered]))
        for number, _ in enumerate(answered):
            turns[number].append(next(pieces))
    shown = iter(range(len(answered)))
    return [
        ReplyShown(reply, turns[next(shown)][: len(reply.turns)] if reply.answered else [])
        for reply in replies
    ]


def _answer(reply: Reply, at: int) -> str:
    return reply.turns[at].answer if at < len(reply.turns) else ""


def _alike(row: SetRow) -> tuple[bool, float, float]:
    similarity = -1.0 if row.similarity is None else row.similarity
    return row.score is None, row.score or 0.0, similarity

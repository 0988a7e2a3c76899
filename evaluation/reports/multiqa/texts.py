"""The texts of a run: questions with all replies beside each other, and what became of wordings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluation.flow.multiqa.crowd import CrowdRow
from evaluation.flow.multiqa.items import MultiqaItem
from evaluation.flow.multiqa.rows import ItemRow, ReplyRow, RewordingRow
from evaluation.flow.multiqa.summary import MultiqaSummary
from evaluation.models import Run
from evaluation.reports.values import Stretch
from evaluation.steps.multiqa.found import crowd_of, items_of, replies_of, rewordings_of
from evaluation.steps.multiqa.loading import load
from evaluation.steps.multiqa.running import options_of
from evaluation.words.multiqa import WORDINGS
from evaluation.words.reasons import in_words

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Said:
    """A model's reply to a wording; `letter` is alike for replies that say the same."""

    row: ReplyRow
    letter: str
    why: str


@dataclass(frozen=True)
class WordingTexts:
    """A wording of a question, and what each model replied to it; None for nothing."""

    variant: int
    text: str
    kind: str
    said: tuple[Said | None, ...]


@dataclass(frozen=True)
class QuestionTexts:
    """A question with all its wordings.

    Attributes
    ----------
    items : what its replies come to, a row a model; crowd : by people's consensus.
    right : of the replies, `n` that were judged; None where nothing says what is right.
    """

    item: MultiqaItem | None
    name: str
    items: tuple[ItemRow | None, ...]
    crowd: tuple[CrowdRow | None, ...]
    wordings: tuple[WordingTexts, ...]
    right: int | None
    n: int

    @property
    def worst(self) -> tuple[bool, float, float, str]:
        """What comes first: the least share of right replies, then the least near to people."""
        share = 2.0 if self.right is None or not self.n else self.right / self.n
        near = [one.crowd_worst for one in self.crowd if one and one.crowd_worst is not None]
        return not self.n and not near, share, min(near, default=2.0), self.name


@dataclass(frozen=True)
class TextsPage(Stretch[QuestionTexts]):
    """Some questions, the worst first."""

    systems: tuple[str, ...]


@dataclass
class _Gathered:
    items: dict[str, ItemRow] = field(default_factory=dict)
    crowd: dict[str, CrowdRow] = field(default_factory=dict)


def texts_page(run: Run, first: int, most: int) -> TextsPage:
    """Return the texts of some questions beside each other, the worst first."""
    systems = MultiqaSummary.of(run.summary).systems
    gathered: dict[str, _Gathered] = defaultdict(_Gathered)
    for row in items_of(run):
        gathered[row.item].items[row.system] = row
    for of_crowd in crowd_of(run):
        gathered[of_crowd.item].crowd[of_crowd.system] = of_crowd
    right: dict[str, list[bool]] = defaultdict(list)
    replies: dict[str, list[ReplyRow]] = defaultdict(list)
    for reply in replies_of(run):
        replies[reply.item].append(reply)
        if reply.right is not None:
            right[reply.item].append(reply.right)
    kinds = {
        (row.item, row.variant): row.kind for row in rewordings_of(run) if row.variant is not None
    }
    known = {item.item: item for item in load(run.version, options_of(run)).items}
    questions = [
        QuestionTexts(
            known.get(name),
            name,
            tuple(gathered[name].items.get(one) for one in systems),
            tuple(gathered[name].crowd.get(one) for one in systems),
            (),
            sum(right[name]) if name in right else None,
            len(right.get(name, ())),
        )
        for name in replies
    ]
    ordered = sorted(questions, key=lambda one: one.worst)
    shown = [
        _with_texts(one, replies[one.name], systems, kinds) for one in ordered[first : first + most]
    ]
    return TextsPage(shown, first, len(ordered), systems)


def _with_texts(
    one: QuestionTexts,
    replies: Sequence[ReplyRow],
    systems: Sequence[str],
    kinds: Mapping[tuple[str, int], str],
) -> QuestionTexts:
    texts = {row.variant: row.variant_text for row in replies}
    by_place = {(row.variant, row.system): row for row in replies}
    letters: dict[str, str] = {}
    wordings = []
    for variant in sorted(texts):
        said = []
        for system in systems:
            row = by_place.get((variant, system))
            letter = ""
            if row is not None and row.says is not None:
                letter = letters.setdefault(row.says, _letter(len(letters)))
            why = "" if row is None or row.status == "text" else row.error or in_words(row.status)
            said.append(None if row is None else Said(row, letter, why))
        kind = WORDINGS.get(kinds.get((one.name, variant), ""), "") if variant else ""
        wordings.append(WordingTexts(variant, texts[variant], kind, tuple(said)))
    return QuestionTexts(
        one.item, one.name, one.items, one.crowd, tuple(wordings), one.right, one.n
    )


def _letter(place: int) -> str:
    return LETTERS[place] if place < len(LETTERS) else str(place + 1)


@dataclass(frozen=True)
class RewordingShown:
    """A wording beside the original, in words."""

    row: RewordingRow
    question: str
    kind: str
    why: str


@dataclass(frozen=True)
class RewordingsPage(Stretch[RewordingShown]):
    """Wordings beside the originals, dropped ones first."""

    n_dropped: int


def rewordings_page(run: Run, first: int, most: int) -> RewordingsPage:
    """Return some wordings with what became of them."""
    rows = sorted(rewordings_of(run), key=lambda row: row.variant is not None)
    known = {item.item: item.question for item in load(run.version, options_of(run)).items}
    shown = [
        RewordingShown(
            row, known.get(row.item, ""), WORDINGS.get(row.kind, row.kind), in_words(row.reason)
        )
        for row in rows[first : first + most]
    ]
    dropped = sum(row.variant is None for row in rows)
    return RewordingsPage(shown, first, len(rows), dropped)

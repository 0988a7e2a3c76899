"""The replies of a run one by one, wrong ones first, each with why it was taken as it was."""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotations.exchange.reading.word_problems import CATEGORY_NAMES
from evaluation.flow.umwp.classifying import ANSWERABLE, EXPRESSION, REFUSED, TEMPLATE, UNANSWERABLE
from evaluation.flow.umwp.study import ItemRow
from evaluation.models import Run
from evaluation.steps.umwp.tables import items_of, problems_kept, replies_of

MISSED, GAVE_UP, WRONG, REFUSAL = "missed", "gave_up", "wrong_number", "refused"
FAILED, UNJUDGED, RIGHT, CUT = "failed", "unknown", "right", "cut_off"
OUTCOMES = {
    MISSED: "did not notice that there is no answer",
    GAVE_UP: "said that there is no answer, and there is one",
    WRONG: "gave another number than the right one",
    REFUSAL: "refused to answer",
    CUT: "was cut off before an answer came",
    FAILED: "the reply could not be fetched",
    UNJUDGED: "nobody said whether the question has an answer",
    RIGHT: "right",
}
"""In the order of the page: wrong ones first."""


@dataclass(frozen=True)
class Marked:
    """A reply in three parts: before the words that are most like a template, these, the rest."""

    before: str
    words: str
    after: str


@dataclass(frozen=True)
class ReplyShown:
    """A reply with its question, what was made of it, and how that came out.

    `text` has the words marked that are most like a template, where they are found in it.
    `is_math` is False where letters in the answer are no variables.
    """

    row: ItemRow
    outcome: str
    question: str
    right_answers: tuple[float, ...]
    text: Marked
    is_math: bool

    @property
    def words(self) -> str:
        """How it came out, in words."""
        return OUTCOMES[self.outcome]

    @property
    def why_none(self) -> str:
        """Why the question has no answer, in words; "" where nobody said."""
        return CATEGORY_NAMES.get(self.row.category or 0, "")

    @property
    def by_template(self) -> bool:
        """Whether its likeness to a template decided."""
        return self.row.decided_by == TEMPLATE

    @property
    def by_expression(self) -> bool:
        """Whether an expression with a variable decided."""
        return self.row.decided_by == EXPRESSION


@dataclass(frozen=True)
class RepliesPage:
    """Some replies of a run.

    `counts` are all replies of the chosen model and form by outcome, in the order of the page;
    `n` how many the page goes through; `page` its number from 1, of `pages`.
    """

    replies: list[ReplyShown]
    counts: dict[str, int]
    n: int
    page: int
    pages: int

    @property
    def before(self) -> int:
        """The number of the page before."""
        return self.page - 1

    @property
    def next(self) -> int:
        """The number of the next page."""
        return self.page + 1


def replies_page(
    run: Run, system: str = "", form: str = "", outcome: str = "", page: int = 1, size: int = 25
) -> RepliesPage:
    """Return a page of the replies, wrong ones first; "" for all models, forms or outcomes."""
    rows = [
        row
        for row in items_of(run)
        if (not system or row.system == system) and (not form or row.form == form)
    ]
    by_outcome: dict[str, list[ItemRow]] = {name: [] for name in OUTCOMES}
    for row in rows:
        by_outcome[outcome_of(row)].append(row)
    ordered = [
        (name, row)
        for name, of in by_outcome.items()
        if not outcome or name == outcome
        for row in of
    ]
    pages = max(1, -(-len(ordered) // size))
    page = min(max(1, page), pages)
    chosen = ordered[(page - 1) * size : page * size]
    return RepliesPage(
        _shown(run, chosen),
        {name: len(of) for name, of in by_outcome.items() if of},
        len(ordered),
        page,
        pages,
    )


def outcome_of(row: ItemRow) -> str:
    """Return how a reply came out: a key of `OUTCOMES`."""
    if row.taken_as is None:
        return CUT if row.reason == CUT else FAILED
    if row.answerable is None:
        return UNJUDGED
    if row.taken_as == REFUSED:
        return REFUSAL
    if not row.answerable:
        return RIGHT if row.taken_as == UNANSWERABLE else MISSED
    if row.taken_as != ANSWERABLE:
        return GAVE_UP
    return WRONG if row.right is False else RIGHT


def _shown(run: Run, chosen: list[tuple[str, ItemRow]]) -> list[ReplyShown]:
    keys = {(row.system, row.form, row.item) for _, row in chosen}
    texts = {
        (one.system, one.form, one.id): one.reply
        for one in replies_of(run)
        if (one.system, one.form, one.id) in keys
    }
    ids = {row.item for _, row in chosen}
    problems = {one.id: one for one in problems_kept(run) if one.id in ids}
    return [
        ReplyShown(
            row,
            outcome,
            problems[row.item].question,
            tuple(problems[row.item].answer or ()),
            marked(texts[row.system, row.form, row.item], row.window),
            problems[row.item].math,
        )
        for outcome, row in chosen
    ]


def marked(reply: str, window: str | None) -> Marked:
    """Return a reply with the words of a window marked: these are in small letters, and spaced."""
    if window:
        pattern = r"\s+".join(map(re.escape, window.split()))
        found = re.search(pattern, reply, re.IGNORECASE)
        if found is not None:
            return Marked(reply[: found.start()], found[0], reply[found.end() :])
    return Marked(reply, "", "")

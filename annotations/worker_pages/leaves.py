"""The pages of a preview in their order: what somebody with a given seed would come to."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.answering.order import Asked, chosen, in_order
from annotations.answering.places import questions_each
from annotations.answering.way import FEEDBACK, PAGE, REVIEW, TEXT, AnswerPage
from annotations.answering.wording import wording
from annotations.models import Assignment, Collection

CONSENT, BEFORE, THANKS = "consent", "before", "thanks"


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page of the preview: what it is, and its page of questions where it has one."""

    kind: str
    page: AnswerPage | None = None


@dataclass(frozen=True, slots=True)
class Leaves:
    """All pages from the consent to the thanks; nothing of them is stored.

    `n_graded` are the graded questions that are asked in them, `n_all` those of the version: a
    worker may get a part of them.
    """

    pages: list[Leaf]
    n_graded: int
    n_all: int

    def step_of(self, page: AnswerPage) -> int:
        """Return the step, from 1, at which the questions of a page are answered."""
        return next(
            step
            for step, leaf in enumerate(self.pages, 1)
            if leaf.kind == PAGE and leaf.page is page
        )

    def page_before(self, step: int) -> int:
        """Return the step of the questions before those at `step`; `step` where they are first."""
        before = (i for i in range(step - 1, 0, -1) if self.pages[i - 1].kind == PAGE)
        return next(before, step)

    @property
    def asked(self) -> list[AnswerPage]:
        """The pages of questions, in their order."""
        return [leaf.page for leaf in self.pages if leaf.kind == PAGE and leaf.page is not None]


def leaves_of(collection: Collection, seed: int, *, every_question: bool = False) -> Leaves:
    """Return what the first worker with that seed would come to.

    A collection need not be stored. `every_question` asks all questions where a worker gets a part.
    """
    version = collection.version
    rows = version.questions.exclude(text="").order_by("position", "pk")
    keys = list(rows.values_list("pk", flat=True))
    said = wording.of(version, keys, version.shown_in)
    questions = {key: said[key] for key in keys}
    asked = [Asked(one.pk, one.passage_id, one.role) for one in questions.values()]
    graded = [one for one in asked if questions[one.pk].is_graded]
    others = [one for one in asked if not questions[one.pk].is_graded]
    given = graded
    if not every_question:
        wanted = questions_each(collection)
        given = chosen(graded, {}, most_each=None, wanted=wanted, seed=seed)
    pages: dict[int, AnswerPage] = {}
    for place in in_order(given, others, seed):
        one = Assignment(
            question=questions[place.question], position=place.position, page=place.page
        )
        pages.setdefault(place.page, AnswerPage(place.page, [])).assignments.append(one)
    is_recall = collection.protocol == Collection.Protocol.RECALL
    leaves = [Leaf(CONSENT)]
    read: set[int] = set()
    for page in pages.values():
        if is_recall and page.passage is not None and page.passage.pk not in read:
            read.add(page.passage.pk)
            leaves += [Leaf(BEFORE, page), Leaf(TEXT, page)]
        leaves.append(Leaf(PAGE, page))
        if page.is_practice:
            leaves.append(Leaf(FEEDBACK, page))
    return Leaves([*leaves, Leaf(REVIEW), Leaf(THANKS)], len(given), len(graded))

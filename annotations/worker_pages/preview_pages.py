"""Sequence of the pages in a preview: those of the first worker with a given random seed."""

from __future__ import annotations

from dataclasses import dataclass

from annotations.answering.order import QuestionRow, choose_questions, order_questions
from annotations.answering.places import compute_questions_per_worker
from annotations.answering.progress import FEEDBACK, PAGE, REVIEW, TEXT, AnswerPage
from annotations.answering.wording import wording
from annotations.models import Assignment, Collection

CONSENT, BEFORE, THANKS = "consent", "before", "thanks"


@dataclass(frozen=True, slots=True)
class PreviewPage:
    """A page of the preview: its kind, and its page of questions if it has one."""

    kind: str
    page: AnswerPage | None = None


@dataclass(frozen=True, slots=True)
class PreviewPages:
    """All pages of a preview, from consent to thanks; none of them is stored.

    `n_graded` is the number of graded questions in them, `n_all` that of the whole version.
    """

    pages: list[PreviewPage]
    n_graded: int
    n_all: int

    def find_question_step(self, page: AnswerPage) -> int:
        """Return the number (from 1) of the step that shows the questions of a page."""
        return next(
            step
            for step, preview_page in enumerate(self.pages, 1)
            if preview_page.kind == PAGE and preview_page.page is page
        )

    def find_previous_question_step(self, step: int) -> int:
        """Return the last step with questions before `step`; `step` if there is none."""
        earlier = (i for i in range(step - 1, 0, -1) if self.pages[i - 1].kind == PAGE)
        return next(earlier, step)

    @property
    def question_pages(self) -> list[AnswerPage]:
        """Pages of questions, in order."""
        return [row.page for row in self.pages if row.kind == PAGE and row.page is not None]


def build_preview_pages(
    collection: Collection, seed: int, *, every_question: bool = False
) -> PreviewPages:
    """Return the preview pages for the first worker with a random seed.

    `every_question` shows all questions where a worker would get only some.
    """
    version = collection.version
    rows = version.questions.exclude(text="").order_by("position", "pk")
    keys = list(rows.values_list("pk", flat=True))
    loaded = wording.load_questions(version, keys, version.shown_in)
    questions = {key: loaded[key] for key in keys}
    rows_to_order = [QuestionRow(row.pk, row.passage_id, row.role) for row in questions.values()]
    graded = [row for row in rows_to_order if questions[row.pk].is_graded]
    others = [row for row in rows_to_order if not questions[row.pk].is_graded]
    chosen = graded
    if not every_question:
        n_questions = compute_questions_per_worker(collection)
        chosen = choose_questions(graded, {}, max_answers=None, n_questions=n_questions, seed=seed)
    pages: dict[int, AnswerPage] = {}
    for place in order_questions(chosen, others, seed):
        assignment = Assignment(
            question=questions[place.question], position=place.position, page=place.page
        )
        pages.setdefault(place.page, AnswerPage(place.page, [])).assignments.append(assignment)
    is_recall = collection.protocol == Collection.Protocol.RECALL
    preview_pages = [PreviewPage(CONSENT)]
    read: set[int] = set()
    for page in pages.values():
        if is_recall and page.passage is not None and page.passage.pk not in read:
            read.add(page.passage.pk)
            preview_pages += [PreviewPage(BEFORE, page), PreviewPage(TEXT, page)]
        preview_pages.append(PreviewPage(PAGE, page))
        if page.is_practice:
            preview_pages.append(PreviewPage(FEEDBACK, page))
    return PreviewPages(
        [*preview_pages, PreviewPage(REVIEW), PreviewPage(THANKS)], len(chosen), len(graded)
    )

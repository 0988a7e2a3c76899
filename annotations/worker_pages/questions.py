"""Page of questions: show it, save and submit its answers, give practice feedback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotations.answering import drafts, signals
from annotations.answering.finishing import resolve_max_characters, screen_out_worker
from annotations.answering.languages import switch_language
from annotations.answering.places import extend_reservation
from annotations.answering.practice import (
    grade_practice_page,
    has_failed_practice,
    record_feedback_read,
)
from annotations.answering.progress import FEEDBACK, AnswerPage, NextStep
from annotations.models import Assignment, OtherText, Question, Response
from annotations.worker_pages.not_found import render_not_found
from annotations.worker_pages.outcomes import render_end_page
from annotations.worker_pages.progress import summarize_progress
from annotations.worker_pages.rendering import (
    disable_caching,
    format_length_error,
    render_worker_page,
)
from annotations.worker_pages.visit import (
    ANSWER,
    Visit,
    parse_form_number,
    read_posted_revision,
    read_posted_texts,
    render_ended_submission,
    require_open_submission,
)

LANGUAGE_ACTION = "language-"
"""Value of a button that changes the language of the page; the language tag follows."""
ROWS_BY_KIND = {Question.Kind.FREE: 5, Question.Kind.EXTRACTIVE: 2, Question.Kind.SHORT: 2}


ERRORS = {
    "no_such_choice": _("Choose one of the answers."),
    "not_stored": _("It is so long that it could not be saved. It is still here."),
    "other_text": _(
        "You wrote another text in another window or on another device. Both are here."
    ),
    "written_elsewhere": _("You wrote this in another window. It was not overwritten."),
    "no_answer": _("This question has no answer yet."),
}
"""Messages about an answer by code; that of `too_long` has numbers and is built by a function."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """Error of an answer: its code, and its message in the page's language."""

    code: str
    sentence: str | Promise

    def __str__(self) -> str:
        return str(self.sentence)

    @classmethod
    def from_code(cls, code: str) -> FieldError:
        """Return the error of an answer with this code."""
        return cls(code, ERRORS[code])

    @classmethod
    def from_long_text(cls, text: str, most: int) -> FieldError:
        """Return the error of a text longer than `most` characters."""
        return cls("too_long", format_length_error(text, most))


@dataclass(slots=True)
class AnswerField:
    """One question on a worker's page, with its text field.

    Attributes
    ----------
    number : of the question on its page, from 1.
    most : the most characters of an answer.
    text, revision : shown in the text field; revision 0 means that nothing was stored.
    stored : the stored answer, if any. others : other texts to choose from.
    counts : whether the script of the page counts writing signals for this answer.
    """

    assignment: Assignment
    number: int
    most: int
    text: str = ""
    revision: int = 0
    stored: Response | None = None
    others: Sequence[OtherText] = ()
    counts: bool = False
    errors: list[FieldError] = field(default_factory=list)

    @property
    def question(self) -> Question:
        """Question to which the text field belongs."""
        return self.assignment.question

    @property
    def name(self) -> str:
        """HTML form name of the text field, which contains the question's id."""
        return f"{ANSWER}{self.question.public_id}"

    @property
    def keep_name(self) -> str:
        """HTML form name for choosing between the text and its alternatives."""
        return f"keep-{self.question.public_id}"

    @property
    def signals_name(self) -> str:
        """HTML form name of the writing signals, which only the page's script sends."""
        return f"{signals.FIELD}-{self.question.public_id}"

    @property
    def formatted_most(self) -> str:
        """Greatest length of the answer, written in the page's language."""
        return str(number_format(self.most, force_grouping=True))

    @property
    def rows(self) -> int:
        """Height of the text field in lines."""
        return ROWS_BY_KIND.get(Question.Kind(self.question.kind), 5)


@require_open_submission
def show_questions(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Show the questions of a page; POST saves or submits the answers."""
    page = visit.progress.find_page(page_number)
    if page is None:
        return render_not_found(request)
    if request.method == "POST":
        return _handle_answers_form(request, visit, page)
    if not visit.progress.may_show_page(page):
        return visit.redirect_to_next_step()
    if page.answers_are_final:
        return visit.redirect_to_step(NextStep(FEEDBACK, page.number))
    now = timezone.now()
    if any(row.shown_at is None for row in page.assignments):
        visit.submission.assignments.filter(page=page.number, shown_at=None).update(shown_at=now)
    return _render_questions(request, visit, page, _build_answer_fields(visit, page))


@require_open_submission
def show_feedback(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Show the feedback on a practice page; POST continues or screens the worker out."""
    page = visit.progress.find_page(page_number)
    if page is None or not page.is_practice:
        return render_not_found(request)
    if not page.is_answered:
        return visit.redirect_to_next_step()
    if request.method == "POST":
        record_feedback_read(visit.progress, page)
        if has_failed_practice(visit.progress):
            screen_out_worker(visit.submission)
            return render_end_page(request, "screened_out", visit.collection, status=200)
        return visit.redirect_to_next_step()
    context = {
        "progress": summarize_progress(visit.progress, page),
        "results": grade_practice_page(visit.progress, page),
        "place": visit.token,
    }
    return render_worker_page(request, "feedback.html", visit.collection, context)


def _handle_answers_form(request: HttpRequest, visit: Visit, page: AnswerPage) -> HttpResponse:
    """Save the posted texts of a page; submit the page if requested and all is complete.

    Redirects on success; shows the page again with errors (400) otherwise. Texts for questions that
    are no longer on the page are shown, not stored.
    """
    texts = read_posted_texts(request)
    if not visit.progress.may_show_page(page):
        context = {"texts": list(filter(None, texts.values())), "go_on": True, "place": visit.token}
        return render_end_page(request, "not_yet", visit.collection, context=context)
    do = request.POST.get("do", "next")
    with transaction.atomic():
        # Lock the submission first, as a withdrawal does before it deletes the texts.
        if not drafts.lock_submission(visit.submission):
            return render_ended_submission(request, visit, "withdrawn")
        if _is_finished_practice(visit, page):
            return _redirect_after_page(visit, page)
        extend_reservation(visit.submission)
        fields = _build_answer_fields(visit, page)
        # Answers of an outdated form, from before the questions were selected again.
        foreign = [texts[name] for name in texts.keys() - {row.name for row in fields}]
        outcomes = _save_posted_texts(request, visit, fields, texts)
        _apply_chosen_alternatives(request, visit, fields)
        # Other texts that this form showed. Those stored since stay unsettled.
        seen_texts = [
            key for key in map(parse_form_number, request.POST.getlist("seen")) if key is not None
        ]
        is_complete = (
            do == "next" and not foreign and _check_completeness(request, fields, outcomes)
        )
        if is_complete:
            drafts.reject_other_texts(visit.submission, seen_texts)
            _record_answer_times(visit, fields, outcomes)
        else:
            _add_other_texts(visit, fields)
        counts = {row.question.pk: request.POST.get(row.signals_name, "") for row in fields}
        signals.store_signal_counts(visit.submission, counts)
    if drafts.ENDED in outcomes:
        return render_ended_submission(request, visit, "done")
    if is_complete:
        return _redirect_after_page(visit, page)
    if do != "next" and not foreign and not any(row.errors for row in fields):
        return _redirect_after_action(visit, page, do)
    return _render_questions(request, visit, page, fields, foreign=foreign, status=400)


def _is_finished_practice(visit: Visit, page: AnswerPage) -> bool:
    """Return whether a practice page was submitted, even if by a concurrent request.

    The caller holds the lock of the submission.
    """
    if not page.is_practice:
        return False
    assignments = visit.submission.assignments.filter(page=page.number)
    return not assignments.filter(answered_at=None).exists()


def _save_posted_texts(
    request: HttpRequest, visit: Visit, fields: list[AnswerField], texts: dict[str, str]
) -> list[str]:
    """Store the posted texts and update the fields; return the outcome code of each field."""
    posted = []
    for row in fields:
        if row.name not in texts:
            continue
        text, question = texts[row.name], row.question
        row.errors = []
        if not drafts.is_valid_answer(question, text):
            row.errors.append(FieldError.from_code("no_such_choice"))
            continue
        revision = read_posted_revision(request, question.public_id)
        posted.append(drafts.PostedText(question, text, revision, row.stored))
    results = drafts.save_drafts(visit.submission, posted)
    outcomes = []
    for row in fields:
        result = results.get(row.question.pk)
        if result is None:
            outcomes.append(drafts.SAME)
            continue
        outcomes.append(result.outcome)
        row.text, row.revision = result.text, result.revision
        if result.outcome == drafts.NOT_STORED:
            row.errors.append(FieldError.from_code("not_stored"))
        elif len(result.text) > row.most:
            row.errors.append(FieldError.from_long_text(result.text, row.most))
    return outcomes


def _check_completeness(
    request: HttpRequest, fields: list[AnswerField], outcomes: list[str]
) -> bool:
    """Return whether a page can be submitted; add errors to the fields that prevent it."""
    for row, outcome in zip(fields, outcomes, strict=True):
        if outcome == drafts.BOTH_KEPT:
            row.errors.append(FieldError.from_code("other_text"))
        elif outcome == drafts.OLDER_EMPTY:
            row.errors.append(FieldError.from_code("written_elsewhere"))
        elif not row.text and not row.errors and "leave_empty" not in request.POST:
            row.errors.append(FieldError.from_code("no_answer"))
    return not any(row.errors for row in fields)


def _record_answer_times(visit: Visit, fields: list[AnswerField], outcomes: list[str]) -> None:
    """Store when the answers of a page were given; unchanged answers keep their earlier time."""
    now, keys = timezone.now(), []
    for row, outcome in zip(fields, outcomes, strict=True):
        if not row.revision:
            # Left empty on purpose and never sent: stored as an answer without text.
            drafts.save_draft(visit.submission, row.question, "", 0)
        if row.assignment.answered_at is None or outcome == drafts.SAVED:
            row.assignment.answered_at = now
            row.assignment.shown_at = row.assignment.shown_at or now
            keys.append(row.assignment.pk)
    if keys:
        Assignment.objects.filter(pk__in=keys).update(
            answered_at=now, shown_at=Coalesce("shown_at", now)
        )


def _redirect_after_page(visit: Visit, page: AnswerPage) -> HttpResponse:
    """Redirect to the feedback of a practice page, or to the next step."""
    if page.is_practice and any(row.told_at is None for row in page.assignments):
        return visit.redirect_to_step(NextStep(FEEDBACK, page.number))
    # The assignments in memory were updated by `_record_answer_times`: no query is needed.
    return visit.redirect_to_step(visit.progress.find_next_step())


def _redirect_after_action(visit: Visit, page: AnswerPage, do: str) -> HttpResponse:
    """Redirect after a button that does not submit: to the previous or the same page.

    A language button changes the language of the submission first.
    """
    if do.startswith(LANGUAGE_ACTION):
        switch_language(visit.submission, do.removeprefix(LANGUAGE_ACTION))
    number = page.number - 1 if do == "back" and page.number > 1 else page.number
    response = redirect("worker:page", visit.token, number)
    if do == "save":
        response["Location"] += "?saved=yes"
    return disable_caching(response)


def _apply_chosen_alternatives(
    request: HttpRequest, visit: Visit, fields: list[AnswerField]
) -> None:
    """Replace the text of each field by the alternative that the worker chose."""
    for row in fields:
        key = parse_form_number(request.POST.get(row.keep_name, ""))
        if key is None:
            continue
        other = OtherText.objects.filter(
            pk=key,
            response__submission=visit.submission,
            response__question=row.question,
            settled_at=None,
        ).first()
        if other is not None:
            result = drafts.choose_other_text(other)
            row.text, row.revision = result.text, result.revision
            row.errors = []
            if len(row.text) > row.most:
                row.errors.append(FieldError.from_long_text(row.text, row.most))


def _build_answer_fields(visit: Visit, page: AnswerPage) -> list[AnswerField]:
    """Return the text fields of a page, filled from the stored answers."""
    questions = [assignment.question_id for assignment in page.assignments]
    stored = drafts.load_responses(visit.submission, questions)
    first = page.assignments[0].position
    fields = []
    are_counted = signals.are_signals_counted(visit.submission)
    for assignment in page.assignments:
        row = AnswerField(
            assignment,
            assignment.position - first + 1,
            resolve_max_characters(visit.collection, assignment.question),
        )
        row.stored = stored.get(assignment.question_id)
        row.counts = are_counted
        if row.stored is not None:
            row.text, row.revision = row.stored.text, row.stored.revision
            row.counts &= signals.can_count_whole_answer(row.stored)
        if len(row.text) > row.most:
            row.errors.append(FieldError.from_long_text(row.text, row.most))
        fields.append(row)
    if any(drafts.has_other_texts(response) for response in stored.values()):
        _add_other_texts(visit, fields)
    return fields


def _add_other_texts(visit: Visit, fields: list[AnswerField]) -> None:
    """Add to each field the alternative texts that differ from its text."""
    others = OtherText.objects.filter(
        response__submission=visit.submission,
        response__question__in=[row.question.pk for row in fields],
        settled_at=None,
    ).select_related("response")
    by_question: dict[int, list[OtherText]] = {}
    for other in others.order_by("pk"):
        by_question.setdefault(other.response.question_id, []).append(other)
    for row in fields:
        row.others = [
            other for other in by_question.get(row.question.pk, ()) if other.text != row.text
        ]


def _render_questions(
    request: HttpRequest,
    visit: Visit,
    page: AnswerPage,
    fields: list[AnswerField],
    *,
    foreign: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    """Return the page with its fields; `foreign` are texts that belong to no field."""
    passage = None if visit.progress.is_recall() else page.passage
    context = {
        "progress": summarize_progress(visit.progress, page),
        "page": page,
        "passage": passage,
        "fields": fields,
        "errors": [row for row in fields if row.errors],
        "some_empty": status == 400 and any(not row.text for row in fields),
        "foreign": [text for text in foreign if text],
        "has_foreign": bool(foreign),
        "counts": any(row.counts for row in fields),
        "was_saved": request.method != "POST" and "saved" in request.GET,
        "place": visit.token,
    }
    return render_worker_page(request, "questions.html", visit.collection, context, status=status)

"""The questions of one page: shown, kept and handed in; and what practice was right."""

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
from annotations.answering.finishing import longest, screen_out
from annotations.answering.languages import switch
from annotations.answering.places import keep_place
from annotations.answering.practice import has_failed, note_told, told
from annotations.answering.way import FEEDBACK, AnswerPage, Step
from annotations.models import Assignment, OtherText, Question, Response
from annotations.worker_pages.nowhere import nowhere
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.progress import progress
from annotations.worker_pages.showing import not_kept, shown, too_long
from annotations.worker_pages.visit import (
    ANSWER,
    Visit,
    answering,
    ended,
    posted_texts,
    revision_of,
    whole_number,
)

IN_LANGUAGE = "language-"
"""How a button says that the page is wanted in another language, whose tag follows."""
ROWS = {Question.Kind.FREE: 5, Question.Kind.EXTRACTIVE: 2, Question.Kind.SHORT: 2}


ERRORS = {
    "no_such_choice": _("Choose one of the answers."),
    "not_stored": _("It is so long that it could not be saved. It is still here."),
    "other_text": _(
        "You wrote another text in another window or on another device. Both are here."
    ),
    "written_elsewhere": _("You wrote this in another window. It was not overwritten."),
    "no_answer": _("This question has no answer yet."),
}
"""What is wrong with an answer, by its code; `too_long` has numbers of its own."""


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with an answer: a code, and its sentence in the page's language."""

    code: str
    sentence: str | Promise

    def __str__(self) -> str:
        return str(self.sentence)

    @classmethod
    def of(cls, code: str) -> FieldError:
        """Return the error of a code of `ERRORS`."""
        return cls(code, ERRORS[code])

    @classmethod
    def too_long(cls, text: str, most: int) -> FieldError:
        """Return the error of a text with more characters than `most`."""
        return cls("too_long", too_long(text, most))


@dataclass(slots=True)
class Field:
    """One question on the page, with what stands in its box.

    `counts` says whether the script of the page counts how the answer comes about.
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
        """What is asked."""
        return self.assignment.question

    @property
    def name(self) -> str:
        """The name of its field in the form."""
        return f"{ANSWER}{self.question.public_id}"

    @property
    def keep_name(self) -> str:
        """The name of the choice between two texts."""
        return f"keep-{self.question.public_id}"

    @property
    def signals_name(self) -> str:
        """The name of what the page counted of it; only a script sends that."""
        return f"{signals.FIELD}-{self.question.public_id}"

    @property
    def most_said(self) -> str:
        """The limit as it is written in the page's language."""
        return str(number_format(self.most, force_grouping=True))

    @property
    def rows(self) -> int:
        """Lines of its box."""
        return ROWS.get(Question.Kind(self.question.kind), 5)


@answering
def page(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Show the questions of a page, or take what was written to them."""
    found = visit.way.page(page_number)
    if found is None:
        return nowhere(request)
    if request.method == "POST":
        return _handed_in(request, visit, found)
    if not visit.way.has_reached(found):
        return visit.to_next()
    if found.answers_are_final:
        return visit.to(Step(FEEDBACK, found.number))
    now = timezone.now()
    if any(one.shown_at is None for one in found.assignments):
        visit.submission.assignments.filter(page=found.number, shown_at=None).update(shown_at=now)
    return _show(request, visit, found, _fields(visit, found))


@answering
def feedback(request: HttpRequest, visit: Visit, page_number: int) -> HttpResponse:
    """Tell what was right in practice; the form goes on, or ends it here where that is wanted."""
    found = visit.way.page(page_number)
    if found is None or not found.is_practice:
        return nowhere(request)
    if not found.is_answered:
        return visit.to_next()
    if request.method == "POST":
        note_told(visit.way, found)
        if has_failed(visit.way):
            screen_out(visit.submission)
            return outcome(request, "screened_out", visit.collection, status=200)
        return visit.to_next()
    context = {
        "progress": progress(visit.way, found),
        "told": told(visit.way, found),
        "place": visit.place,
    }
    return shown(request, "feedback.html", visit.collection, context)


def _handed_in(request: HttpRequest, visit: Visit, found: AnswerPage) -> HttpResponse:
    texts = posted_texts(request)
    if not visit.way.has_reached(found):
        context = {"texts": list(filter(None, texts.values())), "go_on": True, "place": visit.place}
        return outcome(request, "not_yet", visit.collection, context=context)
    do = request.POST.get("do", "next")
    with transaction.atomic():
        # First, for who withdraws holds this row and then deletes the texts.
        if not drafts.hold(visit.submission):
            return ended(request, visit, "withdrawn")
        if _is_over(visit, found):
            return _after(visit, found)
        keep_place(visit.submission)
        fields = _fields(visit, found)
        foreign = [texts[name] for name in texts.keys() - {one.name for one in fields}]
        outcomes = _save(request, visit, fields, texts)
        _use(request, visit, fields)
        seen = [pk for pk in map(whole_number, request.POST.getlist("seen")) if pk is not None]
        is_whole = do == "next" and not foreign and _is_whole(request, fields, outcomes)
        if is_whole:
            drafts.settle(visit.submission, seen)
            _note_answered(visit, fields, outcomes)
        else:
            _add_others(visit, fields)
        sent = {one.question.pk: request.POST.get(one.signals_name, "") for one in fields}
        signals.note(visit.submission, sent)
    if drafts.ENDED in outcomes:
        return ended(request, visit, "done")
    if is_whole:
        return _after(visit, found)
    if do != "next" and not foreign and not any(one.errors for one in fields):
        return _elsewhere(visit, found, do)
    return _show(request, visit, found, fields, foreign=foreign, status=400)


def _is_over(visit: Visit, found: AnswerPage) -> bool:
    """Whether a page of practice was handed in, maybe since it was read; the row is held."""
    if not found.is_practice:
        return False
    given = visit.submission.assignments.filter(page=found.number)
    return not given.filter(answered_at=None).exists()


def _save(
    request: HttpRequest, visit: Visit, fields: list[Field], texts: dict[str, str]
) -> list[str]:
    """Store what was sent, put into each field what it shows now, and say what became of each."""
    sent = []
    for one in fields:
        if one.name not in texts:
            continue
        text, question = texts[one.name], one.question
        one.errors = []
        if not drafts.can_answer(question, text):
            one.errors.append(FieldError.of("no_such_choice"))
            continue
        revision = revision_of(request, question.public_id)
        sent.append(drafts.Sent(question, text, revision, one.stored))
    became = drafts.save_all(visit.submission, sent)
    outcomes = []
    for one in fields:
        saved = became.get(one.question.pk)
        if saved is None:
            outcomes.append(drafts.SAME)
            continue
        outcomes.append(saved.outcome)
        one.text, one.revision = saved.text, saved.revision
        if saved.outcome == drafts.NOT_STORED:
            one.errors.append(FieldError.of("not_stored"))
        elif len(saved.text) > one.most:
            one.errors.append(FieldError.too_long(saved.text, one.most))
    return outcomes


def _is_whole(request: HttpRequest, fields: list[Field], outcomes: list[str]) -> bool:
    """Whether the page can be left; what is missing is written beside the questions."""
    for one, became in zip(fields, outcomes, strict=True):
        if became == drafts.BOTH_KEPT:
            one.errors.append(FieldError.of("other_text"))
        elif became == drafts.OLDER_EMPTY:
            one.errors.append(FieldError.of("written_elsewhere"))
        elif not one.text and not one.errors and "leave_empty" not in request.POST:
            one.errors.append(FieldError.of("no_answer"))
    return not any(one.errors for one in fields)


def _note_answered(visit: Visit, fields: list[Field], outcomes: list[str]) -> None:
    """Note when; what was handed in before and is the same keeps its time."""
    now, noted = timezone.now(), []
    for one, became in zip(fields, outcomes, strict=True):
        if not one.revision:
            # Left empty on purpose and never sent: an answer all the same, without a text.
            drafts.save(visit.submission, one.question, "", 0)
        if one.assignment.answered_at is None or became == drafts.SAVED:
            one.assignment.answered_at = now
            one.assignment.shown_at = one.assignment.shown_at or now
            noted.append(one.assignment.pk)
    if noted:
        Assignment.objects.filter(pk__in=noted).update(
            answered_at=now, shown_at=Coalesce("shown_at", now)
        )


def _after(visit: Visit, found: AnswerPage) -> HttpResponse:
    if found.is_practice and any(one.told_at is None for one in found.assignments):
        return visit.to(Step(FEEDBACK, found.number))
    # As it was read and then written here; the next page reads it again.
    return visit.to(visit.way.next_step())


def _elsewhere(visit: Visit, found: AnswerPage, do: str) -> HttpResponse:
    """Lead to where a button led that does not hand the page in: back, or here again.

    One of a language shows the page in it, with what was just saved.
    """
    if do.startswith(IN_LANGUAGE):
        switch(visit.submission, do.removeprefix(IN_LANGUAGE))
    number = found.number - 1 if do == "back" and found.number > 1 else found.number
    response = redirect("worker:page", visit.place, number)
    if do == "save":
        response["Location"] += "?saved=yes"
    return not_kept(response)


def _use(request: HttpRequest, visit: Visit, fields: list[Field]) -> None:
    """Put the text that was chosen in the place of the one in the box, which is kept beside."""
    for one in fields:
        key = whole_number(request.POST.get(one.keep_name, ""))
        if key is None:
            continue
        other = OtherText.objects.filter(
            pk=key,
            response__submission=visit.submission,
            response__question=one.question,
            settled_at=None,
        ).first()
        if other is not None:
            saved = drafts.exchange(other)
            one.text, one.revision = saved.text, saved.revision
            one.errors = []
            if len(one.text) > one.most:
                one.errors.append(FieldError.too_long(one.text, one.most))


def _fields(visit: Visit, found: AnswerPage) -> list[Field]:
    asked = [one.question_id for one in found.assignments]
    stored = drafts.stored_of(visit.submission, asked)
    first = found.assignments[0].position
    fields = []
    are_counted = signals.are_counted(visit.submission)
    for one in found.assignments:
        made = Field(one, one.position - first + 1, longest(visit.collection, one.question))
        made.stored = stored.get(one.question_id)
        made.counts = are_counted
        if made.stored is not None:
            made.text, made.revision = made.stored.text, made.stored.revision
            made.counts &= signals.can_go_on(made.stored)
        if len(made.text) > made.most:
            made.errors.append(FieldError.too_long(made.text, made.most))
        fields.append(made)
    if any(drafts.has_others(one) for one in stored.values()):
        _add_others(visit, fields)
    return fields


def _add_others(visit: Visit, fields: list[Field]) -> None:
    others = OtherText.objects.filter(
        response__submission=visit.submission,
        response__question__in=[one.question.pk for one in fields],
        settled_at=None,
    ).select_related("response")
    kept: dict[int, list[OtherText]] = {}
    for other in others.order_by("pk"):
        kept.setdefault(other.response.question_id, []).append(other)
    for one in fields:
        one.others = [other for other in kept.get(one.question.pk, ()) if other.text != one.text]


def _show(
    request: HttpRequest,
    visit: Visit,
    found: AnswerPage,
    fields: list[Field],
    *,
    foreign: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    passage = None if visit.way.is_recall() else found.passage
    context = {
        "progress": progress(visit.way, found),
        "page": found,
        "passage": passage,
        "fields": fields,
        "errors": [one for one in fields if one.errors],
        "some_empty": status == 400 and any(not one.text for one in fields),
        "foreign": [text for text in foreign if text],
        "has_foreign": bool(foreign),
        "counts": any(one.counts for one in fields),
        "was_saved": request.method != "POST" and "saved" in request.GET,
        "place": visit.place,
    }
    return shown(request, "questions.html", visit.collection, context, status=status)

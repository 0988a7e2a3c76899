"""One submission at the payment desk: what speaks for each decision, the decision, the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods

from annotations.exchange.prolific import CATEGORIES, LEAST_MESSAGE, LONGEST_MESSAGE, REJECT
from annotations.ledger import appealing, deciding
from annotations.models import Decision, QuestionSetVersion
from evaluation.paying.evidence import Evidence
from evaluation.paying.scope import paid_version
from evaluation.reports.facts import contradictions_of
from evaluation.reports.paying.people import Desk, PayRow
from evaluation.site.meanwhile import meanwhile, seen
from evaluation.site.paying.frame import frame
from evaluation.words.paying import draft

SAID = {
    "approve": "Approved. No panel was told yet.",
    "reject": "Rejected. Who answered here reads it on their own page; no panel was told yet.",
    "open": "Undecided again.",
    "answer-approve": "Answered, and approved. No panel was told yet.",
    "answer-stays": "Answered. It stays rejected.",
    "note-appeal": "Noted. You can answer it now.",
}
ANSWERS = {"answer-approve": True, "answer-stays": False}
"""What an answer to an appeal does, and whether it approves."""
NOTE = "note-appeal"


class Problem(NamedTuple):
    """Why nothing was done, above the page; `code` says which of the reasons it is."""

    code: str
    sentence: str


class RejectForm(forms.Form):
    """Why work is refused; what will not do `annotations.ledger.deciding` says, field by field."""

    category = forms.ChoiceField(label="Reason, as the panel calls it", widget=forms.RadioSelect)
    reason = forms.CharField(
        label="What the worker reads",
        widget=forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
        help_text=f"{LEAST_MESSAGE} to {LONGEST_MESSAGE:,} characters: what was wrong, in words "
        "that they can answer to.",
    )

    def __init__(self, offered: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["category"]
        field.choices = [
            *((code, f"{CATEGORIES[code]}: there is evidence") for code in offered),
            *((code, words) for code, words in CATEGORIES.items() if code not in offered),
        ]


class AnswerForm(forms.Form):
    """What is answered to an appeal."""

    answer = forms.CharField(
        label="Your answer, which they read",
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        max_length=appealing.LONGEST,
        help_text=f"At most {appealing.LONGEST:,} characters.",
    )


class NoteForm(forms.Form):
    """What a worker without a page here wrote elsewhere."""

    written = forms.CharField(
        label="What they wrote, word for word",
        widget=forms.Textarea(attrs={"rows": 5, "dir": "auto"}),
        max_length=appealing.LONGEST,
        help_text=f"At most {appealing.LONGEST:,} characters, kept as it is.",
    )


@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, set_id: UUID, submission_id: UUID) -> HttpResponse:
    """Show one submission with its evidence; what is posted is decided."""
    version = paid_version(request, set_id)
    row = _row(version, submission_id)
    if request.method != "POST":
        return _page(request, row)
    kind = request.POST.get("do", "")
    if kind in ANSWERS:
        return _answered(request, row, kind)
    if kind == NOTE:
        return _noted(request, row)
    values = {name: request.POST.get(name, "") for name in ("category", "reason")}
    values = values if kind == REJECT else {}
    try:
        kept = deciding.decide(row.submission, request.user, kind, **values, seen=seen(request))
    except deciding.DecisionError as error:
        return _refused(request, row, error, values)
    except deciding.WithdrawnError as error:
        problem = Problem("withdrawn", f"{error}: nothing was decided.")
        return _page(request, row, problem=problem, status=409)
    except deciding.DecidedMeanwhileError as error:
        problem = _decided(request, error)
        given = values if kind == REJECT else None
        return _page(request, _row(version, submission_id), given, problem=problem, status=409)
    messages.success(request, f"{row.name}: {SAID[kept.kind]}", f"decision_{kept.kind}")
    return redirect(request.get_full_path())


def _answered(request: HttpRequest, row: PayRow, do: str) -> HttpResponse:
    """Keep the answer to an appeal, once, with the decision that it makes."""
    if row.appeal is None:
        problem = Problem("nothing_written", "They wrote nothing to answer to.")
        return _page(request, row, problem=problem, status=409)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _page(request, row, answer_form=form, status=400)
    try:
        text = form.cleaned_data["answer"]
        appealing.answer(row.appeal, request.user, text, approve=ANSWERS[do])
    except deciding.WithdrawnError as error:
        problem = Problem("withdrawn", f"{error}: nothing was sent.")
    except deciding.DecidedMeanwhileError as error:
        problem = _decided(request, error)
    except appealing.AppealError:
        said = "Somebody answered meanwhile, and one answer is given. Yours was not sent."
        problem = Problem("answered_meanwhile", said)
    else:
        messages.success(request, f"{row.name}: {SAID[do]}", do.replace("-", "_"))
        return redirect(request.get_full_path())
    now = _row(row.submission.version, row.submission.public_id)
    return _page(request, now, problem=problem, unsent=form.cleaned_data["answer"], status=409)


def _noted(request: HttpRequest, row: PayRow) -> HttpResponse:
    """Keep what somebody wrote elsewhere against their rejection, once."""
    form = NoteForm(request.POST)
    if not form.is_valid():
        return _page(request, row, note_form=form, status=400)
    try:
        appealing.appeal(row.submission, form.cleaned_data["written"], request.user)
    except deciding.WithdrawnError as error:
        problem = Problem("withdrawn", f"{error}: nothing was noted.")
    except appealing.AppealError as error:
        said = f"{appealing.NOT_NOTED[error.code]} Nothing was noted."
        problem = Problem(error.code, said)
    else:
        messages.success(request, f"{row.name}: {SAID[NOTE]}", "note_appeal")
        return redirect(f"{request.get_full_path()}#appeal")
    now = _row(row.submission.version, row.submission.public_id)
    return _page(request, now, problem=problem, unsent=form.cleaned_data["written"], status=409)


def _decided(request: HttpRequest, error: deciding.DecidedMeanwhileError) -> Problem:
    """Return that somebody decided since the page was opened."""
    newest = error.newest
    return Problem("decided_meanwhile", meanwhile(newest, request.user, newest.get_kind_display()))


def _row(version: QuestionSetVersion, submission_id: UUID) -> PayRow:
    of = Desk(version)
    found = of.people().filter(public_id=submission_id).first()
    if found is None:
        raise Http404("there is no such submission")
    return of.rows([found], in_full=True)[0]


def _refused(
    request: HttpRequest, row: PayRow, error: deciding.DecisionError, values: Mapping[str, str]
) -> HttpResponse:
    """Return the page with what was posted, and what is wrong beside its field."""
    form = RejectForm(row.suggestion.categories, values)
    form.is_valid()
    problem = None
    for field, why, remedy, _ in error.wrong:
        if field in form.fields:
            form.errors.pop(field, None)
            form.add_error(field, f"{capfirst(why)}. {remedy}")
        else:
            problem = Problem(field, f"{capfirst(why)}. {remedy}")
    is_rejecting = bool(form.errors)
    return _page(request, row, form=form if is_rejecting else None, problem=problem, status=400)


def _page(
    request: HttpRequest,
    row: PayRow,
    given: Mapping[str, str] | None = None,
    *,
    form: RejectForm | None = None,
    answer_form: AnswerForm | None = None,
    note_form: NoteForm | None = None,
    problem: Problem | None = None,
    unsent: str = "",
    status: int = 200,
) -> HttpResponse:
    """Return the page; `problem` is why nothing was done, `unsent` a text that has no form now."""
    submission = row.submission
    version = submission.version
    run = Desk(version).run
    drafts = _drafts(row)
    history = list(
        Decision.objects.filter(submission=submission).select_related("decided_by").order_by("-pk")
    )
    offered = row.suggestion.categories
    first = next(iter(offered), "")
    initial = given or {"category": first, "reason": drafts.get(first, "")}
    context = frame(version, row.name) | {
        "row": row,
        "run": run if row.score is not None else None,
        "contradictions": contradictions_of(run, "worker", submission.worker.public_id)
        if run and row.score
        else [],
        "history": history,
        "seen": history[0].public_id if history else "",
        "form": form or RejectForm(offered, initial=initial),
        "is_rejecting": form is not None or given is not None or request.GET.get("do") == REJECT,
        "drafts": [(CATEGORIES[code], text) for code, text in drafts.items() if code != first],
        "answer_form": answer_form or AnswerForm(),
        "note_form": note_form or NoteForm(),
        "problem": problem,
        "unsent": unsent,
        "signals": row.signals,
    }
    return TemplateResponse(request, "evaluation/paying/person.html", context, status=status)


def _drafts(row: PayRow) -> dict[str, str]:
    """Return what the worker could read, by category: of those that there is evidence for."""
    found = {}
    for category in row.suggestion.categories:
        of: list[Evidence] = [
            one for one in row.evidence if one.category == category and one.offered
        ]
        checks = [check for one in of for check in one.checks]
        said = [(one.said.code, one.said.values) for one in of]
        found[category] = draft(category, said, checks)
    return found


def person_link(version: QuestionSetVersion, submission: UUID) -> str:
    """Return the address of a submission at the desk."""
    link = reverse("admin:paying-person", args=[version.question_set.public_id, submission])
    return link + str(frame(version, "")["kept"])

"""The last pages: everything looked through, thanks with the code, what the data is for, going."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotations.answering import assistive, devices, finishing, signals
from annotations.answering.languages import among
from annotations.answering.places import keep_place
from annotations.answering.refused import AnsweringError
from annotations.answering.way import PAGE, REVIEW, Step
from annotations.answering.wording import wording
from annotations.ledger.appealing import standing_of
from annotations.models import Consent, Submission
from annotations.worker_pages.entering import ASSISTIVE, UNCOUNTED
from annotations.worker_pages.outcomes import outcome
from annotations.worker_pages.progress import progress
from annotations.worker_pages.showing import not_kept, shown, way_back
from annotations.worker_pages.visit import Visit, answering, ended, own


@answering
def review(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show everything once more, with a way to each page; the form hands it in for good."""
    if request.method == "POST":
        return _submitted(request, visit)
    step = visit.way.next_step()
    if step.kind != REVIEW:
        return visit.to(step)
    unfinished = finishing.unfinished_page(visit.way)
    if unfinished is not None:
        return visit.to(Step(PAGE, unfinished))
    texts = dict(visit.submission.responses.values_list("question_id", "text"))
    pages = [
        (
            page,
            [
                (one.question, one.question.read_as(texts.get(one.question_id, "")))
                for one in page.assignments
            ],
            reverse("worker:page", args=[visit.place, page.number]),
        )
        for page in visit.way.pages
        if not page.is_practice
    ]
    context = {"progress": progress(visit.way), "pages": pages, "place": visit.place}
    return shown(request, "review.html", visit.collection, context)


@own
def thanks(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Thank who has handed in, with the code of the panel; it is shown again at any time."""
    submission, collection = visit.submission, visit.collection
    if submission.state != Submission.State.SUBMITTED:
        return not_kept(redirect("worker:go-on", visit.place))
    if submission.source == Submission.Source.IMPORTED:
        return outcome(request, "excluded", collection)
    code = submission.code or collection.code_done
    context = {
        "code": code,
        "way_back": way_back(collection, code),
        "place": visit.place,
        "standing": standing_of(submission),
        "failed_checks": submission.failed_checks,
    }
    return shown(request, "thanks.html", collection, context)


@own
def data(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Say what the answers are used for, and show once more what was agreed to.

    A form says whether to count how the answers come about, another whether assistive technology
    is used; they do so also after the end.
    """
    submission = visit.submission
    if request.method == "POST":
        response = redirect("worker:data", visit.place)
        if request.POST.get("do") == ASSISTIVE:
            assistive.note(submission, used=ASSISTIVE in request.POST)
            response["Location"] += f"?set={ASSISTIVE}#{ASSISTIVE}"
        else:
            signals.switch(submission, off=UNCOUNTED in request.POST)
            response["Location"] += "?set=yes#counting"
        return not_kept(response)
    version = submission.version
    agreed = Consent.objects.filter(submission=submission).values_list("language", flat=True)
    now = wording.before(version, submission.language)
    agreed_in = among(version, agreed.first() or "") or version.spoken
    context = {
        "before": replace(now, consent=wording.before(version, agreed_in).consent),
        "place": visit.place,
        "is_uncounted": submission.signals_off,
        "counted": signals.counted(submission),
        "was_set": request.GET.get("set") == "yes",
        "can_say": submission.withdrawn_at is None
        and submission.source == Submission.Source.COLLECTED,
        "is_assistive": submission.assistive,
        "was_said": request.GET.get("set") == ASSISTIVE,
        "device": submission.device,
        "standing": standing_of(submission) if submission.withdrawn_at is None else None,
    }
    return shown(request, "data.html", visit.collection, context)


@own
def withdraw(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask whether everything is to be deleted; the form does it, also long after the end."""
    collection = visit.collection
    if visit.submission.withdrawn_at is not None:
        return outcome(request, "withdrawn", collection, status=200)
    if visit.submission.source == Submission.Source.IMPORTED:
        return outcome(request, "excluded", collection)
    is_sure = request.method == "POST" and "sure" in request.POST
    if is_sure:
        finishing.withdraw(visit.submission)
        return outcome(request, "withdrawn", collection, status=200)
    context = {
        "place": visit.place,
        "is_unticked": request.method == "POST",
        "is_done": visit.submission.state == Submission.State.SUBMITTED,
    }
    status = 400 if request.method == "POST" else 200
    return shown(request, "withdraw.html", collection, context, status=status)


def _submitted(request: HttpRequest, visit: Visit) -> HttpResponse:
    keep_place(visit.submission)
    try:
        finishing.submit(visit.submission, devices.kind_of(request.headers))
    except AnsweringError as error:
        if error.code != "not_yet":
            return ended(request, visit, error.code)
        unfinished = finishing.unfinished_page(visit.way)
        step = visit.way.next_step()
        return visit.to(
            step if unfinished is None or step.kind != REVIEW else Step(PAGE, unfinished)
        )
    return not_kept(redirect("worker:thanks", visit.place))

"""Last pages for a worker: review, thanks with the panel's code, use of the data, withdrawal."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from annotations.answering import assistive, devices, finishing, signals
from annotations.answering.errors import AnsweringError
from annotations.answering.languages import find_language
from annotations.answering.places import extend_reservation
from annotations.answering.progress import PAGE, REVIEW, NextStep
from annotations.answering.wording import wording
from annotations.ledger.appeals import find_newest_rejection
from annotations.models import Consent, Submission
from annotations.worker_pages.consent import ASSISTIVE_FIELD, UNCOUNTED_FIELD
from annotations.worker_pages.outcomes import render_end_page
from annotations.worker_pages.progress import summarize_progress
from annotations.worker_pages.rendering import build_return_url, disable_caching, render_worker_page
from annotations.worker_pages.visit import (
    Visit,
    render_ended_submission,
    require_open_submission,
    require_submission,
)


@require_open_submission
def show_answer_review(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show all answers, with links to change them; POST submits them for good."""
    if request.method == "POST":
        return _submit_answers(request, visit)
    step = visit.progress.find_next_step()
    if step.kind != REVIEW:
        return visit.redirect_to_step(step)
    unfinished = finishing.find_unfinished_page(visit.progress)
    if unfinished is not None:
        return visit.redirect_to_step(NextStep(PAGE, unfinished))
    texts = dict(visit.submission.responses.values_list("question_id", "text"))
    pages = [
        (
            page,
            [
                (row.question, row.question.format_answer(texts.get(row.question_id, "")))
                for row in page.assignments
            ],
            reverse("worker:page", args=[visit.token, page.number]),
        )
        for page in visit.progress.pages
        if not page.is_practice
    ]
    context = {"progress": summarize_progress(visit.progress), "pages": pages, "place": visit.token}
    return render_worker_page(request, "review.html", visit.collection, context)


@require_submission
def show_thanks(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show the thanks page with the panel's completion code to a worker who submitted."""
    submission, collection = visit.submission, visit.collection
    if submission.state != Submission.State.SUBMITTED:
        return disable_caching(redirect("worker:go-on", visit.token))
    if submission.source == Submission.Source.IMPORTED:
        return render_end_page(request, "excluded", collection)
    code = submission.code or collection.code_done
    context = {
        "code": code,
        "way_back": build_return_url(collection, code),
        "place": visit.token,
        "standing": find_newest_rejection(submission),
        "failed_checks": submission.failed_checks,
    }
    return render_worker_page(request, "thanks.html", collection, context)


@require_submission
def show_data_use(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Show how the answers are used, and the consent text to which the worker agreed.

    One form turns the counting of writing signals on and off, another states the use of assistive
    technology. Both work after submission too.
    """
    submission = visit.submission
    if request.method == "POST":
        response = redirect("worker:data", visit.token)
        if request.POST.get("do") == ASSISTIVE_FIELD:
            assistive.record_assistive_use(submission, used=ASSISTIVE_FIELD in request.POST)
            response["Location"] += f"?set={ASSISTIVE_FIELD}#{ASSISTIVE_FIELD}"
        else:
            signals.switch_signal_counting(submission, off=UNCOUNTED_FIELD in request.POST)
            response["Location"] += "?set=yes#counting"
        return disable_caching(response)
    version = submission.version
    agreed = Consent.objects.filter(submission=submission).values_list("language", flat=True)
    intro = wording.load_intro(version, submission.language)
    # The consent text stays in the language in which the worker agreed to it.
    agreed_in = find_language(version, agreed.first() or "") or version.text_language
    context = {
        "before": replace(intro, consent=wording.load_intro(version, agreed_in).consent),
        "place": visit.token,
        "is_uncounted": submission.signals_off,
        "counted": signals.load_signal_totals(submission),
        "was_set": request.GET.get("set") == "yes",
        "can_state": submission.withdrawn_at is None
        and submission.source == Submission.Source.COLLECTED,
        "is_assistive": submission.assistive,
        "was_stated": request.GET.get("set") == ASSISTIVE_FIELD,
        "device": submission.device,
        "standing": find_newest_rejection(submission) if submission.withdrawn_at is None else None,
    }
    return render_worker_page(request, "data.html", visit.collection, context)


@require_submission
def withdraw_answers(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Ask the worker to confirm the deletion of all answers; POST deletes them."""
    collection = visit.collection
    if visit.submission.withdrawn_at is not None:
        return render_end_page(request, "withdrawn", collection, status=200)
    if visit.submission.source == Submission.Source.IMPORTED:
        return render_end_page(request, "excluded", collection)
    is_sure = request.method == "POST" and "sure" in request.POST
    if is_sure:
        finishing.withdraw_answers(visit.submission)
        return render_end_page(request, "withdrawn", collection, status=200)
    context = {
        "place": visit.token,
        "is_unticked": request.method == "POST",
        "is_done": visit.submission.state == Submission.State.SUBMITTED,
    }
    status = 400 if request.method == "POST" else 200
    return render_worker_page(request, "withdraw.html", collection, context, status=status)


def _submit_answers(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Submit all answers; redirect to the thanks page, or to the first unfinished page."""
    extend_reservation(visit.submission)
    try:
        finishing.submit_answers(visit.submission, devices.detect_device(request.headers))
    except AnsweringError as error:
        if error.code != "not_yet":
            return render_ended_submission(request, visit, error.code)
        unfinished = finishing.find_unfinished_page(visit.progress)
        step = visit.progress.find_next_step()
        return visit.redirect_to_step(
            step if unfinished is None or step.kind != REVIEW else NextStep(PAGE, unfinished)
        )
    return disable_caching(redirect("worker:thanks", visit.token))

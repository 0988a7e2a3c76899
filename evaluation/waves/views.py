"""Pages: start a further wave, link a question set to an earlier wave, compare two waves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst

from annotations.answering.waves import (
    QuestionMatch,
    WaveError,
    find_link_error,
    find_version_to_repeat,
    list_linkable_sets,
    match_questions,
    remove_wave_link,
    suggest_wave_name,
)
from annotations.models import QuestionSet, rights
from annotations.web.pages import build_breadcrumbs
from annotations.web.query import parse_public_id
from annotations.web.scope import get_editable_set_with_answers
from evaluation.grading.results.pages import grading_page
from evaluation.models import LLMResponse, Run
from evaluation.runs.result_pages import Context
from evaluation.waves import storage
from evaluation.waves.report.comparison import (
    WavesReport,
    build_waves_report,
    describe_earlier_runs,
    list_earlier_runs,
)

IDS_SHOWN = 12
"""Question ids that the page lists for each kind of match."""


class WaveForm(forms.Form):
    """Form of a new wave: its name, and which workers it asks."""

    name = forms.CharField(max_length=200, label="Name of the new wave")
    people = forms.ChoiceField(
        choices=QuestionSet.WavePeople.choices,
        initial=QuestionSet.WavePeople.SAME,
        widget=forms.RadioSelect,
        label="Who is asked",
        help_text="It holds when the wave is published, and can be changed there.",
    )
    with_models = forms.BooleanField(
        required=False,
        label="Take the answers of language models along",
        help_text="They are graded again, against the people of the new wave. You can ask the "
        "models anew as well.",
    )


def show_new_wave(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the form of a new wave; a POST creates the wave."""
    question_set = get_editable_set_with_answers(request, set_id)
    version = find_version_to_repeat(question_set)
    has_models = LLMResponse.objects.filter(question__version=version).exists()
    form = WaveForm(request.POST or None, initial={"name": suggest_wave_name(question_set)})
    if not has_models:
        # Nothing to copy: the choice would have no effect.
        del form.fields["with_models"]
    if request.method == "POST" and form.is_valid():
        values: dict[str, Any] = {"with_models": False} | form.cleaned_data
        try:
            new_wave = storage.create_wave(question_set, **values)
        except WaveError as error:
            field = error.field if error.field in form.fields else None
            form.add_error(field, ValidationError(f"{capfirst(str(error))}.", error.code))
        else:
            messages.success(
                request,
                "The new wave is ready. Review its questions, then publish it. It collects no "
                "answers before that.",
            )
            return redirect("admin:question-set", new_wave.question_set.public_id)
    context = {
        "title": "Ask again: a new wave",
        "subtitle": question_set.name,
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "n_questions": version.questions.count() if version else 0,
        "form": form,
    }
    return TemplateResponse(
        request, "evaluation/waves/new.html", context, status=400 if form.errors else 200
    )


class LinkForm(forms.Form):
    """Form to link an earlier wave, with the option to copy model replies."""

    earlier: forms.ModelChoiceField[QuestionSet] = forms.ModelChoiceField(
        QuestionSet.objects.none(),
        to_field_name="public_id",
        label="The wave before",
        empty_label=None,
        error_messages={"invalid_choice": "Choose one of the sets."},
    )
    with_models = forms.BooleanField(
        required=False,
        label="Take the answers of language models along",
        help_text="Those to questions of the same text are copied and graded again, against the "
        "people of this set; no model is asked, and what is here already stays.",
    )

    def __init__(self, earlier: QuerySet[QuestionSet], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["earlier"]
        field.queryset = earlier


def show_wave_link(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show how a question set matches another one; a POST links, unlinks or copies replies.

    Values of `do` in a POST: "match" (preview), "link", "unlink" and "replies".
    """
    question_set = get_editable_set_with_answers(request, set_id)
    action = request.POST.get("do") if request.method == "POST" else None
    error = None
    try:
        if action == "unlink":
            earlier_name = storage.load_earlier_wave(request, question_set)
            remove_wave_link(question_set)
            label = f"“{earlier_name}”" if earlier_name else "Another set"
            messages.success(request, f"{label} is not the wave before any more.")
            return redirect("admin:link-wave", set_id)
        if action == "replies":
            _report_copied_replies(request, storage.copy_visible_replies(request, question_set))
            return redirect("admin:link-wave", set_id)
    except WaveError as wave_error:
        error = str(wave_error)
    candidates = list_linkable_sets(request.user, question_set).filter(archived_at=None)
    form = LinkForm(candidates, request.POST if action in {"match", "link"} else None)
    chosen: QuestionSet | None = None
    if form.is_bound and form.is_valid():
        chosen = form.cleaned_data["earlier"]
        try:
            if action == "link":
                return _link_and_redirect(request, question_set, form)
            if (problem := find_link_error(question_set, chosen)) is not None:
                raise problem
        except WaveError as wave_error:
            chosen = None
            # Another user may have linked it meanwhile. A linked question set has no form, so the
            # error then belongs to the page.
            question_set.refresh_from_db(fields=["earlier_wave"])
            if question_set.earlier_wave_id is None:
                sentence = f"{capfirst(str(wave_error))}."
                form.add_error("earlier", ValidationError(sentence, wave_error.code))
            else:
                error = str(wave_error)
    earlier = storage.load_earlier_wave(request, question_set)
    matched_set = chosen or earlier
    # Only users who see the answers of a set can choose it, so a chosen set needs no check.
    source_set = chosen or storage.keep_if_readable(request, earlier)
    context = {
        "title": "The wave before",
        "subtitle": question_set.name,
        "breadcrumbs": build_breadcrumbs(question_set),
        "notice": question_set.notice,
        "question_set": question_set,
        "is_linked": question_set.earlier_wave_id is not None,
        "earlier": earlier,
        "error": capfirst(error) if error else "",
        "form": form,
        "has_others": candidates.exists(),
        "chosen": chosen,
        "match": _summarize_match(match_questions(question_set, matched_set))
        if matched_set
        else None,
        "replies": storage.select_replies_to_copy(question_set, source_set)[1]
        if source_set
        else None,
    }
    has_error = bool(form.errors or error)
    return TemplateResponse(
        request, "evaluation/waves/link.html", context, status=400 if has_error else 200
    )


def _link_and_redirect(
    request: HttpRequest, question_set: QuestionSet, form: LinkForm
) -> HttpResponse:
    """Link the waves, report the copied replies, and redirect to the page of the link."""
    earlier = form.cleaned_data["earlier"]
    with_models = form.cleaned_data["with_models"]
    _, replies = storage.link_and_copy_replies(question_set, earlier, with_models=with_models)
    messages.success(
        request,
        f"This set is a later wave of “{earlier}” now. Once both are graded, “Compare with an "
        "earlier wave” under “More” of the results shows the changes.",
    )
    if with_models:
        _report_copied_replies(request, replies)
    return redirect("admin:link-wave", question_set.public_id)


def _report_copied_replies(request: HttpRequest, replies: storage.CopyCounts) -> None:
    """Add a page message with the number of copied replies and of their models."""
    if replies.n_replies:
        answers = "1 answer" if replies.n_replies == 1 else f"{replies.n_replies:,} answers"
        models = "1 model" if replies.n_models == 1 else f"{replies.n_models:,} models"
        sentence = f"{answers} of {models} copied. Grade this set to see their scores."
        messages.success(request, sentence)
    else:
        messages.info(request, "No answer of a model was left to take along.")


def _summarize_match(match: QuestionMatch) -> dict[str, Any]:
    """Return the template context of a question match: counts, and first ids of each kind."""
    kinds = [
        (
            "other_text",
            match.other_text,
            "with another text",
            "a comparison takes them for the same question",
        ),
        ("only_later", match.only_later, "only in this set", "left out of the comparison"),
        ("only_earlier", match.only_earlier, "only in the other set", "left out of the comparison"),
    ]
    return {
        "n_common": match.n_common,
        "n_same": len(match.same),
        "parts": [
            {"code": code, "n": len(ids), "what": label, "so": consequence, "ids": ids[:IDS_SHOWN]}
            for code, ids, label, consequence in kinds
            if ids
        ],
    }


MAX_LISTED = 12
"""Workers, and questions, that the page lists; the files list all."""


@grading_page("evaluation/waves/comparison.html")
def show_wave_comparison(request: HttpRequest, run: Run) -> Context:
    """Return the page context: retest agreement of workers, moved answers, models in both waves.

    `with` in the query is the public id of an earlier run; the default is the official one.
    """
    runs = list_earlier_runs(request, run)
    earlier_run = _choose_earlier_run(request, runs)
    report = build_waves_report(earlier_run, run) if earlier_run else None
    question_set = run.version.question_set
    return {
        "title": f"{question_set.name} and the wave before",
        "may_link": rights(request.user, question_set).edit,
        "link_address": reverse("admin:link-wave", args=[question_set.public_id]),
        "runs": describe_earlier_runs(runs),
        "other": earlier_run,
        "report": report,
        "shown": f":{MAX_LISTED}",
        "more_people": report is not None and len(report.people.workers) > MAX_LISTED,
        "more_questions": report is not None and len(report.questions) > MAX_LISTED,
    }


def load_waves_report_or_404(request: HttpRequest, run: Run) -> WavesReport:
    """Return the comparison with an earlier wave; raise Http404 without a graded one."""
    earlier_run = _choose_earlier_run(request, list_earlier_runs(request, run))
    if earlier_run is None:
        raise Http404("an earlier wave with results is needed")
    return build_waves_report(earlier_run, run)


def _choose_earlier_run(request: HttpRequest, runs: list[Run]) -> Run | None:
    """Return the earlier run that the query names, else the first or None; 404 if unknown."""
    run_id = parse_public_id(request.GET, "with", blank=True)
    if run_id is None:
        return runs[0] if runs else None
    for run in runs:
        if run.public_id == run_id:
            return run
    raise Http404("no such run of an earlier wave")

"""Page of the admission rule of a collection."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse

from annotations.models import Collection, QuestionSet
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable_set_with_answers, select_visible
from evaluation.admission import storage as recruiting
from evaluation.models import ScoreRule


class AdmissionRuleForm(forms.Form):
    """Form of an admission rule: earlier set, compared number and minimum."""

    earlier: forms.ModelChoiceField[QuestionSet] = forms.ModelChoiceField(
        QuestionSet.objects.none(), label="Earlier question set", empty_label=None
    )
    score = forms.ChoiceField(
        choices=ScoreRule.Score.choices,
        initial=ScoreRule.Score.RAW,
        required=False,
        label="Compare people by",
        help_text="Question contrast pays nothing for text that fits every question.",
    )
    end = forms.ChoiceField(
        choices=ScoreRule.End.choices,
        initial=ScoreRule.End.LOW,
        label="What has to reach it",
        help_text="The lower end admits workers who reach the score beyond chance. The upper "
        "end refuses only workers who are below it beyond chance.",
    )
    at_least = forms.FloatField(
        min_value=-1_000,
        max_value=1_000,
        label="At least",
        help_text="On the scale of the scores of that set, as its table of workers shows them.",
    )

    def __init__(self, earlier: QuerySet[QuestionSet], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["earlier"]
        field.queryset = earlier
        # Browsers refuse decimals in a number field whose step is 1.
        self.fields["at_least"].widget.attrs["step"] = "any"

    def clean_score(self) -> str:
        """Return the chosen score, the raw score by default."""
        return self.cleaned_data["score"] or ScoreRule.Score.RAW.value


def show_admission(request: HttpRequest, set_id: UUID) -> HttpResponse:
    """Show the admission rule and the effect of another one; POST stores or deletes it."""
    question_set = get_editable_set_with_answers(request, set_id)
    collection = (
        Collection.objects.filter(version__question_set=question_set)
        .select_related("version__question_set")
        .order_by("-version__number")
        .first()
    )
    if collection is None:
        raise Http404("it is not published to workers")
    rule = ScoreRule.objects.filter(collection=collection).select_related("earlier", "run").first()
    if request.method == "POST" and request.POST.get("do") == "drop":
        recruiting.delete_rule(collection)
        messages.success(request, "Scores no longer decide who is admitted.")
        return redirect("admin:collecting-admission", set_id)
    earlier = recruiting.select_earlier_sets(request, question_set)
    initial = (
        {name: getattr(rule, name) for name in ("earlier", "end", "at_least", "score")}
        if rule
        else None
    )
    form = AdmissionRuleForm(earlier, request.POST or None, initial=initial)
    counted = None
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        if request.POST.get("do") == "save":
            rule = recruiting.store_rule(collection, **values)
            messages.success(
                request,
                f"Saved. {rule.n_admitted:,} admitted now by their score; the list follows the "
                "grading that counts for that set.",
            )
            return redirect("admin:collecting-admission", set_id)
        counted = recruiting.find_admitted_workers(collection, **values)
    context = {
        "title": "Admit by score",
        "subtitle": question_set.name,
        "breadcrumbs": [
            *build_breadcrumbs(question_set),
            ("People answer", reverse("admin:collecting", args=[set_id])),
        ],
        "notice": question_set.notice,
        "question_set": question_set,
        "collection": collection,
        "rule": rule,
        # Another editor may have chosen an earlier set that this user may not see.
        "sees_earlier": rule is not None
        and select_visible(request, QuestionSet.objects.filter(pk=rule.earlier_id)).exists(),
        "form": form,
        "has_earlier": earlier.exists(),
        "counted": counted,
        "n_by_hand": collection.admissions.filter(by_score=False).count(),
    }
    return TemplateResponse(
        request, "evaluation/admission.html", context, status=400 if form.errors else 200
    )

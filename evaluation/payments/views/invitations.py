"""Page to invite the best workers again: count those above a threshold, and send their ids."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.views.decorators.http import require_GET

from annotations.exchange.writing.formats import write_lines
from annotations.models import QuestionSetVersion
from annotations.panels.groups import load_groups
from annotations.web.downloads import build_file_name, download
from evaluation.payments.storage.invitations import (
    ENDS,
    MOST,
    Invited,
    ScoreThreshold,
    list_panels,
    select_invited,
)
from evaluation.payments.storage.rules import SCORE, RuleError
from evaluation.payments.storage.scope import get_payable_version
from evaluation.payments.views.worker_list import build_frame
from evaluation.runs.raw_scores import CONTRAST, RAW, SCORES, run_of, scores_of, spread_of

MAX_LISTED = 100
"""Workers that the page lists by name."""


class LineForm(forms.Form):
    """Form of the score threshold, with a panel choice if workers came from several."""

    score = forms.ChoiceField(
        label="Compare people by",
        choices=[(name, capfirst(label)) for name, label in SCORES.items()],
        required=False,
        help_text="Question contrast pays nothing for text that fits every question.",
    )
    at_least = forms.FloatField(label="Least score", min_value=-MOST, max_value=MOST)
    end = forms.ChoiceField(
        label="What has to reach it",
        choices=list(ENDS.items()),
        required=False,
        help_text="The lower end asks that somebody is that good beyond chance.",
    )
    panel = forms.ChoiceField(label="Ids of which panel")

    def __init__(self, panels: list[str], data: Any = None) -> None:
        super().__init__(data)
        self.fields["at_least"].widget.attrs["step"] = "any"
        if len(panels) < 2:
            del self.fields["panel"]
        else:
            panel_field: Any = self.fields["panel"]
            panel_field.choices = [(name, name) for name in panels]

    def build_threshold(self) -> ScoreThreshold:
        """Return the threshold of a valid form."""
        values = self.cleaned_data
        return ScoreThreshold(
            *(values["at_least"], values["end"] or SCORE, values.get("panel", "")),
            score=values["score"] or RAW,
        )


@require_GET
def show_invitation(request: HttpRequest, set_id: UUID) -> HttpResponse | StreamingHttpResponse:
    """Show how many workers reach a threshold; `take=list` in the query sends their ids."""
    version = get_payable_version(request, set_id)
    run = run_of(version)
    form = LineForm(list_panels(version), request.GET if "at_least" in request.GET else None)
    invited_workers = (
        _select_invited(version, form) if run is not None and form.is_valid() else None
    )
    # A GET may send the list, because it changes nothing and names no score.
    if invited_workers is not None and invited_workers.ids and request.GET.get("take") == "list":
        name = build_file_name(version.question_set.name, f"version {version.number}", "invite")
        return download(write_lines(invited_workers.ids), name, "txt")
    query = request.GET.copy()
    query["take"] = "list"
    context = build_frame(version, "Invite the best again") | {
        "run": run,
        "spread": spread_of(scores_of(run)),
        "spread_of_contrast": spread_of(scores_of(run, score=CONTRAST)),
        "form": form,
        "found": invited_workers,
        "named": invited_workers.ids[:MAX_LISTED] if invited_workers else [],
        "more": max(0, len(invited_workers.ids) - MAX_LISTED) if invited_workers else 0,
        "link": f"?{query.urlencode()}",
        "groups": load_groups(version.question_set),
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "evaluation/payments/invite.html", context, status=status)


def _select_invited(version: QuestionSetVersion, form: LineForm) -> Invited | None:
    """Return the workers who reach the threshold; None if invalid, with the error in the form."""
    try:
        return select_invited(version, form.build_threshold())
    except RuleError as error:
        sentence = str(error)
        form_error = forms.ValidationError(f"{capfirst(sentence)}.", error.code)
        form.add_error(error.field or None, form_error)
        return None

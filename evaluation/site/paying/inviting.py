"""Invite the best again: who reaches a score, counted first, and the list of their ids."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.utils.text import capfirst
from django.views.decorators.http import require_GET

from annotations.exchange.writing.formats import lines_chunks
from annotations.models import QuestionSetVersion
from annotations.panels.groups import groups_of
from annotations.web.downloads import download, file_name
from evaluation.paying.inviting import ENDS, MOST, Invited, Line, invited, panels_of
from evaluation.paying.rule_errors import RuleError
from evaluation.paying.rules import SCORE
from evaluation.paying.scope import paid_version
from evaluation.paying.scores import run_of, scores_of, spread_of
from evaluation.site.paying.frame import frame

NAMED = 100
"""People who are named; of the others their number is told."""


class LineForm(forms.Form):
    """What somebody has to reach; whose ids, where people came from several panels."""

    at_least = forms.FloatField(label="Least raw score", min_value=-MOST, max_value=MOST)
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
            choosing: Any = self.fields["panel"]
            choosing.choices = [(name, name) for name in panels]

    def line(self) -> Line:
        """Return the line of a form that is valid."""
        of = self.cleaned_data
        return Line(of["at_least"], of["end"] or SCORE, of.get("panel", ""))


@require_GET
def invite(request: HttpRequest, set_id: UUID) -> HttpResponse | StreamingHttpResponse:
    """Count who reaches the line in the address; with `take=list` send their ids, one a line."""
    version = paid_version(request, set_id)
    run = run_of(version)
    form = LineForm(panels_of(version), request.GET if "at_least" in request.GET else None)
    found = _found(version, form) if run is not None and form.is_valid() else None
    if found is not None and found.ids and request.GET.get("take") == "list":
        name = file_name(version.question_set.name, f"version {version.number}", "invite")
        return download(lines_chunks(found.ids), name, "txt")
    asked = request.GET.copy()
    asked["take"] = "list"
    context = frame(version, "Invite the best again") | {
        "run": run,
        "spread": spread_of(scores_of(run)),
        "form": form,
        "found": found,
        "named": found.ids[:NAMED] if found else [],
        "more": max(0, len(found.ids) - NAMED) if found else 0,
        "link": f"?{asked.urlencode()}",
        "groups": groups_of(version.question_set),
    }
    status = 400 if form.errors else 200
    return TemplateResponse(request, "evaluation/paying/invite.html", context, status=status)


def _found(version: QuestionSetVersion, form: LineForm) -> Invited | None:
    try:
        return invited(version, form.line())
    except RuleError as error:
        said = str(error)
        wrong = forms.ValidationError(f"{capfirst(said)}.", error.code)
        form.add_error(error.field or None, wrong)
        return None

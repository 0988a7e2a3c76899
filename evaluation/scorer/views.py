"""Page that previews the export of a run as a scorer, and the download of it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.template.response import TemplateResponse

from annotations.web.downloads import build_download_response
from evaluation.grading.results.pages import grading_file, grading_page
from evaluation.models import Run
from evaluation.runs.reports.about import build_run_file_name
from evaluation.runs.result_pages import Context
from evaluation.scorer.messages import LEFT_OUT, NO_FACTS
from evaluation.scorer.preview import build_preview
from evaluation.scorer.run import FEWEST_ANSWERS, NotExportableError, ScorerContent, ScorerOptions
from evaluation.scorer.storage import load_run_content, refuse_large_run
from evaluation.scorer.writing import (
    FORMATS,
    LONGEST_NAME,
    build_export_files,
    check_task_name,
    has_pyarrow,
    iterate_zip_chunks,
    make_task_name,
)

MOST_ANSWERS_REQUIRED = 1_000
LONGEST_BASIS = 2_000
FIELDS = {
    "pyarrow_missing": "formats",
    "no_question_to_export": "min_answers",
}
"""Field of the form that a refusal belongs to, by code."""


class ScorerForm(forms.Form):
    """Form of the options of an exported scorer."""

    formats = forms.MultipleChoiceField(
        label="Formats",
        choices=list(FORMATS.items()),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose a format."},
    )
    name = forms.CharField(
        label="Name of the task",
        max_length=LONGEST_NAME,
        help_text="Letters, digits, hyphens and underscores.",
    )
    min_answers = forms.IntegerField(
        label="Fewest answers of a question",
        min_value=1,
        max_value=MOST_ANSWERS_REQUIRED,
        help_text="Questions with fewer answers are left out: their exemplary answer would show "
        "one worker's.",
    )
    with_answers = forms.BooleanField(
        label="Include the consensus answers",
        required=False,
        help_text="Of each question the answer nearest to the exemplary one, in a worker's own "
        "words.",
    )
    consent_basis = forms.CharField(
        label="Why workers' answers may be published",
        required=False,
        max_length=LONGEST_BASIS,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Needed with the consensus answers; it is part of the dataset card.",
    )

    def clean_name(self) -> str:
        """Return the name; refuse one that tools could not use."""
        name: str = self.cleaned_data["name"]
        try:
            return check_task_name(name)
        except NotExportableError as error:
            raise forms.ValidationError(str(error), code=error.code) from error

    def clean(self) -> dict[str, Any]:
        """Refuse workers' answers without a basis in their consent."""
        values = super().clean() or {}
        if values.get("with_answers") and not values.get("consent_basis", "").strip():
            error = NotExportableError("consent_basis_missing")
            self.add_error("consent_basis", forms.ValidationError(str(error), code=error.code))
        return values

    def read_options(self) -> ScorerOptions:
        """Return the options that the valid form names."""
        values = self.cleaned_data
        return ScorerOptions(
            values["name"], values["min_answers"], values["with_answers"], values["consent_basis"]
        )


def _build_initial(run: Run) -> dict[str, Any]:
    """Return the form's initial values: a task name from the set, and the default options."""
    return {
        "formats": [name for name in FORMATS if name != "hf" or has_pyarrow()],
        "name": make_task_name(run.version.question_set.name),
        "min_answers": FEWEST_ANSWERS,
        "with_answers": False,
        "consent_basis": "",
    }


def _read_form(request: HttpRequest, run: Run) -> tuple[ScorerForm, ScorerContent | None, str]:
    """Return the form, the export's contents (None if refused), and a refusal of no field."""
    initial = _build_initial(run)
    form = ScorerForm(request.GET if request.GET else initial)
    if not form.is_valid():
        return form, None, ""
    try:
        refuse_large_run(run)
        return form, load_run_content(run, form.read_options()), ""
    except NotExportableError as error:
        field = FIELDS.get(error.code)
        if field is None:
            return form, None, str(error)
        form.add_error(field, str(error))
        return form, None, ""


@grading_page("evaluation/scorer/scorer.html")
def show_scorer(request: HttpRequest, run: Run) -> Context:
    """Show what the export of a run as a scorer contains, with the form of its options."""
    form, content, refusal = _read_form(request, run)
    preview = None if content is None else build_preview(content)
    return {
        "title": "Export as a scorer",
        "run": run,
        "form": form,
        "refusal": refusal,
        "preview": preview,
        "left_out": []
        if preview is None
        else [(out.questions, LEFT_OUT[out.reason]) for out in preview.left_out],
        "no_facts": "" if preview is None else NO_FACTS.get(preview.facts_reason, ""),
        "query": request.GET.urlencode(),
        "has_pyarrow": has_pyarrow(),
    }


def _send_export(request: HttpRequest, run: Run) -> HttpResponseBase:
    """Return the export as a ZIP file; if it cannot be built, the page with the problem."""
    form, content, refusal = _read_form(request, run)
    if content is not None:
        try:
            formats = form.cleaned_data["formats"]
            files = build_export_files(content, formats)
            return build_download_response(
                iterate_zip_chunks(files), build_run_file_name(run, "scorer"), "zip"
            )
        except NotExportableError as error:
            form.add_error(FIELDS.get(error.code), str(error))
    response = show_scorer(request, run=run.public_id)
    if isinstance(response, TemplateResponse) and response.context_data is not None:
        response.context_data |= {"form": form, "refusal": refusal}
        response.status_code = 400
    return response


send_scorer = grading_file(_send_export)

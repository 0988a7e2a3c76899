"""Page of an uploaded demographic export: who matches, and the roles of its columns."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.views.decorators.http import require_POST

from annotations.desk.mapping_form import MOST_SELECTORS, ColumnChoice, build_keep_ids_field
from annotations.desk.uploads import load_upload
from annotations.exchange.presets import Head, read_head
from annotations.exchange.presets.demographics import (
    DemographicMapping,
    DemographicRole,
    StatusRule,
)
from annotations.exchange.presets.table import SAMPLES
from annotations.exchange.reading.panel_statuses import is_withheld
from annotations.models import QuestionSet, Upload
from annotations.web.demographic_uploads import open_demographic_source, preview_demographic_join
from annotations.web.pages import build_breadcrumbs
from annotations.web.scope import get_editable, select_visible
from annotations.web.upload_kinds import DEMOGRAPHICS, KINDS
from annotations.web.uploads import import_upload

LABELS = {
    DemographicRole.WORKER: "Worker",
    DemographicRole.STATUS: "Status on Prolific",
    DemographicRole.EXTRA: "Extra information",
    DemographicRole.IGNORE: "Ignore",
}
ONCE = (DemographicRole.WORKER, DemographicRole.STATUS)
"""Roles that one column has at most."""
RULES = (
    (StatusRule.APPLY.value, "Leave their answers out of grades"),
    (StatusRule.KEEP.value, "Count their answers"),
)
MAX_WORKERS_SHOWN = 3
MAX_NAMES_SHOWN = 50


class DemographicsForm(forms.Form):
    """Form for the role of each column of a demographic export, and the rule for statuses.

    The rule says what happens with submissions that were not approved.

    `head` describes the columns of the file, `options` are those stored with the upload.
    """

    roles_help = (
        "Extra information is stored with the answers of each worker. Ignored columns are not "
        "stored. Cells that Prolific deleted are missing."
    )
    n_unselectable = 0
    statuses = forms.ChoiceField(
        label="Answers of workers whose submission was returned, timed out or rejected",
        required=False,
        choices=RULES,
        widget=forms.RadioSelect,
        help_text="Answers that are left out stay stored, flagged as rejected.",
    )
    keep_ids = build_keep_ids_field()

    def __init__(self, head: Head, options: dict[str, Any], data: Any = None) -> None:
        initial = {"statuses": options["statuses"], "keep_ids": options.get("keep_ids", False)}
        super().__init__(data, initial=initial)
        self._mapping = DemographicMapping.from_dict(options["mapping"])
        names = [name for name in dict.fromkeys(head.header) if name][:MOST_SELECTORS]
        self.columns = [
            ColumnChoice(self, number, name, "", _list_samples(head, name))
            for number, name in enumerate(names, 1)
        ]
        for column in self.columns:
            self.fields[f"role-{column.number}"] = forms.ChoiceField(
                label=f"Role of {column.name[:60]}",
                choices=[(role.value, label) for role, label in LABELS.items()],
                initial=self._mapping.get_role(column.name).value,
            )

    def clean(self) -> dict[str, Any]:
        """Return the form's values; refuse a missing worker column or a role used twice."""
        values = super().clean() or self.cleaned_data
        for role in ONCE:
            columns = self._list_columns_with_role(role)
            if len(columns) > 1:
                message = f"Choose the role {LABELS[role]} once, not for {' and '.join(columns)}."
                self.add_error(None, forms.ValidationError(message, code="role_twice"))
        if not self._list_columns_with_role(DemographicRole.WORKER):
            message = "Choose the role Worker for the column of Prolific's ids."
            self.add_error(None, forms.ValidationError(message, code="no_worker"))
        return values

    def _list_columns_with_role(self, role: DemographicRole) -> list[str]:
        """Return the names of the columns that have the role in the form."""
        values = self.cleaned_data
        return [
            column.name for column in self.columns if values.get(f"role-{column.number}") == role
        ]

    def collect_options(self) -> dict[str, Any]:
        """Return the chosen roles and rule, as JSON values to store with the upload."""
        worker, status = (next(iter(self._list_columns_with_role(role)), "") for role in ONCE)
        extra = tuple(self._list_columns_with_role(DemographicRole.EXTRA))
        mapping = DemographicMapping(worker, status, extra)
        statuses = self.cleaned_data["statuses"] or StatusRule.REFUSE.value
        keep_ids = self.cleaned_data["keep_ids"]
        return {"mapping": mapping.as_dict(), "statuses": statuses, "keep_ids": keep_ids}


def _list_samples(head: Head, column: str) -> tuple[str, ...]:
    """Return the first distinct cells of a column, without those that Prolific removed."""
    return tuple(dict.fromkeys(c for c in head.get_values(column) if not is_withheld(c)))[:SAMPLES]


def map_demographic_columns(request: HttpRequest, set_id: UUID, export_token: str) -> HttpResponse:
    """Show matched workers and the columns' roles; POST stores the roles or checks the file."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    staged = _load_demographic_upload(request, question_set, export_token)
    source = open_demographic_source(staged)
    head = read_head(source)
    form, status = DemographicsForm(head, staged.options), 200
    if request.method == "POST":
        form = DemographicsForm(head, staged.options, request.POST)
        if form.is_valid():
            staged.options = {**staged.options, **form.collect_options()}
            staged.state, staged.report = Upload.State.MAPPING, None
            staged.problems, staged.n_problems = [], 0
            if "check" in request.POST:
                import_upload(staged, question_set, KINDS[DEMOGRAPHICS], dry_run=True)
            else:
                staged.save()
            return redirect("admin:uploaded", question_set.public_id, staged.public_id)
        status = 400
    sets: Any = select_visible(request, QuestionSet.objects.exclude(pk=question_set.pk))
    editable = sets.filter(archived_at=None).annotate_right_to_change(request.user)
    preview = preview_demographic_join(staged, question_set, editable.filter(may_change=True))
    # Shown as required where it has to be decided; "Show these choices" works without it.
    form.fields["statuses"].required = bool(preview.counts)
    context = {
        "title": "Prolific's demographic export",
        "breadcrumbs": build_breadcrumbs(question_set),
        "question_set": question_set,
        "staged": staged,
        "form": form,
        "read_error": preview.error,
        "join": preview.join,
        "counts": preview.counts,
        "notes": preview.notes,
        "examples": preview.examples,
        "others": preview.others,
        "has_answers": preview.has_answers,
        "version": preview.version,
        "most": MAX_NAMES_SHOWN,
    }
    return TemplateResponse(request, "annotations/demographics.html", context, status=status)


@require_POST
def move_demographic_export(request: HttpRequest, set_id: UUID, export_token: str) -> HttpResponse:
    """Move an uploaded demographic export to the question set with the posted id."""
    question_set = get_editable(request, QuestionSet.objects.all(), set_id)
    staged = _load_demographic_upload(request, question_set, export_token)
    try:
        target_id = UUID(request.POST.get("into") or str(set_id))
    except ValueError:
        raise Http404("there is no such question set") from None
    target = get_editable(request, QuestionSet.objects.all(), target_id)
    staged.question_set, staged.state = target, Upload.State.MAPPING
    staged.report, staged.problems, staged.n_problems = None, [], 0
    staged.save()
    return redirect("admin:import-demographics", target.public_id, staged.public_id)


def _load_demographic_upload(request: HttpRequest, question_set: QuestionSet, token: str) -> Upload:
    """Return the user's upload of a demographic export; raise `Http404` for other uploads."""
    staged = load_upload(request, question_set, token)
    if staged.kind != DEMOGRAPHICS or not staged.file:
        raise Http404("its file is gone")
    return staged
